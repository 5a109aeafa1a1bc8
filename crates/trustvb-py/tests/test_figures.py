"""Figures: what is drawn, not how it looks."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import trustvb
from matplotlib.axes import Axes
from trustvb import _plot


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_coverage(table):
    ax = table.plot_coverage("pi[1]")
    assert isinstance(ax, Axes) and ax.get_xscale() == "log"
    labels = ax.get_legend_handles_labels()[1]
    assert set(labels) == {"vb", "tvb"}, "balanced has no curve"
    line = next(line for line in ax.lines if line.get_label() == "tvb")
    assert line.get_color() == _plot.METHODS["tvb"][0] == "#d55e00"
    np.testing.assert_array_equal(line.get_xdata(), table.omegas)
    assert ax.get_title(loc="left") == "pi[1]"


def test_density(table):
    _, ax = plt.subplots()
    assert table.plot_density("mu[1,x1]", method=["vb", "anchored"], ax=ax) is ax
    labels = ax.get_legend_handles_labels()[1]
    assert labels[0] == "vb, ω = 1" and labels[1].startswith("anchored, ω = 0.")
    frame = table.intervals("mu[1,x1]", method=["vb", "anchored"])
    bars = [
        line.get_xdata()
        for line in ax.lines
        if len(line.get_xdata()) == 2 and line.get_linewidth() > 2
    ]
    np.testing.assert_array_equal(bars, frame[["lower", "upper"]])


def test_percentiles_have_an_interval_and_no_density(table):
    ax = table.plot_density("pi[1]", method=["vb", "bootstrap"])
    assert ax.get_legend_handles_labels()[1] == ["vb, ω = 1", "bootstrap"]
    ax = table.plot_density("pi[1]")
    assert ax.get_legend_handles_labels()[1][:2] == ["balanced", "vb, ω = 1"]
    table.plot_coverage("pi[1]", method=["anchored", "bootstrap", "balanced"])


def test_stretched_laws(table):
    ax = table.plot_density("pi[1]", method=["vb", "tempered", "jackknife"])
    widths = [np.ptp(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 200]
    assert len(widths) == 3 and widths[1] > 1.2 * widths[0]
    ax = table.plot_coverage("pi[1]", method=["vb", "tempered"])
    assert "tempered" in ax.get_legend_handles_labels()[1]


def test_clusters(table, groups):
    ax = table.plot_clusters()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x1", "x2")
    assert sum(len(c.get_offsets()) for c in ax.collections) == 1000
    regression = trustvb.MixtureRegression().fit("y ~ x | who", groups)
    ax = regression.table("vb").plot_clusters()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    assert sum(len(c.get_offsets()) for c in ax.collections) == 480


def test_callables_and_own_fitters(table):
    ax = table.plot_coverage(lambda d: d["pi"][:, 0], method="anchored", draws=100)
    assert ax.get_title(loc="left") == "h1"
    table.plot_density(lambda d: d["pi"][:, 0], method="vb", draws=100)
    z = np.random.default_rng(0).standard_normal(300)
    result = trustvb.calibrate(
        lambda x, w, o, s: w @ x / w.sum() + z / np.sqrt(o * w.sum()),
        np.arange(60.0) / 20,
        {"mean": lambda d: d},
        bootstraps=200,
        grid=8,
    )
    assert isinstance(result.plot_coverage(), Axes) and isinstance(
        result.plot_density("mean"), Axes
    )
    at_one = trustvb.calibrate(
        lambda x, w, o, s: w @ x / w.sum() + z / np.sqrt(o * w.sum()),
        np.arange(60.0) / 20,
        {"mean": lambda d: d},
        method=["recommended", "tempered"],
        bootstraps=200,
    )
    assert at_one.plot_coverage().get_legend_handles_labels()[1] == ["tempered"]
    assert at_one.plot_density().get_legend_handles_labels()[1][0] == "balanced"


def test_colours_are_those_of_the_commands_figures():
    """The theme of trustvb-report names them."""
    from conftest import ROOT

    theme = (ROOT / "crates/trustvb-report/src/figures/theme.rs").read_text()
    for colour, _, _ in _plot.METHODS.values():
        assert f'"{colour}"' in theme
    for colour in (*_plot.COMPONENTS, _plot.TEXT, _plot.MUTED, _plot.AXIS, _plot.GRID):
        assert f'"{colour}"' in theme
