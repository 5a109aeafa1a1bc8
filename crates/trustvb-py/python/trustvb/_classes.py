"""Mixtures whose columns are independent within a class: latent classes and profiles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _ask, _cells, _frames, _native
from ._base import feature_names, weights_of
from ._calibrated import Calibrated
from ._frames import FrameName

if TYPE_CHECKING:
    import pandas

Self = TypeVar("Self", bound="LatentClass")
Named = list[tuple[str, "_cells.Cells"]]


class LatentClass(Calibrated):
    """Variational latent classes (or profiles) of columns of any kind, and calibrated intervals for them.

    Columns are independent within a class. A missing cell (``None``, NaN, NA) drops out of its row's likelihood, which
    is right when cells are missing at random. Class 1 (0 in arrays) is the heaviest.

    Parameters
    ----------
    n_components : number of classes.
    types : what columns hold, where it is not what they look like: a dict from names to ``"gaussian"``, ``"count"`` or
        ``"category"``, or one of these words for all columns. Text, truth values and categorical types are categories, and
        so are two different numbers and few small whole ones, such as answers from 1 to 5 (``remarks_`` then says so);
        other numbers are Gaussian. Columns of arrays are called ``x1``, ``x2``, …
    prior : ``None`` for the default, or a dict with any of ``alpha0``, ``level0``, ``beta0``, ``nu0``, ``spread0`` and
        ``rate0`` (docs/CLASSES.md says what they are).
    omega, random_state, n_init, tol, max_iter, acceleration : as for :class:`GaussianMixture`.

    Attributes
    ----------
    weights_ : posterior means of the classes' weights.
    probabilities_ : for each category a matrix, a row per class and a column per level of ``levels_``.
    rates_, means_, sds_ : for each count and each Gaussian column a number per class.
    types_, levels_ : the kind of each column, and the levels of each category: in the order of the column's type where that
        has one (pandas' categorical, polars' Enum), else numbers by size and texts by letters.
    n_missing_ : number of missing cells.
    lower_bound_, lower_bounds_, n_iter_, converged_, emptied_, flags_, remarks_, posterior_, n_features_in_,
    feature_names_in_ : as for :class:`GaussianMixture`.
    """

    #: Not parameters of this model: there are random starts only, and the paper has no such model.
    means_init = None
    published = False

    probabilities_: dict[str, NDArray[np.float64]]
    rates_: dict[str, NDArray[np.float64]]
    means_: dict[str, NDArray[np.float64]]
    sds_: dict[str, NDArray[np.float64]]
    types_: dict[str, str]
    levels_: dict[str, list[str]]
    n_missing_: int

    def __init__(
        self,
        n_components: int = 2,
        *,
        types: Mapping[str, str] | str | None = None,
        prior: str | dict[str, Any] | None = None,
        omega: float = 1.0,
        random_state: Any = None,
        n_init: int = 10,
        tol: float | None = None,
        max_iter: int = 2000,
        acceleration: int = 5,
    ) -> None:
        self.n_components = n_components
        self.types = types
        self.prior = prior
        self.omega = omega
        self.random_state = random_state
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.acceleration = acceleration

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "density_estimator"
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _prior(self) -> dict[str, Any]:
        if self.prior is None or self.prior == "default":
            return {}
        if isinstance(self.prior, str):
            raise ValueError(f"prior={self.prior!r} is neither None nor 'default' nor a dict")
        return super()._prior()

    def _spec(self) -> str:
        k = _ask.whole("n_components", self.n_components)
        return json.dumps({"n_components": k, "prior": self._prior(), "columns": []})

    def _cells_of(self, X: Any, *, reset: bool) -> tuple[Named, list[bool]]:
        """The columns by name, and which of them are categories by their type."""
        X = _frames.settled(X)
        names = feature_names(X)
        found = _cells.columns_of(X)
        n = _cells.length_of(found[0][0]) if found else len(X)
        self._check_shape(names, n, len(found), reset=reset)
        own = self._names(len(found))
        cells = [(name, cells) for name, (cells, _) in zip(own, found, strict=True)]
        return cells, [category for _, category in found]

    def _names(self, p: int) -> list[str]:
        named = list(getattr(self, "feature_names_in_", ()))
        return named or [f"x{j + 1}" for j in range(p)]

    def _said(self, names: list[str], categories: list[bool]) -> list[tuple[str, str]]:
        """What columns are said to be, by the user before their type."""
        said = {name: "category" for name, is_one in zip(names, categories, strict=True) if is_one}
        return list({**said, **_ask.types(self.types, names)}.items())

    def fit(
        self: Self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        weights_are: str = "frequency",
    ) -> Self:
        """Fits the classes to rows: a frame of pandas, polars or Arrow, or an array. ``y`` is ignored.

        ``sample_weight`` says how many rows each row stands for, or, with ``weights_are="survey"``, how much it counts.
        """
        cells, categories = self._cells_of(X, reset=True)
        weights = weights_of(sample_weight, _cells.length_of(cells[0][1]))
        said = self._said([name for name, _ in cells], categories)
        problem = _native.Problem.mixed(cells, said, self._spec())
        self._fit(problem, weights, weights_are)
        kinds = problem.kinds()
        self.types_ = {name: kind for name, kind, _ in kinds}
        self.levels_ = {name: levels for name, kind, levels in kinds if kind == "category"}
        mean = self.posterior_.mean()
        self.probabilities_ = {name: mean[f"p.{name}"][0] for name in self._of_kind("category")}
        self.rates_ = {name: mean[f"rate.{name}"][0] for name in self._of_kind("count")}
        self.means_ = {name: mean[f"mu.{name}"][0] for name in self._of_kind("gaussian")}
        self.sds_ = {name: mean[f"sd.{name}"][0] for name in self._of_kind("gaussian")}
        self.n_missing_ = sum(int(np.isnan(column).sum()) for column in problem.code(cells))
        return self

    def _of_kind(self, kind: str) -> list[str]:
        return [name for name, own in self.types_.items() if own == kind]

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.intp]:
        """Fits and returns the most probable class of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    def _coded(self, X: Any) -> list[NDArray[np.float64]]:
        self._check_fitted()
        cells, _ = self._cells_of(X, reset=False)
        return self._problem.code(cells)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Each row's probability of belonging to each class, from the cells that are there.

        For the rows of the fit these are its own responsibilities. A level that the fit has not seen is refused by name.
        """
        coded = self._coded(X)
        rho = self.posterior_.class_ln_rho(coded)
        rho -= rho.max(axis=1, keepdims=True)
        np.exp(rho, out=rho)
        rho /= rho.sum(axis=1, keepdims=True)
        return rho

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The most probable class of each row, from 0."""
        labels: NDArray[np.intp] = self.predict_proba(X).argmax(axis=1)
        return labels

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """The log of each row's posterior predictive density; a missing cell counts for nothing."""
        coded = self._coded(X)
        return self.posterior_.class_ln_density(coded)[0]

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of :meth:`score_samples`."""
        return float(self.score_samples(X).mean())

    def aic(self, X: Any) -> float:
        """Akaike's criterion of the classes with the posterior means as their parameters; lower is better.

        It is made for maximum likelihood, which posterior means are near when data are many. ``lower_bound_`` is the
        criterion that variational Bayes itself has.
        """
        return -2 * self._ln_likelihood(X)[0] + 2 * self._n_parameters()

    def bic(self, X: Any) -> float:
        """The Bayesian information criterion of the classes with the posterior means as their parameters; see :meth:`aic`."""
        likelihood, n = self._ln_likelihood(X)
        return -2 * likelihood + float(np.log(n)) * self._n_parameters()

    def _n_parameters(self) -> int:
        k = len(self.weights_)
        free = {"gaussian": 2, "count": 1}
        of_columns = sum(
            len(self.levels_[name]) - 1 if kind == "category" else free[kind]
            for name, kind in self.types_.items()
        )
        return k * of_columns + k - 1

    def _ln_likelihood(self, X: Any) -> tuple[float, int]:
        """The log likelihood of all rows at the posterior means, and their number."""
        coded = self._coded(X)
        return float(self.posterior_.class_ln_density(coded)[1].sum()), len(coded[0])

    def profile(self, frame: FrameName = "pandas") -> pandas.DataFrame | Any:
        """Posterior means side by side: a row per level, mean or rate, and a column per class."""
        self._check_fitted()
        rows: list[tuple[str, str, NDArray[np.float64]]] = [("", "weight", self.weights_)]
        for name, kind in self.types_.items():
            if kind == "category":
                own = self.probabilities_[name].T
                rows += [(name, level, p) for level, p in zip(self.levels_[name], own, strict=True)]
            elif kind == "count":
                rows.append((name, "rate", self.rates_[name]))
            else:
                rows += [(name, "mean", self.means_[name]), (name, "sd", self.sds_[name])]
        columns: dict[str, Any] = {
            "column": [row[0] for row in rows],
            "value": [row[1] for row in rows],
        }
        for k in range(len(self.weights_)):
            columns[f"class {k + 1}"] = [float(row[2][k]) for row in rows]
        return _frames.make(columns, frame)

    def sample(
        self, n_samples: int = 1, *, frame: FrameName = "pandas"
    ) -> tuple[pandas.DataFrame | Any, NDArray[np.intp]]:
        """Rows from the posterior predictive distribution, none of their cells missing, and the classes they came from.

        With an integer as ``random_state`` they are the same every time; with ``None`` they are not. Levels that all are
        numbers come back as numbers, other levels as texts.
        """
        self._check_fitted()
        n = _ask.whole("n_samples", n_samples)
        rng = self._generator()
        share = self.weights_ / self.weights_.sum()
        labels = np.sort(rng.choice(len(share), size=n, p=share))
        draws = self.posterior_.draws(n, int(rng.integers(2**63)))
        at = (np.arange(n), labels)
        columns: dict[str, Any] = {}
        for name, kind in self.types_.items():
            if kind == "category":
                below = draws[f"p.{name}"][at].cumsum(axis=1)
                codes = (rng.random((n, 1)) * below[:, -1:] >= below).sum(axis=1)
                columns[name] = _levels(self.levels_[name])[codes]
            elif kind == "count":
                columns[name] = rng.poisson(draws[f"rate.{name}"][at])
            else:
                columns[name] = rng.normal(draws[f"mu.{name}"][at], draws[f"sd.{name}"][at])
        return _frames.make(columns, frame), labels


def _levels(names: list[str]) -> NDArray[Any]:
    """Levels as an array to take from: numbers if all are."""
    try:
        return np.array([float(name) for name in names])
    except ValueError:
        return np.array(names, dtype=object)
