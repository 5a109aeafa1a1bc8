"""The gallery runs, and its figures are the committed ones' successors."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT

GALLERY = ROOT / "crates" / "trustvb-py" / "gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))


#: Figures of scripts that draw others than one by their own name.
FIGURES = {
    "numpyro_models": [f"numpyro_{m}" for m in ("logistic", "poisson", "hierarchical", "factor")]
}


def test_there_are_five():
    assert len(SCRIPTS) == 5
    drawn = {name for script in SCRIPTS for name in FIGURES.get(script.stem, [script.stem])}
    assert {path.stem for path in (ROOT / "docs" / "gallery").glob("*.png")} == drawn


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_it_runs(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-W", "ignore:prior-shifts", script, tmp_path],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "estimate" in done.stdout
    for name in FIGURES.get(script.stem, [script.stem]):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
