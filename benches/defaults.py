"""Times trustvb with its defaults against scikit-learn with its own. Run by `cargo xtask bench`.

    python benches/defaults.py BENCH_DEFAULTS SCRATCH [ROWS]

writes one line of JSON per problem, of those with at most so many rows for a quick look. Starts are part of the work,
all programs may use all cores, and none is told when to stop. What each found is compared on a scale that none of them
optimises: the log likelihood per row, at the parameters that it holds, of fresh rows of the same law.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

warnings.simplefilter("ignore", ConvergenceWarning)

SHAPES = [(300, 2, 2), (300, 10, 3), (1000, 1, 3), (3000, 2, 5), (3000, 10, 5), (5000, 50, 3), (10_000, 10, 5)]
SHAPES += [(20_000, 10, 2), (20_000, 20, 10), (20_000, 50, 5), (100_000, 2, 2), (100_000, 10, 3), (100_000, 20, 10)]
SHAPES += [(1_000_000, 5, 3)]
TURNS = 3
SECONDS_PER_TURN = 0.5
# A program that has taken longer than this for a problem is not asked again.
LONG = 3.0
# Fresh rows.
FRESH = 20_000


def simulate(seed, n, p, k):
    """Rows of components with centres, covariances and weights of their own, and fresh rows of the same."""
    rng = np.random.default_rng(seed)
    centres = (3.0 if p <= 2 else 1.2) * rng.standard_normal((k, p))
    sizes = np.exp(0.4 * rng.standard_normal(k))
    roots = sizes[:, None, None] * (np.eye(p) + 0.5 / np.sqrt(p) * rng.standard_normal((k, p, p)))
    weights = np.exp(0.5 * rng.standard_normal(k))

    def rows(n):
        labels = rng.choice(k, size=n, p=weights / weights.sum())
        noise = rng.standard_normal((n, p))
        # One component after the other: their roots for every row would be gigabytes.
        x = centres[labels]
        for c in range(k):
            x[labels == c] += noise[labels == c] @ roots[c].T
        return x

    return rows(n), rows(FRESH)


def log_likelihood(x, weights, means, covariances):
    """Per row, of a mixture with these parameters."""
    p = x.shape[1]
    parts = []
    for weight, mean, covariance in zip(weights, means, covariances):
        root = np.linalg.cholesky(covariance)
        z = np.linalg.solve(root, (x - mean).T)
        constant = np.log(weight) - np.log(np.diag(root)).sum() - p / 2 * np.log(2 * np.pi)
        parts.append(constant - 0.5 * (z**2).sum(axis=0))
    parts = np.array(parts)
    largest = parts.max(axis=0)
    return float((largest + np.log(np.exp(parts - largest).sum(axis=0))).mean())


def unpack(packed, p):
    matrix = np.zeros((p, p))
    matrix[np.tril_indices(p)] = packed
    return matrix + np.tril(matrix, -1).T


def write(path, x):
    """As CSV, every number as it is; several times faster than np.savetxt."""
    with open(path, "w") as file:
        file.write(",".join(f"x{j + 1}" for j in range(x.shape[1])) + "\n")
        file.writelines(",".join(map(repr, row)) + "\n" for row in x.tolist())


def measure(x, fresh, asked, binary, data):
    def ours():
        command = [binary, data, str(asked), str(SECONDS_PER_TURN)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        return found, statistics.median(found["seconds"])

    def theirs(kind):
        mixture = kind(n_components=asked, random_state=1)
        began = time.perf_counter()
        mixture.fit(x)
        return mixture, time.perf_counter() - began

    programs = {
        "trustvb": ours,
        "bayesian": lambda: theirs(BayesianGaussianMixture),
        "em": lambda: theirs(GaussianMixture),
    }
    runs, found = {name: [] for name in programs}, {}
    for _ in range(TURNS):
        for name, fit in programs.items():
            if sum(runs[name]) < LONG:
                found[name], seconds = fit()
                runs[name].append(seconds)
    row = {f"{name}_seconds": statistics.median(times) for name, times in runs.items()}
    fitted = found.pop("trustvb")
    covariances = [unpack(c, x.shape[1]) if c is not None else np.eye(x.shape[1]) for c in fitted["covariances"]]
    row["status"] = fitted["status"]
    row["trustvb_fit"] = log_likelihood(fresh, fitted["weights"], np.array(fitted["means"]), covariances)
    for name, mixture in found.items():
        row[f"{name}_fit"] = log_likelihood(fresh, mixture.weights_, mixture.means_, mixture.covariances_)
        row[f"{name}_converged"] = bool(mixture.converged_)
    return row


def main():
    binary, scratch = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    most = int(sys.argv[3]) if len(sys.argv) > 3 else max(n for n, _, _ in SHAPES)
    scratch.mkdir(parents=True, exist_ok=True)
    data = scratch / "data.csv"
    for n, p, k in SHAPES:
        if n > most:
            continue
        x, fresh = simulate(n + p, n, p, k)
        write(data, x)
        for asked in [k, k + 2]:
            row = {"n": n, "p": p, "k": k, "asked": asked} | measure(x, fresh, asked, binary, data)
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
