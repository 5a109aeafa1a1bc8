"""What survey weights are for: coverage of a class's share in the population, with weights and without.

The population has two classes of equal size and four items; class 1 says yes with probability .85, class 2 with .25. Who
says yes to the first two items is in the sample with four times the chance of others, and the weight is one over that
chance. Needs `trustvb` on the path; `python3 scripts/survey_weights.py [DATA SETS] [ROWS]` prints a line for each way.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path


def sample(n: int, rng: random.Random) -> str:
    lines = ["x1,x2,x3,x4,w"]
    while len(lines) <= n:
        yes = 0.85 if rng.random() < 0.5 else 0.25
        items = [int(rng.random() < yes) for _ in range(4)]
        chance = 1.0 if items[0] + items[1] == 2 else 0.25
        if rng.random() < chance:
            lines.append(",".join(map(str, [*items, 1 / chance])))
    return "\n".join(lines) + "\n"


def answers(path: Path, options: list[str]) -> dict[str, tuple[float, float]]:
    """The interval for the share of the class that says yes more often, by each method."""
    command = ["trustvb", "calibrate", str(path), "--model", "mixture", "-q", "--format", "json"]
    asked = ["pi[1]", "pi[2]", "p[1,x3,1]", "p[2,x3,1]", "--method", "recommended,vb", "-B", "200"]
    done = subprocess.run([*command, *asked, *options], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)["intervals"]
    yes = {row["functional"]: row["estimate"] for row in rows}
    own = "pi[1]" if yes["p[1,x3,1]"] > yes["p[2,x3,1]"] else "pi[2]"
    mine = [row for row in rows if row["functional"] == own]
    return {row["method"]: (row["lower"], row["upper"]) for row in mine}


def main() -> None:
    data_sets, n = (int(x) for x in (sys.argv[1:] + ["200", "500"][len(sys.argv) - 1 :]))
    rng = random.Random(1)
    ways = {"with --weights w": ["--weights", "w"], "without": ["--columns", "x1,x2,x3,x4"]}
    held = {(way, method): 0 for way in ways for method in ("balanced", "vb")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.csv"
        for _ in range(data_sets):
            path.write_text(sample(n, rng))
            for way, options in ways.items():
                for method, (lower, upper) in answers(path, options).items():
                    held[way, method] += lower <= 0.5 <= upper
    for (way, method), count in held.items():
        print(f"{way}: {method} covers {100 * count / data_sets:.1f}% of {data_sets} data sets")


main()
