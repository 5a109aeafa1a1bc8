"""How often the default search ends at the best bound that is known, for real data with many optima.

    python scripts/optima.py TRUSTVB [SEEDS]

TRUSTVB is the command; SEEDS the number of seeds (20). The data are read from R's packages flexmix, mclust and datasets, so
Rscript is needed, and from scikit-learn (the first five principal components of its digits). The best bound is the highest of all seeds and of one search with 200 starts.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.datasets import load_digits

DATA = """
suppressMessages({library(flexmix); library(mclust)})
keep <- function(data, name) write.csv(data, paste0(commandArgs(TRUE), "/", name, ".csv"), row.names = FALSE)
data("whiskey", package = "flexmix")
brands <- as.data.frame(ifelse(whiskey$Incidence == 1, "yes", "no"))
names(brands) <- paste0("brand", seq_along(brands))
keep(cbind(brands, Freq = whiskey$Freq), "whiskey")
data("dmft", package = "flexmix"); keep(dmft, "dmft")
keep(as.data.frame(UCBAdmissions), "UCBAdmissions")
data("banknote", package = "mclust"); keep(banknote[-1], "banknote")
data("GvHD", package = "mclust"); keep(GvHD.pos, "GvHD")
data("thyroid", package = "mclust"); keep(thyroid[-1], "thyroid")
"""
FITS = {
    "whiskey": ["-k", "4", "--model", "mixture", "--frequency", "Freq"],
    "dmft": ["-k", "4", "--model", "mixture"],
    "UCBAdmissions": ["-k", "3", "--model", "mixture", "--frequency", "Freq"],
    "GvHD": ["-k", "3"],
    "banknote": ["-k", "2"],
    "thyroid": ["-k", "3"],
    "digits": ["-k", "2"],
}
NEAR = 0.05


def main():
    trustvb = str(pathlib.Path(sys.argv[1]).resolve())
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    print("| data | K | best bound | at the best | lowest |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "data.R"
        script.write_text(DATA)
        subprocess.run(["Rscript", str(script), folder], check=True, capture_output=True)
        rows = load_digits().data
        rows = rows - rows.mean(axis=0)
        leading = rows @ np.linalg.svd(rows, full_matrices=False)[2][:5].T
        np.savetxt(f"{folder}/digits.csv", leading, delimiter=",", header="a,b,c,d,e", comments="")
        for name, options in FITS.items():

            def bound(*more, file=f"{folder}/{name}.csv", options=options):
                words = [trustvb, "fit", file, *options, *more, "--format", "json", "-q"]
                return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)["bound"]

            bounds = [bound("--seed", str(seed)) for seed in range(1, seeds + 1)]
            best = max([*bounds, bound("--starts", "200")])
            share = sum(b > best - NEAR for b in bounds) / seeds
            print(f"| {name} | {options[1]} | {best:.1f} | {share:.0%} | {min(bounds) - best:.1f} |", flush=True)


main()
