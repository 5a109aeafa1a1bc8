"""Four models in NumPyro whose variational intervals are wrong for different reasons, and the intervals to use.

A logistic regression with correlated predictors, which mean-field VB takes for independent; a Poisson regression of data that
vary more than a Poisson law allows; a hierarchical model, whose groups are what is resampled; a factor model of test items,
and how reliable their sum is. A picture for each: `numpyro_logistic.png` and so on. It needs `trustvb[numpyro]`.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import numpyro
import numpyro.distributions as dist
import trustvb.numpyro

#: By resampling; and by one fit, for a model that is right (`lrvb`) and for any (`jackknife`).
METHODS = ["recommended", "vb", "lrvb", "jackknife"]


def logistic(X, y):
    beta = numpyro.sample("beta", dist.Normal(0, 10).expand([X.shape[1]]).to_event(1))
    with numpyro.plate("rows", X.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=X @ beta), obs=y)


def poisson(X, y):
    beta = numpyro.sample("beta", dist.Normal(0, 10).expand([X.shape[1]]).to_event(1))
    with numpyro.plate("rows", X.shape[0]):
        numpyro.sample("y", dist.Poisson(jnp.exp(X @ beta)), obs=y)


def hierarchical(y):
    mu = numpyro.sample("mu", dist.Normal(0, 10))
    tau = numpyro.sample("tau", dist.HalfNormal(5))
    sigma = numpyro.sample("sigma", dist.HalfNormal(5))
    with numpyro.plate("groups", y.shape[0], dim=-2):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        with numpyro.plate("rows", y.shape[1], dim=-1):
            numpyro.sample("y", dist.Normal(theta, sigma), obs=y)


def factor(y):
    """Items measure one ability, which is summed out: what is left belongs to no person."""
    items = y.shape[1]
    mean = numpyro.sample("mean", dist.Normal(0, 10).expand([items]).to_event(1))
    # Positive, because an ability and its negative are the same model.
    loading = numpyro.sample("loading", dist.HalfNormal(3).expand([items]).to_event(1))
    noise = numpyro.sample("noise", dist.HalfNormal(3).expand([items]).to_event(1))
    law = dist.LowRankMultivariateNormal(mean, loading[:, None], noise**2)
    with numpyro.plate("people", y.shape[0]):
        numpyro.sample("y", law, obs=y)


def reliability(draws):
    """The share of the variance of the items' sum that is the ability's (McDonald's omega)."""
    signal = draws["loading"].sum(axis=1) ** 2
    return signal / (signal + (draws["noise"] ** 2).sum(axis=1))


def answers():
    """Of each model a name, a title, the quantity to draw, and what was found."""
    rng = np.random.default_rng(1)
    correlated = 0.7 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    X = rng.normal(size=(500, 5)) @ np.linalg.cholesky(correlated).T
    y = rng.binomial(1, 1 / (1 + np.exp(-X @ [0.5, -1.0, 0.8, 0.0, 0.3])))
    found = trustvb.numpyro.calibrate(logistic, None, X, y)
    yield "logistic", "logistic regression, correlated predictors", "beta[1]", found

    X = np.column_stack([np.ones(500), rng.normal(size=(500, 2))])
    counts = rng.poisson(np.exp(X @ [0.5, 0.4, -0.3]) * rng.gamma(2, 0.5, size=500))
    quantities = {
        "slope": "beta[1]",
        "rate at x = (1, 0)": lambda draws: np.exp(draws["beta"][:, :2].sum(axis=1)),
        "P(none) at x = 0": lambda draws: np.exp(-np.exp(draws["beta"][:, 0])),
    }
    found = trustvb.numpyro.calibrate(poisson, None, X, counts, quantities=quantities)
    yield "poisson", "Poisson regression, overdispersed counts", "P(none) at x = 0", found

    y = rng.normal(2, 1, size=(40, 1)) + rng.normal(0, 2, size=(40, 5))
    found = trustvb.numpyro.calibrate(hierarchical, None, y, unit="groups")
    yield "hierarchical", "groups of a hierarchical model", "tau", found

    ability = rng.normal(size=(250, 1))
    # Slips have longer tails than Normal noise.
    y = ability * [1.0, 0.8, 0.8, 0.6, 0.5] + 0.5 * rng.standard_t(5, size=(250, 5))
    quantities = {
        "reliability": reliability,
        "loading of item 1": "loading[0]",
        "loading of item 5": "loading[4]",
        "noise of item 1": "noise[0]",
    }
    found = trustvb.numpyro.calibrate(factor, None, y, quantities=quantities)
    yield "factor", "one factor behind five items", "reliability", found


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for name, title, quantity, found in answers():
        print(title, found.summary(), sep="\n", end="\n\n")
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(12, 3.2), layout="constrained", width_ratios=[1.1, 1]
        )
        found.plot_intervals(ax=left).set_title(title, loc="left")
        found.plot_density(quantity, method=METHODS, ax=right)
        right.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(1, 1))
        figure.savefig(folder / f"numpyro_{name}.png", dpi=110)
