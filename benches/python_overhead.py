"""What the Python package adds to a table build: the same build from Rust and from Python, in turns.

Usage, with the package installed in this Python:

    cargo build --release --package trustvb --example bench_table
    python benches/python_overhead.py target/release/examples/bench_table docs/data/overlap.csv

Both use one thread, because other work on the machine then disturbs least, and each keeps its best time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pandas
import trustvb

GRID, BOOTSTRAPS, TURNS = 100, 200, 7


def main() -> None:
    binary, path = sys.argv[1:]
    frame = pandas.read_csv(path)
    model = trustvb.GaussianMixture(2, random_state=1).fit(frame)
    rust, python = [], []
    for _ in range(TURNS):
        words = [binary, path, str(GRID), str(BOOTSTRAPS), "1"]
        environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
        printed = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        rust.append(float(printed.stdout))
        began = time.perf_counter()
        model.table(["tvb", "anchored"], grid=GRID, bootstraps=BOOTSTRAPS, n_jobs=1)
        python.append(time.perf_counter() - began)
    fits = GRID * (2 * BOOTSTRAPS + 2)
    print(f"{len(frame)} rows, {fits} fits, one thread, best of {TURNS} turns")
    print(f"Rust   {min(rust):.3f} s   (all: {', '.join(f'{t:.3f}' for t in rust)})")
    print(f"Python {min(python):.3f} s   (all: {', '.join(f'{t:.3f}' for t in python)})")
    print(f"overhead of the binding {100 * (min(python) / min(rust) - 1):.1f}%")


if __name__ == "__main__":
    main()
