"""What estimators share with scikit-learn's: parameters, tags, cloning, checks of rows and weights.

scikit-learn is followed without importing it: parameters, tags, cloning and validation are those it asks
of estimators, so that numpy and pandas are enough to use the package and pipelines work with it.
"""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _ask, _frames, _native
from ._elsewhere import refuse
from ._messages import warn

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

    def __new__(cls: type[Self], *args: Any, **params: Any) -> Self:
        # Before __init__, whose signature scikit-learn reads.
        known = cls._parameter_names()
        for name in params:
            if name not in known:
                refuse(cls.__name__, name)
        return super().__new__(cls)

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
                refuse(type(self).__name__, name)
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

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise _not_fitted(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                "arguments before using this estimator."
            )

    def _validate(self, X: Any, *, reset: bool) -> list[_frames.Column]:
        """The columns of X, after the checks that scikit-learn's users expect."""
        X = _frames.settled(X)
        names = feature_names(X)
        columns = columns_of(X)
        n = len(columns[0]) if columns else _length(X)
        self._check_shape(names, n, len(columns), reset=reset)
        if reset:
            return columns
        for j, column in enumerate(columns):
            if not np.isfinite(column).all():
                row = int(np.flatnonzero(~np.isfinite(column))[0])
                raise ValueError(
                    f"Input X contains NaN or infinity: row {row + 1}, column {j + 1} is {column[row]}; "
                    "fill in the values, or leave those rows out"
                )
        return columns

    def _check_shape(self, names: list[str] | None, n: int, p: int, *, reset: bool) -> None:
        """Refuses too few rows and columns, and columns that are not those of the fit; takes note of new ones."""
        shape = (n, p)
        if n == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required."
            )
        if p == 0:
            raise ValueError(
                f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required."
            )
        if reset:
            if n < 2:
                raise ValueError(
                    f"Found array with {n} sample(s) (shape={shape}) while a minimum of 2 is required."
                )
            self.n_features_in_ = p
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            return
        self._check_names(names)
        if p != self.n_features_in_:
            raise ValueError(
                f"X has {p} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )

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


def feature_names(X: Any) -> list[str] | None:
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


def columns_of(X: Any) -> list[_frames.Column]:
    """The columns of an array or a frame as numbers."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError(
            "Sparse data was passed, but dense data is required. Use '.toarray()' to make it dense."
        )
    if _frames.is_frame(X):
        found = _frames.pairs_of(_frames.columns_of(X))
        return [_frames.numbers(column, f"the column `{name}`") for name, column in found]
    if _frames.is_column(X):
        raise ValueError(
            "Expected 2D array, got 1D array instead: X is a Series, a single column. Give X.to_frame() if it is "
            "one. Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
            "array.reshape(1, -1) if it contains a single sample."
        )
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
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise ValueError(
            f"sample_weight must be finite and not negative: row {row} has {weights[row]:g}"
        )
    if not weights.any():
        raise ValueError("every sample_weight is zero: give some unit a positive weight")
    return weights
