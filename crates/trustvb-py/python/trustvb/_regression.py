"""Mixtures of linear regressions."""

from __future__ import annotations

import difflib
import json
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _ask, _frames, _native
from ._base import weights_of
from ._calibrated import Calibrated

Self = TypeVar("Self", bound="MixtureRegression")


class MixtureRegression(Calibrated):
    """A variational mixture of linear regressions, and calibrated intervals for it.

    All rows of a group belong to one component; without groups each row is a group of its own.

    Parameters
    ----------
    n_components : number of components.
    fit_intercept : whether ``fit(X, y)`` adds a column of ones; a formula says so itself.
    noise : ``"estimate"``, or a known precision of the noise.
    min_group_rows : refuse groups with fewer rows.
    prior : ``"default"``, ``"paper"``, or a dict with any of ``alpha0``, ``a0``, ``b0``, ``c0``, ``d0``, ``lambda``, ``base``.
    omega, random_state, n_init, tol, max_iter, acceleration, means_init, published : as for
        :class:`GaussianMixture`.

    Attributes
    ----------
    weights_, coef_, intercept_, noise_precision_ : posterior means; ``coef_ (K, p)`` without the intercept.
    term_names_ : names of all coefficients, by which quantities such as ``beta[1,x1]`` are asked.
    lower_bound_, lower_bounds_, n_iter_, converged_, emptied_, posterior_ : as for
        :class:`GaussianMixture`.
    """

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    noise_precision_: NDArray[np.float64]
    term_names_: list[str]
    formula_: str
    _dot: list[str]

    def __init__(
        self,
        n_components: int = 2,
        *,
        fit_intercept: bool = True,
        noise: str | float | None = None,
        min_group_rows: int = 1,
        omega: float = 1.0,
        prior: str | dict[str, Any] = "default",
        random_state: Any = None,
        n_init: int = 10,
        tol: float | None = None,
        max_iter: int = 2000,
        acceleration: int = 5,
        means_init: Any = None,
        published: bool = False,
    ) -> None:
        self.n_components = n_components
        self.fit_intercept = fit_intercept
        self.noise = noise
        self.min_group_rows = min_group_rows
        self.omega = omega
        self.prior = prior
        self.random_state = random_state
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.acceleration = acceleration
        self.means_init = means_init
        self.published = published

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor"
        tags.regressor_tags = RegressorTags(poor_score=True)
        tags.target_tags.required = True
        return tags

    def _spec(self, formula: str) -> tuple[str, float | None]:
        prior = self._prior()
        known = prior.pop("lambda", None)
        if self.noise is None:
            known = 1.0 if known is None and self.published else known
        elif self.noise == "estimate":
            known = None
        else:
            try:
                known = float(self.noise)
            except ValueError:
                known = -1.0
            if not (known > 0 and np.isfinite(known)):
                raise ValueError(
                    f"noise={self.noise!r} is neither 'estimate' nor a positive precision"
                )
        spec = {
            "name": "bmlr",
            "n_components": _ask.whole("n_components", self.n_components),
            "prior": prior,
            "noise": "estimate" if known is None else {"known": known},
            "formula": formula,
        }
        return json.dumps(spec), known

    def fit(
        self: Self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        weights_are: str = "frequency",
    ) -> Self:
        """Fits to ``(formula, frame)`` or to ``(X, y, groups)``.

        Parameters
        ----------
        X : a formula with R's conventions, such as ``"y ~ x1 + x2 | group"``, or the rows of predictors.
        y : the frame that the formula is about, or the response.
        groups : each row's group; every row is its own if not given.
        sample_weight : of each row; rows of a group must have the same, which is the group's.
        weights_are : ``"frequency"``, how many groups a group stands for, or ``"survey"``, how much it counts.
        """
        if isinstance(X, str):
            columns = self._formula_columns(X, y, groups)
            formula = X
            self._dot = [name for name, _ in columns]
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
        else:
            formula, columns = self._array_columns(X, y, groups)
        weights = weights_of(sample_weight, len(columns[0][1]))
        spec, known = self._spec(formula)
        least = _ask.whole("min_group_rows", self.min_group_rows, least=0)
        problem = _native.Problem.formula(formula, columns, least, spec)
        self._fit(problem, self._unit_weights(weights, problem), weights_are)
        self.formula_ = formula
        self._known_noise = known
        self.term_names_ = problem.coordinates
        mean = self.posterior_.mean()
        beta = mean["beta"][0]
        at = self.term_names_.index("(Intercept)") if "(Intercept)" in self.term_names_ else None
        self.intercept_ = np.zeros(len(beta)) if at is None else beta[:, at]
        self.coef_ = beta if at is None else np.delete(beta, at, axis=1)
        self.noise_precision_ = mean["noise"][0] if "noise" in mean else np.full(len(beta), known)
        return self

    def _formula_columns(
        self, formula: str, frame: Any, groups: Any
    ) -> list[tuple[str, _frames.Column | list[str]]]:
        if groups is not None:
            raise ValueError("groups are part of a formula: write 'y ~ x | group'")
        frame = _frames.settled(frame, "the frame")
        if frame is None or not _frames.is_frame(frame):
            raise ValueError("a formula needs a frame: fit('y ~ x | group', frame)")
        return self._needed(formula, frame, response=True)

    def _needed(
        self, formula: str, frame: Any, *, response: bool
    ) -> list[tuple[str, _frames.Column | list[str]]]:
        """The columns of a frame that a formula needs, or a complaint that some are not there."""
        named, text, skipped, of_response = _native.formula_columns(formula)
        found = _frames.columns_of(frame)
        if named is None and not response:
            # What `.` stood for when the model was fitted.
            named = self._dot
        needed = [*(named or ()), *text, *(skipped if response else ())]
        if not response:
            needed = [name for name in needed if name not in (*text, *of_response)]
        _check_there(formula, needed, [str(name) for name in found])
        columns: list[tuple[str, _frames.Column | list[str]]] = []
        for name, column in _frames.pairs_of(found):
            name = str(name)
            wanted = name in named if named is not None else name not in skipped
            if name in text:
                if response:
                    columns.append((name, _frames.texts(column)))
            elif wanted and (response or name not in of_response):
                columns.append((name, _frames.numbers(column, f"the column `{name}`")))
        return columns

    def _array_columns(
        self, X: Any, y: Any, groups: Any
    ) -> tuple[str, list[tuple[str, _frames.Column | list[str]]]]:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        predictors = self._validate(X, reset=True)
        names = list(getattr(self, "feature_names_in_", ())) or [
            f"x{j + 1}" for j in range(len(predictors))
        ]
        response = _response(y, len(predictors[0]))
        columns: list[tuple[str, _frames.Column | list[str]]] = [
            (_free("y", names), response),
            *zip(names, predictors, strict=True),
        ]
        terms = ["" if self.fit_intercept else "0"] + [f"`{name}`" for name in names]
        formula = f"`{columns[0][0]}` ~ " + " + ".join(term for term in terms if term)
        formula = formula.replace("`", "") if all(n.isidentifier() for n in names) else formula
        if groups is not None:
            labels = _frames.texts(groups)
            if len(labels) != len(response):
                raise ValueError(f"groups has {len(labels)} rows, but X has {len(response)}")
            group = _free("group", names)
            columns.append((group, labels))
            formula += f" | {group}"
        return formula, columns

    @staticmethod
    def _unit_weights(
        weights: NDArray[np.float64] | None, problem: _native.Problem
    ) -> NDArray[np.float64] | None:
        """Weights of groups from those of their rows."""
        if weights is None:
            return None
        groups = np.asarray(problem.groups)
        units = np.zeros(problem.n_units)
        units[groups] = weights
        if not (units[groups] == weights).all():
            raise ValueError(
                "all rows of a group must have the same sample_weight: it is the group's"
            )
        return units

    def _design(self, X: Any) -> list[_frames.Column]:
        """The columns of the design for new rows, the intercept among them."""
        self._check_fitted()
        if hasattr(self, "n_features_in_"):
            columns = self._validate(X, reset=False)
            ones = [np.ones(len(columns[0]))] if "(Intercept)" in self.term_names_ else []
            return ones + columns
        X = _frames.settled(X)
        if not _frames.is_frame(X):
            raise ValueError(f"the model was fitted to the formula '{self.formula_}': give a frame")
        return _native.formula_design(self.formula_, self._needed(self.formula_, X, response=False))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The expected response of new rows: components' predictions averaged by their weights."""
        design = np.column_stack(self._design(X))
        result: NDArray[np.float64] = self.predict_components(X, design=design) @ self.weights_
        return result

    def predict_components(self, X: Any, *, design: Any = None) -> NDArray[np.float64]:
        """The expected response of new rows under each component."""
        design = np.column_stack(self._design(X)) if design is None else design
        result: NDArray[np.float64] = design @ self.posterior_.mean()["beta"][0].T
        return result

    def _units(
        self, X: Any, y: Any, groups: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
        design = self._design(X)
        X = _frames.settled(X)
        name = self._response_name()
        if y is None and name is not None and _frames.is_frame(X):
            columns = _frames.columns_of(X)
            _check_there(self.formula_, [name], [str(column) for column in columns])
            y = columns[name]
        response = _response(y, len(design[0]))
        if groups is None:
            inverse = np.arange(len(response))
        else:
            first: dict[str, int] = {}
            inverse = np.array([first.setdefault(g, len(first)) for g in _frames.texts(groups)])
        rho, density = self.posterior_.regression(
            design, response, inverse.tolist(), self._known_noise
        )
        return rho, density, inverse

    def _response_name(self) -> str | None:
        if hasattr(self, "n_features_in_"):
            return None
        response = _native.formula_columns(self.formula_)[3]
        return response[0] if len(response) == 1 else None

    def predict_proba(self, X: Any, y: Any = None, groups: Any = None) -> NDArray[np.float64]:
        """Each row's probability of belonging to each component.

        With the response: the responsibilities of the row's group. Without it nothing tells components
        apart but their weights.
        """
        if y is None:
            rows = len(self._design(X)[0])
            return np.tile(self.weights_, (rows, 1))
        rho, _, inverse = self._units(X, y, groups)
        rho -= rho.max(axis=1, keepdims=True)
        np.exp(rho, out=rho)
        rho /= rho.sum(axis=1, keepdims=True)
        return rho[inverse]

    def score_samples(self, X: Any, y: Any = None, groups: Any = None) -> NDArray[np.float64]:
        """The log density of each group's responses at the posterior means, in order of appearance."""
        X = _frames.settled(X)
        if y is None and (not _frames.is_frame(X) or hasattr(self, "n_features_in_")):
            raise ValueError(
                "score_samples of a regression needs the response: score_samples(X, y)"
            )
        return self._units(X, y, groups)[1]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of :meth:`predict`."""
        predicted = self.predict(X)
        response = _response(y, len(predicted))
        weights = weights_of(sample_weight, len(response))
        weights = np.ones(len(response)) if weights is None else weights
        mean = np.average(response, weights=weights)
        residual = float((weights * (response - predicted) ** 2).sum())
        return 1.0 - residual / float((weights * (response - mean) ** 2).sum())

    def sample(self, X: Any, groups: Any = None) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Responses for given rows at the posterior means, and the components they came from.

        With an integer as ``random_state`` they are the same every time; with ``None`` they are not.
        """
        components = self.predict_components(X)
        n = len(components)
        rng = self._generator()
        labels = _frames.texts(groups) if groups is not None else [str(i) for i in range(n)]
        first: dict[str, int] = {}
        inverse = np.array([first.setdefault(g, len(first)) for g in labels])
        chosen = rng.choice(len(self.weights_), size=len(first), p=self.weights_)[inverse]
        sd = 1.0 / np.sqrt(self.noise_precision_[chosen])
        return components[np.arange(n), chosen] + sd * rng.standard_normal(n), chosen


def _check_there(formula: str, wanted: list[str], there: list[str]) -> None:
    """Whether a frame has the columns of a formula."""
    for name in wanted:
        if name not in there:
            near = difflib.get_close_matches(name, there, 1)
            meant = f" did you mean `{near[0]}`?" if near else ""
            shown = ", ".join(f"`{other}`" for other in there[:20])
            more = f" and {len(there) - 20} more" if len(there) > 20 else ""
            raise ValueError(
                f"the frame has no column `{name}`, which '{formula}' needs;{meant} its columns are {shown}{more}"
            )


def _free(name: str, taken: list[str]) -> str:
    """A name that no predictor has."""
    while name in taken:
        name += "_"
    return name


def _response(y: Any, n: int) -> _frames.Column:
    y = _frames.settled(y, "y")
    response = _frames.numbers(y, "y") if not np.isscalar(y) and y is not None else np.asarray(y)
    if response.ndim == 2 and response.shape[1] == 1:
        from ._messages import warn

        _DataConversionWarning = _data_conversion_warning()
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            _DataConversionWarning,
        )
        response = response[:, 0]
    if response.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {response.shape} instead.")
    if len(response) != n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{n}, {len(response)}]"
        )
    if not np.isfinite(response).all():
        row = int(np.flatnonzero(~np.isfinite(response))[0])
        raise ValueError(
            f"Input y contains NaN or infinity: row {row + 1} is {response[row]}; fill in the values, or "
            "leave those rows out"
        )
    return response


def _data_conversion_warning() -> type[Warning]:
    try:
        from sklearn.exceptions import DataConversionWarning
    except ImportError:
        return UserWarning
    kind: type[Warning] = DataConversionWarning
    return kind
