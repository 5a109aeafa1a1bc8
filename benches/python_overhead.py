"""What the Python package adds to a table build: the same build from Rust and from Python, in turns.

Usage, with the package installed in this Python:

    cargo build --release --package trustvb --example bench_table
    python benches/python_overhead.py target/release/examples/bench_table docs/data/overlap.csv

Both use one thread. Times say little on a machine that does other things too; where valgrind is installed it counts
instructions of a smaller build, which do not depend on that: those of a process with one build less those of one with none.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time

import numpy
import pandas
import trustvb

GRID, BOOTSTRAPS, FEW, TURNS = 100, 200, 20, 7


def rust(binary: str, path: str, repeats: int) -> tuple[float, float]:
    """The best wall time of a build, and the processor's seconds of the whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [binary, path, str(GRID), str(BOOTSTRAPS), str(repeats)]
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    printed = subprocess.run(
        words, env=environment, capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return min(map(float, printed.stdout.split())), used


def instructions(*words: str) -> int:
    """What callgrind counts for a process."""
    command = [
        "valgrind",
        "--fair-sched=yes",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        *words,
    ]
    environment = {**os.environ, "RAYON_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    )
    (count,) = re.findall(r"Collected : (\d+)", done.stderr)
    return int(count)


def count(binary: str, path: str) -> None:
    if shutil.which("valgrind") is None:
        print("instructions: not counted, valgrind is not installed")
        return
    theirs = [instructions(binary, path, str(GRID), str(FEW), n) for n in "01"]
    ours = [instructions(sys.executable, __file__, "--build", path, n) for n in "01"]
    ours_, theirs_ = ours[1] - ours[0], theirs[1] - theirs[0]
    print(
        f"instructions of {GRID * (2 * FEW + 2)} fits: Rust {theirs_ / 1e6:.0f} million, Python "
        f"{ours_ / 1e6:.0f} million, overhead {100 * (ours_ / theirs_ - 1):+.2f}%"
    )


def build(path: str, repeats: int) -> None:
    """What is counted."""
    rows = numpy.loadtxt(path, delimiter=",", skiprows=1)
    model = trustvb.GaussianMixture(2, random_state=1).fit(rows)
    for _ in range(repeats):
        model.table(["tvb", "anchored"], grid=GRID, bootstraps=FEW, n_jobs=1)


def main() -> None:
    if sys.argv[1] == "--build":
        build(sys.argv[2], int(sys.argv[3]))
        return
    binary, path = sys.argv[1:]
    count(binary, path)
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
