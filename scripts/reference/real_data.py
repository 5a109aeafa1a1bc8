"""Fits of scikit-learn's BayesianGaussianMixture, with its own defaults, to the data sets of tests/real_data.rs.

Writes crates/trustvb/tests/fixtures/real_data.json. Run it with `cargo xtask fixtures`.
"""

import csv
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.mixture import BayesianGaussianMixture

ROOT = Path(__file__).resolve().parents[2] / "crates" / "trustvb"
SETS = [
    ("iris", ROOT / "tests/fixtures/iris.csv", 2),
    ("iris", ROOT / "tests/fixtures/iris.csv", 3),
    ("wine", ROOT / "tests/fixtures/wine.csv", 3),
    ("faithful", ROOT / "data/faithful.csv", 2),
]


def rows(path: Path) -> np.ndarray:
    """All rows of a file with a header."""
    with path.open(newline="") as file:
        return np.array([[float(x) for x in row] for row in list(csv.reader(file))[1:]])


def fit(name: str, path: Path, components: int) -> dict[str, object]:
    """One fit: ten starts, everything else as scikit-learn has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianGaussianMixture(n_components=components, n_init=10, max_iter=1000, random_state=0)
        model.fit(rows(path))
    return {
        "data": name,
        "components": components,
        "weights": model.weights_.tolist(),
        "means": model.means_.tolist(),
        "covariances": model.covariances_.tolist(),
    }


def main() -> None:
    """Writes the fixture."""
    fits = [fit(*one) for one in SETS]
    note = f"BayesianGaussianMixture of scikit-learn {sklearn.__version__}: scripts/reference/real_data.py"
    text = json.dumps({"note": note, "fits": fits}, indent=1)
    (ROOT / "tests/fixtures/real_data.json").write_text(text + "\n")
    sys.stdout.write(f"{len(fits)} fits\n")


if __name__ == "__main__":
    main()
