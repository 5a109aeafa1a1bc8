"""NumPyro's models and guides, against closed forms."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import trustvb

jax = pytest.importorskip("jax")
numpyro = pytest.importorskip("numpyro")

import jax.numpy as jnp  # noqa: E402
import numpyro.distributions as dist  # noqa: E402
import trustvb.numpyro  # noqa: E402
from numpyro.infer.autoguide import (  # noqa: E402
    AutoDelta,
    AutoLaplaceApproximation,
    AutoMultivariateNormal,
    AutoNormal,
)

#: Precision of the priors of coefficients.
PRIOR = 0.01


def linear(X, y=None):
    """A regression with noise of variance 1."""
    beta = numpyro.sample("beta", dist.Normal(0, PRIOR**-0.5).expand([X.shape[1]]).to_event(1))
    with numpyro.plate("rows", X.shape[0]):
        numpyro.sample("y", dist.Normal(X @ beta, 1), obs=y)


def own_guide(X, y=None):
    loc = numpyro.param("loc", jnp.zeros(X.shape[1]))
    scale = numpyro.param("scale", jnp.ones(X.shape[1]), constraint=dist.constraints.positive)
    numpyro.sample("beta", dist.Normal(loc, scale).to_event(1))


@pytest.fixture(scope="module")
def lines():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2)) @ np.array([[1, 0.8], [0, 0.6]])
    # The noise is not what the model thinks.
    return X, X @ [1.0, -0.5] + rng.standard_t(4, size=80) * (0.5 + np.abs(X[:, 0]))


def exactly(X, y, weights, omega):
    precision = omega * (X * weights[:, None]).T @ X + PRIOR * np.eye(X.shape[1])
    return np.linalg.solve(precision, omega * X.T @ (weights * y)), precision


@pytest.fixture(scope="module", params=[AutoNormal, AutoMultivariateNormal, "laplace", "own"])
def fitter(request):
    guides = {"laplace": AutoLaplaceApproximation, "own": own_guide}
    guide = guides.get(request.param, request.param)
    return trustvb.numpyro.Fitter(linear, guide), request.param


@pytest.mark.parametrize("omega", [1.0, 0.2, 3.0])
def test_weighted_fits_of_a_linear_model_are_exact(fitter, lines, omega):
    """Weights of 0 are among them, and ω above 1."""
    fit_by, guide = fitter
    weights = trustvb.resample_weights("full", 1, 80, random_state=5)
    assert (weights == 0).any()
    fit = fit_by(fit_by.data(*lines), weights, omega, None)
    mean, precision = exactly(*lines, weights, omega)
    full = guide in (AutoMultivariateNormal, "laplace")
    sd = np.sqrt(np.diag(np.linalg.inv(precision))) if full else np.diag(precision) ** -0.5
    assert fit.converged
    np.testing.assert_allclose(fit.mean["beta"], mean, atol=1e-3 * sd.min())
    np.testing.assert_allclose(fit.draws["beta"].std(axis=0), sd, rtol=1e-3)
    if full:
        found = np.cov(fit.draws["beta"].T, bias=True)
        np.testing.assert_allclose(found, np.linalg.inv(precision), rtol=5e-3)


def test_one_fit_methods_are_the_closed_forms(fitter, lines):
    """The sandwich for `jackknife`, the exact posterior for `lrvb`, whatever the family."""
    fit_by, _ = fitter
    data = fit_by.data(*lines)
    fit = fit_by(data, np.ones(80), 1.0, None)
    X, y = lines
    mean, precision = exactly(X, y, np.ones(80), 1.0)
    influence = np.linalg.solve(precision, (X * (y - X @ mean)[:, None]).T)
    for h, c in ((lambda d: d["beta"][:, 0], [1, 0]), (lambda d: d["beta"].sum(axis=1), [1, 1])):
        moved = np.array(c) @ influence
        sandwich = np.sqrt(((moved - moved.mean()) ** 2).sum())
        posterior = np.sqrt(c @ np.linalg.inv(precision) @ c)
        assert fit_by.spread("jackknife", data, fit, h) == pytest.approx(sandwich, rel=1e-3)
        assert fit_by.spread("lrvb", data, fit, h) == pytest.approx(posterior, rel=1e-3)
        np.testing.assert_allclose(fit_by.influence(data, fit, h), moved, atol=1e-3 * sandwich)


def test_batches_are_single_fits(fitter, lines):
    fit_by, _ = fitter
    data = fit_by.data(*lines)
    start = fit_by(data, np.ones(80), 1.0, None).state
    weights = np.stack([trustvb.resample_weights("full", b, 80) for b in (1, 2, 3)])
    omegas = np.array([1.0, 0.5, 0.1])
    many = fit_by.fit_many(data, weights, omegas, [start] * 3)
    for fit, w, omega in zip(many, weights, omegas, strict=True):
        one = fit_by(data, w, omega, None)
        sd = one.draws["beta"].std(axis=0)
        assert fit.converged
        np.testing.assert_allclose(fit.mean["beta"], one.mean["beta"], atol=1e-3 * sd.min())
        np.testing.assert_allclose(fit.draws["beta"].std(axis=0), sd, rtol=1e-3)


def logistic(X, y=None):
    beta = numpyro.sample("beta", dist.Normal(0, PRIOR**-0.5).expand([X.shape[1]]).to_event(1))
    with numpyro.plate("rows", X.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=X @ beta), obs=y)


def sandwich(X, y):
    """Standard deviations of the estimates of a logistic regression, by Newton's method and White's formula."""
    beta = np.zeros(X.shape[1])
    for _ in range(30):
        mean = 1 / (1 + np.exp(-X @ beta))
        hessian = (X * (mean * (1 - mean))[:, None]).T @ X + PRIOR * np.eye(X.shape[1])
        beta += np.linalg.solve(hessian, X.T @ (y - mean) - PRIOR * beta)
    scores = X * (y - mean)[:, None]
    inverse = np.linalg.inv(hessian)
    return np.sqrt(np.diag(inverse @ scores.T @ scores @ inverse))


def test_a_logistic_regression_has_the_widths_of_the_sandwich():
    rng = np.random.default_rng(0)
    correlated = 0.7 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    X = rng.normal(size=(500, 5)) @ np.linalg.cholesky(correlated).T
    y = (rng.random(500) < 1 / (1 + np.exp(-X @ [0.5, -1, 0.8, 0, 0.3]))).astype(int)
    before = jax.config.jax_enable_x64
    result = trustvb.numpyro.calibrate(
        logistic, None, X, y, method=["recommended", "vb", "jackknife"], bootstraps=400, n_jobs=2
    )
    assert jax.config.jax_enable_x64 == before, "the session's precision is its own"
    frame = result.intervals()
    assert list(frame.functional[::3]) == [f"beta[{i}]" for i in range(5)]
    sd = ((frame.upper - frame.lower) / (2 * 1.959964)).to_numpy().reshape(5, 3)
    true = sandwich(X, y)
    np.testing.assert_allclose(sd[:, 2], true, rtol=0.05)
    # A width by 400 bootstraps has a standard error of 5%, that of five correlated ones not much less.
    np.testing.assert_allclose(sd[:, 0], true, rtol=0.2)
    assert np.mean(sd[:, 0] / true) == pytest.approx(1.0, abs=0.06)
    assert (sd[:, 1] < 0.8 * true).all(), "the predictors are correlated, which VB does not see"
    assert result._task.scales == ["real"] * 5 and (frame.warnings == "").all()


def groups(y):
    """What is the same within a group belongs to it."""
    mu = numpyro.sample("mu", dist.Normal(0, 10))
    tau = numpyro.sample("tau", dist.HalfNormal(5))
    with numpyro.plate("groups", y.shape[0], dim=-2):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        with numpyro.plate("rows", y.shape[1], dim=-1):
            numpyro.sample("y", dist.Normal(theta, 1), obs=y)


def test_groups_are_resampled_with_what_belongs_to_them():
    """A group of weight 2 is two groups, one of weight 0 none; fixed draws are not the same, so that neither is all."""
    rng = np.random.default_rng(2)
    y = rng.normal(1, 1.5, size=(12, 1)) + rng.normal(size=(12, 4))
    weights = np.array([2, 0, 1, 1, 3, 0, 1, 1, 1, 0, 1, 1.0])
    repeated = np.repeat(y, weights.astype(int), axis=0)
    by = trustvb.numpyro.Fitter(groups, unit="groups", particles=256)
    weighted = by(y, weights, 1.0, None)
    once = by(repeated, np.ones(12), 1.0, None)
    assert set(weighted.draws) == {"mu", "tau"} and weighted.converged and once.converged
    for name in ("mu", "tau"):
        sd = once.draws[name].std()
        assert weighted.mean[name] == pytest.approx(float(once.mean[name]), abs=0.1 * sd)
        assert weighted.draws[name].std() == pytest.approx(sd, rel=0.1)
    assert by.scale_of(y, lambda d: d["tau"]) == "positive"
    with pytest.raises(
        ValueError, match=r"Observed sites are inside 'rows' \(4\), 'groups' \(12\)"
    ):
        trustvb.numpyro.calibrate(groups, None, y)
    with pytest.raises(ValueError, match="'theta' belongs to units, and AutoMultivariateNormal"):
        trustvb.numpyro.calibrate(groups, AutoMultivariateNormal, y, unit="groups")
    with pytest.raises(ValueError, match="plate 'cells' does not hold the observed sites y"):
        trustvb.numpyro.calibrate(groups, None, y, unit="cells")


def test_scales_are_found_where_quantities_can_go(lines):
    by = trustvb.numpyro.Fitter(linear)
    data = by.data(*lines)
    scales = {
        "real": lambda d: d["beta"][:, 0],
        "positive": lambda d: np.exp(d["beta"].sum(axis=1)),
        "unit": lambda d: 1 / (1 + np.exp(-d["beta"][:, 0])),
        "correlation": lambda d: np.tanh(d["beta"][:, 1]),
    }
    assert {name: by.scale_of(data, h) for name, h in scales.items()} == {s: s for s in scales}
    assert by.scale_of(data, lambda d: 0 * d["beta"][:, 0] + 0.5) == "real"


def without_plates(y):
    mean = numpyro.sample("mean", dist.Normal(0, 10))
    numpyro.sample("y", dist.Normal(mean, 1), obs=y)


def knows_its_data(names, y):
    """It looks at the values of its data, as a traced model cannot."""
    mean = numpyro.sample("mean", dist.Normal(0, 10).expand([len(np.unique(names))]).to_event(1))
    numpyro.sample("y", dist.Normal(mean[names], 1), obs=y)


def test_models_without_plates_and_with_data_that_cannot_be_traced():
    y = np.random.default_rng(1).normal(2, 1, 50)
    frame = trustvb.numpyro.calibrate(
        without_plates, None, y, method=["jackknife", "vb"]
    ).intervals()
    half = (frame.upper - frame.lower) / 2
    assert half[0] == pytest.approx(1.96 * y.std() / np.sqrt(50), rel=1e-2)
    assert half[1] == pytest.approx(1.96 / np.sqrt(50), rel=1e-2)
    names = np.repeat([0, 1], 25)
    result = trustvb.numpyro.calibrate(
        knows_its_data,
        None,
        names,
        y,
        quantities={"gap": lambda d: d["mean"][:, 1] - d["mean"][:, 0]},
    )
    gap = y[25:].mean() - y[:25].mean()
    assert result.intervals().estimate[0] == pytest.approx(gap, abs=2e-3)
    # Another data set of the same shape is not the first one.
    by = trustvb.numpyro.Fitter(knows_its_data)
    means = [by(by.data(names, z), np.ones(50), 1.0, None).mean["mean"] for z in (y, y + 1, y)]
    np.testing.assert_allclose(means[1] - means[0], 1, atol=1e-3)
    np.testing.assert_array_equal(means[0], means[2])
    with pytest.raises(ValueError, match=r"have the shapes y \(5, 10\)"):
        trustvb.numpyro.calibrate(without_plates, None, y.reshape(5, 10))
    by_rows = trustvb.numpyro.calibrate(without_plates, None, y.reshape(5, 10), unit=0, method="vb")
    assert by_rows._task.n_units == 5


def rate(y):
    numpyro.sample("y", dist.Poisson(numpyro.sample("rate", dist.Gamma(2.0, 1.0))), obs=y)


def gamma_guide(y):
    positive = dist.constraints.positive
    shape = numpyro.param("shape", 5.0, constraint=positive)
    numpyro.sample("rate", dist.Gamma(shape, numpyro.param("by", 5.0, constraint=positive)))


def log_normal_guide(y):
    scale = numpyro.param("scale", 0.5, constraint=dist.constraints.positive)
    numpyro.sample("rate", dist.LogNormal(numpyro.param("loc", 0.0), scale))


@pytest.mark.parametrize("guide", [gamma_guide, log_normal_guide])
def test_guides_of_other_laws(guide):
    """The posterior of a Poisson rate is a Gamma law: with shape 2 + ω Σ w y and rate 1 + ω Σ w."""
    y = np.random.default_rng(4).poisson(3, 60)
    weights = trustvb.resample_weights("full", 2, 60)
    by = trustvb.numpyro.Fitter(rate, guide, particles=400)
    fit = by(y, weights, 0.5, None)
    shape, per = 2 + 0.5 * weights @ y, 1 + 0.5 * weights.sum()
    sd = np.sqrt(shape) / per
    # The draws of a Gamma law are independent ones: 400 leave an error of a twentieth of its spread.
    assert fit.converged and fit.mean["rate"] == pytest.approx(shape / per, abs=0.15 * sd)
    assert fit.draws["rate"].std() == pytest.approx(sd, rel=0.15)
    assert by.scale_of(y, lambda d: d["rate"]) == "positive"


def local_without_plate(y):
    z = numpyro.sample("z", dist.Normal(0, 1).expand([len(y)]).to_event(1))
    numpyro.sample("y", dist.Normal(z, 1), obs=y)


def minibatches(y):
    mean = numpyro.sample("mean", dist.Normal(0, 10))
    with numpyro.plate("rows", len(y), subsample_size=5) as at:
        numpyro.sample("y", dist.Normal(mean, 1), obs=y[at])


def discrete(y):
    k = numpyro.sample("k", dist.Poisson(3.0))
    numpyro.sample("y", dist.Normal(k, 1), obs=y)


def discrete_guide(y):
    numpyro.sample("k", dist.Poisson(numpyro.param("rate", 3.0)))


@pytest.mark.parametrize(
    ("model", "guide", "options", "message"),
    [
        (local_without_plate, None, {}, "'z' has as many values as there are units"),
        (minibatches, None, {}, "the plate 'rows' is subsampled"),
        (discrete, discrete_guide, {}, "'k' is discrete"),
        (without_plates, AutoDelta, {}, "the guide is a point"),
        (without_plates, None, {"quantities": "mean[0]"}, "has the shape"),
        (without_plates, None, {"quantities": "mu"}, "no latent site 'mu'; there are mean"),
        (without_plates, None, {"quantities": "mean["}, "is not an element of a site"),
        (without_plates, None, {"unit": "rows"}, "'rows' does not hold the observed sites y"),
    ],
)
def test_what_cannot_be_done_is_said(model, guide, options, message):
    with pytest.raises(ValueError, match=message):
        trustvb.numpyro.calibrate(model, guide, np.arange(20.0), **options)


def test_the_core_imports_none_of_it():
    script = (
        "import sys, trustvb; "
        "sys.exit(', '.join({'jax', 'numpyro', 'pymc', 'pytensor'} & set(sys.modules)) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("guide", [AutoNormal, AutoMultivariateNormal, AutoLaplaceApproximation])
def test_a_first_look_at_once_sees_what_the_slow_one_sees(guide, lines):
    """Sites, shapes, supports and parameters; start values are others of the same kind, unless the guide says which."""
    from numpyro.infer import init_to_value
    from trustvb._numpyro_first import first_look, traces

    def model(X, y):
        linear(X, y)
        numpyro.sample("share", dist.Uniform(X[0, 0], X[0, 0] + 2.0))

    values = {"beta": jnp.array([0.5, -0.25]), "share": float(lines[0][0, 0]) + 0.5}
    arrays = [jnp.asarray(a) for a in lines]
    said = dict(init_loc_fn=init_to_value(values=values))
    for options in ({}, said):
        given = guide(model, **options)
        found = first_look(model, given, lambda a: (a, {}), arrays, None)
        ready, unit, of_model, of_guide = found
        assert (unit.size, unit.plate) == (80, "rows")
        assert given.prototype_trace is None, "the user's guide is as it was: a copy was traced"
        slow = guide(model, **options)
        slow_model, slow_guide = traces(model, slow, (arrays, {}))
        assert list(of_model) == list(slow_model) and list(of_guide) == list(slow_guide)
        for name in ("beta", "share"):
            assert jnp.shape(of_model[name]["value"]) == jnp.shape(slow_model[name]["value"])
        support = of_model["share"]["fn"].support
        assert float(support.lower_bound) == pytest.approx(float(lines[0][0, 0]))
        for name, site in slow_guide.items():
            if site["type"] != "param":
                continue
            found, known = np.asarray(of_guide[name]["value"]), np.asarray(site["value"])
            assert found.shape == known.shape and (np.abs(found) <= 2).all()
            if options or "loc" not in name:
                np.testing.assert_allclose(found, known)
        assert ready.prototype_trace is not None


def test_a_start_where_the_objective_is_not_defined_is_left():
    from trustvb._automatic import _defined

    def slope(x):
        return (0.0 if x[0] > 1 else np.nan), x

    assert _defined(slope, np.array([3.0, 0.0]))[0] == 3
    assert _defined(slope, np.zeros(2))[0] > 1
    assert (_defined(lambda x: (np.inf, x), np.zeros(2)) == 0).all(), "there is no such place"


def test_figures_of_one_fit(lines):
    result = trustvb.numpyro.calibrate(linear, None, *lines, method=["jackknife", "lrvb", "vb"])
    labels = result.plot_density("beta[0]").get_legend_handles_labels()[1]
    assert [label.split(",")[0] for label in labels] == ["jackknife", "lrvb", "vb"]
    with pytest.raises(ValueError, match="jackknife finds ω without resamples"):
        result.coverage_curve("beta[0]", method="jackknife")
