"""Times trustvb against StepMix on latent classes of yes-or-no items. Run by `cargo xtask bench`.

    python benches/classes.py BENCH_CLASSES SCRATCH

writes one line of JSON per problem. Both work on rows in memory, on one thread, from one random start. StepMix
bootstraps a few times, and its time is taken times as many as trustvb has.
"""

import json
import os
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


def trustvb(program, path, k, seed):
    done = subprocess.run(
        [program, str(path), str(k), str(seed), str(BOOTSTRAPS)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "RAYON_NUM_THREADS": "1"},
    )
    return json.loads(done.stdout)


def measure(program, scratch, n, items, k):
    rows = simulate(n + items + k, n, items, k)
    path = scratch / f"classes-{n}-{items}-{k}.csv"
    pd.DataFrame(rows, columns=[f"x{j + 1}" for j in range(items)]).to_csv(path, index=False)
    few = 20 if n < 1000 else 4
    ours, theirs, their_bootstraps, likelihoods = [], [], [], []
    for turn in range(TURNS):
        ours.append(trustvb(program, path, k, turn))
        model = StepMix(
            n_components=k, measurement="binary", n_init=1, random_state=turn, progress_bar=0
        )
        began = time.perf_counter()
        model.fit(rows)
        theirs.append(time.perf_counter() - began)
        likelihoods.append(float(model.score(rows)) * n)
        if turn == 0:
            began = time.perf_counter()
            model.bootstrap(rows, n_repetitions=few, progress_bar=False)
            their_bootstraps.append((time.perf_counter() - began) * BOOTSTRAPS / few)
    return {
        "n": n,
        "items": items,
        "k": k,
        "trustvb_fit": statistics.median(one["fit"] for one in ours),
        "stepmix_fit": statistics.median(theirs),
        "trustvb_bootstraps": statistics.median(one["bootstraps"] for one in ours),
        "stepmix_bootstraps": their_bootstraps[0],
        "stepmix_repetitions": few,
        "trustvb_ln_likelihood": max(one["ln_likelihood"] for one in ours),
        "stepmix_ln_likelihood": max(likelihoods),
    }


def main():
    warnings.simplefilter("ignore")
    program, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    for n in (500, 5000):
        for items in (8, 12):
            for k in (2, 3):
                print(json.dumps(measure(program, scratch, n, items, k)), flush=True)


main()
