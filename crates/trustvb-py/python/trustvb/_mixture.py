"""Gaussian mixtures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _ask, _native, _select
from ._base import weights_of
from ._calibrated import Calibrated
from ._select import Selection

Self = TypeVar("Self", bound="GaussianMixture")

#: What covariances may be, and scikit-learn's short name for one of them.
_SHAPES = {
    "full": "full",
    "tied": "tied",
    "diagonal": "diagonal",
    "diag": "diagonal",
    "spherical": "spherical",
}


class GaussianMixture(Calibrated):
    """A variational Gaussian mixture, and calibrated intervals for it.

    Component 1 (0 in arrays) is the heaviest.

    Parameters
    ----------
    n_components : number of components.
    covariance_type : ``"full"``, ``"tied"`` (one covariance for all components), ``"diagonal"`` (or ``"diag"``; columns are
        independent within a component) or ``"spherical"`` (one variance for all columns of a component).
    omega : the fraction that the likelihood is raised to in ``fit``; 1 is ordinary variational Bayes.
        Intervals choose their own.
    prior : ``"default"`` (answers do not depend on units; covariances share a learned scale), ``"paper"``, or a dict
        with any of ``alpha0``, ``m0``, ``beta0``, ``nu0``, ``W0``, ``loose`` (the probability that a component's
        covariance is not like the others') and ``base`` (``"default"``, ``"standardised"``, the default of
        earlier versions, or ``"paper"``).
    update : ``"corrected"`` or ``"as-printed"``, the form of the covariance update.
    types : columns with two different values, such as 0 and 1, are refused: :class:`LatentClass` takes them. ``"gaussian"``
        has all of them all the same, ``{"smoker": "gaussian"}`` one.
    random_state : an integer is the command line's ``--seed``; a generator gives one; ``None`` is 1.
    n_init : k-means++ starts; the best bound wins.
    tol : largest relative change at which a fit has converged: 1e-10, and 1e-8 in tables, if not given.
    max_iter : sweeps after which a fit gives up.
    acceleration : states that Anderson acceleration combines; 0 for plain sweeps.
    means_init : start values, a row per component; they are then the only start.
    published : everything as the paper's code had it.

    Attributes
    ----------
    weights_, means_, covariances_ : posterior means. As in scikit-learn, covariances are ``(K, p, p)`` if full, ``(p, p)`` if
        tied, ``(K, p)`` if diagonal and ``(K,)`` if spherical.
    precisions_ : inverses of ``covariances_``, as in scikit-learn.
    lower_bound_, lower_bounds_ : the bound at the optimum, and after each sweep.
    n_iter_, converged_ : sweeps, and whether they sufficed.
    emptied_ : components (from 0) that hold next to no data.
    flags_ : what the fit shows that speaks against it, such as ``heap``: sentences by name. Empty is good.
    remarks_ : what is to be known of the data, a sentence each.
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
        covariance_type: str = "full",
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
        types: Mapping[str, str] | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
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
        self.types = types

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
                "covariance": self._shape(),
            }
        )

    def _shape(self) -> str:
        shape = _SHAPES.get(self.covariance_type)
        if shape is None:
            raise ValueError(
                f"covariance_type={self.covariance_type!r} is none of 'full', 'tied', 'diagonal' and 'spherical'"
            )
        return shape

    def select(
        self,
        *data: Any,
        n_components: Iterable[int] | int = range(1, 9),
        covariance_type: str | Iterable[str] | None = None,
        criterion: str | None = None,
        n_jobs: int | None = None,
        **named: Any,
    ) -> Selection:
        """Compares numbers of components, and shapes of covariances, by BIC, ICL and the bound, as ``trustvb select`` does.

        Parameters
        ----------
        data, named : what :meth:`fit` takes; weights of rows are not taken.
        n_components : the numbers to compare.
        covariance_type : the shapes to compare, ``"all"`` of them, or if not given the estimator's own; all if that is
            ``"full"`` and the prior the default one.
        criterion : ``"evidence"`` (the default with the default prior), ``"bic"`` (otherwise), ``"icl"`` or ``"bound"``.
        n_jobs : threads, all cores if not given; results do not depend on it.

        >>> import trustvb
        >>> found = trustvb.GaussianMixture().select(trustvb.load_faithful(), n_components=range(1, 4))
        >>> found.n_components, found.covariance_type
        (3, 'tied')
        """
        if covariance_type is None:
            own = self._shape()
            shapes = [] if own == "full" else [own]
        elif covariance_type == "all":
            shapes = list(dict.fromkeys(_SHAPES.values()))
        else:
            asked = [covariance_type] if isinstance(covariance_type, str) else covariance_type
            shapes = [
                GaussianMixture(covariance_type=shape)._shape() for shape in dict.fromkeys(asked)
            ]
        return _select.select(self, data, named, n_components, shapes, criterion, n_jobs)

    def fit(
        self: Self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        weights_are: str = "frequency",
    ) -> Self:
        """Fits the mixture to rows: an array, or a frame of pandas, polars or Arrow. ``y`` is ignored.

        ``sample_weight`` says how many rows each row stands for, or, with ``weights_are="survey"``, how much it counts.
        """
        columns = self._validate(X, reset=True)
        weights = weights_of(sample_weight, len(columns[0]))
        names = list(getattr(self, "feature_names_in_", ())) or [
            f"x{j + 1}" for j in range(len(columns))
        ]
        problem = _native.Problem.rows(names, columns, self._spec(), self._accepted(names))
        self._fit_problem(problem, weights, weights_are)
        return self

    def _accepted(self, names: list[str]) -> list[str]:
        """The columns that are Gaussian whatever they look like."""
        said = _ask.types(self.types, names)
        for name, kind in said.items():
            if kind != "gaussian":
                raise ValueError(
                    f"types[{name!r}]={kind!r}: columns of a GaussianMixture are 'gaussian'; LatentClass has others"
                )
        return list(said)

    def _fit_problem(
        self,
        problem: _native.Problem,
        weights: NDArray[np.float64] | None,
        weights_are: str = "frequency",
    ) -> None:
        self._fit(problem, weights, weights_are)
        mean = self.posterior_.mean()
        self.means_ = mean["mu"][0]
        self._covariances = mean["sigma"][0]
        precisions = np.array([_inverse(sigma) for sigma in self._covariances])
        self.covariances_ = self._in_shape(self._covariances)
        self.precisions_ = self._in_shape(precisions)

    def _in_shape(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        """As scikit-learn gives covariances of each type."""
        shape = self._shape()
        if shape == "full":
            return matrices
        if shape == "tied":
            return np.asarray(matrices[0], dtype=np.float64)
        diagonals: NDArray[np.float64] = np.diagonal(matrices, axis1=1, axis2=2).copy()
        return diagonals if shape == "diagonal" else np.ascontiguousarray(diagonals[:, 0])

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
        free = {
            "full": k * p * (p + 1) // 2,
            "tied": p * (p + 1) // 2,
            "diagonal": k * p,
            "spherical": k,
        }
        return int(k * p + free[self._shape()] + k - 1)

    def _ln_likelihood(self, X: Any) -> tuple[float, int]:
        """The log likelihood of all rows at the posterior means, and their number."""
        self._check_fitted()
        rows = np.column_stack(self._validate(X, reset=False))
        terms = []
        for weight, mean, sigma in zip(self.weights_, self.means_, self._covariances, strict=True):
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
