"""Calibration around a procedure that is not ours."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
import trustvb
from trustvb import _native

Z = np.random.default_rng(11).standard_normal(400)


def normal_mean(data, weights, omega, start):
    """A mean with a posterior that is a quarter as wide as it should be at ω = 1."""
    n = weights.sum()
    mean = weights @ data / n
    return mean + 0.25 * Z / np.sqrt(omega * n)


def by_interval(data, weights, omega, start):
    draws = normal_mean(data, weights, omega, start)
    tail = lambda level: np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])  # noqa: E731
    return draws.mean(), lambda name, level: tail(level)


@pytest.fixture(scope="module")
def data() -> np.ndarray:
    return np.random.default_rng(5).normal(10, 1, 200)


SETTINGS = dict(bootstraps=300, grid=25, omega_min=0.005, random_state=4)


@pytest.fixture(scope="module")
def calibration(data):
    return trustvb.calibrate(
        normal_mean,
        data,
        {"mean": lambda d: d, "square": lambda d: d**2},
        method=["vb", "tvb", "gpc", "anchored"],
        **SETTINGS,
    )


def test_it_finds_the_width(calibration, data):
    """A sixteenth of the data's information makes the posterior as wide as the sampling law."""
    frame = calibration.intervals()
    assert list(frame.functional) == ["mean"] * 4 + ["square"] * 4
    mean = frame[frame.functional == "mean"].set_index("method")
    true = 2 * 1.96 * data.std() / np.sqrt(len(data))
    length = mean.upper - mean.lower
    assert length["vb"] == pytest.approx(0.25 * true, rel=0.15)
    assert mean.coverage["vb"] == pytest.approx(0.376, abs=0.1)
    for method in ("gpc", "anchored"):
        assert mean.omega[method] == pytest.approx(1 / 16, rel=0.35)
        assert length[method] == pytest.approx(true, rel=0.2)
        assert mean.coverage[method] == pytest.approx(0.95, abs=0.02)
    assert length["tvb"] > length["anchored"]
    square = frame[frame.functional == "square"].set_index("method")
    assert square.estimate["vb"] == pytest.approx(mean.estimate["vb"] ** 2)


def test_other_levels_need_no_new_fits(calibration):
    frame = calibration.intervals(level=[0.5, 0.9], method="anchored")
    assert (frame.coverage - frame.level).abs().max() < 0.02
    curve = calibration.coverage_curve("mean", 0.9)
    assert len(curve) == 25 and curve.coverage[0] < 0.5 < curve.coverage.iloc[-1]


def test_resamples_are_those_of_tables(data):
    seen = []

    def fitter(data, weights, omega, start):
        seen.append(weights)
        return normal_mean(data, weights, omega, start)

    anchored = dict(method="anchored", check=False)
    trustvb.calibrate(fitter, data, lambda d: d, bootstraps=2, grid=2, random_state=4, **anchored)
    expected = [
        trustvb.resample_weights("full", b, 200, random_state=4) for b in (0, 0, 1, 1, 2, 2)
    ]
    np.testing.assert_array_equal(seen, expected)
    assert trustvb.resample_weights("split", 0, 200).sum() == 100
    # Pinned in the library's own tests.
    pinned = [1, 1, 0, 0, 1, 3, 1, 1, 0, 2, 1]
    np.testing.assert_array_equal(trustvb.resample_weights("full", 3, 11, random_state=7), pinned)


def test_starts_are_handed_down_the_path(data):
    starts = []

    def fitter(data, weights, omega, start):
        starts.append((omega, start))
        return trustvb.Fit(draws=normal_mean(data, weights, omega, start), state=("at", omega))

    anchored = dict(method="anchored", check=False)
    trustvb.calibrate(fitter, data, lambda d: d, bootstraps=1, grid=3, omega_min=0.25, **anchored)
    assert starts == [
        (1.0, None),
        (0.5, ("at", 1.0)),
        (0.25, ("at", 0.5)),
        (1.0, ("at", 1.0)),
        (0.5, ("at", 1.0)),
        (0.25, ("at", 0.5)),
    ]


def test_intervals_instead_of_draws(data, calibration):
    result = trustvb.calibrate(
        by_interval, data, "mean", level=[0.9, 0.95], method=["vb", "anchored"], **SETTINGS
    )
    frame = result.intervals()
    assert list(frame.level) == [0.9, 0.95, 0.9, 0.95]
    draws = calibration.intervals(level=[0.9, 0.95], method=["vb", "anchored"])
    draws = draws[draws.functional == "mean"]
    np.testing.assert_allclose(frame.omega, draws.omega, rtol=0.1)
    np.testing.assert_allclose(frame.lower, draws.lower, rtol=0.01)
    with pytest.raises(ValueError, match=r"level 0.5 was not among those"):
        result.intervals(level=0.5)
    with pytest.raises(ValueError, match="no density to draw"):
        result.plot_density()


def test_failed_fits_are_data(data):
    def fitter(data, weights, omega, start):
        if weights[0] > 1 and omega < 0.5:
            raise trustvb.FitFailed("no luck")
        return trustvb.Fit(draws=normal_mean(data, weights, omega, start), converged=weights[1] < 2)

    along = dict(method="anchored", bootstraps=200, omega_min=0.01)
    result = trustvb.calibrate(fitter, data, lambda d: d, grid=6, **along)
    with pytest.warns(trustvb.CalibrationWarning, match="unconverged-fits: .*% of the fits"):
        frame = result.intervals()
    assert frame.warnings[0] == "unconverged-fits" and np.isfinite(frame.lower[0])

    def never(data, weights, omega, start):
        raise trustvb.FitFailed

    with pytest.raises(trustvb.TrustvbError, match="no answer for all units at ω = 1"):
        trustvb.calibrate(never, data, lambda d: d)

    def only_full(data, weights, omega, start):
        if weights.max() > 1:
            raise np.linalg.LinAlgError
        return normal_mean(data, weights, omega, start)

    result = trustvb.calibrate(only_full, data, lambda d: d, grid=3, **along)
    with pytest.warns(trustvb.CalibrationWarning, match="no-evidence"):
        frame = result.intervals()
    assert np.isnan(frame.lower[0])


def test_edges_are_flagged(data):
    result = trustvb.calibrate(
        normal_mean, data, lambda d: d, bootstraps=200, grid=4, omega_min=0.5, method="anchored"
    )
    with pytest.warns(trustvb.CalibrationWarning) as caught:
        flags = result.intervals().warnings[0].split(";")
    assert flags == ["at-grid-edge", "never-reaches-level"]
    assert any("a smaller omega_min may be needed" in str(w.message) for w in caught)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (dict(method="analytic"), ValueError, "analytic needs more of a model of this library"),
        (dict(method="jackknife"), ValueError, "jackknife needs derivatives of the fitter's"),
        (dict(method="lrvb"), ValueError, "lrvb needs derivatives of the fitter's"),
        (dict(method="mcmc"), ValueError, "no method `mcmc`"),
        (dict(workers="fibres"), ValueError, "workers='fibres' is not one of"),
        (dict(h="mean"), ValueError, "needs a callable"),
        (dict(h=[lambda d: d[:3]]), ValueError, "one number for each draw"),
        (dict(h={"a": 3}), TypeError, "must be a callable"),
        (dict(h=[]), ValueError, "names of their own"),
        (dict(fitter=lambda *_: "draws"), TypeError, "a fitter returns draws"),
        (dict(fitter=lambda *_: trustvb.Fit()), ValueError, "needs draws, or a mean"),
        (dict(fitter=lambda *_: 1 + ""), TypeError, "unsupported operand"),
        (dict(fitter=by_interval), ValueError, "must be a name"),
        (dict(level=1.5), ValueError, "level 1.5"),
        (dict(bootstraps=0), ValueError, "bootstraps=0"),
    ],
)
def test_wrong_calls(data, arguments, error, message):
    call = dict(fitter=normal_mean, data=data, h=lambda d: d, bootstraps=2, grid=2) | arguments
    with pytest.raises(error, match=message):
        trustvb.calibrate(call.pop("fitter"), call.pop("data"), call.pop("h"), **call)


def test_units_of_tuples_and_dicts(data):
    def fitter(data, weights, omega, start):
        x = data["x"] if isinstance(data, dict) else data[0]
        return normal_mean(x, weights, omega, start)

    frames = [
        trustvb.calibrate(
            fitter, given, lambda d: d, bootstraps=200, grid=3, omega_min=0.01
        ).intervals()
        for given in ((data, data), {"x": data})
    ]
    pd.testing.assert_frame_equal(*frames)


def test_laws_of_draws_are_the_librarys():
    draws = np.array([3.0, 1.0, 2.0, 2.0, np.nan])
    assert _native.sampled_place(draws, 1.5) == 0.25
    assert _native.sampled_place(draws, 2.0) == 0.5
    assert _native.sampled_interval(draws, 1 - 1e-12)[0] == pytest.approx((1, 3))


def half_as_wide(data, weights, omega, start):
    """The mean of normal data with known variance 1, flat prior, and a posterior sd of half what it should be."""
    n = weights.sum()
    return weights @ data / n + 0.5 * NORMAL / np.sqrt(omega * n)


#: Quantiles of the normal law rather than draws, so that nothing but bootstraps is random.
NORMAL = np.array([NormalDist().inv_cdf((i + 0.5) / 1000) for i in range(1000)])


@pytest.fixture(scope="module")
def units() -> np.ndarray:
    """400 normal numbers with mean 3 and sd exactly 1, the known variance of the model."""
    x = np.random.default_rng(8).normal(size=400)
    return 3 + (x - x.mean()) / x.std()


def bootstrap_means(data: np.ndarray, n: int, seed: int) -> np.ndarray:
    weights = [
        trustvb.resample_weights("full", b, len(data), random_state=seed) for b in range(1, n + 1)
    ]
    return np.array([w @ data / w.sum() for w in weights])


def test_tempering_makes_a_posterior_as_wide_as_it_should_be(units):
    fits = []

    def fitter(*arguments):
        fits.append(arguments[2])
        return half_as_wide(*arguments)

    count = 1000
    result = trustvb.calibrate(
        fitter,
        units,
        {"mean": lambda d: d},
        level=[0.5, 0.95],
        method=["vb", "tempered", "recommended"],
        bootstraps=count,
        random_state=2,
    )
    assert fits == [1.0] * (count + 4), "all units, each bootstrap, and three to check the fitter"
    assert list(result.omegas) == [1.0]
    frame = result.intervals()
    assert len(fits) == count + 4
    found = frame.set_index(["method", "level"])
    length = found.upper - found.lower
    for level, z in ((0.5, 0.6745), (0.95, 1.96)):
        # The quantile z of |N(0, 1)| over B bootstraps has the standard error √(level(1−level)/B) / 2φ(z): with
        # B = 1000 it is 3.7% of z at level 0.5 and 3.0% at 0.95.
        density = 2 * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
        se = np.sqrt(level * (1 - level) / count) / density / z
        stretch = length["tempered", level] / length["vb", level]
        assert stretch == pytest.approx(2, rel=4 * se)
        assert found.omega["tempered", level] == pytest.approx(stretch**-2, rel=1e-6)
        assert found.coverage["tempered", level] == pytest.approx(level, abs=0.002)
        assert length["balanced", level] == pytest.approx(2 * z / 20, rel=4 * se)
    assert list(found.recommended) == [False] * 4 + [True] * 2
    assert (frame.warnings == "").all() and (frame.remarks == "").all()
    curve = result.coverage_curve(level=0.95)
    assert curve.omega.iloc[0] > 1 > curve.omega.iloc[-1]
    assert curve.coverage.is_monotonic_increasing
    # What was not fitted cannot be asked, and is not answered with what was.
    with pytest.raises(ValueError, match="anchored was not among the methods of the call"):
        result.intervals(method="anchored")
    with pytest.raises(ValueError, match=r"level 0.9 was not among those of the call: tempered"):
        result.intervals(level=0.9, method="tempered")
    with pytest.raises(ValueError, match="balanced chooses no ω"):
        result.coverage_curve(method="recommended")
    assert np.isfinite(result.intervals(level=0.9, method="balanced").lower[0])


def test_a_posterior_that_is_too_wide_is_narrowed(units):
    result = trustvb.calibrate(
        lambda d, w, o, s: w @ d / w.sum() + 3 * NORMAL / np.sqrt(o * w.sum()),
        units,
        lambda d: d,
        method="tempered",
        bootstraps=400,
    )
    frame = result.intervals()
    # The standard error of a stretch at B = 400 is 5%, that of ω twice as much.
    assert frame.omega[0] == pytest.approx(9, rel=0.4)
    assert frame.warnings[0] == "" and frame.remarks[0] == "above-omega-1"


def quantile(x: np.ndarray, p: float) -> float:
    """Order statistic (B + 1)p, held at the ends."""
    at = np.clip((len(x) + 1) * p - 1, 0, len(x) - 1)
    return float(np.interp(at, np.arange(len(x)), np.sort(x)))


@pytest.mark.parametrize(
    ("scale", "to", "back"),
    [
        ("real", lambda x: x, lambda y: y),
        ("positive", np.log, np.exp),
        ("unit", lambda x: np.log(x / (1 - x)), lambda y: 1 / (1 + np.exp(-y))),
        ("correlation", np.arctanh, np.tanh),
    ],
)
def test_balanced_is_what_numpy_gives(units, scale, to, back):
    shrunk = units / 10
    means = to(bootstrap_means(shrunk, 300, 6))
    centre = to(shrunk.mean())
    frame = trustvb.calibrate(
        lambda d, w, o, s: (w @ d / w.sum(), lambda name, level: (0.29, 0.31)),
        shrunk,
        "mean",
        level=[0.8, 0.95],
        method="balanced",
        scale={"mean": scale},
        bootstraps=300,
        random_state=6,
    ).intervals()
    for level, lower, upper in zip(frame.level, frame.lower, frame.upper, strict=True):
        tail, reach = (1 - level) / 2, quantile(np.abs(means - centre), level)
        expected = (
            back(0.5 * (quantile(means, tail) + centre - reach)),
            back(0.5 * (quantile(means, 1 - tail) + centre + reach)),
        )
        np.testing.assert_allclose((lower, upper), expected, rtol=1e-10)
    assert frame.omega.isna().all() and frame.coverage.isna().all() and frame.recommended.all()


def test_methods_at_one_are_known_beside_others(calibration):
    """Any call with bootstraps of all units has made the fits at ω = 1."""
    frame = calibration.intervals(method=["anchored", "tempered", "balanced"])
    length = (frame.upper - frame.lower).to_numpy().reshape(2, 3)
    np.testing.assert_allclose(length[:, 1:], length[:, [0]] * np.ones(2), rtol=0.15)
    alone = trustvb.calibrate(
        normal_mean,
        np.random.default_rng(5).normal(10, 1, 200),
        {"mean": lambda d: d, "square": lambda d: d**2},
        method=["tempered", "balanced"],
        bootstraps=300,
        random_state=4,
    ).intervals()
    both = frame[frame.method != "anchored"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, both)


def test_scales_that_are_wrong(data):
    call = dict(method="recommended", bootstraps=200)
    with pytest.raises(ValueError, match=r"'mean': .* is not between 0 and 1"):
        trustvb.calibrate(normal_mean, data, {"mean": lambda d: d}, scale="unit", **call)
    with pytest.raises(ValueError, match="no scale `log`; choose from real, positive"):
        trustvb.calibrate(normal_mean, data, {"mean": lambda d: d}, scale="log", **call)
    with pytest.raises(ValueError, match="scale names 'sd', but there is no such quantity"):
        trustvb.calibrate(normal_mean, data, {"mean": lambda d: d}, scale={"sd": "real"}, **call)


def test_failures_at_one(data):
    def fitter(data, weights, omega, start):
        if weights[0] > 1:
            raise trustvb.FitFailed("no luck")
        return normal_mean(data, weights, omega, start)

    result = trustvb.calibrate(fitter, data, lambda d: d, method="recommended", bootstraps=200)
    with pytest.warns(trustvb.CalibrationWarning, match="unconverged-fits"):
        assert np.isfinite(result.intervals().lower[0])

    def only_full(data, weights, omega, start):
        if weights.max() > 1:
            raise np.linalg.LinAlgError
        return normal_mean(data, weights, omega, start)

    result = trustvb.calibrate(only_full, data, lambda d: d, method="tempered", bootstraps=200)
    with pytest.warns(trustvb.CalibrationWarning, match="no-evidence"):
        assert np.isnan(result.intervals().lower[0])
    undefined = trustvb.calibrate(
        normal_mean, data, lambda d: d * np.nan, method="recommended", bootstraps=200
    )
    with pytest.warns(trustvb.CalibrationWarning, match="undefined"):
        assert np.isnan(undefined.intervals().lower[0])


def test_the_default_is_one_answer_from_fits_at_one(data):
    fits = []

    def fitter(*arguments):
        fits.append(arguments[2])
        return normal_mean(*arguments)

    result = trustvb.calibrate(fitter, data, {"mean": lambda d: d}, check=False)
    assert fits == [1.0] * 201
    frame = result.intervals()
    assert list(frame.functional) == ["mean"] and list(frame.method) == ["balanced"]
    assert list(frame.verdict) == ["VB is too short"]
    true = 2 * 1.96 * data.std() / np.sqrt(len(data))
    assert frame.upper[0] - frame.lower[0] == pytest.approx(true, rel=0.2)
    assert frame.vb_upper[0] - frame.vb_lower[0] == pytest.approx(0.25 * true, rel=0.15)
    # P(|Z| < 1.96 / 4) = 0.376; its standard error over 200 bootstraps is 0.034.
    assert frame.vb_coverage[0] == pytest.approx(0.376, abs=0.12)
    compared = result.compare()
    assert list(compared.method) == ["balanced", "vb", "tempered", "bootstrap"]
    assert compared.coverage[1] == frame.vb_coverage[0]
    other = result.compare(level=0.5)
    assert list(other.method) == ["balanced", "vb", "bootstrap"], "tempered has its levels"
    assert "200 units, 200 bootstraps of all units, seed 1" in str(result.summary())
    assert "tempered" in result.plot_coverage().get_legend_handles_labels()[1]
    assert "VB covers" in result.plot_intervals().texts[0].get_text()
    assert len(fits) == 201
    only = trustvb.calibrate(normal_mean, data, {"mean": lambda d: d}, method="vb")
    with pytest.raises(ValueError, match="only the fitter's own interval"):
        only.summary()


def test_all_methods_of_a_grid_are_compared(calibration):
    frame = calibration.compare()
    names = ["balanced", "vb", "tempered", "bootstrap", "tvb", "gpc", "anchored"]
    assert list(frame.method) == names * 2 and list(frame.recommended[:2]) == [True, False]


def test_bootstrap_is_percentiles_of_estimates(units):
    result = trustvb.calibrate(
        half_as_wide, units, {"mean": lambda d: d}, method="bootstrap", bootstraps=300
    )
    frame = result.intervals(level=[0.8, 0.95], method="bootstrap")
    means = bootstrap_means(units, 300, 1)
    for level, lower, upper in zip(frame.level, frame.lower, frame.upper, strict=True):
        expected = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], method="weibull")
        np.testing.assert_allclose((lower, upper), expected, atol=0.01 * means.std())
    assert frame.omega.isna().all() and frame.coverage.isna().all()
    with pytest.raises(ValueError, match="bootstrap chooses no ω"):
        result.coverage_curve(method="bootstrap")


class ManyMeans:
    """Fits a batch at once, and knows how its estimate varies: the mean of a sample in closed form."""

    batch = 70

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, data, weights, omega, start):
        return trustvb.Fit(draws=half_as_wide(data, weights, omega, start), state=weights.sum())

    def fit_many(self, data, weights, omegas, starts):
        self.sizes.append(len(weights))
        assert weights.shape == (len(starts), len(data)) and omegas.shape == (len(starts),)
        fits = [self(data, *row) for row in zip(weights, omegas, starts, strict=True)]
        lost = trustvb.FitFailed("no luck")
        return [lost if w[0] > 3 else fit for w, fit in zip(weights, fits, strict=True)]

    def spread(self, method, data, fit, h):
        assert callable(h) and fit.draws is not None
        return (data.std() if method == "jackknife" else 0.25) / np.sqrt(len(data))


def test_fits_in_batches_are_the_same_fits(units):
    def one_by_one(data, weights, omega, start):
        if weights[0] > 3:
            raise trustvb.FitFailed("no luck")
        return half_as_wide(data, weights, omega, start)

    asked = dict(method=["tempered", "anchored"], bootstraps=200, grid=3, omega_min=0.2)
    many = ManyMeans()
    frames = [
        trustvb.calibrate(fitter, units, {"mean": lambda d: d}, n_jobs=n, **asked).intervals()
        for fitter, n in ((one_by_one, 1), (many, 1), (ManyMeans(), 2))
    ]
    pd.testing.assert_frame_equal(frames[0], frames[1])
    pd.testing.assert_frame_equal(frames[0], frames[2])
    assert many.sizes == [70] * 6 + [60] * 3
    many.fit_many = lambda *_: []
    with pytest.raises(ValueError, match="70 rows of weights and returned 0 fits"):
        trustvb.calibrate(many, units, lambda d: d, bootstraps=200)


def test_methods_of_one_fit(units):
    fitter = ManyMeans()
    frame = trustvb.calibrate(
        fitter, units, {"mean": lambda d: d}, method=["jackknife", "lrvb", "vb"]
    ).intervals()
    assert not fitter.sizes, "nothing is resampled"
    found = frame.set_index("method")
    half = (found.upper - found.lower) / 2
    assert half["jackknife"] == pytest.approx(1.959964 / 20, rel=1e-7)
    assert half["lrvb"] == pytest.approx(1.959964 / 80, rel=1e-7)
    # VB has half of the standard deviation that the mean has, and twice that of `lrvb`.
    assert found.omega["jackknife"] == pytest.approx(1 / 4, rel=0.01)
    assert found.omega["lrvb"] == pytest.approx(4, rel=0.01)
    assert found.remarks["lrvb"] == "above-omega-1"
    fitter.spread = lambda *_: np.nan
    lost = trustvb.calibrate(fitter, units, {"mean": lambda d: d}, method="jackknife")
    with pytest.warns(trustvb.CalibrationWarning, match="no-influence"):
        assert np.isnan(lost.intervals().lower[0])


def test_scales_are_found_from_draws(units):
    def fitter(data, weights, omega, start):
        x = half_as_wide(data, weights, omega, start)
        return {"share": 1 / (1 + np.exp(-x)), "rate": np.exp(x), "real": x - 3}

    h = {name: (lambda d, name=name: d[name]) for name in ("share", "rate", "real")}
    result = trustvb.calibrate(fitter, units, h, scale="found", bootstraps=200)
    assert result._task.scales == ["unit", "positive", "real"]
    said = dict(share="unit", rate="positive")
    same = trustvb.calibrate(fitter, units, h, scale=said, bootstraps=200)
    pd.testing.assert_frame_equal(result.intervals(), same.intervals())


def test_too_wide_is_said(units):
    result = trustvb.calibrate(
        lambda d, w, o, s: w @ d / w.sum() + 3 * NORMAL / np.sqrt(o * w.sum()),
        units,
        {"mean": lambda d: d},
    )
    assert list(result.intervals().verdict) == ["VB is too long"]
    assert "longer than it need be" in str(result.summary())


def test_a_fit_that_did_not_converge_is_told(units):
    def fitter(data, weights, omega, start):
        return trustvb.Fit(draws=half_as_wide(data, weights, omega, start), converged=False)

    with pytest.warns(trustvb.ConvergenceWarning, match="all units did not converge"):
        trustvb.calibrate(fitter, units, lambda d: d, method="vb")
