"""When few whole numbers are better taken for categories: codes, small counts and rounded numbers in two classes.

Five columns of one kind, 60% and 40% of the rows. Each data set is fitted with its columns as categories, as numbers (Gaussian)
and, where they are counts, as counts. A line for each kind of column says how many different values its columns have, and for each
fit the adjusted Rand index against the truth, the mean of the estimates of the first class's share (.6), and how often its
interval holds the truth. Needs `trustvb` on the path; `python3 scripts/codes.py [DATA SETS] [ROWS]`.
"""

import csv
import json
import math
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

SHARE, COLUMNS = 0.6, 5
Draw = Callable[[int, random.Random], int]


def choice(weights: list[list[float]]) -> Draw:
    levels = range(1, len(weights[0]) + 1)
    return lambda k, rng: rng.choices(levels, weights[k])[0]


def tilted(m: int) -> Draw:
    """Codes 1 to m, low ones in the first class and high ones in the second."""
    at = [2 * i / (m - 1) - 1 for i in range(m)]
    return choice([[math.exp(sign * 0.7 * z) for z in at] for sign in (-1, 1)])


def at_the_top(m: int) -> Draw:
    """Codes 1 to m: even in the first class; most of the second say the highest."""
    return choice([[1.0] * m, [0.3 / (m - 1)] * (m - 1) + [0.7]])


def poisson(*rates: float) -> Draw:
    def draw(k: int, rng: random.Random) -> int:
        left, n, product = math.exp(-rates[k]), 0, rng.random()
        while product > left:
            product *= rng.random()
            n += 1
        return n

    return draw


def rounded(sd: float) -> Draw:
    """Normal numbers about 5, the classes one and a half standard deviations apart, to the nearest whole number."""
    return lambda k, rng: round(rng.gauss(5 + (k - 0.5) * 1.5 * sd, sd))


KINDS: list[tuple[str, Draw]] = [
    *((f"{m} codes, tilted", tilted(m)) for m in range(2, 8)),
    *((f"{m} codes, at the top", at_the_top(m)) for m in range(2, 8)),
    *((f"counts, means {a:g} and {b:g}", poisson(a, b)) for a, b in ((0.3, 1), (0.5, 2), (1, 3), (2, 5))),
    *((f"rounded, sd {sd:g}", rounded(sd)) for sd in (0.5, 0.7, 1, 1.5)),
]


def index(a: list[int], b: list[int]) -> float:
    """Hubert and Arabie's adjusted Rand index."""
    pairs = lambda counts: sum(n * (n - 1) / 2 for n in counts.values())  # noqa: E731
    both, one, two = pairs(Counter(zip(a, b, strict=True))), pairs(Counter(a)), pairs(Counter(b))
    expected = one * two / (len(a) * (len(a) - 1) / 2)
    most = (one + two) / 2
    return (both - expected) / (most - expected) if most > expected else 0.0


def run(path: Path, kind: str, truth: list[int], folder: Path) -> tuple[float, float, bool]:
    types = ["--model", "mixture", "--types", ",".join(f"x{j}={kind}" for j in range(COLUMNS))]
    own = folder / "own.csv"
    fit = ["trustvb", "fit", path, *types, "-q", "--responsibilities", own]
    subprocess.run(fit, check=True, capture_output=True)
    with own.open() as file:
        rows = [[float(x) for x in row[-2:]] for row in list(csv.reader(file))[1:]]
    found = index([int(row[1] > row[0]) for row in rows], truth)
    asked = ["trustvb", "calibrate", path, "pi", *types, "-B", "200", "-q", "--format", "json"]
    done = subprocess.run(asked, check=True, capture_output=True, text=True)
    best = [row for row in json.loads(done.stdout)["intervals"] if row["recommended"]]
    # The class is the one that has more of the truth's first.
    first = sum(t == 0 for t, row in zip(truth, rows, strict=True) if row[0] > row[1])
    second = sum(t == 0 for t, row in zip(truth, rows, strict=True) if row[0] <= row[1])
    row = best[0 if first >= second else 1]
    return found, row["estimate"], row["lower"] <= SHARE <= row["upper"]


def main() -> None:
    data_sets, n = (int(x) for x in (sys.argv[1:] + ["50", "400"][len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "data.csv"
        for kind, draw in KINDS:
            rng = random.Random(kind)
            types = ["category", "gaussian", *(["count"] if kind.startswith("counts") else [])]
            found: dict[str, list[tuple[float, float, bool]]] = {t: [] for t in types}
            distinct: list[int] = []
            for _ in range(data_sets):
                truth = [int(rng.random() >= SHARE) for _ in range(n)]
                rows = [[draw(k, rng) for _ in range(COLUMNS)] for k in truth]
                distinct += [len({row[j] for row in rows}) for j in range(COLUMNS)]
                with path.open("w", newline="") as file:
                    csv.writer(file).writerows([[f"x{j}" for j in range(COLUMNS)], *rows])
                for t in types:
                    found[t].append(run(path, t, truth, folder))
            said = [f"{kind} ({min(distinct)} to {max(distinct)} values):"]
            for t, results in found.items():
                ari, share, held = (sum(column) / data_sets for column in zip(*results, strict=True))
                said.append(f"{t} {ari:.2f}, {share:.2f}, {100 * held:.0f}%;")
            print(*said, flush=True)


main()
