"""Writes docs/data/overlap.csv: 1000 rows from two overlapping Gaussians, whose truth is known.

    python3 scripts/simulate_overlap.py

With probability 0.65 a row is N((0, 0), I), otherwise N((2, 2), I). Nothing but the standard library; seed 1.
"""

import pathlib
import random

SEED, ROWS, WEIGHT, SEPARATION = 1, 1000, 0.65, 2.0


def main():
    rng = random.Random(SEED)
    lines = ["x1,x2"]
    for _ in range(ROWS):
        centre = 0.0 if rng.random() < WEIGHT else SEPARATION
        lines.append(",".join(f"{centre + rng.gauss(0.0, 1.0):.6f}" for _ in range(2)))
    path = pathlib.Path(__file__).resolve().parent.parent / "docs" / "data" / "overlap.csv"
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
