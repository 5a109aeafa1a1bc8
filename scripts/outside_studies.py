"""Coverage of calibrated intervals around NumPyro's variational fits, in three models.

    python scripts/outside_studies.py [logistic] [poisson] [hierarchical] [-n 200] [-B COUNT] [-o FOLDER]

writes a CSV file per model, prints its table, and draws coverages in `outside-coverage.png`; `--draw` draws what is in the
folder. It needs `trustvb[numpyro]` and `trustvb[plot]`. docs/OUTSIDE.md has its numbers.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import numpyro
import numpyro.distributions as dist
import pandas as pd
import trustvb
import trustvb.numpyro

COEFFICIENTS = np.array([0.5, -1.0, 0.8, 0.0, 0.3])
CORRELATIONS = 0.7 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
RATES = np.array([0.5, 0.4, -0.3])


def regression(X):
    flat = dist.Normal(0, 10).expand([X.shape[1]]).to_event(1)
    return X @ numpyro.sample("beta", flat)


def logistic(X, y=None):
    """Correlated predictors: mean-field VB takes the coefficients for independent."""
    predictor = regression(X)
    with numpyro.plate("rows", X.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=predictor), obs=y)


def simulate_logistic(rng):
    X = rng.normal(size=(500, 5)) @ np.linalg.cholesky(CORRELATIONS).T
    return X, rng.binomial(1, 1 / (1 + np.exp(-X @ COEFFICIENTS)))


def poisson(X, y=None):
    """The data have more noise than the model knows."""
    predictor = regression(X)
    with numpyro.plate("rows", X.shape[0]):
        numpyro.sample("y", dist.Poisson(jnp.exp(predictor)), obs=y)


def simulate_poisson(rng):
    X = np.column_stack([np.ones(500), rng.normal(size=(500, 2))])
    # Gamma factors with mean 1 and variance 1/2: the rates are right, the variances are not.
    return X, rng.poisson(np.exp(X @ RATES) * rng.gamma(2, 0.5, size=500))


def hierarchical(y):
    """Groups are what was drawn: they are resampled, with their means."""
    mu = numpyro.sample("mu", dist.Normal(0, 10))
    tau = numpyro.sample("tau", dist.HalfNormal(5))
    sigma = numpyro.sample("sigma", dist.HalfNormal(5))
    with numpyro.plate("groups", y.shape[0], dim=-2):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        with numpyro.plate("rows", y.shape[1], dim=-1):
            numpyro.sample("y", dist.Normal(theta, sigma), obs=y)


def simulate_hierarchical(rng):
    return rng.normal(2, 1, size=(60, 1)) + rng.normal(0, 2, size=(60, 6))


STUDIES = {
    "logistic": (
        trustvb.numpyro.Fitter(logistic),
        simulate_logistic,
        {f"beta[{i}]": b for i, b in enumerate(COEFFICIENTS)},
    ),
    "poisson": (
        trustvb.numpyro.Fitter(poisson),
        simulate_poisson,
        {f"beta[{i}]": b for i, b in enumerate(RATES)},
    ),
    "hierarchical": (
        trustvb.numpyro.Fitter(hierarchical, unit="groups", particles=128),
        simulate_hierarchical,
        {"mu": 2.0, "tau": 1.0, "sigma": 2.0},
    ),
}


def study(name: str, asked: argparse.Namespace) -> None:
    """Runs a study and keeps its table."""
    fitter, simulate, truth = STUDIES[name]
    bootstraps = asked.bootstraps or (100 if name == "hierarchical" else 200)
    before = time.perf_counter()
    frame = trustvb.study_of(
        fitter,
        simulate,
        truth,
        replications=asked.replications,
        method=["recommended", "tempered", "bootstrap", "jackknife", "vb"],
        scale="found",
        bootstraps=bootstraps,
        random_state=1,
        n_jobs=asked.jobs,
    )
    frame.to_csv(asked.output / f"outside-{name}.csv", index=False)
    seconds = time.perf_counter() - before
    print(f"{name}: {asked.replications} data sets, {bootstraps} bootstraps, {seconds:.0f} s")
    shown = frame[["functional", "method", "coverage", "length", "score", "bias", "rmse"]]
    print(shown.round(3).to_string(index=False), flush=True)


def draw(folder: Path, names: list[str]) -> None:
    """Coverages of all models, beside each other."""
    frames = {name: pd.read_csv(folder / f"outside-{name}.csv") for name in names}
    figure, axes = plt.subplots(
        1,
        len(frames),
        figsize=(13, 3.6),
        layout="constrained",
        sharey=True,
        squeeze=False,
        width_ratios=[frame.functional.nunique() for frame in frames.values()],
    )
    for ax, (name, frame) in zip(axes[0], frames.items(), strict=True):
        trustvb.plot_study(frame, ax=ax).set_title(name, loc="left")
        ax.label_outer()
        if ax is not axes[0][-1]:
            ax.get_legend().remove()
    figure.savefig(folder / "outside-coverage.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(STUDIES)}")
    parser.add_argument("-n", "--replications", type=int, default=200)
    parser.add_argument("-B", "--bootstraps", type=int, help="200, of the hierarchical model 100")
    parser.add_argument("-o", "--output", type=Path, default=Path())
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draw", action="store_true", help="only draw what is in the folder")
    asked = parser.parse_args()
    if unknown := set(asked.models) - set(STUDIES):
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(STUDIES)}")
    asked.output.mkdir(parents=True, exist_ok=True)
    names = asked.models or list(STUDIES)
    for name in names if not asked.draw else ():
        study(name, asked)
    draw(asked.output, names)


if __name__ == "__main__":
    main()
