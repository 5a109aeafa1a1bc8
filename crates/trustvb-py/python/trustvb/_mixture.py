"""Gaussian mixtures."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _ask, _native
from ._base import weights_of
from ._calibrated import Calibrated

Self = TypeVar("Self", bound="GaussianMixture")


class GaussianMixture(Calibrated):
    """A variational Gaussian mixture with full covariances, and calibrated intervals for it.

    Component 1 (0 in arrays) is the heaviest.

    Parameters
    ----------
    n_components : number of components.
    omega : the fraction that the likelihood is raised to in ``fit``; 1 is ordinary variational Bayes.
        Intervals choose their own.
    prior : ``"default"`` (answers do not depend on units; covariances share a learned scale), ``"paper"``, or a dict
        with any of ``alpha0``, ``m0``, ``beta0``, ``nu0``, ``W0``, ``loose`` (the probability that a component's
        covariance is not like the others') and ``base`` (``"default"``, ``"standardised"``, the default of
        earlier versions, or ``"paper"``).
    update : ``"corrected"`` or ``"as-printed"``, the form of the covariance update.
    random_state : an integer is the command line's ``--seed``; a generator gives one; ``None`` is 1.
    n_init : k-means++ starts; the best bound wins.
    tol : largest relative change at which a fit has converged: 1e-10, and 1e-8 in tables, if not given.
    max_iter : sweeps after which a fit gives up.
    acceleration : states that Anderson acceleration combines; 0 for plain sweeps.
    means_init : start values, a row per component; they are then the only start.
    published : everything as the paper's code had it.

    Attributes
    ----------
    weights_, means_, covariances_ : posterior means.
    precisions_ : inverses of ``covariances_``, as in scikit-learn.
    lower_bound_, lower_bounds_ : the bound at the optimum, and after each sweep.
    n_iter_, converged_ : sweeps, and whether they sufficed.
    emptied_ : components (from 0) that hold next to no data.
    posterior_ : the variational posterior.
    n_features_in_, feature_names_in_ : as in scikit-learn.
    """

    means_: NDArray[np.float64]
    covariances_: NDArray[np.float64]
    precisions_: NDArray[np.float64]

    def __init__(
        self,
        n_components: int = 2,
        *,
        omega: float = 1.0,
        prior: str | dict[str, Any] = "default",
        update: str | None = None,
        random_state: Any = None,
        n_init: int = 10,
        tol: float | None = None,
        max_iter: int = 2000,
        acceleration: int = 5,
        means_init: Any = None,
        published: bool = False,
    ) -> None:
        self.n_components = n_components
        self.omega = omega
        self.prior = prior
        self.update = update
        self.random_state = random_state
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.acceleration = acceleration
        self.means_init = means_init
        self.published = published

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "density_estimator"
        return tags

    def _spec(self) -> str:
        update = self.update or ("as-printed" if self.published else "corrected")
        return json.dumps(
            {
                "name": "gmm",
                "n_components": _ask.whole("n_components", self.n_components),
                "prior": self._prior(),
                "update": update,
            }
        )

    def fit(self: Self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits the mixture to rows: an array, or a frame of pandas, polars or Arrow. ``y`` is ignored."""
        columns = self._validate(X, reset=True)
        weights = weights_of(sample_weight, len(columns[0]))
        names = list(getattr(self, "feature_names_in_", ())) or [
            f"x{j + 1}" for j in range(len(columns))
        ]
        problem = _native.Problem.rows(names, columns, self._spec())
        self._fit(problem, weights)
        mean = self.posterior_.mean()
        self.means_ = mean["mu"][0]
        self.covariances_ = mean["sigma"][0]
        self.precisions_ = np.array([_inverse(sigma) for sigma in self.covariances_])
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.intp]:
        """Fits and returns the most probable component of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Each row's probability of belonging to each component: the fit's own responsibilities."""
        self._check_fitted()
        rho = self.posterior_.ln_rho(self._validate(X, reset=False))
        rho -= rho.max(axis=1, keepdims=True)
        np.exp(rho, out=rho)
        rho /= rho.sum(axis=1, keepdims=True)
        return rho

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The most probable component of each row, from 0."""
        labels: NDArray[np.intp] = self.predict_proba(X).argmax(axis=1)
        return labels

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """The log of each row's posterior predictive density, a mixture of multivariate t."""
        self._check_fitted()
        return self.posterior_.ln_predictive(self._validate(X, reset=False))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of :meth:`score_samples`."""
        return float(self.score_samples(X).mean())

    def aic(self, X: Any) -> float:
        """Akaike's criterion of the mixture with the posterior means as its parameters; lower is better.

        It is made for maximum likelihood, which posterior means are near when data are many. ``lower_bound_`` is the
        criterion that variational Bayes itself has.
        """
        return -2 * self._ln_likelihood(X)[0] + 2 * self._n_parameters()

    def bic(self, X: Any) -> float:
        """The Bayesian information criterion of the mixture with the posterior means as its parameters; see :meth:`aic`."""
        likelihood, n = self._ln_likelihood(X)
        return -2 * likelihood + float(np.log(n)) * self._n_parameters()

    def _n_parameters(self) -> int:
        k, p = self.means_.shape
        return int(k * (p + p * (p + 1) // 2) + k - 1)

    def _ln_likelihood(self, X: Any) -> tuple[float, int]:
        """The log likelihood of all rows at the posterior means, and their number."""
        self._check_fitted()
        rows = np.column_stack(self._validate(X, reset=False))
        terms = []
        for weight, mean, sigma in zip(self.weights_, self.means_, self.covariances_, strict=True):
            root = np.linalg.cholesky(sigma)
            z = np.linalg.solve(root, (rows - mean).T)
            ln_volume = float(np.log(np.diag(root)).sum()) + 0.5 * rows.shape[1] * np.log(2 * np.pi)
            terms.append(np.log(weight) - ln_volume - 0.5 * (z * z).sum(axis=0))
        return float(np.logaddexp.reduce(terms, axis=0).sum()), len(rows)

    def sample(self, n_samples: int = 1) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Rows from the posterior predictive distribution, and the components they came from.

        With an integer as ``random_state`` they are the same every time; with ``None`` they are not.
        """
        self._check_fitted()
        n = _ask.whole("n_samples", n_samples)
        rng = self._generator()
        labels = np.sort(
            rng.choice(len(self.weights_), size=n, p=self.weights_ / self.weights_.sum())
        )
        draws = self.posterior_.draws(n, int(rng.integers(2**63)))
        mu, sigma = draws["mu"][np.arange(n), labels], draws["sigma"][np.arange(n), labels]
        noise = rng.standard_normal(mu.shape)
        rows = mu + np.einsum("nij,nj->ni", np.linalg.cholesky(sigma), noise)
        return rows, labels


def _inverse(sigma: NDArray[np.float64]) -> NDArray[np.float64]:
    """NaN where a posterior with few degrees of freedom has no mean."""
    if not np.isfinite(sigma).all():
        return np.full_like(sigma, np.nan)
    return np.linalg.inv(sigma).astype(np.float64)
