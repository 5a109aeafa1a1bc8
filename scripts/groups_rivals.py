"""What other programs find in the data sets of the example `bench_groups`.

    cargo run --release -p trustvb --example bench_groups -- write find 20 DIR
    python scripts/groups_rivals.py find DIR
    cargo run --release -p trustvb --example bench_groups -- write count 20 DIR
    python scripts/groups_rivals.py count DIR

(`find-once` and `count-once` write the designs that were looked at once.)

`find` prints the mean adjusted Rand index where the number of groups is known, `count` how often the right number of 1 to 6
is chosen by BIC. Needs scikit-learn (ten starts; three where numbers are compared); mclust, with its own starts, is asked where `Rscript -e 'library(mclust)'`
works.
"""

import csv
import pathlib
import subprocess
import sys
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

MCLUST = """
suppressMessages(library(mclust))
words <- commandArgs(trailingOnly = TRUE)
for (file in words[-(1:2)]) {
  data <- read.csv(file)
  truth <- data$group
  data$group <- NULL
  fit <- Mclust(data, G = if (words[1] == "find") as.integer(words[2]) else 1:6, verbose = FALSE)
  cat(if (is.null(fit)) "NA" else if (words[1] == "find") adjustedRandIndex(fit$classification, truth) else fit$G, "\\n")
}
"""


def has_mclust():
    try:
        found = subprocess.run(["Rscript", "-e", "library(mclust)"], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return found.returncode == 0


def fitted(rows, k, shape, starts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GaussianMixture(k, covariance_type=shape, n_init=starts, random_state=1).fit(rows)


def index(rows, truth, k, shape):
    return adjusted_rand_score(truth, fitted(rows, k, shape, 10).predict(rows))


def number(rows, shapes):
    fits = [(fitted(rows, k, shape, 3).bic(rows), k) for k in range(1, 7) for shape in shapes]
    return min(fits)[1]


def main():
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    mclust = folder / "mclust.R" if has_mclust() else None
    if mclust:
        mclust.write_text(MCLUST)
    with open(folder / "designs.csv", newline="") as file:
        designs = list(csv.DictReader(file))
    names = ["scikit-learn full", "tied" if what == "find" else "all shapes", "mclust"]
    print(f"{'design':30} {'  '.join(names)}")
    sums = []
    for design in designs:
        files = sorted(folder.glob(f"{design['number']}-*.csv"))
        k = int(design["groups"])
        values = [[], [], []]
        for path in files:
            table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
            rows, truth = table[:, :-1], table[:, -1].astype(int)
            if what == "find":
                values[0].append(index(rows, truth, k, "full"))
                values[1].append(index(rows, truth, k, "tied"))
            else:
                shapes = ["full", "tied", "diag", "spherical"]
                values[0].append(number(rows, ["full"]) == k)
                values[1].append(number(rows, shapes) == k)
        if mclust:
            words = ["Rscript", str(mclust), what, str(k), *map(str, files)]
            done = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
            found = [float(x) if x != "NA" else 0.0 for x in done]
            values[2] = found if what == "find" else [x == k for x in found]
        means = [float(np.mean(v)) if v else float("nan") for v in values]
        sums.append(means)
        print(f"{design['name']:30} " + "  ".join(f"{m:{len(n)}.2f}" for m, n in zip(means, names)), flush=True)
    means = np.mean(sums, axis=0)
    print(f"{'mean':30} " + "  ".join(f"{m:{len(n)}.2f}" for m, n in zip(means, names)))


main()
