"""Groups that rows index, as `theta[group]` does: they are what is resampled, or the model is refused by name."""

from __future__ import annotations

import numpy as np
import pytest
import trustvb

pytest.importorskip("jax")
numpyro = pytest.importorskip("numpyro")

import numpyro.distributions as dist  # noqa: E402
import trustvb.numpyro  # noqa: E402
from numpyro import handlers  # noqa: E402
from numpyro.infer.autoguide import AutoMultivariateNormal  # noqa: E402


def parameters():
    mu = numpyro.sample("mu", dist.Normal(0, 10))
    tau = numpyro.sample("tau", dist.HalfNormal(5))
    return mu, tau, numpyro.sample("sigma", dist.HalfNormal(5))


def indexed(group, y, n):
    mu, tau, sigma = parameters()
    with numpyro.plate("groups", n):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
    with numpyro.plate("rows", len(y)):
        numpyro.sample("y", dist.Normal(theta[group], sigma), obs=y)


def nested(y, there, n):
    mu, tau, sigma = parameters()
    with numpyro.plate("groups", n, dim=-2):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        with numpyro.plate("rows", y.shape[1], dim=-1), handlers.mask(mask=there):
            numpyro.sample("y", dist.Normal(theta, sigma), obs=y)


def off_centre(group, y, n):
    mu, tau, sigma = parameters()
    with numpyro.plate("groups", n):
        raw = numpyro.sample("raw", dist.Normal(0, 1))
    with numpyro.plate("rows", len(y)):
        numpyro.sample("y", dist.Normal(mu + tau * raw[group], sigma), obs=y)


def without_a_plate(group, y, n):
    mu, tau, sigma = parameters()
    theta = numpyro.sample("theta", dist.Normal(mu, tau).expand([n]).to_event(1))
    with numpyro.plate("rows", len(y)):
        numpyro.sample("y", dist.Normal(theta[group], sigma), obs=y)


def crossed(group, y, n):
    mu, tau, sigma = parameters()
    with numpyro.plate("groups", n):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
    with numpyro.plate("items", 4):
        eta = numpyro.sample("eta", dist.Normal(0, tau))
    with numpyro.plate("rows", len(y)):
        mean = theta[group] + eta[np.arange(len(y)) % 4]
        numpyro.sample("y", dist.Normal(mean, sigma), obs=y)


def with_values_of_rows(group, y, n):
    mu, tau, sigma = parameters()
    with numpyro.plate("groups", n):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
    with numpyro.plate("rows", len(y)):
        z = numpyro.sample("z", dist.Normal(theta[group], sigma))
        numpyro.sample("y", dist.Normal(z, 1), obs=y)


def partly(group, y, n):
    """The first rows are of no group."""
    mu, tau, sigma = parameters()
    with numpyro.plate("groups", n):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
    with numpyro.plate("rows", len(y)):
        mean = np.where(np.arange(len(y)) < 10, 0.0, 1.0) * theta[group]
        numpyro.sample("y", dist.Normal(mean, sigma), obs=y)


def levels(group, y, n):
    """Effects of fixed levels are coefficients, and those of predictors are in a plate of their own."""
    with numpyro.plate("columns", 3):
        beta = numpyro.sample("beta", dist.Normal(0, 1))
    effect = numpyro.sample("effect", dist.Normal(0, 10).expand([n]).to_event(1))
    X = np.cos(np.arange(3 * len(y))).reshape(-1, 3)
    with numpyro.plate("rows", len(y)):
        numpyro.sample("y", dist.Normal(effect[group] + X @ beta, 1), obs=y)


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(1)
    group = rng.permutation(np.repeat(np.arange(11), rng.integers(2, 9, size=11)))
    return group, rng.normal(rng.normal(2, 1, 11)[group], 1.5), 11


@pytest.fixture(scope="module")
def padded(groups):
    """The same with a line for each group."""
    group, y, n = groups
    length = np.bincount(group).max()
    table, there = np.zeros((n, length)), np.zeros((n, length), dtype=bool)
    for g in range(n):
        own = y[group == g]
        table[g, : len(own)], there[g, : len(own)] = own, True
    return table, there, n


@pytest.mark.parametrize("unit", [None, "groups"])
def test_groups_that_rows_index_are_resampled_as_nested_ones_are(groups, padded, unit):
    by = trustvb.numpyro.Fitter(indexed, unit=unit)
    other = trustvb.numpyro.Fitter(nested, unit="groups")
    data, lines = by.data(*groups), other.data(*padded)
    assert by.n_units(data) == 11
    assert list(by.elements(data)) == ["mu", "tau", "sigma"]
    weights = trustvb.resample_weights("full", 1, 11, random_state=5)
    assert (weights == 0).any()
    for w in (np.ones(11), weights):
        fit, expected = by(data, w, 1.0, None), other(lines, w, 1.0, None)
        for name in ("mu", "tau", "sigma"):
            assert fit.mean[name] == pytest.approx(expected.mean[name], rel=1e-4)
    if unit is None:
        full = by(data, np.ones(11), 1.0, None), other(lines, np.ones(11), 1.0, None)
        widths = [
            f.spread("jackknife", d, fit, lambda draws: draws["mu"])
            for f, d, fit in ((by, data, full[0]), (other, lines, full[1]))
        ]
        assert widths[0] == pytest.approx(widths[1], rel=1e-3)
        # Rows are not independent, and resampling them says too little.
        rows = trustvb.numpyro.Fitter(indexed, unit="rows")
        own = rows(data, np.ones(len(groups[1])), 1.0, None)
        assert rows.spread("jackknife", data, own, lambda draws: draws["mu"]) < 0.8 * widths[0]


def test_rows_of_other_data_have_their_own_groups(groups):
    """What is compiled for one assignment is not used for another."""
    group, y, n = groups
    by, fresh = (trustvb.numpyro.Fitter(indexed) for _ in range(2))
    weights = trustvb.resample_weights("full", 2, n, random_state=5)
    by(by.data(group, y, n), weights, 1.0, None)
    turned = (np.roll(group, 3), y, n)
    found, expected = by(turned, weights, 1.0, None), fresh(turned, weights, 1.0, None)
    assert found.mean["mu"] == pytest.approx(float(expected.mean["mu"]), rel=1e-6)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (
            off_centre,
            {},
            r"one member of the plate 'groups' \(11\).* say unit='groups'.*unit='rows'",
        ),
        (partly, {}, "one member of the plate 'groups'"),
        (partly, {"unit": "groups"}, "not every row depends on exactly one"),
        (without_a_plate, {}, "one of the 11 values of 'theta', .* inside a plate"),
        (crossed, {}, r"each of several: the plate 'groups' \(11\), the plate 'items' \(4\)"),
        (with_values_of_rows, {}, "'z' belongs to rows, and rows to the plate 'groups'"),
        (with_values_of_rows, {"unit": "groups"}, "'z' belongs to rows"),
        (levels, {"unit": "columns"}, "not every row depends on exactly one"),
        (indexed, {"guide": AutoMultivariateNormal}, "'theta' belongs to units"),
    ],
)
def test_rows_that_share_a_member_are_never_resampled_in_silence(groups, model, options, message):
    with pytest.raises(ValueError, match=message):
        trustvb.numpyro.Fitter(model, **options).n_units(groups)


def test_who_says_what_the_unit_is_gets_it(groups):
    n_rows = len(groups[1])
    assert trustvb.numpyro.Fitter(off_centre, unit="groups").n_units(groups) == 11
    assert trustvb.numpyro.Fitter(indexed, unit="rows").n_units(groups) == n_rows
    assert trustvb.numpyro.Fitter(levels).n_units(groups) == n_rows


def test_pymc_refuses_values_of_groups_and_takes_levels(groups):
    pm = pytest.importorskip("pymc")
    import trustvb.pymc

    group, y, n = groups

    def units(make, **options):
        with pm.Model() as model:
            make()
        return trustvb.pymc.Fitter(model, **options).n_units(None)

    def drawn(centred):
        mu, tau = pm.Normal("mu", 0, 10), pm.HalfNormal("tau", 5)
        if centred:
            theta = pm.Normal("theta", mu, tau, shape=n)
        else:
            theta = pm.Deterministic("scaled", mu + tau * pm.Normal("theta", 0, 1, shape=n))
        pm.Normal("y", theta[group], 1, observed=y)

    def fixed():
        effect, sd = pm.Normal("effect", 0, 10, shape=n), pm.HalfNormal("sd", 5)
        slope = pm.Normal("slope", 0, pm.HalfNormal("scale", 1), shape=2)
        X = np.cos(np.arange(2 * len(y))).reshape(-1, 2)
        pm.Normal("y", effect[group] + X @ slope, sd, observed=y)

    with pytest.raises(
        ValueError, match=r"values of 'theta', whose law has latent .*mu, tau.* plate"
    ):
        units(lambda: drawn(True))
    with pytest.raises(ValueError, match="values of 'theta', scaled by others"):
        units(lambda: drawn(False))
    assert units(lambda: drawn(True), unit=0) == len(y)
    assert units(fixed) == len(y)
