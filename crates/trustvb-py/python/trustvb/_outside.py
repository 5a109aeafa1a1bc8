"""Calibration around any variational procedure: the user brings the fits, the library the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _ask, _frames, _native
from ._base import seed_of
from ._frames import FrameName
from ._messages import FitFailed, warn_flags
from ._native import TrustvbError
from ._progress import Progress, Wish

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

Vector: TypeAlias = "NDArray[np.float64]"
Fitter: TypeAlias = "Callable[[Any, Vector, float, Any], Any]"
Quantity: TypeAlias = "Callable[[Any], Any] | None"

#: What counts as a fit without an answer, and is recorded; anything else that is raised is an error.
_FAILURES = (FitFailed, ArithmeticError, np.linalg.LinAlgError)

_DESIGNS = {
    "vb": (),
    "balanced": ("full",),
    "tempered": ("full",),
    "tvb": ("split",),
    "gpc": ("full",),
    "anchored": ("full",),
}

#: They look at fits below ω = 1.
_ALONG_GRID = ("tvb", "gpc", "anchored")

#: They need an estimate and an interval of each fit at ω = 1, and nothing else.
_AT_ONE = ("balanced", "tempered")


@dataclass
class Fit:
    """What a fitter may return when draws, or a mean and an interval-maker, are not all it has to say.

    draws : an array, or a dict of arrays, with the draws along the first axis;
    mean, interval : instead of draws, the values of the quantities at the posterior mean, by name (or a
        number, if there is one quantity), and ``interval(name, level) -> (lower, upper)``;
    state : what the next fit on the path gets as ``start``; the returned value itself if not given;
    converged : whether the iteration did.
    """

    draws: Any = None
    mean: Any = None
    interval: Callable[[str, float], tuple[float, float]] | None = None
    state: Any = None
    converged: bool = True


def resample_weights(
    design: str, replicate: int, n_units: int, *, random_state: Any = None
) -> Vector:
    """The weights of a resample: those that a table with this seed has.

    ``design`` is ``"full"`` (replicate 0 is all units, the others bootstraps of them) or ``"split"``
    (replicate 0 is a half sample, the others bootstraps of the other half).
    """
    least = _ask.whole("replicate", replicate, least=0)
    return _native.resample(seed_of(random_state), design, least, _ask.whole("n_units", n_units))


def calibrate(
    fitter: Fitter,
    data: Any,
    h: Any,
    *,
    level: float | Iterable[float] = 0.95,
    method: str | Iterable[str] = ("vb", "anchored"),
    scale: str | Mapping[str, str] = "real",
    bootstraps: int = 200,
    grid: int = 30,
    omega_min: float = 0.01,
    n_units: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = 1,
    progress: Wish = None,
) -> Calibration:
    """Calibrates the intervals of a variational procedure that is not of this library.

    Parameters
    ----------
    fitter : ``fitter(data, weights, omega, start)``, which fits the data with these weights on units and the
        likelihood raised to ``omega``. It returns draws (an array or a dict of arrays, draws first), a pair
        ``(mean, interval)`` with ``interval(name, level) -> (lower, upper)``, or a :class:`trustvb.Fit`.
        ``start`` is what it returned for the ω before (for the first ω of a resample: for all units), or
        the state it gave; ``None`` at the very first. It must depend on its arguments alone. A fit without
        an answer raises :class:`trustvb.FitFailed` and is recorded as such.
    data : anything; it is passed on as it is.
    h : the quantities: a callable over draws that returns a number for each, a list or a dict of them. Names
        alone if the fitter returns means and intervals.
    level, method : as for :meth:`Table.intervals`; recommended is ``"recommended"``, which is ``balanced``.
        ``balanced`` and ``tempered`` need fits at ω = 1 only: with them, and ``vb``, no other ω is fitted.
        ``analytic``, ``jackknife`` and ``tvb-sequential`` are not possible, because they differentiate or refit a
        model of this library.
    scale : where the quantities lie, for ``balanced`` and ``tempered``, whose intervals are made on a scale without
        bounds: ``"real"``, ``"positive"`` (log), ``"unit"`` (logit) or ``"correlation"`` (Fisher's z), one for all
        or a dict from names; those not named are ``"real"``.
    bootstraps, grid, omega_min : resamples of each design; points of the grid of ω and the smallest.
    n_units : number of exchangeable units, the length of ``data`` (of its first element, if it is a tuple
        or a dict) if not given.
    n_jobs : worker processes, -1 for all cores; results do not depend on it. With joblib installed (it comes with
        scikit-learn) fitters may be lambdas; otherwise they must be importable.

    Resamples are those of the library's own tables with this seed.
    """
    names, functions = _quantities(h)
    levels = _ask.levels(level)
    methods = _ask.methods(method, ())
    for name in methods:
        if name not in _DESIGNS:
            # The library says why.
            _native.choose(np.ones(1), name, levels)
    omegas = _native.omega_grid(
        _ask.whole("grid", grid), _ask.fraction("omega_min", omega_min, one=False)
    )
    if not set(methods) & set(_ALONG_GRID):
        omegas = np.ones(1)
    task = _Task(
        fitter=fitter,
        data=data,
        names=names,
        functions=functions,
        scales=_scales(scale, names),
        levels=levels,
        omegas=omegas,
        seed=seed_of(random_state),
        n_units=_units(data) if n_units is None else _ask.whole("n_units", n_units),
    )
    count = _ask.whole("bootstraps", bootstraps)
    designs = sorted({design for name in methods for design in _DESIGNS[name]})
    full = task.full_path()
    if full[0] is None:
        raise TrustvbError(
            "the fitter has no answer for all units at ω = 1: nothing can be calibrated"
        )
    if set(methods) & set(_AT_ONE):
        task.check_scales(full[0])
    evidence: dict[str, _Evidence] = {}
    with Progress("fitting resamples", progress) as bar:
        total, done = count * len(designs), 0
        for design in designs:
            checked = task.checked(full) if design == "full" else task.split_values(full[0].start)
            jobs = [
                (design, replicate, checked, full[0].start) for replicate in range(1, count + 1)
            ]
            found = []
            for path in _run(task, jobs, _processes(n_jobs)):
                found.append(path)
                done += 1
                if bar.callback is not None:
                    bar.callback(done, total)
            evidence[design] = _Evidence.gather(found)
    return Calibration(task, full, evidence, methods)


@dataclass
class _Result:
    """A fit as calibration sees it."""

    returned: Fit
    start: Any
    values: list[float]
    """h at the posterior mean."""


@dataclass
class _Task:
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

    def fit(self, weights: Vector, omega: float, start: Any) -> _Result | None:
        """One fit; ``None`` when it has no answer."""
        try:
            returned = self.fitter(self.data, weights, float(omega), start)
        except _FAILURES:
            return None
        fit = _as_fit(returned)
        following = returned if fit.state is None else fit.state
        return _Result(fit, following, [self.value(fit, i) for i in range(len(self.names))])

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
        return float(_evaluate(f, name, _mean(fit.draws), 1)[0])

    def sample(self, fit: Fit, i: int) -> Vector:
        f = self.functions[i]
        assert f is not None
        return _evaluate(f, self.names[i], fit.draws, _n_draws(fit.draws))

    def limits(self, fit: Fit, i: int, level: float) -> tuple[float, float]:
        if fit.draws is None:
            return _interval(fit, self.names[i], level)
        limits, _ = _native.sampled_interval(self.sample(fit, i), level)
        return limits

    def check_scales(self, full: _Result) -> None:
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

    def full_path(self) -> list[_Result | None]:
        """All units along the grid, from ω = 1 downwards."""
        weights, start = self.weights("full", 0), None
        path: list[_Result | None] = []
        for omega in self.omegas:
            result = self.fit(weights, omega, start)
            start = start if result is None else result.start
            path.append(result)
        return path

    def checked(self, path: Sequence[_Result | None]) -> Vector:
        """h at the posterior mean, a row per ω."""
        missing = [np.nan] * len(self.names)
        return np.array([missing if r is None else r.values for r in path])

    def split_values(self, start: Any) -> Vector:
        """The same for the half sample that bootstraps of the other half are checked against."""
        weights = self.weights("split", 0)
        path: list[_Result | None] = []
        for omega in self.omegas:
            result = self.fit(weights, omega, start)
            start = start if result is None else result.start
            path.append(result)
        return self.checked(path)

    def path(self, design: str, replicate: int, checked: Vector, start: Any) -> _Path:
        """Where checked values lie in a bootstrap's laws: by target, level, quantity and ω. Beside it, whether
        fits converged, and by level and quantity the estimate and the interval at ω = 1.

        With draws one `u` serves all levels. An interval-maker tells for each level only whether the
        value is inside; 0.5 stands for that and 0 for outside.
        """
        weights = self.weights(design, replicate)
        places = np.full((2, len(self.levels), len(self.names), len(self.omegas)), np.nan)
        converged = np.zeros(len(self.omegas), dtype=bool)
        at_one = np.full((len(self.levels), len(self.names), 3), np.nan)
        for o, omega in enumerate(self.omegas):
            result = self.fit(weights, omega, start)
            if result is None:
                continue
            start = result.start
            converged[o] = result.returned.converged
            for i, name in enumerate(self.names):
                targets = (checked[o, i], checked[0, i])
                if result.returned.draws is not None:
                    values = self.sample(result.returned, i)
                    for t, v in enumerate(targets):
                        places[t, :, i, o] = _native.sampled_place(values, float(v))
                    for k, level in enumerate(self.levels if o == 0 else ()):
                        limits, _ = _native.sampled_interval(values, level)
                        at_one[k, i] = result.values[i], *limits
                    continue
                for k, level in enumerate(self.levels):
                    lower, upper = _interval(result.returned, name, level)
                    if o == 0:
                        at_one[k, i] = result.values[i], lower, upper
                    for t, v in enumerate(targets):
                        if lower <= upper and v == v:
                            places[t, k, i, o] = 0.5 if lower <= v <= upper else 0.0
        return places, converged, at_one


@dataclass
class _Evidence:
    places: NDArray[np.float64]
    """By target, level, quantity, ω and bootstrap."""
    unconverged: Vector
    at_one: NDArray[np.float64]
    """By level, quantity and bootstrap: estimate, lower and upper limit at ω = 1."""

    @classmethod
    def gather(cls, paths: list[_Path]) -> _Evidence:
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
_Path: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]"


class Calibration:
    """Calibrated intervals of a user's own procedure, with their evidence."""

    def __init__(
        self,
        task: _Task,
        full: list[_Result | None],
        evidence: dict[str, _Evidence],
        methods: list[str],
    ) -> None:
        self._task, self._full, self._evidence, self._methods = task, full, evidence, methods
        self._extra: dict[float, _Result | None] = {}
        self._by_draws = full[0] is not None and full[0].returned.draws is not None

    @property
    def omegas(self) -> Vector:
        """The grid, from 1 downwards."""
        return self._task.omegas

    @property
    def names(self) -> list[str]:
        """Names of the quantities."""
        return list(self._task.names)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{e.places.shape[-1]} {d}" for d, e in self._evidence.items())
        return (
            f"<trustvb.Calibration: {', '.join(self.names)}; {len(self.omegas)} ω, "
            f"{sizes or 'no'} bootstraps, {self._task.n_units} units, seed {self._task.seed}>"
        )

    def intervals(
        self,
        level: float | Iterable[float] | None = None,
        method: str | Iterable[str] | None = None,
        *,
        frame: FrameName = "pandas",
    ) -> pandas.DataFrame | Any:
        """Calibrated intervals, a row per quantity, method and level; those of the call if not given."""
        rows = self._answers(level, method)
        warn_flags(rows)
        return _frames.answers(rows, frame)

    def _answers(
        self, level: float | Iterable[float] | None, method: str | Iterable[str] | None
    ) -> list[dict[str, Any]]:
        levels = self._task.levels if level is None else _ask.levels(level)
        rows = []
        for i in range(len(self.names)):
            for name in _ask.methods(method, self._methods):
                rows += [self._answer(i, name, level) for level in levels]
        return rows

    def _gathered(self, i: int, level: float) -> dict[str, tuple[Vector, Vector, Vector]]:
        """The evidence for one quantity; with draws it is the same at every level."""
        at = 0
        if not self._by_draws:
            if level not in self._task.levels:
                raise ValueError(
                    f"the level {level:g} was not among those of the call: the fitter returned intervals, "
                    "which are known at their own levels only"
                )
            at = self._task.levels.index(level)
        return {design: evidence.of(at, i) for design, evidence in self._evidence.items()}

    def _chosen(self, i: int, method: str, level: float) -> dict[str, Any]:
        """ω̂ with its evidence, and the limits there."""
        if method in _ALONG_GRID and not set(self._methods) & set(_ALONG_GRID):
            raise ValueError(
                f"{method} was not among the methods of the call, and only ω = 1 was fitted"
            )
        (choice,) = _native.choose(self.omegas, method, [level], **self._gathered(i, level))
        found = None if np.isnan(choice["omega"]) else self._at(choice["omega"])
        choice["failed"] = found is None and not np.isnan(choice["omega"])
        choice["lower"], choice["upper"] = (
            (np.nan, np.nan) if found is None else self._task.limits(found.returned, i, level)
        )
        return choice

    def _chosen_at_one(self, i: int, method: str, level: float) -> dict[str, Any]:
        """The same by a method that needs nothing but fits at ω = 1."""
        evidence, first = self._evidence.get("full"), self._full[0]
        assert first is not None
        if evidence is None:
            raise ValueError(
                f"{method} was not among the methods of the call, which made no bootstraps of all units"
            )
        levels = self._task.levels
        if method == "tempered" and level not in levels:
            raise ValueError(
                f"the level {level:g} was not among those of the call: tempered knows the intervals of "
                "resamples at their own levels only"
            )
        at = levels.index(level) if level in levels else 0
        limits = self._task.limits(first.returned, i, level)
        return _native.interval_at_one(
            method,
            level,
            self._task.scales[i],
            (first.values[i], *limits),
            evidence.at_one[at, i],
            float(evidence.unconverged[0]),
        )

    def _answer(self, i: int, method: str, level: float) -> dict[str, Any]:
        first = self._full[0]
        assert first is not None
        estimate = first.values[i]
        if np.isnan(estimate) and method in _AT_ONE:
            choice: dict[str, Any] = dict.fromkeys(("omega", "coverage", "coverage_se"), np.nan)
            choice["curve"] = {name: np.empty(0) for name in ("omega", "coverage", "se")}
            choice["flags"] = ([], [], [])
        else:
            choose = self._chosen_at_one if method in _AT_ONE else self._chosen
            choice = choose(i, method, level)
        lower = upper = np.nan
        names, sentences, distrust = (list(x) for x in choice["flags"])
        more = []
        if np.isnan(estimate):
            more.append("undefined")
        elif choice.get("failed"):
            more.append("full-fit-failed")
        else:
            lower, upper = choice["lower"], choice["upper"]
            if estimate < lower or estimate > upper:
                more.append("estimate-outside")
        for flag in more:
            name, sentence = _native.flag(flag)
            names.append(name)
            sentences.append(sentence)
            distrust.append(True)
        return {
            "functional": self.names[i],
            "method": method,
            "recommended": method == _native.method_name("recommended"),
            "level": level,
            "omega": choice["omega"],
            "estimate": estimate,
            "lower": lower,
            "upper": upper,
            "coverage": choice["coverage"],
            "coverage_se": choice["coverage_se"],
            "flags": (names, sentences, distrust),
            "curve": choice["curve"],
        }

    def _at(self, omega: float) -> _Result | None:
        """The fit of all units at ω: from the grid, or made now."""
        on_grid = np.flatnonzero(self.omegas == omega)
        if len(on_grid):
            return self._full[int(on_grid[0])]
        if omega not in self._extra:
            before = [r for r, w in zip(self._full, self.omegas, strict=True) if w > omega and r]
            start = before[-1].start if before else None
            self._extra[omega] = self._task.fit(self._task.weights("full", 0), omega, start)
        return self._extra[omega]

    def _index(self, h: str | None) -> int:
        if h is None and len(self.names) == 1:
            return 0
        if h not in self.names:
            raise ValueError(f"there is no quantity {h!r}; there are {', '.join(self.names)}")
        return self.names.index(h)

    def coverage_curve(
        self,
        h: str | None = None,
        level: float | None = None,
        method: str | None = None,
        *,
        frame: FrameName = "pandas",
    ) -> pandas.DataFrame | Any:
        """Estimated coverage at every ω of the grid, with its Monte-Carlo standard error.

        ``method`` is ``anchored`` if not given, or ``tempered`` if nothing but ω = 1 was fitted; the curve of
        ``tempered`` is over stretches of the law, ω above 1 among them. ``balanced`` has none.
        """
        level = self._task.levels[0] if level is None else _ask.levels(level)[0]
        if method is None:
            method = "anchored" if set(self._methods) & set(_ALONG_GRID) else "tempered"
        (method,) = _ask.methods(method, ())
        if method == "balanced":
            raise ValueError("balanced chooses no ω, so that it has no curve of coverage")
        if method == "tempered":
            return _frames.make(self._chosen_at_one(self._index(h), method, level)["curve"], frame)
        design = "split" if method == "tvb" else "full"
        gathered = self._gathered(self._index(h), level)
        if design not in gathered:
            raise ValueError(f"{method} was not among the methods of the call")
        same, anchor, _ = gathered[design]
        places = anchor if method in ("anchored", "vb") else same
        tail = 0.5 * (1 - level)
        known = ~np.isnan(places)
        n = known.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            coverage = ((places >= tail) & (places <= 1 - tail) & known).sum(axis=1) / n
            se = np.sqrt(coverage * (1 - coverage) / n)
        return _frames.make({"omega": self.omegas, "coverage": coverage, "se": se}, frame)

    def plot_coverage(self, h: str | None = None, **kwargs: Any) -> Axes:
        """Coverage against ω, with the level and each method's ω̂."""
        from . import _plot

        return _plot.outside_coverage(self, h, **kwargs)

    def plot_density(self, h: str | None = None, **kwargs: Any) -> Axes:
        """The posterior density at each method's ω̂, with its interval; only with draws."""
        from . import _plot

        return _plot.outside_density(self, h, **kwargs)


def _quantities(h: Any) -> tuple[list[str], list[Quantity]]:
    if isinstance(h, str) or callable(h):
        h = [h]
    pairs: list[tuple[str, Quantity]]
    if isinstance(h, Mapping):
        pairs = [(str(name), f) for name, f in h.items()]
    else:
        pairs = [
            (f, None) if isinstance(f, str) else (_ask.name_of(f, i), f) for i, f in enumerate(h)
        ]
    names = [name for name, _ in pairs]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"quantities need names of their own: {names}; give a dict from names")
    for name, f in pairs:
        if f is not None and not callable(f):
            raise TypeError(f"{name!r} must be a callable over draws, not {type(f).__name__}")
    return names, [f for _, f in pairs]


def _scales(scale: str | Mapping[str, str], names: list[str]) -> list[str]:
    """The scale of each quantity."""
    given = dict.fromkeys(names, scale) if isinstance(scale, str) else dict(scale)
    for name, of in given.items():
        if name not in names:
            raise ValueError(
                f"scale names {name!r}, but there is no such quantity; there are {', '.join(names)}"
            )
        _native.check_scale(of)
    return [given.get(name, "real") for name in names]


def _units(data: Any) -> int:
    if isinstance(data, Mapping):
        data = next(iter(data.values()))
    elif isinstance(data, tuple):
        data = data[0]
    shape = getattr(data, "shape", None)
    return int(shape[0]) if shape else len(data)


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


def _mean(draws: Any) -> Any:
    """The posterior mean as a batch of one draw."""
    if isinstance(draws, Mapping):
        return {name: np.asarray(x).mean(axis=0, keepdims=True) for name, x in draws.items()}
    return np.asarray(draws).mean(axis=0, keepdims=True)


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


def _processes(n_jobs: int | None) -> int:
    import os

    n = _ask.jobs(-1 if n_jobs is None else n_jobs)
    return (os.cpu_count() or 1) if n is None else n


def _run(task: _Task, jobs: list[Any], processes: int) -> Iterator[Any]:
    """Paths in the order of the jobs, whoever makes them."""
    if processes == 1:
        for job in jobs:
            yield task.path(*job)
        return
    try:
        from joblib import Parallel, delayed
    except ImportError:
        yield from _run_without_joblib(task, jobs, processes)
        return
    workers = Parallel(n_jobs=processes, return_as="generator")
    yield from workers(delayed(_path)(task, job) for job in jobs)


def _path(task: _Task, job: Any) -> Any:
    return task.path(*job)


_task_of_worker: _Task | None = None


def _start_worker(task: _Task) -> None:
    global _task_of_worker
    _task_of_worker = task


def _path_of_worker(job: Any) -> Any:
    assert _task_of_worker is not None
    return _task_of_worker.path(*job)


def _run_without_joblib(task: _Task, jobs: list[Any], processes: int) -> Iterator[Any]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Not forked: a copy of a process with threads may hang.
    with ProcessPoolExecutor(
        processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(task,),
    ) as pool:
        yield from pool.map(_path_of_worker, jobs, chunksize=max(1, len(jobs) // (4 * processes)))
