"""How long limits of cells that few units show are beside Clopper and Pearson's where the class of each unit is known.

    trustvb study boundaries --only 'clear/*' --replications 60 --format json -o clear.study > clear.json
    python scripts/boundary_lengths.py clear.json

Needs scipy. Clopper and Pearson's mean length is that of counts from 35% of the units, the share of the class.
"""

import json
import pathlib
import sys

from scipy.stats import beta, binom

TRUE = {"p[2,x7,1]": 0.0, "p[2,x8,1]": 0.001, "p[2,x9,1]": 0.005, "p[2,x10,1]": 0.02, "p[2,x11,1]": 0.05}


def clopper_pearson(p, n):
    """Mean length over counts of n units."""
    total = 0.0
    for k in range(n + 1):
        lower = 0.0 if k == 0 else beta.ppf(0.025, k, n - k + 1)
        upper = 1.0 if k == n else beta.ppf(0.975, k + 1, n - k)
        total += binom.pmf(k, n, p) * (upper - lower)
    return total


def main():
    rows = json.loads(pathlib.Path(sys.argv[1]).read_text())["summary"]
    rows = [row for row in rows if row["method"] == "balanced" and row["quantity"] in TRUE]
    ratios = []
    for row in rows:
        n = round(0.35 * int(row["cell"].split("=")[1]))
        ratios.append(row["mean_length"] / clopper_pearson(TRUE[row["quantity"]], n))
        print(f"{row['cell']:14} {row['quantity']:10} coverage {row['coverage']:.3f}  length/theirs {ratios[-1]:.2f}")
    coverage = [row["coverage"] for row in rows]
    print(f"coverage {sum(coverage) / len(rows):.3f}, lowest {min(coverage):.3f}; ", end="")
    print(f"length/theirs {sum(ratios) / len(rows):.2f}, most {max(ratios):.2f}")


main()
