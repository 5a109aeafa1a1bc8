"""One answer per quantity: its columns, its verdict, how it is shown, and what is built for it."""

from __future__ import annotations

import json
import warnings
from html.parser import HTMLParser

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
import trustvb
from trustvb import _answer, _native, _show

COLUMNS = [
    *("functional", "level", "estimate", "lower", "upper", "vb_lower", "vb_upper"),
    *("vb_coverage", "vb_coverage_se", "verdict", "method", "warnings"),
]


def test_one_row_per_quantity(table):
    frame = table.intervals(["pi[1]", "mu[1,] - mu[2,]"], level=[0.9, 0.95])
    assert isinstance(frame, pd.DataFrame) and list(frame.columns) == COLUMNS
    assert len(frame) == 6 and set(frame.method) == {"balanced"}
    long = table.compare(["pi[1]", "mu[1,] - mu[2,]"], level=[0.9, 0.95], method=["vb", "balanced"])
    for method, names in (
        ("balanced", {"lower": "lower", "upper": "upper", "estimate": "estimate"}),
        ("vb", {"vb_lower": "lower", "vb_upper": "upper", "vb_coverage": "coverage"}),
    ):
        rows = long[long.method == method]
        for ours, theirs in names.items():
            np.testing.assert_array_equal(frame[ours], rows[theirs])
    named = table.intervals("pi[1]", method="recommended")
    assert "omega" in named and list(named.method) == ["balanced"], "methods that are named"


def test_the_coverage_is_the_share_of_bootstraps_whose_interval_holds_the_estimate(table):
    """Counted from the fits themselves: VB's law of a weight is a Beta."""
    from scipy.stats import beta

    fits = table.to_arrow().to_pandas()
    fits = fits[(fits.design == "full") & (fits.omega == 1)]
    a, b = fits["pi.alpha[1]"].to_numpy(), fits["pi.alpha[2]"].to_numpy()
    row = table.intervals("pi[1]", level=0.9).iloc[0]
    assert row.estimate == pytest.approx(a[0] / (a[0] + b[0]))
    lower, upper = beta.ppf([[0.05], [0.95]], a[1:], b[1:])
    held = (lower <= row.estimate) & (row.estimate <= upper)
    assert row.vb_coverage == held.mean() and len(held) == 200
    assert row.vb_coverage_se == pytest.approx(np.sqrt(held.mean() * (1 - held.mean()) / 200))
    np.testing.assert_allclose(
        [row.vb_lower, row.vb_upper], beta.ppf([0.05, 0.95], a[0], b[0]), rtol=1e-9
    )


@pytest.mark.parametrize(
    ("coverage", "se", "level", "bootstraps", "verdict"),
    [
        (0.69, 0.02, 0.95, 500, "VB is too short"),
        (0.94, 0.0106, 0.95, 500, "VB is fine"),
        (0.99, 0.0044, 0.95, 500, "VB is too long"),
        (1.0, 0.0, 0.95, 500, "VB is too long"),
        # Ten of ten are no surprise at 95%, although the estimated error is 0.
        (1.0, 0.0, 0.95, 10, "VB is fine"),
        (0.91, 0.04, 0.95, 50, "VB may be too short"),
        (1.0, 0.0, 0.99, 200, "VB is fine"),
        (np.nan, np.nan, 0.95, 500, "VB was not checked"),
    ],
)
def test_verdicts(coverage, se, level, bootstraps, verdict):
    assert _native.verdict(0.0, 1.0, coverage, se, level, bootstraps) == verdict


@pytest.mark.filterwarnings("ignore:undefined:trustvb.CalibrationWarning")
def test_quantities_without_an_interval_and_without_a_spread(table):
    frame = table.intervals(["pi[1]", "log(mu[1,x2])", "0 * pi[1] + 2"])
    # Nothing misses a constant, which says nothing.
    assert list(frame.verdict) == ["VB is too short", "no interval", "VB was not checked"]
    assert list(frame.warnings) == ["", "undefined", ""] and frame.lower.isna().tolist()[1]
    assert " ".join(repr(frame).split()).startswith(
        "VB's 95% interval is too short for the only quantity that has one: it covers 6"
    )
    assert repr(table.intervals("log(mu[1,x2])")).startswith("No quantity has an interval.")


def test_a_posterior_that_is_too_wide_is_called_so():
    z = np.random.default_rng(0).standard_normal(400)
    x = np.random.default_rng(1).normal(size=200)
    found = trustvb.calibrate(
        lambda d, w, o, s: w @ d / w.sum() + 3 * z / np.sqrt(o * w.sum()), x, lambda d: d
    ).intervals()
    assert list(found.verdict) == ["VB is too long"]
    assert "VB's 95% interval is longer than it need be: it covers 100%." in repr(found)


def test_column_names_appear_where_nobody_typed_a_name(faithful):
    model = trustvb.GaussianMixture(2).fit(faithful)
    answers = model.intervals()
    assert list(answers.functional) == [
        *("pi[1]", "pi[2]", "mu[1,eruptions]", "mu[1,waiting]"),
        *("mu[2,eruptions]", "mu[2,waiting]"),
    ]
    assert list(model.intervals("mu[1,2]").functional) == ["mu[1,2]"], "as typed"
    # They can be asked again by these names.
    again = model.intervals(list(answers.functional))
    pd.testing.assert_frame_equal(answers, again)


def test_other_frames(table):
    asked = table.intervals("pi[1]")
    assert isinstance(table.intervals("pi[1]", frame="polars"), pl.DataFrame)
    columns = table.intervals("pi[1]", frame="dict")
    assert list(columns) == COLUMNS and columns["vb_lower"] == [asked.vb_lower[0]]


def lines_of(text: str) -> list[str]:
    lines = text.split("\n")
    assert all(len(line) <= 80 for line in lines), max(lines, key=len)
    return lines


def test_it_prints_within_80_characters(table):
    frame = table.intervals()
    lines = lines_of(repr(frame))
    assert lines[0].startswith("VB's 95% intervals are too short for all 6 quantities: they cover")
    assert lines[2].endswith("  VB covers") and "use this 95% interval" in lines[2]
    assert len(lines) == 9 and lines[3].startswith("pi[1] ") and "too short" in lines[3]
    assert "0.646" in lines[3] and str(frame) == repr(frame)
    long = "max(mu[1,x1], mu[1,x2]) + mu[2,x1] * pi[1] + pi[2] * sigma[1,1,1] - mu[2,x2] * sd[1,x2]"
    lines_of(repr(table.intervals(["pi[1]", long, "1e9 * mu[1,1]", "1e-9 * pi[1]"], draws=50)))
    lines_of(repr(table.compare(["pi[1]", long], level=[0.5, 0.95], method=["vb", "tempered"])))
    lines_of(repr(table))
    with pd.option_context("display.max_rows", 2):
        assert "… and 4 more rows" in repr(frame)


def test_what_is_no_answer_any_more_prints_as_pandas_has_it(table):
    frame = table.intervals()
    assert repr(frame[["estimate", "lower"]]) == repr(pd.DataFrame(frame)[["estimate", "lower"]])
    assert repr(frame.head(2)).startswith("VB's 95%"), "rows of it are"
    assert "verdict" in repr(frame.set_index("functional")) and "upper" in repr(frame.iloc[:0])
    assert frame.groupby("verdict").estimate.mean().shape == (1,)
    pd.testing.assert_frame_equal(pd.concat([frame[:3], frame[3:]]), frame)


class _Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.rows, self.text = 0, ""

    def handle_starttag(self, tag, attrs):
        if tag not in ("line", "circle"):
            self.open.append(tag)
        self.rows += tag == "tr"

    def handle_endtag(self, tag):
        if tag not in ("line", "circle"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_html(table):
    page = _Text()
    page.feed(table.intervals(["pi[1]", "min(pi[1], 1 < 2)"][:1])._repr_html_())
    assert page.open == [] and page.rows == 2 and "too short" in page.text
    named = table.intervals({"<b>": lambda d: d["pi"][:, 0]}, draws=50)
    assert "<code>&lt;b&gt;</code>" in named._repr_html_()
    page = _Text()
    page.feed(table.summary(level=[0.5, 0.95])._repr_html_())
    assert page.open == [] and page.rows == 14 and "1000 units" in page.text
    assert "<table" in table.compare("pi[1]", method="vb")._repr_html_()


def test_summary(table, model):
    lines = lines_of(str(table.summary("pi[1]")))
    assert lines[0] == "gmm with 2 components, 1000 units, 200 bootstraps of all units, seed 7"
    assert lines[1] == repr(table.intervals("pi[1]")).split("\n")[0]
    assert "pi[1]" in str(model.summary("pi[1]", bootstraps=200))


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_a_figure_of_both_intervals(table, model):
    ax = table.plot_intervals()
    assert [t.get_text() for t in ax.get_yticklabels()] == list(table.intervals().functional)
    bars = [line for line in ax.lines if len(line.get_xdata()) == 2]
    own, use = bars[0].get_xdata(), bars[1].get_xdata()
    row = table.intervals().iloc[0]
    # On a scale of half-lengths of the interval to use.
    assert np.ptp(use) == pytest.approx(2)
    assert np.ptp(own) / np.ptp(use) == pytest.approx(
        (row.vb_upper - row.vb_lower) / (row.upper - row.lower)
    )
    assert any("VB covers 6" in t.get_text() for t in ax.texts)
    with pytest.warns(trustvb.CalibrationWarning, match="few-bootstraps"):
        assert model.plot_intervals("pi[1]", bootstraps=50, ax=ax) is ax
    plt.close("all")


def test_each_warning_is_given_once(model):
    small = model.table("recommended", bootstraps=30)
    with pytest.warns(trustvb.CalibrationWarning) as caught:
        frame = small.intervals()
    texts = [str(w.message) for w in caught]
    assert len(texts) == len({t.split(":")[0] for t in texts})
    (few,) = [t for t in texts if t.startswith("few-bootstraps")]
    assert few.endswith("(all 6 quantities)")
    assert _answer.listed(["a", "b", "c", "d", "e", "a"], of=9) == "a, b, c, d and 1 more"
    assert set(frame.warnings) == {"few-bootstraps"}
    # The frame's own column, which pandas' attributes do not hide; `flags` is taken there.
    assert isinstance(frame.warnings, pd.Series) and not isinstance(frame.flags, pd.Series)
    assert "! few-bootstraps: only 30 bootstraps" in repr(frame)


def test_sentences_that_differ_in_numbers_are_one():
    said = [
        f"the prior has moved it by {n}% of component {k}" for n, k in ((12, 1), (34, 3), (20, 3))
    ]
    rows = [{"flags": (["moved"], [sentence], [True])} for sentence in said]
    ((name, sentence, carrying),) = _answer.warnings_of(rows)
    assert (name, len(carrying)) == ("moved", 3)
    assert sentence == "the prior has moved it by 12–34% of component 1, 3"
    assert _native.merged_sentences(["a 1", "b 2", "a 3"]) == [("a 1–3", [0, 2]), ("b 2", [1])]


def test_numbers_are_written_as_their_interval_deserves():
    row = {"estimate": 54.4912, "lower": 53.23, "upper": 55.7}
    assert _show.writer(row)(54.4912) == "54.49"
    assert _show.writer({**row, "upper": 5000.0})(54.4912) == "54"
    assert _show.writer(row)(np.nan) == "–"
    constant = {"estimate": 2.0, "lower": 2.0, "upper": 2.0}
    assert _show.writer(constant)(2.0) == "2"


def counting(model, monkeypatch) -> list[int]:
    """The number of fits that the model makes for each table it builds."""
    built = []
    table = type(model).table

    def counted(self, *args, **kwargs):
        made = table(self, *args, **kwargs)
        built.append(made._native.n_made)
        return made

    monkeypatch.setattr(type(model), "table", counted)
    return built


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_a_grid_is_built_once_and_only_when_it_is_needed(overlap, monkeypatch):
    model = trustvb.GaussianMixture(2).fit(overlap)
    built = counting(model, monkeypatch)
    options = dict(bootstraps=50, grid=6, omega_min=0.1)
    first = model.intervals(**options)
    assert built == [51], "ω = 1 alone"
    model.intervals(["pi[1]"], method=["tempered", "bootstrap", "vb"], **options)
    assert built == [51], "they need nothing else"
    model.intervals(method="anchored", **options)
    model.intervals(method="gpc", **options)
    assert built == [51, 5 * 51], "those at ω = 1 are not made again"
    pd.testing.assert_frame_equal(model.intervals(**options), first)
    assert built == [51, 5 * 51] and len(model._tables) == 1, "the first is held no longer"
    model.compare(**options)
    assert built[2:] == [6 * 51], "tvb needs half samples too, and nothing else"
    model.intervals(method="anchored", **options)
    assert len(built) == 3
    model.intervals(bootstraps=50, grid=9)
    assert len(built) == 3, "no grid is looked at"
    model.intervals(bootstraps=60)
    assert built[3:] == [10], "what has a grid has the first of it, too"
    model.intervals(bootstraps=80)
    assert built[4:] == [20], "only those that were not there"


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_answers_do_not_depend_on_what_was_asked_before(overlap):
    options = dict(bootstraps=50, grid=6, omega_min=0.1)
    questions = [
        "vb",
        "jackknife",
        "analytic",
        "balanced",
        "tvb",
        "anchored",
        ["tempered", "jackknife"],
    ]
    model = trustvb.GaussianMixture(2).fit(overlap)
    model.intervals(**options)
    model.intervals(method="anchored", **options)
    model.compare(**options)
    for method in questions:
        alone = trustvb.GaussianMixture(2).fit(overlap)
        pd.testing.assert_frame_equal(
            model.intervals("pi[1]", method=method, **options),
            alone.intervals("pi[1]", method=method, **options),
            check_exact=True,
        )


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_tables_that_cannot_give_the_answer_say_so(model):
    with pytest.raises(ValueError, match="no resamples, so there is only VB's own interval"):
        model.table("vb").intervals("pi[1]")
    halves = model.table("tvb", bootstraps=200, grid=10, omega_min=0.05)
    frame = halves.intervals("pi[1]")
    assert list(frame.method) == ["tvb"] and list(frame.verdict) == ["VB was not checked"]
    assert "95% interval by tvb" in repr(frame) and "use this" not in repr(frame)


def test_analytic_has_no_monte_carlo_error(model):
    row = model.intervals("pi[1]", method="analytic").iloc[0]
    assert np.isfinite(row.coverage) and np.isnan(row.coverage_se)


def test_a_table_of_an_older_format_is_read_with_a_warning(model, tmp_path):
    path = tmp_path / "old.tvb"
    model.table("recommended", bootstraps=20, path=path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trustvb.open_table(path)
    # Format 2 is format 3 without the hash, to which parts were not bound.
    for part in (path / "parts").iterdir():
        pq.write_table(pq.read_table(part).replace_schema_metadata(None), part)
    manifest = json.loads((path / "manifest.json").read_text())
    del manifest["hash"]
    manifest["schema"] = 2
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.warns(
        UserWarning, match=r"old\.tvb was written in format 2, .* not checked"
    ) as caught:
        table = trustvb.open_table(path)
    assert caught[0].filename == __file__
    assert table.manifest["replicates"]["full"] == 20
