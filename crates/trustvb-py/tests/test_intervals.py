"""Intervals, curves, callables, flags, frames."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import trustvb


def test_a_frame_with_a_row_per_quantity_method_and_level(table):
    frame = table.intervals(["pi[1]", "mu[1,] - mu[2,]"], level=[0.9, 0.95], method="tempered")
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == [
        *("functional", "method", "level", "omega", "estimate", "lower", "upper"),
        *("coverage", "coverage_se", "warnings", "recommended", "remarks"),
    ]
    assert list(frame.functional) == [
        *("pi[1]",) * 2,
        *("mu[1,] - mu[2,] [x1]",) * 2,
        *("mu[1,] - mu[2,] [x2]",) * 2,
    ]
    assert (frame.lower < frame.estimate).all() and (frame.estimate < frame.upper).all()
    wide = frame[frame.level == 0.95].reset_index()
    narrow = frame[frame.level == 0.9].reset_index()
    assert (wide.upper - wide.lower > narrow.upper - narrow.lower).all()


def test_other_frames(table):
    asked = dict(h="pi[1]", method="anchored")
    pandas = table.intervals(**asked)
    polars = table.intervals(**asked, frame="polars")
    assert isinstance(polars, pl.DataFrame) and polars["lower"][0] == pandas.lower[0]
    assert isinstance(table.intervals(**asked, frame="arrow"), pa.Table)
    assert table.intervals(**asked, frame="dict")["upper"] == [pandas.upper[0]]
    with pytest.raises(ValueError, match="frame='xarray'"):
        table.intervals(**asked, frame="xarray")


def test_calibration_lengthens_what_overlaps(table):
    frame = table.intervals("pi[1]", method=["vb", "anchored"]).set_index("method")
    length = frame.upper - frame.lower
    assert length["anchored"] > 1.5 * length["vb"]
    assert frame.coverage["vb"] < 0.8


# At small ω the prior takes over, and the curve of `tvb` falls again: that is said, and rightly.
@pytest.mark.filterwarnings("ignore:not-monotone:trustvb.CalibrationWarning")
# With few bootstraps the paper's method takes a small ω here, at which components come and go: that is said.
@pytest.mark.filterwarnings(
    "ignore:not-monotone:trustvb.CalibrationWarning",
    "ignore:components-unstable:trustvb.CalibrationWarning",
)
def test_the_recommended_comes_first_and_is_marked(table, model):
    frame = table.compare("pi[1]")
    assert list(frame.method) == ["balanced", "vb", "tvb"]
    assert frame.recommended.dtype == bool and list(frame.recommended) == [True, False, False]
    frame = table.intervals("pi[1]", method=["vb", "recommended", "balanced"])
    assert list(frame.method) == ["balanced", "vb"]
    # Nothing but ω = 1 is looked at, so nothing else is fitted.
    small = model.table(["recommended", "tempered"], bootstraps=200)
    assert list(small.omegas) == [1.0]
    again = small.intervals("pi[1]", method="recommended")
    pd.testing.assert_frame_equal(again, frame[:1])


def test_stretched_draws_and_densities_have_the_interval(table):
    """Draws and density of `tempered` agree with its interval, on either side of the grid."""
    for h, scale in (("pi[1]", "unit"), ("mu[1,1]", "real"), ("sigma[1,1,1]", "positive")):
        row = table.intervals(h, method="tempered").iloc[0]
        (_, draws), *_ = table._native.sample([h], row.omega, 20_000, True)
        limits = np.quantile(draws, [0.025, 0.975])
        # The standard error of a quantile of 20,000 draws is below 1% of the length.
        np.testing.assert_allclose(
            limits, [row.lower, row.upper], atol=0.03 * (row.upper - row.lower)
        )
        (_, plain), *_ = table._native.sample([h], 1.0, 20_000)
        moved = trustvb._native.tempered_draws(plain, row.estimate, row.omega, scale)
        np.testing.assert_allclose(moved, draws, rtol=1e-12)
        x, y = table._native.density(h, row.omega, 2001, 500, True)
        assert np.trapezoid(y, x) == pytest.approx(0.999, abs=1e-3)
        inside = (x >= row.lower) & (x <= row.upper)
        assert np.trapezoid(y[inside], x[inside]) == pytest.approx(0.95, abs=0.003)
        flat, as_is = (
            table._native.density(h, 1.0, 50, 500, True),
            table._native.density(h, 1.0, 50, 500),
        )
        np.testing.assert_allclose(flat, as_is, rtol=1e-9)


def test_priors_in_part(overlap):
    tied = trustvb.GaussianMixture(2, prior={"loose": 0.0}).fit(overlap)
    usual = trustvb.GaussianMixture(2).fit(overlap)
    older = trustvb.GaussianMixture(2, prior={"base": "standardised"}).fit(overlap)
    assert len({m.lower_bound_ for m in (tied, usual, older)}) == 3
    with pytest.raises(ValueError, match="loose"):
        trustvb.GaussianMixture(2, prior={"loose": 1.0}).fit(overlap)


def test_the_model_builds_its_table_once(overlap):
    model = trustvb.GaussianMixture(2).fit(overlap)
    asked = dict(method="gpc", grid=8, bootstraps=200, omega_min=0.05)
    first = model.intervals("pi[1]", **asked)
    held = list(model._tables._tables)
    again = model.intervals("pi[1]", level=0.95, **asked)
    pd.testing.assert_frame_equal(first, again)
    assert model._tables._tables == held and len(held) == 1
    model.fit(overlap)
    assert len(model._tables) == 0


@pytest.mark.filterwarnings("ignore:methods-disagree:trustvb.CalibrationWarning")
def test_callables_are_as_good_as_texts(table):
    """The same quantity as a text that needs draws, and as a callable: the same evidence."""
    text = "min(mu[1,1], mu[2,1])"
    methods = ["vb", "tvb", "gpc", "anchored", "analytic"]
    by_text = table.intervals(text, method=methods)
    by_code = table.intervals(lambda d: d["mu"][:, :, 0].min(axis=1), method=methods)
    assert list(by_code.functional) == ["h1"] * 5
    others = ["functional", "warnings", "remarks"]
    pd.testing.assert_frame_equal(
        by_code.drop(columns=others), by_text.drop(columns=others), check_exact=True
    )


def test_a_callable_with_an_exact_law_agrees_with_it(table):
    exact = table.intervals("mu[1,1] - mu[1,2]", method="anchored", level=0.9)
    code = table.intervals(
        {"difference": lambda d: d["mu"][:, 0, 0] - d["mu"][:, 0, 1]}, method="anchored", level=0.9
    )
    assert code.functional[0] == "difference"
    length = float(exact.upper[0] - exact.lower[0])
    assert abs(code.lower[0] - exact.lower[0]) < 0.15 * length
    assert abs(code.upper[0] - exact.upper[0]) < 0.15 * length


def test_callables_see_batches_of_all_quantities(table):
    shapes = set()

    def correlation(d):
        shapes.add((d["pi"].shape, d["mu"].shape, d["sigma"].shape, d["sd"].shape))
        return d["cor"][:, 0, 0, 1]

    answer = table.intervals(correlation, method="vb", draws=100)
    assert answer.functional[0] == "correlation"
    assert {pi[0] for pi, *_ in shapes} == {1, 100, 1000}, "the mean, memberships, the interval"
    assert all(
        shape == ((n, 2), (n, 2, 2), (n, 2, 2, 2), (n, 2, 2))
        for shape in shapes
        for n in shape[0][:1]
    )


@pytest.mark.parametrize(
    ("h", "error", "message"),
    [
        (lambda d: d["mu"], ValueError, "one number for each draw"),
        (lambda d: d["pi"][:1, 0], ValueError, "one number for each draw"),
        (lambda d: d["beta"], KeyError, "there are pi, mu, sigma, sd, cor"),
        (lambda d: 1 / 0, ZeroDivisionError, "division"),
        ("pi[3]", ValueError, "pi"),
        ("mu[1,waitin]", ValueError, "waitin"),
        (3, TypeError, "int"),
    ],
)
@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_wrong_quantities(table, h, error, message):
    with pytest.raises(error, match=message):
        table.intervals(h, method="anchored", draws=50)


def test_wrong_questions(table, model):
    with pytest.raises(ValueError, match="level 95 is not between 0 and 1"):
        table.intervals("pi[1]", level=95)
    with pytest.raises(ValueError, match="no method `mcmc`; choose from vb, balanced"):
        table.intervals("pi[1]", method="mcmc")
    with pytest.raises(ValueError, match="bootstraps=0"):
        model.table(bootstraps=0)
    with pytest.raises(
        ValueError, match=r"a smallest ω of 1 leaves no room .* give a smaller omega_min"
    ):
        model.table(omega_min=1)
    only_full = model.table("anchored", grid=4, bootstraps=4)
    with pytest.raises(ValueError, match=r"tvb needs a half sample.*among `method`"):
        only_full.intervals("pi[1]", method="tvb")
    with pytest.raises(trustvb.TrustvbError, match="no such folder; make one with table"):
        trustvb.open_table("nowhere.tvb")
    with pytest.raises(TypeError, match="bootstrap"):
        model.intervals("pi[1]", bootstrap=3)


def test_questions_are_read_before_the_work(overlap):
    model = trustvb.GaussianMixture(2).fit(overlap)
    with pytest.raises(ValueError, match="x3"):
        model.intervals(["pi[1]", "mu[1,x3]"], bootstraps=10_000_000)


def test_flags_are_warned_of(model):
    small = model.table("anchored", grid=6, bootstraps=10, omega_min=0.3)
    with pytest.warns(trustvb.CalibrationWarning) as caught:
        frame = small.intervals(["pi[1]", "mu[1,1]"], method="anchored")
    texts = [str(w.message) for w in caught]
    assert any(
        t.startswith(
            "few-bootstraps: only 10 bootstraps: the estimated coverage is uncertain; use "
            "bootstraps=500 or more (pi[1] by anchored at 0.95, mu[1,1]"
        )
        for t in texts
    )
    assert all(w.filename == __file__ for w in caught), "they point at the user's line"
    assert all("few-bootstraps" in flags for flags in frame.warnings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trustvb.GaussianMixture().fit(trustvb.load_faithful()).intervals("pi[1]", method="analytic")


def test_coverage_curves(table):
    curve = table.coverage_curve("pi[1]", method="gpc", level=0.9)
    assert list(curve.columns) == ["omega", "coverage", "se"] and len(curve) == 20
    np.testing.assert_array_equal(curve.omega, table.omegas)
    assert curve.coverage[0] < 0.8 < curve.coverage.max()
    by_code = table.coverage_curve(lambda d: d["pi"][:, 0], method="gpc", level=0.9, step=5)
    assert len(by_code) == 5
    np.testing.assert_allclose(by_code.coverage, curve.coverage[[0, 5, 10, 15, 19]], atol=0.06)
    analytic = table.coverage_curve("pi[1]", method="analytic")
    assert len(analytic) > 2


def test_arrow_holds_every_fit(table, model):
    fits = table.to_arrow()
    assert fits.num_rows == 20 * (201 + 201) and fits.column_names[:3] == [
        *("design", "replicate", "omega")
    ]
    frame = fits.to_pandas()
    first = frame[(frame.design == "full") & (frame.replicate == 0) & (frame.omega == 1)]
    alpha = first[["pi.alpha[1]", "pi.alpha[2]"]].to_numpy()[0]
    np.testing.assert_allclose(alpha / alpha.sum(), model.weights_, rtol=1e-6)
    assert b"trustvb" in fits.schema.metadata


def test_draws(table):
    draws = table.draws(omega=0.5, n=4000)
    assert draws["mu"].shape == (4000, 2, 2)
    np.testing.assert_allclose(draws["pi"].sum(axis=1), 1)
    sample = table.sample(["pi[1]", "mu[1,]"], omega=0.5, n=4000)
    assert list(sample) == ["pi[1]", "mu[1,] [x1]", "mu[1,] [x2]"]
    np.testing.assert_array_equal(sample["pi[1]"], draws["pi"][:, 0])
    wider = table.draws(omega=0.1, n=4000)
    assert wider["mu"][:, 0, 0].std() > draws["mu"][:, 0, 0].std()
    with pytest.raises(ValueError, match=r"the table goes from 1 to 0.01"):
        table.draws(omega=0.001)
    assert "gmm with 2 components, 1000 units" in repr(table)


def test_without_data(model, tmp_path):
    path = tmp_path / "bare.tvb"
    table = model.table(
        "anchored", grid=4, bootstraps=200, omega_min=0.1, path=path, with_data=False
    )
    assert not (path / "data.parquet").exists()
    assert list(table.compare("pi[1]").method) == ["balanced", "vb"]
    with pytest.raises(ValueError, match="build the table with its data"):
        table.intervals("pi[1]", method="analytic")
    with pytest.raises(ValueError, match="without its data"):
        table.plot_clusters()
