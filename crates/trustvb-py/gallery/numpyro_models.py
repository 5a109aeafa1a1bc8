"""Three models in NumPyro whose variational intervals are wrong for three reasons, and the intervals to use.

A logistic regression with correlated predictors, which mean-field VB takes for independent; a Poisson regression of data that
vary more than a Poisson law allows; a hierarchical model, whose groups are what is resampled. It needs `trustvb[numpyro]`.
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


def answers():
    rng = np.random.default_rng(1)
    correlated = 0.7 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    X = rng.normal(size=(500, 5)) @ np.linalg.cholesky(correlated).T
    y = rng.binomial(1, 1 / (1 + np.exp(-X @ [0.5, -1.0, 0.8, 0.0, 0.3])))
    yield (
        "logistic regression, correlated predictors",
        trustvb.numpyro.calibrate(logistic, None, X, y),
    )

    X = np.column_stack([np.ones(500), rng.normal(size=(500, 2))])
    counts = rng.poisson(np.exp(X @ [0.5, 0.4, -0.3]) * rng.gamma(2, 0.5, size=500))
    quantities = {
        "slope": "beta[1]",
        "rate at x = (1, 0)": lambda draws: np.exp(draws["beta"][:, :2].sum(axis=1)),
        "P(none) at x = 0": lambda draws: np.exp(-np.exp(draws["beta"][:, 0])),
    }
    result = trustvb.numpyro.calibrate(poisson, None, X, counts, quantities=quantities)
    yield "Poisson regression, overdispersed counts", result

    y = rng.normal(2, 1, size=(40, 1)) + rng.normal(0, 2, size=(40, 5))
    yield (
        "groups of a hierarchical model",
        trustvb.numpyro.calibrate(hierarchical, None, y, unit="groups"),
    )


if __name__ == "__main__":
    found = dict(answers())
    figure, axes = plt.subplots(
        3, 1, figsize=(8.6, 6.4), layout="constrained", height_ratios=[5, 3, 3]
    )
    for ax, (title, result) in zip(axes, found.items(), strict=True):
        print(title, result.summary(), sep="\n", end="\n\n")
        result.plot_intervals(ax=ax)
        ax.set_title(title, loc="left")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figure.savefig(folder / "numpyro_models.png", dpi=110)
