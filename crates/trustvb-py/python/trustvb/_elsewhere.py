"""Parameters of scikit-learn's mixtures that ours have not, refused with what to use instead."""

from __future__ import annotations

_SWEEPS = "lower_bounds_ has the bound after every sweep"

_INSTEAD: dict[str, str] = {
    "covariance_type": "it is a parameter of GaussianMixture",
    "reg_covar": "the prior keeps covariances from collapsing: prior={'nu0': …, 'W0': …}",
    "init_params": "there are n_init k-means++ starts; means_init gives start values of your own",
    "warm_start": "every fit starts anew; means_init=model.means_ starts from an earlier one",
    "verbose": f"{_SWEEPS}, and progress=True shows the work on tables",
    "verbose_interval": _SWEEPS,
    "weights_init": "means_init gives start values",
    "precisions_init": "means_init gives start values",
    "weight_concentration_prior_type": "weights have a Dirichlet prior: prior={'alpha0': …}",
    "weight_concentration_prior": "give prior={'alpha0': …}",
    "mean_precision_prior": "give prior={'beta0': …}",
    "mean_prior": "give prior={'m0': …}",
    "degrees_of_freedom_prior": "give prior={'nu0': …}",
    "covariance_prior": "give prior={'W0': …}, the scale of precisions",
}


def refuse(who: str, name: str) -> None:
    """Raises if ``name`` is a parameter of scikit-learn's mixtures and not of ours."""
    if name in _INSTEAD:
        raise ValueError(f"{who} has no parameter {name!r}: {_INSTEAD[name]}")
