"""Times trustvb against StepMix on latent classes of yes-or-no items. Run by `cargo xtask bench`.

    python benches/classes.py TRUSTVB SCRATCH

writes one line of JSON per problem. trustvb is the whole command, from process start to the written answer, with the
file read; StepMix works on an array in memory. Both use one thread and one random start. StepMix bootstraps a few
times, and its time is taken times as many as trustvb has.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
from stepmix.stepmix import StepMix

BOOTSTRAPS = 500
TURNS = 3


def simulate(seed, n, items, k):
    """Weights k, k-1, ..., 1; each class says yes with probability .8 or .2 to items by turns."""
    rng = np.random.default_rng(seed)
    weights = np.arange(k, 0, -1) / np.arange(k, 0, -1).sum()
    leans = (np.arange(items)[None, :] + np.arange(k)[:, None]) % k == 0
    labels = rng.choice(k, size=n, p=weights)
    return (rng.random((n, items)) < np.where(leans, 0.8, 0.2)[labels]).astype(int)


def run(command, *words):
    began = time.perf_counter()
    done = subprocess.run(
        [command, *words, "--threads", "1", "--quiet", "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - began, json.loads(done.stdout)


def ln_likelihood(blocks, rows):
    """At the posterior means."""
    alpha = np.array(blocks["pi"]["alpha"])
    terms = np.log(alpha / alpha.sum())[None, :].repeat(len(rows), axis=0)
    for j in range(rows.shape[1]):
        levels = np.array([copy["alpha"] for copy in blocks[f"p.x{j + 1}"]])
        p = levels / levels.sum(axis=1, keepdims=True)
        terms += np.log(p[:, rows[:, j]]).T
    return float(np.logaddexp.reduce(terms, axis=1).sum())


def measure(command, scratch, n, items, k):
    rows = simulate(n + items + k, n, items, k)
    path = scratch / f"classes-{n}-{items}-{k}.csv"
    pd.DataFrame(rows, columns=[f"x{j + 1}" for j in range(items)]).to_csv(path, index=False)
    said = [str(path), "--model", "mixture", "-k", str(k), "--starts", "1"]
    table = ["-B", str(BOOTSTRAPS), "--method", "recommended"]
    few = 20 if n < 1000 else 4
    ours, our_bootstraps, theirs, their_bootstraps = [], [], [], []
    for turn in range(TURNS):
        seconds, fit = run(command, "fit", *said)
        ours.append(seconds)
        our_bootstraps.append(run(command, "calibrate", *said, *table)[0])
        model = StepMix(
            n_components=k, measurement="binary", n_init=1, random_state=turn, progress_bar=0
        )
        began = time.perf_counter()
        model.fit(rows)
        theirs.append(time.perf_counter() - began)
        if turn == 0:
            began = time.perf_counter()
            model.bootstrap(rows, n_repetitions=few, progress_bar=False)
            their_bootstraps.append((time.perf_counter() - began) * BOOTSTRAPS / few)
            their_likelihood = model.score(rows) * n
    return {
        "n": n,
        "items": items,
        "k": k,
        "trustvb_fit": statistics.median(ours),
        "stepmix_fit": statistics.median(theirs),
        "trustvb_bootstraps": statistics.median(our_bootstraps),
        "stepmix_bootstraps": statistics.median(their_bootstraps),
        "stepmix_repetitions": few,
        "trustvb_ln_likelihood": ln_likelihood(fit["blocks"], rows),
        "stepmix_ln_likelihood": float(their_likelihood),
    }


def main():
    warnings.simplefilter("ignore")
    command, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    for n in (500, 5000):
        for items in (8, 12):
            for k in (2, 3):
                print(json.dumps(measure(command, scratch, n, items, k)), flush=True)


main()
