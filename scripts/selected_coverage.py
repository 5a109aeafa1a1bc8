"""Coverage with the right, each wrong and the selected shape of covariances, from a run of the study `covariances`.

    trustvb study covariances -o covariances.study
    python scripts/selected_coverage.py TRUSTVB covariances.study

The data sets of cells with the same truth are the same, so what `trustvb select -k 2 --covariance all` chooses for a data
set says whose interval a user would have had. Needs pyarrow. An entry is the coverage of all quantities, its Monte-Carlo
error (that of data sets: the quantities of one are not independent), and how long intervals are, as a geometric mean over
those of the right shape.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow.parquet as pq

SHAPES = ["full", "tied", "diagonal", "spherical"]
METHODS = {0: "vb", 1: "balanced"}


def read(folder, cell):
    """Of each replication, method and quantity: limits."""
    rows = {}
    for file in sorted((folder / "parts").glob(f"{cell:03d}-*.parquet")):
        table = pq.read_table(file).to_pydict()
        for i, r in enumerate(table["replication"]):
            key = (r, table["method"][i], table["quantity"][i])
            rows[key] = (table["lower"][i], table["upper"][i])
    return rows


def selected(trustvb, name, replication, scratch):
    data = str(scratch / "data.csv")
    simulate = [trustvb, "simulate", "study", "covariances", name, "--replication", str(replication), "-o", data]
    subprocess.run(simulate, check=True, capture_output=True)
    select = [trustvb, "select", data, "-k", "2", "--covariance", "all", "--format", "json", "-q"]
    found = subprocess.run(select, check=True, capture_output=True).stdout
    return json.loads(found)["chosen"]["covariance"]


def covered(found, targets, method, shapes, truth):
    """The share of targets inside the limits of each data set's shape, with its Monte-Carlo error, and their length."""
    shares, lengths = [], []
    for replication, shape in shapes.items():
        own = [found[shape][replication, method, q] for q in range(len(targets))]
        right = [found[truth][replication, method, q] for q in range(len(targets))]
        shares.append(np.mean([low <= x <= high for x, (low, high) in zip(targets, own, strict=True)]))
        lengths += [np.log((b - a) / (d - c)) for (a, b), (c, d) in zip(own, right, strict=True)]
    error = np.std(shares) / np.sqrt(len(shares))
    return f"{np.mean(shares):.3f} ± {error:.3f} ({np.exp(np.mean(lengths)):.2f})"


def main():
    trustvb, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    cells = json.loads((folder / "manifest.json").read_text())["cells"]
    names = [cell["name"] for cell in cells]
    print("| truth | method | " + " | ".join(f"fitted {s}" for s in SHAPES) + " | selected | chosen rightly |")
    print("|---|---|" + "---|" * (len(SHAPES) + 2))
    for truth in SHAPES:
        own = {shape: names.index(f"{truth}-as-{shape}/n=300") for shape in SHAPES}
        found = {shape: read(folder, cell) for shape, cell in own.items()}
        targets = cells[own[truth]]["targets"]
        common = set.intersection(*({key[0] for key in rows} for rows in found.values()))
        replications = sorted(common)
        with tempfile.TemporaryDirectory() as scratch:
            chosen = {
                r: selected(trustvb, names[own[truth]], r, pathlib.Path(scratch)) for r in replications
            }
        right = np.mean([shape == truth for shape in chosen.values()])
        for number, method in METHODS.items():
            same = [dict.fromkeys(replications, shape) for shape in SHAPES]
            entries = [covered(found, targets, number, own, truth) for own in [*same, chosen]]
            print(f"| {truth} | {method} | {' | '.join(entries)} | {right:.2f} |", flush=True)
    print(f"\n{len(replications)} data sets of each truth")


if __name__ == "__main__":
    main()
