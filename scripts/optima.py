"""How often the default search ends at the best bound that is known, for real data with many optima, and what EM finds.

    python scripts/optima.py TRUSTVB [SEEDS] [em]

TRUSTVB is the command; SEEDS the number of seeds (20). The data are read from R's packages flexmix, mclust and datasets, so
Rscript is needed, and from scikit-learn (the first five principal components of its digits). With `em`, log likelihoods
stand beside those of EM: StepMix with 100 starts for latent classes (minutes), mclust's full covariances (VVV) with its own
start for Gaussians. EM's is the maximum it found, ours that of the posterior means, which a prior holds back. The best bound is the highest of all seeds and of one search with 200 starts.
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
MCLUST = """
suppressMessages(library(mclust))
words <- commandArgs(TRUE)
cat(Mclust(read.csv(words[1]), G = as.integer(words[2]), modelNames = "VVV", verbose = FALSE)$loglik)
"""


def em(file, options, folder):
    """The log likelihood that EM ends at."""
    k = int(options[1])
    if "mixture" not in options:
        script = pathlib.Path(folder) / "mclust.R"
        script.write_text(MCLUST)
        words = ["Rscript", str(script), file, str(k)]
        return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout or "nan")
    import pandas as pd
    from stepmix.stepmix import StepMix

    data = pd.read_csv(file)
    weights = data.pop("Freq") if "--frequency" in options else pd.Series(np.ones(len(data)))
    there = weights > 0
    codes = data[there].apply(lambda column: column.astype("category").cat.codes)
    model = StepMix(k, measurement="categorical", n_init=100, max_iter=5000, random_state=1, verbose=0, progress_bar=0)
    model.fit(codes, sample_weight=weights[there])
    return float(model.score(codes, sample_weight=weights[there]) * weights.sum())


def main():
    trustvb = str(pathlib.Path(sys.argv[1]).resolve())
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with_em = sys.argv[3:] == ["em"]
    more = (" log likelihood | EM's |", "---|---|") if with_em else ("", "")
    print(f"| data | K | best bound | at the best | lowest |{more[0]}\n|---|---|---|---|---|{more[1]}")
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
            print(f"| {name} | {options[1]} | {best:.1f} | {share:.0%} | {min(bounds) - best:.1f} |", end="", flush=True)
            if with_em:
                words = [trustvb, "select", f"{folder}/{name}.csv", *options, "--format", "json", "-q"]
                words += [] if "mixture" in options else ["--covariance", "full"]
                ours = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)["chosen"]
                theirs = em(f"{folder}/{name}.csv", options, folder)
                print(f" {ours['log_likelihood']:.1f} | {theirs:.1f} |", end="")
            print(flush=True)


main()
