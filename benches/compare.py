"""Times trustvb against scikit-learn on the same data, prior and start. Run by `cargo xtask bench`.

    python benches/compare.py BENCH_FIT SCRATCH

writes one line of JSON per problem. Both programs use one thread and take turns. trustvb stops at its default
tolerance. scikit-learn stops when its bound gains less than `tol` in a sweep; it is given the largest power of ten
with which its means come within AIM of those that trustvb found, so it does no more work than that accuracy takes.
"""

import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, "scripts/reference")
from fixed_start import build, fit  # noqa: E402

TURNS = 7
AIM = 1e-6
SECONDS_PER_TURN = 0.3


def simulate(seed, n, p, k, separation):
    """Equally many unit Gaussians; component c is centred at separation * ((c + j) mod k) in column j."""
    rng = np.random.default_rng(seed)
    centres = separation * ((np.arange(k)[:, None] + np.arange(p)[None, :]) % k).astype(float)
    labels = rng.integers(k, size=n)
    return centres[labels] + rng.standard_normal((n, p)), centres


def problems():
    with open("crates/trustvb/data/faithful.csv", newline="") as file:
        faithful = np.array([[float(x) for x in row] for row in list(csv.reader(file))[1:]])
    yield "Old Faithful", faithful, np.array([[2.0, 54.0], [4.3, 80.0]])
    for n in [1000, 3000, 100_000]:
        # Centres 2 apart in each coordinate, weights 0.65 and 0.35.
        rng = np.random.default_rng(n)
        second = rng.random(n) >= 0.65
        x = rng.standard_normal((n, 2)) + 2.0 * second[:, None]
        yield "two Gaussians", x, np.array([[0.0, 0.0], [2.0, 2.0]])
    for p, k, separation in [(5, 3, 1.5), (20, 10, 0.4)]:
        for n in [272, 1000, 3000, 100_000]:
            x, centres = simulate(p, n, p, k, separation)
            yield f"{k} Gaussians", x, centres


def default_prior(x, k):
    """trustvb's default prior, written out so that both programs are given the same numbers."""
    p = x.shape[1]
    sd = x.std(axis=0, ddof=1)
    return {
        "alpha0": 1 / k,
        "beta0": 1.0,
        "m0": x.mean(axis=0).tolist(),
        "nu0": p + 2.0,
        "W0": (np.corrcoef(x, rowvar=False) / np.outer(sd, sd)).tolist(),
    }


def write_csv(path, x):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([f"x{j + 1}" for j in range(x.shape[1])])
        writer.writerows(x.tolist())


def ordered_means(mixture):
    return mixture.means_[np.argsort(-mixture.weight_concentration_, kind="stable")]


def disagreement(a, b, x):
    """Largest difference of two means, relative to the mean or to its column's standard deviation if that is larger."""
    a, b = np.asarray(a), np.asarray(b)
    return float((np.abs(a - b) / np.maximum(np.abs(b), x.std(axis=0))).max())


def measure(name, x, centres, binary, scratch):
    k = len(centres)
    prior = default_prior(x, k)
    data, prior_file, centres_file = (scratch / name for name in ["data.csv", "prior.json", "centres.csv"])
    write_csv(data, x)
    write_csv(centres_file, centres)
    prior_file.write_text(json.dumps(prior))
    single = {**os.environ, "RAYON_NUM_THREADS": "1"}

    def ours(seconds):
        command = [binary, data, prior_file, centres_file, str(seconds)]
        return json.loads(subprocess.run(command, env=single, check=True, capture_output=True).stdout)

    def theirs(tol):
        mixture = build(prior, centres, tol=tol, max_iter=100_000)
        began = time.perf_counter()
        fit(mixture, x)
        return mixture, time.perf_counter() - began

    reference = ours(0)
    for exponent in range(3, 13):
        mixture, seconds = theirs(10.0**-exponent)
        if disagreement(ordered_means(mixture), reference["means"], x) <= AIM:
            break
    our_seconds, their_seconds = [], []
    # What takes long is disturbed less: fewer turns.
    for _ in range(TURNS if seconds < 2 else 3):
        our_seconds.append(statistics.median(ours(SECONDS_PER_TURN)["seconds"]))
        mixture, seconds = theirs(10.0**-exponent)
        their_seconds.append(seconds)
    return {
        "name": name,
        "n": len(x),
        "p": x.shape[1],
        "k": k,
        "status": reference["status"],
        "trustvb_seconds": statistics.median(our_seconds),
        "trustvb_sweeps": reference["sweeps"],
        "sklearn_seconds": statistics.median(their_seconds),
        "sklearn_sweeps": mixture.n_iter_,
        "sklearn_tol": f"1e-{exponent}",
        "disagreement": disagreement(ordered_means(mixture), reference["means"], x),
    }


def main():
    binary, scratch = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    for name, x, centres in problems():
        print(json.dumps(measure(name, x, centres, binary, scratch)), flush=True)


if __name__ == "__main__":
    main()
