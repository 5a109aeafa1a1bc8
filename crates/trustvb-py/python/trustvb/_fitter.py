"""A user's fitter as calibration sees it: what it returns, made into numbers, along paths of ω."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._messages import FitFailed

Vector: TypeAlias = "NDArray[np.float64]"
Fitter: TypeAlias = "Callable[[Any, Vector, float, Any], Any]"
Quantity: TypeAlias = "Callable[[Any], Any] | None"

#: What counts as a fit without an answer, and is recorded; anything else that is raised is an error.
_FAILURES = (FitFailed, ArithmeticError, np.linalg.LinAlgError)


@dataclass
class Fit:
    """What a fitter may return when draws, or a mean and an interval-maker, are not all it has to say.

    draws : an array, or a dict of arrays, with the draws along the first axis;
    mean, interval : instead of draws, the values of the quantities at the posterior mean, by name (or a
        number, if there is one quantity), and ``interval(name, level) -> (lower, upper)``. With draws, ``mean`` is the
        point at which quantities are estimated, of the shape of one draw; the mean of the draws if not given;
    state : what the next fit on the path gets as ``start``; the returned value itself if not given;
    converged : whether the iteration did.
    """

    draws: Any = None
    mean: Any = None
    interval: Callable[[str, float], tuple[float, float]] | None = None
    state: Any = None
    converged: bool = True


@dataclass
class Result:
    """A fit as calibration sees it."""

    returned: Fit
    start: Any
    values: list[float]
    """h at the posterior mean."""


@dataclass
class Task:
    fitter: Fitter
    data: Any
    names: list[str]
    functions: list[Quantity]
    scales: list[str]
    levels: list[float]
    omegas: Vector
    seed: int
    n_units: int

    def weights(self, design: str, replicate: int) -> Vector:
        return _native.resample(self.seed, design, replicate, self.n_units)

    def fit(self, weights: Vector, omega: float, start: Any) -> Result | None:
        """One fit; ``None`` when it has no answer."""
        try:
            returned = self.fitter(self.data, weights, float(omega), start)
        except _FAILURES:
            return None
        return self.result(returned)

    def fit_many(
        self, weights: Vector, omega: float, starts: Sequence[Any]
    ) -> Sequence[Result | None]:
        """A fit for each row of weights, by a fitter that makes many at once."""
        found = self.fitter.fit_many(  # type: ignore[attr-defined]
            self.data, weights, np.full(len(weights), float(omega)), starts
        )
        if len(found) != len(weights):
            raise ValueError(
                f"fit_many was given {len(weights)} rows of weights and returned {len(found)} fits"
            )
        return [None if isinstance(fit, _FAILURES) else self.result(fit) for fit in found]

    def result(self, returned: Any) -> Result:
        """What a fitter returned, with the values of the quantities."""
        fit = _as_fit(returned)
        following = returned if fit.state is None else fit.state
        return Result(fit, following, [self.value(fit, i) for i in range(len(self.names))])

    def value(self, fit: Fit, i: int) -> float:
        """h at the posterior mean."""
        f, name = self.functions[i], self.names[i]
        if fit.draws is None:
            if f is not None:
                raise ValueError(
                    f"the fitter returned a mean and an interval-maker, so {name!r} must be a name and "
                    "not a callable"
                )
            return float(fit.mean[name] if isinstance(fit.mean, Mapping) else fit.mean)
        if f is None:
            raise ValueError(f"the fitter returned draws, so {name!r} needs a callable over them")
        return float(_evaluate(f, name, _centre(fit), 1)[0])

    def sample(self, fit: Fit, i: int) -> Vector:
        f = self.functions[i]
        assert f is not None
        return _evaluate(f, self.names[i], fit.draws, _n_draws(fit.draws))

    def limits(self, fit: Fit, i: int, level: float) -> tuple[float, float]:
        if fit.draws is None:
            return _interval(fit, self.names[i], level)
        limits, _ = _native.sampled_interval(self.sample(fit, i), level)
        return limits

    def check_scales(self, full: Result) -> None:
        """Whether the fit of all units keeps to the scales; said before any resample is fitted."""
        for i, name in enumerate(self.names):
            if np.isnan(full.values[i]):
                continue
            for level in self.levels:
                fit = (full.values[i], *self.limits(full.returned, i, level))
                try:
                    _native.interval_at_one(
                        "balanced", level, self.scales[i], fit, np.empty((0, 3)), 0.0
                    )
                except ValueError as error:
                    raise ValueError(f"{name!r}: {error}") from None

    def full_path(self) -> list[Result | None]:
        """All units along the grid, from ω = 1 downwards."""
        weights, start = self.weights("full", 0), None
        path: list[Result | None] = []
        for omega in self.omegas:
            result = self.fit(weights, omega, start)
            start = start if result is None else result.start
            path.append(result)
        return path

    def checked(self, path: Sequence[Result | None]) -> Vector:
        """h at the posterior mean, a row per ω."""
        missing = [np.nan] * len(self.names)
        return np.array([missing if r is None else r.values for r in path])

    def split_values(self, start: Any) -> Vector:
        """The same for the half sample that bootstraps of the other half are checked against."""
        weights = self.weights("split", 0)
        path: list[Result | None] = []
        for omega in self.omegas:
            result = self.fit(weights, omega, start)
            start = start if result is None else result.start
            path.append(result)
        return self.checked(path)

    def paths(
        self, design: str, replicates: Sequence[int], checked: Vector, start: Any
    ) -> list[Path]:
        """What bootstraps of a design say, each along the grid from ω = 1 downwards."""
        weights = [self.weights(design, replicate) for replicate in replicates]
        trails = [_Trail(self, checked) for _ in replicates]
        if hasattr(self.fitter, "fit_many"):
            starts = [start] * len(weights)
            for o, omega in enumerate(self.omegas):
                found = self.fit_many(np.stack(weights), omega, starts)
                for trail, result in zip(trails, found, strict=True):
                    trail.add(o, result)
                starts = [s if r is None else r.start for s, r in zip(starts, found, strict=True)]
        else:
            for trail, own in zip(trails, weights, strict=True):
                last = start
                for o, omega in enumerate(self.omegas):
                    result = self.fit(own, omega, last)
                    trail.add(o, result)
                    last = last if result is None else result.start
        return [(trail.places, trail.converged, trail.at_one) for trail in trails]


class _Trail:
    """Where checked values lie in a bootstrap's laws: by target, level, quantity and ω. Beside it, whether
    fits converged, and by level and quantity the estimate and the interval at ω = 1.

    With draws one `u` serves all levels. An interval-maker tells for each level only whether the
    value is inside; 0.5 stands for that and 0 for outside.
    """

    def __init__(self, task: Task, checked: Vector) -> None:
        self.task, self.checked = task, checked
        sizes = len(task.levels), len(task.names)
        self.places = np.full((2, *sizes, len(task.omegas)), np.nan)
        self.converged = np.zeros(len(task.omegas), dtype=bool)
        self.at_one = np.full((*sizes, 3), np.nan)

    def add(self, o: int, result: Result | None) -> None:
        """The fit at an ω of the grid."""
        if result is None:
            return
        self.converged[o] = result.returned.converged
        for i in range(len(self.task.names)):
            if result.returned.draws is not None:
                self._add_draws(o, i, result)
            else:
                self._add_intervals(o, i, result)

    def _add_draws(self, o: int, i: int, result: Result) -> None:
        values = self.task.sample(result.returned, i)
        checked = [float(self.checked[o, i]), float(self.checked[0, i])]
        levels = self.task.levels if o == 0 else []
        places, limits = _native.sampled_all(values, checked, levels)
        for t, place in enumerate(places):
            self.places[t, :, i, o] = place
        for k, own in enumerate(limits):
            self.at_one[k, i] = result.values[i], *own

    def _add_intervals(self, o: int, i: int, result: Result) -> None:
        for k, level in enumerate(self.task.levels):
            lower, upper = _interval(result.returned, self.task.names[i], level)
            if o == 0:
                self.at_one[k, i] = result.values[i], lower, upper
            for t, v in enumerate((self.checked[o, i], self.checked[0, i])):
                if lower <= upper and v == v:
                    self.places[t, k, i, o] = 0.5 if lower <= v <= upper else 0.0


@dataclass
class Evidence:
    places: NDArray[np.float64]
    """By target, level, quantity, ω and bootstrap."""
    unconverged: Vector
    at_one: NDArray[np.float64]
    """By level, quantity and bootstrap: estimate, lower and upper limit at ω = 1."""

    @classmethod
    def gather(cls, paths: list[Path]) -> Evidence:
        places, converged, at_one = zip(*paths, strict=True)
        return cls(
            np.stack(places, axis=-1),
            1.0 - np.mean(converged, axis=0),
            np.stack(at_one, axis=-2),
        )

    def of(self, level: int, quantity: int) -> tuple[Vector, Vector, Vector]:
        same, anchor = self.places[:, level, quantity]
        return np.ascontiguousarray(same), np.ascontiguousarray(anchor), self.unconverged


#: Places, whether fits converged, and the fit at ω = 1.
Path: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]"


def _as_fit(returned: Any) -> Fit:
    if isinstance(returned, Fit):
        if (returned.draws is None) == (returned.interval is None):
            raise ValueError("a Fit needs draws, or a mean and an interval-maker")
        return returned
    if isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1]):
        return Fit(mean=returned[0], interval=returned[1])
    if isinstance(returned, Mapping):
        return Fit(draws={name: np.asarray(x) for name, x in returned.items()})
    draws = np.asarray(returned)
    if draws.ndim == 0 or draws.dtype.kind not in "fiub":
        raise TypeError(
            "a fitter returns draws (an array or a dict of arrays), (mean, interval) or a trustvb.Fit, not "
            f"{type(returned).__name__}"
        )
    return Fit(draws=draws)


def _n_draws(draws: Any) -> int:
    return len(next(iter(draws.values())) if isinstance(draws, Mapping) else draws)


def _centre(fit: Fit) -> Any:
    """Where quantities are estimated, as a batch of one draw."""
    if isinstance(fit.draws, Mapping):
        given = fit.mean or {}
        return {
            name: np.asarray(given[name])[None]
            if name in given
            else np.asarray(x).mean(axis=0, keepdims=True)
            for name, x in fit.draws.items()
        }
    if fit.mean is not None:
        return np.asarray(fit.mean)[None]
    return np.asarray(fit.draws).mean(axis=0, keepdims=True)


def _evaluate(f: Callable[[Any], Any], name: str, draws: Any, n: int) -> Vector:
    values = np.asarray(f(draws), dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(
            f"{name!r} must return one number for each draw: it was given {n} draws and returned an array "
            f"of shape {values.shape}"
        )
    return values


def _interval(fit: Fit, name: str, level: float) -> tuple[float, float]:
    assert fit.interval is not None
    lower, upper = fit.interval(name, level)
    return float(lower), float(upper)
