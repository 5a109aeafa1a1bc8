"""What both estimators share: scikit-learn's conventions, and calibrated answers.

scikit-learn is followed without importing it: parameters, tags, cloning and validation are those it asks
of estimators, so that numpy and pandas are enough to use the package and pipelines work with it.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _ask, _frames, _native
from ._ask import Asked
from ._frames import FrameName
from ._messages import ConvergenceWarning, warn
from ._progress import Progress, Wish
from ._table import Table

if TYPE_CHECKING:
    import pandas

Self = TypeVar("Self", bound="Estimator")

#: The seed that ``random_state=None`` stands for: the command line's default.
DEFAULT_SEED = 1


def seed_of(random_state: Any) -> int:
    """The seed that a ``random_state`` stands for; an integer is the command line's ``--seed``."""
    if random_state is None:
        return DEFAULT_SEED
    if hasattr(random_state, "integers"):  # numpy.random.Generator
        return int(random_state.integers(2**32))
    if hasattr(random_state, "randint"):  # numpy.random.RandomState
        return int(random_state.randint(2**31))
    try:
        return _ask.whole("random_state", random_state, least=0)
    except ValueError:
        raise ValueError(
            f"random_state={random_state!r} is not a whole number of at least 0, a generator or None"
        ) from None


class Estimator:
    """Parameters, representation and tags as scikit-learn has them."""

    _problem: _native.Problem
    posterior_: _native.Posterior
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    @classmethod
    def _parameter_names(cls) -> list[str]:
        names = inspect.signature(cls.__init__).parameters
        return sorted(name for name in names if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Sets parameters by name."""
        known = self._parameter_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {known!r}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(usual[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "posterior_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(),
        )

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_tables", None)  # they can be built again, and are large
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_problem" in state:
            self._tables: dict[str, Table] = {}

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise _not_fitted(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                "arguments before using this estimator."
            )

    def _validate(self, X: Any, *, reset: bool) -> list[_frames.Column]:
        """The columns of X, after the checks that scikit-learn's users expect."""
        names = _feature_names(X)
        columns = _columns(X)
        n = len(columns[0]) if columns else _length(X)
        shape = (n, len(columns))
        if n == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required."
            )
        if not columns:
            raise ValueError(
                f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required."
            )
        if reset:
            if n < 2:
                raise ValueError(
                    f"Found array with {n} sample(s) (shape={shape}) while a minimum of 2 is required."
                )
            self.n_features_in_ = len(columns)
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            return columns
        self._check_names(names)
        if len(columns) != self.n_features_in_:
            raise ValueError(
                f"X has {len(columns)} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        for j, column in enumerate(columns):
            if not np.isfinite(column).all():
                row = int(np.flatnonzero(~np.isfinite(column))[0])
                raise ValueError(
                    f"Input X contains NaN or infinity: row {row + 1}, column {j + 1} is {column[row]}; "
                    "fill in the values, or leave those rows out"
                )
        return columns

    def _check_names(self, names: list[str] | None) -> None:
        fitted = getattr(self, "feature_names_in_", None)
        own = type(self).__name__
        if names is None and fitted is not None:
            warn(
                f"X does not have valid feature names, but {own} was fitted with feature names",
                UserWarning,
            )
        elif names is not None and fitted is None:
            warn(f"X has feature names, but {own} was fitted without feature names", UserWarning)
        elif names is not None and fitted is not None and list(fitted) != names:
            message = "The feature names should match those that were passed during fit.\n"
            unexpected = sorted(set(names) - set(fitted))
            missing = sorted(set(fitted) - set(names))
            if unexpected:
                message += "Feature names unseen at fit time:\n" + _listed(unexpected)
            if missing:
                message += "Feature names seen at fit time, yet now missing:\n" + _listed(missing)
            if not missing and not unexpected:
                message += "Feature names must be in the same order as they were in fit.\n"
            raise ValueError(message)


def _listed(names: list[str]) -> str:
    shown = "".join(f"- {name}\n" for name in names[:5])
    return shown + ("- ...\n" if len(names) > 5 else "")


def _not_fitted(message: str) -> Exception:
    """scikit-learn's own exception when it is there, and what that is a kind of otherwise."""
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return ValueError(message)
    error: Exception = NotFittedError(message)
    return error


def _feature_names(X: Any) -> list[str] | None:
    """Names of a frame's columns if they are texts, as scikit-learn takes them."""
    if not _frames.is_frame(X):
        return None
    names = [name for name, _ in _frames.pairs_of(_frames.columns_of(X))]
    kinds = sorted({type(name).__name__ for name in names})
    if "str" not in kinds or not names:
        return None
    if len(kinds) > 1:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. If you want feature names to be stored and "
            "validated, you must convert them all to strings."
        )
    return [str(name) for name in names]


def _length(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def _columns(X: Any) -> list[_frames.Column]:
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError(
            "Sparse data was passed, but dense data is required. Use '.toarray()' to make it dense."
        )
    if _frames.is_frame(X):
        found = _frames.pairs_of(_frames.columns_of(X))
        return [_frames.numbers(column, f"the column `{name}`") for name, column in found]
    array = np.asarray(X)
    if array.ndim != 2:
        kind = {0: "scalar", 1: "1D"}.get(array.ndim, f"{array.ndim}D")
        raise ValueError(
            f"Expected 2D array, got {kind} array instead:\narray={array!r}.\nReshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains "
            "a single sample."
            if array.ndim < 2
            else f"Found array with dim {array.ndim}, while dim <= 2 is required: expected 2D array."
        )
    array = _frames.doubles(array)
    return [array[:, j] for j in range(array.shape[1])]


def weights_of(sample_weight: Any, n: int) -> NDArray[np.float64] | None:
    """Weights of units: one number each, not negative and not all 0."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, int | float):
        return np.full(n, float(sample_weight))
    weights = _frames.numbers(sample_weight, "sample_weight")
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected ({n},)!")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative")
    if not weights.any():
        raise ValueError("every sample_weight is zero: give some unit a positive weight")
    return weights


class Calibrated(Estimator):
    """An estimator with tables and calibrated intervals."""

    omega: float
    prior: str | dict[str, Any]
    random_state: Any
    n_init: int
    tol: float | None
    max_iter: int
    acceleration: int
    means_init: Any
    published: bool

    weights_: NDArray[np.float64]
    lower_bound_: float
    lower_bounds_: NDArray[np.float64]
    n_iter_: int
    converged_: bool
    emptied_: list[int]

    def _prior(self) -> dict[str, Any]:
        if isinstance(self.prior, str):
            if self.prior not in ("default", "paper"):
                raise ValueError(
                    f"prior={self.prior!r} is neither 'default' nor 'paper' nor a dict"
                )
            paper = self.prior == "paper" or self.published
            return {"base": "paper" if paper else "default"}
        return {
            name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
            for name, value in self.prior.items()
        }

    def _iteration(self) -> str:
        centres = None
        if self.means_init is not None:
            centres = np.asarray(self.means_init, dtype=float).ravel().tolist()
        return json.dumps(
            {
                "seed": self._seed,
                "starts": _ask.whole("n_init", self.n_init),
                "centres": centres,
                "tolerance": None
                if self.tol is None
                else _ask.fraction("tol", self.tol, one=False),
                "max_sweeps": _ask.whole("max_iter", self.max_iter),
                "acceleration": _ask.whole("acceleration", self.acceleration, least=0),
            }
        )

    def _fit(self, problem: _native.Problem, weights: NDArray[np.float64] | None) -> None:
        self._seed = seed_of(self.random_state)
        omega = _ask.fraction("omega", self.omega, one=True)
        fit = problem.fit(self._iteration(), omega, weights)
        self._problem = problem
        self._tables = {}
        self._weighted = weights is not None and not (weights == 1).all()
        self.posterior_ = fit.posterior
        self.lower_bound_ = fit.bound
        self.lower_bounds_ = fit.trace
        self.n_iter_ = fit.sweeps
        self.converged_ = fit.status in ("converged", "stalled")
        self.emptied_ = fit.emptied
        self.weights_ = fit.posterior.mean()["pi"][0]
        if not self.converged_:
            how = (
                fit.why
                or f"it did not converge in {fit.sweeps} sweeps (last change {fit.change:.1e}); raise max_iter"
            )
            warn(f"the fit is not at an optimum: {how}", ConvergenceWarning)

    def table(
        self,
        method: str | Iterable[str] | None = None,
        *,
        grid: int = 100,
        omega_min: float = 0.001,
        bootstraps: int = 500,
        fresh_splits: bool = False,
        subsets: int | None = None,
        resamples: str | os.PathLike[str] | None = None,
        matching: str | None = None,
        restarts: int | None = None,
        path: str | os.PathLike[str] | None = None,
        with_data: bool = True,
        n_jobs: int | None = None,
        progress: Wish = None,
    ) -> Table:
        """Builds the table that intervals are read from.

        Parameters
        ----------
        method : the methods it is to serve, which decide its resamples; the usual ones if not given.
        grid, omega_min : points of the grid of ω, even in log ω, and the smallest; only ω = 1 is fitted if no
            method looks at others (``balanced``, ``tempered``, ``bootstrap`` do not).
        bootstraps : of each design.
        fresh_splits : a new split and new bootstraps at every ω, as in the paper's studies.
        subsets : draw bootstraps of all units from this many subsets of n^0.7 units (bag of little bootstraps), for very
            many units; not with ``tvb``.
        resamples : a CSV file with your own.
        matching : ``"assignment"`` or ``"weight"``, how components of resamples get their numbers.
        restarts : k-means starts of each resample's own, instead of the full-data fit.
        path : a folder to keep it in; a build that was interrupted goes on there.
        with_data : whether the folder gets the data too.
        n_jobs : threads, all cores if not given; results do not depend on it.
        progress : whether to show a bar; if not given, when somebody watches.
        """
        request = self._table_request(
            method,
            grid=grid,
            omega_min=omega_min,
            bootstraps=bootstraps,
            fresh_splits=fresh_splits,
            subsets=subsets,
            resamples=resamples,
            matching=matching,
            restarts=restarts,
        )
        with Progress("fitting resamples", progress) as bar:
            native = self._problem.table(
                self._iteration(),
                json.dumps(request),
                None if path is None else os.fspath(path),
                with_data,
                _ask.jobs(n_jobs),
                bar.callback,
            )
        return Table(native)

    def _table_request(
        self,
        method: str | Iterable[str] | None,
        *,
        grid: int,
        omega_min: float,
        bootstraps: int,
        fresh_splits: bool,
        subsets: int | None,
        resamples: str | os.PathLike[str] | None,
        matching: str | None,
        restarts: int | None,
    ) -> dict[str, Any]:
        """What the native module is told about a table, checked."""
        self._check_fitted()
        if self._weighted:
            raise ValueError(
                "intervals are calibrated by resampling units, which all count once: "
                "repeat rows instead of weighting them, and fit without sample_weight"
            )
        return {
            "methods": _ask.methods(method, self._usual_methods(subsets)),
            "grid": _ask.whole("grid", grid),
            "omega_min": _ask.fraction("omega_min", omega_min, one=True),
            "bootstraps": _ask.whole("bootstraps", bootstraps),
            "fresh_splits": bool(fresh_splits),
            "subsets": None if subsets is None else _ask.whole("subsets", subsets),
            "resamples": None if resamples is None else os.fspath(resamples),
            "matching": matching,
            "restarts": None if restarts is None else _ask.whole("restarts", restarts),
            "published": bool(self.published),
        }

    def _usual_methods(self, subsets: int | None) -> list[str]:
        """The methods that run when none are named; little bootstraps cannot serve ``tvb``."""
        usual = _native.usual_methods(self.published)
        return usual if subsets is None else [name for name in usual if name != "tvb"]

    def _held_table(self, method: Sequence[str], options: dict[str, Any]) -> Table:
        """The table for these methods, built once."""
        self._check_fitted()
        silent = {name: options.pop(name, None) for name in ("n_jobs", "progress")}
        if options.get("path") is not None:
            return self.table(method, **silent, **options)
        key = json.dumps([sorted(method), options], sort_keys=True, default=str)
        if key not in self._tables:
            self._tables[key] = self.table(method, **silent, **options)
        return self._tables[key]

    def intervals(
        self,
        h: Asked = None,
        level: float | Iterable[float] = 0.95,
        method: str | Iterable[str] | None = None,
        *,
        draws: int = 500,
        frame: FrameName = "pandas",
        **table: Any,
    ) -> pandas.DataFrame | Any:
        """Calibrated intervals: builds a table, once, and asks it.

        ``h``, ``level``, ``method``, ``draws`` and ``frame`` are those of :meth:`Table.intervals`, other arguments
        those of :meth:`table`.
        """
        # Anything wrong with the question is said before the work is done.
        self._check_fitted()
        self.posterior_.check([asked for asked in _ask.functionals(h) if isinstance(asked, str)])
        _ask.levels(level)
        methods = _ask.methods(method, self._usual_methods(table.get("subsets")))
        held = self._held_table(methods, dict(table))
        asking = {name: table[name] for name in ("n_jobs", "progress") if name in table}
        return held.intervals(h, level, methods, draws=draws, frame=frame, **asking)

    def to_arviz(
        self,
        h: Asked = None,
        *,
        omega: float | None = None,
        level: float = 0.95,
        method: str = "tempered",
        draws: int = 1000,
        chains: int = 4,
        **table: Any,
    ) -> Any:
        """Posterior draws for ArviZ: ``InferenceData`` before ArviZ 1.0, ``DataTree`` from then on.

        With ``omega`` all quantities come from one joint posterior at that ω. Without it each quantity is
        drawn at its own ω̂, calibrated by ``method`` at ``level``: its marginal interval is then right, but
        quantities are not draws of one joint law. ``tempered`` and ``jackknife`` stretch the draws at ω = 1
        about the estimate; ``balanced`` and ``bootstrap`` have no posterior. Draws are independent; chains are there because
        ArviZ expects them.
        """
        from ._arviz import to_arviz

        methods = [method]
        if omega is not None:
            # Nothing is calibrated; a single bootstrap brings the grid with it.
            methods = ["vb"] if omega == 1.0 else ["anchored"]
            table.setdefault("bootstraps", 1)
        held = self._held_table(methods, dict(table))
        return to_arviz(
            held,
            h,
            omega=omega,
            level=level,
            method=method,
            draws=draws,
            chains=chains,
            trace=self.lower_bounds_,
        )
