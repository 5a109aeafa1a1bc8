"""The gallery runs, and its figures are the committed ones' successors."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT

GALLERY = ROOT / "crates" / "trustvb-py" / "gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))


def test_there_are_five():
    assert len(SCRIPTS) == 5
    for script in SCRIPTS:
        assert (ROOT / "docs" / "gallery" / f"{script.stem}.png").exists()


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
    assert (tmp_path / f"{script.stem}.png").read_bytes().startswith(b"\x89PNG")
