"""How often the right number of components is found: `trustvb select` beside mclust and scikit-learn.

    python scripts/select_simulation.py TRUSTVB [SETS]

TRUSTVB is the command; SETS the number of data sets in each design (100). Needs scikit-learn; mclust's BIC is asked where
`Rscript -e 'library(mclust)'` works. Full covariances everywhere, so that only K is chosen; ten starts each, but for mclust,
which begins from hierarchical clustering.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn.mixture import GaussianMixture

MOST = 6
DESIGNS = {
    "one": {"n": 300, "args": ["--components", "1"], "k": 1},
    "two, apart": {"n": 300, "args": ["--components", "2", "--separation", "3"], "k": 2},
    "two, near": {"n": 300, "args": ["--components", "2", "--separation", "2"], "k": 2},
    "three, apart": {"n": 300, "args": ["--components", "3", "--separation", "4"], "k": 3},
    "three, near": {"n": 1000, "args": ["--components", "3", "--separation", "2.5"], "k": 3},
    "four in five columns": {"n": 500, "args": ["--components", "4", "--columns", "5", "--separation", "3"], "k": 4},
    "two with t tails": {"n": 300, "args": ["--components", "2", "--separation", "4", "--df", "5"], "k": 2},
}
MCLUST = f"""
suppressMessages(library(mclust))
files <- commandArgs(trailingOnly = TRUE)
for (file in files) cat(Mclust(read.csv(file), G = 1:{MOST}, modelNames = "VVV", verbose = FALSE)$G, "\\n")
"""


def has_mclust():
    try:
        found = subprocess.run(["Rscript", "-e", "library(mclust)"], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return found.returncode == 0


def by_scikit_learn(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [GaussianMixture(k, n_init=10, random_state=1).fit(rows) for k in range(1, MOST + 1)]
    return 1 + int(np.argmin([fit.bic(rows) for fit in fits]))


def main():
    trustvb = str(pathlib.Path(sys.argv[1]).resolve())
    sets = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    mclust = has_mclust()
    names = ["bic", "icl", "bound", "scikit-learn", *(["mclust"] if mclust else [])]
    print(f"| design | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for name, design in DESIGNS.items():
        right = dict.fromkeys(names, 0)
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for seed in range(1, sets + 1):
                file = str(pathlib.Path(folder) / f"{seed}.csv")
                simulate = [trustvb, "simulate", "gmm", "--n", str(design["n"]), *design["args"]]
                subprocess.run([*simulate, "--seed", str(seed), "-o", file], check=True, capture_output=True)
                files.append(file)
                select = [trustvb, "select", file, "-k", f"1:{MOST}", "--format", "json", "-q"]
                found = json.loads(subprocess.run(select, check=True, capture_output=True).stdout)
                for criterion, chosen in found["chosen_by"].items():
                    right[criterion] += chosen["components"] == design["k"]
                rows = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
                right["scikit-learn"] += by_scikit_learn(rows) == design["k"]
            if mclust:
                script = pathlib.Path(folder) / "mclust.R"
                script.write_text(MCLUST)
                done = subprocess.run(["Rscript", str(script), *files], check=True, capture_output=True, text=True)
                right["mclust"] = sum(int(k) == design["k"] for k in done.stdout.split())
        shares = " | ".join(f"{100 * right[n] / sets:.0f}%" for n in names)
        print(f"| {name} (n = {design['n']}, K = {design['k']}) | {shares} |", flush=True)


if __name__ == "__main__":
    main()
