"""What the tests share: the command, data, and small tables."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import trustvb

ROOT = Path(__file__).resolve().parents[3]

#: Methods that read the grid of both designs, beside those that are usual.
EVERY = ["recommended", "vb", "tvb", "anchored"]


def run_command(*words: str | os.PathLike[str], cwd: Path | None = None) -> str:
    """Runs the `trustvb` command; `cargo xtask test` says where it is."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = os.environ.get("TRUSTVB_COMMAND", str(ROOT / folder / "release" / "trustvb"))
    done = subprocess.run(
        [command, *map(os.fspath, words)], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_exactly(path: Path) -> pd.DataFrame:
    """A CSV file with every number as its text says, to the last bit."""
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    columns = zip(*rows, strict=True)

    def numbers(values):
        try:
            return [float(x) for x in values]
        except ValueError:
            return values

    return pd.DataFrame({n: numbers(c) for n, c in zip(header, columns, strict=True)})


@pytest.fixture(scope="session")
def command():
    return run_command


@pytest.fixture(scope="session")
def json_of():
    return lambda *words: json.loads(run_command(*words, "--format", "json", "--quiet"))


@pytest.fixture(scope="session")
def faithful() -> pd.DataFrame:
    return trustvb.load_faithful()


@pytest.fixture(scope="session")
def overlap() -> pd.DataFrame:
    return read_exactly(ROOT / "docs" / "data" / "overlap.csv")


@pytest.fixture(scope="session")
def overlap_path() -> Path:
    return ROOT / "docs" / "data" / "overlap.csv"


@pytest.fixture(scope="session")
def model(overlap):
    return trustvb.GaussianMixture(2, random_state=7).fit(overlap)


@pytest.fixture(scope="session")
def table(model):
    """A small one, with both designs."""
    return model.table(EVERY, grid=20, bootstraps=200, omega_min=0.01)


@pytest.fixture(scope="session")
def groups() -> pd.DataFrame:
    """Two regressions, 60 groups of 8 rows."""
    rng = np.random.default_rng(3)
    component = np.repeat(rng.random(60) < 0.65, 8)
    x = rng.normal(size=480)
    y = np.where(component, 1.0 + 2.0 * x, -1.0 - 0.5 * x) + rng.normal(size=480)
    who = np.repeat([f"g{i}" for i in range(60)], 8)
    return pd.DataFrame({"y": y, "x": x, "who": who})
