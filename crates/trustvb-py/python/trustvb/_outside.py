"""Calibration around any variational procedure: the user brings the fits, the library the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _ask, _native, _promises
from ._base import seed_of
from ._calibration import ALONG_GRID, AT_ONE, DESIGNS, ONE_FIT, Calibration
from ._elements import quantities_of
from ._fitter import Evidence, Fitter, Path, Quantity, Result, Task, Vector
from ._messages import ConvergenceWarning, warn
from ._native import TrustvbError
from ._progress import Progress, Wish
from ._workers import Work, kind, number, run


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
    method: str | Iterable[str] | None = None,
    scale: str | Mapping[str, str] = "real",
    bootstraps: int = 200,
    grid: int = 30,
    omega_min: float = 0.01,
    n_units: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = 1,
    workers: Any = None,
    check: bool = True,
    steady: bool = True,
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
        an answer raises :class:`trustvb.FitFailed` and is recorded as such. A fitter with a method
        ``fit_many(data, weights, omegas, starts)`` is handed a row of weights, an ω and a start for each of many fits, and
        returns a list of what it would return for each, or of such exceptions; its attribute ``batch`` says how many.
    data : anything; it is passed on as it is.
    h : the quantities: a callable over draws that returns a number for each, a list or a dict of them. Names
        alone if the fitter returns means and intervals.
    level : of the intervals, one or several.
    method : ``balanced``, the recommended one, beside ``vb`` if not given, for one answer per quantity; or any of
        ``balanced``, ``tempered``, ``bootstrap``, ``vb``, ``tvb``, ``gpc`` and ``anchored``, to compare.
        ``balanced``, ``tempered`` and ``bootstrap`` need fits at ω = 1 only: with them, and ``vb``, no other ω is fitted.
        ``jackknife`` and ``lrvb`` need one fit, and a fitter with a method ``spread(method, data, fit, h)``, the standard
        deviation of h over data sets or by linear response: those of :mod:`trustvb.numpyro` have one.
        ``analytic`` and ``tvb-sequential`` are not possible, because they refit a model of this library.
    scale : where the quantities lie, for methods whose intervals are made on a scale without
        bounds: ``"real"``, ``"positive"`` (log), ``"unit"`` (logit) or ``"correlation"`` (Fisher's z), one for all
        or a dict from names; those not named are ``"real"``. ``"found"`` takes the smallest of these that holds every draw
        of the fit of all units (but ``"correlation"``, which must be said).
    bootstraps, grid, omega_min : resamples of each design; points of the grid of ω and the smallest.
    n_units : number of exchangeable units, the length of ``data`` (of its first element, if it is a tuple
        or a dict) if not given.
    n_jobs : workers, -1 for all cores; results do not depend on it.
    workers : ``"processes"``, ``"threads"`` or a ``dask.distributed.Client``, whose cluster then decides how many there are.
        If not given, threads for a fitter that computes outside Python, because it has ``fit_many`` or is, or uses, a function
        that JAX has compiled; processes for others. Threads share what is compiled. Each process, on a cluster too, is given
        fitter and data once, so that a function that compiles itself does so once in each. With joblib installed (it comes
        with scikit-learn) fitters may be lambdas; otherwise they must be importable.
    check : whether to try first, with two more fits, that the same arguments give the same answer and that weights matter
        (and ω, if others than 1 are fitted). A fitter that breaks one of these promises is an error.
    steady : whether ``balanced`` may use derivatives to cut the Monte-Carlo error of the bootstraps: with a fitter that has a
        method ``influence(data, fit, h)``, the derivative of h in each unit's weight, as those of :mod:`trustvb.numpyro` have.
        Intervals for which it was done have the remark ``steadied``.

    Resamples are those of the library's own tables with this seed.
    """
    names, functions = quantities(quantities_of(h) if hasattr(fitter, "elements") else h)
    levels = _ask.levels(level)
    methods = methods_of(method, fitter, levels)
    omegas = _native.omega_grid(
        _ask.whole("grid", grid), _ask.fraction("omega_min", omega_min, one=False)
    )
    if not set(methods) & set(ALONG_GRID):
        omegas = np.ones(1)
    task = Task(
        fitter=fitter,
        data=data,
        names=names,
        functions=functions,
        scales=scales_of(scale, names),
        levels=levels,
        omegas=omegas,
        seed=seed_of(random_state),
        n_units=units_of(data, fitter) if n_units is None else _ask.whole("n_units", n_units),
    )
    count = _ask.whole("bootstraps", bootstraps)
    of_kind = kind(workers, fitter)
    many = number(n_jobs, of_kind)
    designs = sorted({design for name in methods for design in DESIGNS[name]})
    full = task.full_path()
    if full[0] is None:
        raise TrustvbError(
            "the fitter has no answer for all units at ω = 1: nothing can be calibrated"
        )
    if not full[0].returned.converged:
        warn(
            "the fit of all units did not converge: do not trust its intervals", ConvergenceWarning
        )
    find_scales(task, full[0])
    if set(methods) & {*AT_ONE, *ONE_FIT}:
        task.check_scales(full[0])
    if check:
        threads = many if of_kind == "threads" else 1
        _promises.check(task, full, resampled=bool(designs), threads=threads)
    start = full[0].start
    checked = {
        design: task.checked(full) if design == "full" else task.split_values(start)
        for design in designs
    }
    found: dict[str, list[Path]] = {design: [] for design in designs}
    with Progress("fitting resamples", progress) as bar:
        total, done = count * len(designs), 0
        for design, paths in run(Work(task, checked, start), count, many, of_kind):
            found[design] += paths
            done += len(paths)
            if bar.callback is not None:
                bar.callback(done, total)
    evidence = {design: Evidence.gather(paths) for design, paths in found.items()}
    return Calibration(task, full, evidence, methods, named=method is not None, steady=steady)


def methods_of(method: str | Iterable[str] | None, fitter: Any, levels: list[float]) -> list[str]:
    """The methods asked for, each possible for this fitter."""
    found = _ask.outside_methods(method, [_native.method_name("recommended"), "vb"])
    for name in found:
        if name in ONE_FIT and not hasattr(fitter, "spread"):
            raise ValueError(
                f"{name} needs derivatives of the fitter's objective: a fitter with a method `spread`, as those of "
                "trustvb.numpyro and trustvb.pymc have"
            )
        if name not in DESIGNS:
            # The library says why.
            _native.choose(np.ones(1), name, levels)
    return found


def find_scales(task: Task, full: Result) -> None:
    """Finds those scales that are not said: the fitter may know, and draws tell."""
    for i, scale in enumerate(task.scales):
        if scale != "found":
            continue
        h, fit = task.functions[i], full.returned
        if h is not None and hasattr(task.fitter, "scale_of"):
            task.scales[i] = task.fitter.scale_of(task.data, h)
            continue
        values = (
            task.sample(fit, i)
            if fit.draws is not None
            else np.array([task.limits(fit, i, level) for level in task.levels])
        )
        low, high = float(np.min(values)), float(np.max(values))
        task.scales[i] = "real" if not low > 0 else "unit" if high < 1 else "positive"


def quantities(h: Any) -> tuple[list[str], list[Quantity]]:
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


def scales_of(scale: str | Mapping[str, str], names: list[str]) -> list[str]:
    """The scale of each quantity."""
    given = dict.fromkeys(names, scale) if isinstance(scale, str) else dict(scale)
    for name, of in given.items():
        if name not in names:
            raise ValueError(
                f"scale names {name!r}, but there is no such quantity; there are {', '.join(names)}"
            )
        if of != "found":
            _native.check_scale(of)
    return [given.get(name, "real") for name in names]


def units_of(data: Any, fitter: Any = None) -> int:
    """How many units there are: the fitter may know."""
    if hasattr(fitter, "n_units"):
        return int(fitter.n_units(data))
    if isinstance(data, Mapping):
        data = next(iter(data.values()))
    elif isinstance(data, tuple):
        data = data[0]
    shape = getattr(data, "shape", None)
    return int(shape[0]) if shape else len(data)
