"""Studies from Python: the command's numbers, and what is said when something is wrong."""

from __future__ import annotations

import csv
import doctest
import io
import json
import subprocess
import sys

import numpy as np
import pytest
import trustvb

SMALL = dict(only="sep3/n=300", replications=12, bootstraps=30, grid=15, seed=4)
WORDS = ["--only", "sep3/n=300", "--replications", "12", "-B", "30", "--grid", "15", "--seed", "4"]


def test_the_summary_is_the_commands(command, tmp_path):
    ours = trustvb.run_study("section3", tmp_path / "ours.study", **SMALL)
    theirs = command(
        "study", "section3", *WORDS, "-o", tmp_path / "t.study", "--format", "csv", "--quiet"
    )
    header, *rows = csv.reader(io.StringIO(theirs))
    assert list(ours.columns) == header
    for name, column in zip(header, zip(*rows, strict=True), strict=True):
        if name == "seconds":
            continue
        if ours[name].dtype.kind in "if":
            expected = np.array([float(x) if x else np.nan for x in column])
            np.testing.assert_array_equal(ours[name].to_numpy(), expected, err_msg=name)
        else:
            assert list(ours[name]) == list(column), name
    for name in ("manifest.json", "study.toml", "replications.parquet"):
        ours_too, theirs_too = tmp_path / "ours.study" / name, tmp_path / "t.study" / name
        assert ours_too.read_bytes() == theirs_too.read_bytes(), name
    again = trustvb.study_summary(tmp_path / "t.study", frame="dict")
    assert list(again["coverage"]) == list(ours.coverage)
    # The study in a folder is the study to go on with.
    same = trustvb.run_study(tmp_path / "ours.study")
    assert same.equals(ours)


def test_a_study_as_a_dict(tmp_path):
    study = {
        "title": "mine",
        "replications": 3,
        "bootstraps": 20,
        "grid": 5,
        "methods": ["vb", "anchored"],
        "quantities": ["pi[1]"],
        "design": [{"name": "a", "simulate": {"model": "gmm", "n": 100, "separation": 3.0}}],
    }
    told = []
    summary = trustvb.run_study(study, method="vb", progress=lambda *now: told.append(now))
    assert list(summary.method) == ["vb"] and list(summary.replications) == [3]
    assert told == sorted(told)
    with pytest.raises(ValueError, match="replicatoins"):
        trustvb.run_study({**study, "replicatoins": 3})
    with pytest.raises(ValueError, match="quantities"):
        trustvb.run_study({**study, "quantities": []})


def test_what_is_wrong_is_told(tmp_path):
    with pytest.raises(ValueError, match="there is no study nothing, neither built in"):
        trustvb.run_study("nothing")
    with pytest.raises(ValueError, match=r"no cell is named sep9; there are sep"):
        trustvb.run_study("section3", only="sep9")
    with pytest.raises(ValueError, match="there is no method `magic`"):
        trustvb.run_study("section3", method="magic")
    with pytest.raises(ValueError, match="scale=0"):
        trustvb.run_study("section3", scale=0)
    with pytest.raises(TypeError, match="replicatoins"):
        trustvb.run_study("section3", replicatoins=3)
    with pytest.raises(trustvb.TrustvbError, match=r"run_study\(NAME, path=FOLDER\)"):
        trustvb.study_summary(tmp_path)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(trustvb.TrustvbError, match=r"holds `mine.txt`.*give another folder"):
        trustvb.run_study("section3", tmp_path, **SMALL)
    trustvb.run_study("section3", tmp_path / "s", **{**SMALL, "replications": 1})
    with pytest.raises(trustvb.TrustvbError, match=r"its study\.replications is 1, here"):
        trustvb.run_study("section3", tmp_path / "s", **{**SMALL, "replications": 2})


def test_the_examples_in_its_words_run():
    from trustvb import _study

    assert doctest.testmod(_study).failed == 0


def test_without_dask_the_remedy_is_told():
    """Whatever is installed here."""
    script = """
import sys
sys.modules["dask"] = sys.modules["distributed"] = None
import trustvb
try:
    import trustvb.distributed
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "pip install 'trustvb[dask]'" in done.stdout


def test_a_study_is_pickled_as_its_file():
    import pickle

    from trustvb import _native

    study = _native.Study.read("hard", json.dumps({"seed": 3}))
    assert pickle.loads(pickle.dumps(study)).toml == study.toml
