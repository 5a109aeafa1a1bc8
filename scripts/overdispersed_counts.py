"""What becomes of rates when counts vary more than Poisson's: coverage in two classes with negative binomial counts.

Five yes-or-no items tell the classes apart (.85 against .15); counts have means 2 and 6 and the variance m + m²/size.
Needs `trustvb` on the path; `python3 scripts/overdispersed_counts.py [DATA SETS] [ROWS]` prints a line for each size.
"""

import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

MEANS = (2.0, 6.0)


def count(mean: float, size: float, rng: random.Random) -> int:
    rate = mean if math.isinf(size) else rng.gammavariate(size, mean / size)
    left, n = math.exp(-rate), 0
    product = rng.random()
    while product > left:
        product *= rng.random()
        n += 1
    return n


def sample(n: int, size: float, rng: random.Random) -> str:
    lines = ["x1,x2,x3,x4,x5,visits"]
    for _ in range(n):
        k = int(rng.random() < 0.4)
        yes = (0.85, 0.15)[k]
        items = [int(rng.random() < yes) for _ in range(5)]
        lines.append(",".join(map(str, [*items, count(MEANS[k], size, rng)])))
    return "\n".join(lines) + "\n"


def main() -> None:
    data_sets, n = (int(x) for x in (sys.argv[1:] + ["100", "500"][len(sys.argv) - 1 :]))
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.csv"
        for size in (math.inf, 5.0, 1.0):
            held = {"balanced": 0, "vb": 0}
            total, bias = 0, 0.0
            for _ in range(data_sets):
                path.write_text(sample(n, size, rng))
                command = ["trustvb", "calibrate", str(path), "--types", "visits=count", "rate[,visits]"]
                options = ["--method", "recommended,vb", "-B", "200", "-q", "--format", "json"]
                done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
                rows = json.loads(done.stdout)["intervals"]
                estimates = sorted({row["estimate"] for row in rows})
                for row in rows:
                    truth = MEANS[estimates.index(row["estimate"])]
                    held[row["method"]] += row["lower"] <= truth <= row["upper"]
                    total += row["method"] == "vb"
                    bias += (row["estimate"] / truth - 1) * (row["method"] == "vb")
            law = "Poisson" if math.isinf(size) else f"negative binomial, size {size:g}"
            shares = ", ".join(f"{m} covers {100 * c / total:.1f}%" for m, c in held.items())
            print(f"{law}: {shares} of {total} rates; estimates are off by {100 * bias / total:+.1f}% on average")


main()
