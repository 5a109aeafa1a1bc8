"""What the Python package adds to a table build: the same build from Rust and from Python, in turns.

Usage, with the package installed in this Python:

    cargo build --release --package trustvb --example bench_table
    python benches/python_overhead.py target/release/examples/bench_table docs/data/overlap.csv

Both use one thread. Wall time says little on a machine that does other things too, so seconds of the processor are
compared as well; for Rust they are those of two more builds in one process, without its start.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time

import pandas
import trustvb

GRID, BOOTSTRAPS, TURNS = 100, 200, 7


def rust(binary: str, path: str, repeats: int) -> tuple[float, float]:
    """The best wall time of a build, and the processor's seconds of the whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [binary, path, str(GRID), str(BOOTSTRAPS), str(repeats)]
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    printed = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return min(map(float, printed.stdout.split())), used


def main() -> None:
    binary, path = sys.argv[1:]
    frame = pandas.read_csv(path)
    model = trustvb.GaussianMixture(2, random_state=1).fit(frame)
    wall: dict[str, list[float]] = {"Rust": [], "Python": []}
    processor: dict[str, list[float]] = {"Rust": [], "Python": []}
    for _ in range(TURNS):
        once, used_once = rust(binary, path, 1)
        thrice, used_thrice = rust(binary, path, 3)
        wall["Rust"].append(min(once, thrice))
        processor["Rust"].append((used_thrice - used_once) / 2)
        for _ in range(2):
            began, used = time.perf_counter(), time.process_time()
            model.table(["tvb", "anchored"], grid=GRID, bootstraps=BOOTSTRAPS, n_jobs=1)
            wall["Python"].append(time.perf_counter() - began)
            processor["Python"].append(time.process_time() - used)
    fits = GRID * (2 * BOOTSTRAPS + 2)
    print(f"{len(frame)} rows, {fits} fits, one thread, {TURNS} turns")
    for what, times, of in (
        ("wall, best", wall, min),
        ("processor, median", processor, statistics.median),
    ):
        ours, theirs = of(times["Python"]), of(times["Rust"])
        print(
            f"{what}: Rust {theirs:.3f} s, Python {ours:.3f} s, overhead {100 * (ours / theirs - 1):+.1f}%"
        )


if __name__ == "__main__":
    main()
