"""PyMC's models, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import trustvb

pytest.importorskip("jax")
pm = pytest.importorskip("pymc")

import trustvb.pymc  # noqa: E402
from test_numpyro import PRIOR, exactly, lines  # noqa: E402, F401


def linear(X, y):
    with pm.Model() as model:
        beta = pm.Normal("beta", 0, PRIOR**-0.5, shape=X.shape[1])
        pm.Deterministic("share", pm.math.sigmoid(beta[0]))
        pm.Deterministic("fitted", X @ beta)
        pm.Normal("y", X @ beta, 1, observed=y)
    return model


@pytest.mark.parametrize("family", ["mean-field", "full-rank", "laplace"])
def test_a_linear_model_is_exact(family, lines):  # noqa: F811
    """Weights of 0, ω below 1, and one-fit methods whatever the family."""
    X, y = lines
    by = trustvb.pymc.Fitter(linear(X, y), family=family)
    weights = trustvb.resample_weights("full", 1, 80, random_state=5)
    fit = by(None, weights, 0.5, None)
    mean, precision = exactly(X, y, weights, 0.5)
    covariance = np.linalg.inv(precision)
    sd = np.diag(precision) ** -0.5 if family == "mean-field" else np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(fit.mean["beta"], mean, atol=1e-3 * sd.min())
    np.testing.assert_allclose(fit.draws["beta"].std(axis=0), sd, rtol=1e-3)
    if family != "mean-field":
        np.testing.assert_allclose(np.cov(fit.draws["beta"].T, bias=True), covariance, rtol=5e-3)
    assert "fitted" not in fit.draws, "it has a value for every unit"
    full = by(None, np.ones(80), 1.0, None)
    mean, precision = exactly(X, y, np.ones(80), 1.0)
    moved = np.linalg.solve(precision, (X * (y - X @ mean)[:, None]).T)[1]
    sandwich = np.sqrt(((moved - moved.mean()) ** 2).sum())
    slope = lambda d: d["beta"][:, 1]  # noqa: E731
    assert by.spread("jackknife", None, full, slope) == pytest.approx(sandwich, rel=1e-3)
    posterior = np.sqrt(np.linalg.inv(precision)[1, 1])
    assert by.spread("lrvb", None, full, slope) == pytest.approx(posterior, rel=1e-3)


def test_one_line(lines):  # noqa: F811
    result = trustvb.pymc.calibrate(linear(*lines), quantities=["beta[0]", "share"])
    frame = result.intervals()
    assert (
        list(frame.functional) == ["beta[0]", "share"]
        and (frame.verdict == "VB is too short").all()
    )
    assert result._task.scales == ["real", "unit"] and result._task.n_units == 80
    assert frame.lower[1] == pytest.approx(1 / (1 + np.exp(-frame.lower[0])), abs=0.01)
    everything = trustvb.pymc.calibrate(linear(*lines), method="vb")
    assert everything.names == ["beta[0]", "beta[1]"]


def table(y):
    with pm.Model(coords={"person": range(y.shape[0]), "item": range(y.shape[1])}) as model:
        pm.Normal("y", pm.Normal("mean", 0, 10), 1, observed=y, dims=("person", "item"))
    return model


def test_units_are_dimensions():
    y = np.random.default_rng(1).normal(size=(10, 3))
    with pytest.raises(ValueError, match=r"which units are resampled\? .* y \(10, 3\)"):
        trustvb.pymc.calibrate(table(y))
    assert trustvb.pymc.Fitter(table(y), unit="item").n_units(None) == 3
    assert trustvb.pymc.Fitter(table(y), unit=0).n_units(None) == 10
    with pytest.raises(ValueError, match="'row' is not one of all observed variables: y"):
        trustvb.pymc.calibrate(table(y), unit="row")


def test_what_cannot_be_done_is_said():
    y = np.arange(20.0)
    with pm.Model() as local:
        z = pm.Normal("z", 0, 1, shape=20)
        pm.Normal("y", z, 1, observed=y)
    with pytest.raises(ValueError, match="'z' has as many values as there are units"):
        trustvb.pymc.calibrate(local)
    with pm.Model() as discrete:
        pm.Normal("y", pm.Poisson("k", 3), 1, observed=y)
    with pytest.raises(ValueError, match="k is discrete"):
        trustvb.pymc.calibrate(discrete)
    with pm.Model() as potential:
        mean = pm.Normal("mean")
        pm.Potential("extra", -(mean**2))
        pm.Normal("y", mean, 1, observed=y)
    with pytest.raises(ValueError, match="potential extra"):
        trustvb.pymc.calibrate(potential)
    with pm.Model() as batches:
        pm.Normal("y", pm.Normal("mean"), 1, observed=pm.Minibatch(y, batch_size=5), total_size=20)
    with pytest.raises(ValueError, match="minibatches make the objective random"):
        trustvb.pymc.calibrate(batches)
    with pytest.raises(ValueError, match="no observed variable"):
        trustvb.pymc.calibrate(pm.Model())
