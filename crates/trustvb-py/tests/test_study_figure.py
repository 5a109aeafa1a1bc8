"""Figures of studies: what is drawn, from summaries of both kinds."""

from __future__ import annotations

import io

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import trustvb
from matplotlib.axes import Axes
from test_outside import half_as_wide
from trustvb import _plot


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def study():
    return trustvb.study_of(
        half_as_wide,
        lambda rng: rng.normal(3, 1, 60),
        {"mean": 3.0, "tenfold": 30.0},
        {"mean": lambda d: d, "tenfold": lambda d: 10 * d},
        level=[0.9, 0.5],
        method=["recommended", "tempered"],
        replications=12,
        bootstraps=200,
    )


def lines(ax: Axes, method: str) -> list[tuple[np.ndarray, np.ndarray]]:
    colour = _plot.METHODS[method][0]
    found = [line for line in ax.lines if line.get_color() == colour]
    return [(line.get_xdata(), line.get_ydata()) for line in found]


def test_coverage(study):
    _, ax = plt.subplots()
    assert trustvb.plot_study(study, ax=ax) is ax
    assert [label.get_text() for label in ax.get_xticklabels()] == ["mean", "tenfold"]
    assert ax.get_legend_handles_labels()[1] == ["balanced", "tempered", "vb"]
    assert ax.get_title(loc="left") == "How often 90% intervals hold the truth"
    assert ax.get_ylabel() == "coverage, 12 data sets"
    rows = study[(study.level == 0.9) & (study.method == "tempered")]
    bars = [y for _, y in lines(ax, "tempered") if len(y) == 2]
    np.testing.assert_array_equal(bars, rows[["coverage_low", "coverage_high"]])
    dots = [y[0] for _, y in lines(ax, "tempered") if len(y) == 1]
    np.testing.assert_array_equal(dots, rows.coverage)
    # Methods of a quantity stand beside each other, in its place.
    places = [x[0] for method in ("balanced", "tempered", "vb") for x, _ in lines(ax, method)[:1]]
    assert -0.5 < places[0] < places[1] < places[2] < 0.5


def test_lengths_have_no_units(study):
    ax = trustvb.plot_study(study, "length", level=0.5)
    own = study[(study.level == 0.5) & (study.method == "vb")]
    medians = [y[0] for x, y in lines(ax, "vb") if x[0] < x[1]]
    np.testing.assert_allclose(medians, own.length_median / own.length)
    assert medians[0] == pytest.approx(medians[1]), "ten times as much is as long"
    longer = [y[0] for x, y in lines(ax, "balanced") if x[0] < x[1]]
    assert longer[0] == pytest.approx(2, rel=0.3), "VB is half as wide as it should be"


def test_five_numbers_are_those_of_the_data_sets(study):
    rows = study[study.method == "tempered"]
    numbers = rows[[f"length_{name}" for name in ("p5", "q1", "median", "q3", "p95")]].to_numpy()
    assert (np.diff(numbers) >= 0).all()
    # A law that is stretched by 1/√ω is as long as that; VB's own has one length in all data sets.
    own = study[study.method == "vb"].length.to_numpy()
    np.testing.assert_allclose(rows.omega_median**-0.5 * own, rows.length_median, rtol=0.02)
    assert study[study.method == "balanced"].omega_median.isna().all()
    ax = trustvb.plot_study(study, "omega")
    assert ax.get_yscale() == "log" and ax.get_legend_handles_labels()[1] == ["tempered"]


def test_files_and_other_frames(study):
    text = io.StringIO(study.to_csv(index=False))
    again = trustvb.plot_study(pd.read_csv(text), method="vb")
    assert again.get_legend_handles_labels()[1] == ["vb"]
    assert isinstance(trustvb.plot_study(study.to_dict("list")), Axes)
    polars = pytest.importorskip("polars")
    assert isinstance(trustvb.plot_study(polars.DataFrame(study.to_dict("list"))), Axes)


def test_studies_of_the_librarys_models():
    asked = dict(replications=3, bootstraps=20, grid=5, method=["vb", "anchored"])
    several = trustvb.run_study("section3", only="sep3/*", quantities="pi[1]", **asked)
    ax = trustvb.plot_study(several)
    cells = list(dict.fromkeys(several.cell))
    assert [label.get_text() for label in ax.get_xticklabels()] == cells and len(cells) > 1
    assert isinstance(trustvb.plot_study(several, "omega"), Axes)
    with pytest.raises(ValueError, match="no quartiles of lengths; `trustvb study FOLDER`"):
        trustvb.plot_study(several, "length")


def test_wrong_calls(study):
    with pytest.raises(ValueError, match="show='score' is not one of 'coverage'"):
        trustvb.plot_study(study, "score")
    with pytest.raises(ValueError, match=r"has no level 0\.95"):
        trustvb.plot_study(study, level=0.95)
    with pytest.raises(ValueError, match="no method 'tvb'; there are balanced, tempered, vb"):
        trustvb.plot_study(study, method="tvb")
    with pytest.raises(ValueError, match="none of vb chooses an ω"):
        trustvb.plot_study(study, "omega", method="vb")
    for wrong in (pd.DataFrame({"x": [1]}), 3, study[:0]):
        with pytest.raises(ValueError, match="that is no summary of a study"):
            trustvb.plot_study(wrong)
