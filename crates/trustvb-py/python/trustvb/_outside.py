"""Calibration around any variational procedure: the user brings the fits, the library the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _ask, _native, _promises
from ._base import seed_of
from ._calibration import ALONG_GRID, AT_ONE, DESIGNS, Calibration
from ._fitter import Evidence, Fitter, Quantity, Task, Vector
from ._native import TrustvbError
from ._progress import Progress, Wish
from ._workers import processes, run


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
    check: bool = True,
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
    level : of the intervals, one or several.
    method : ``balanced``, the recommended one, beside ``vb`` if not given, for one answer per quantity; or any of
        ``balanced``, ``tempered``, ``vb``, ``tvb``, ``gpc`` and ``anchored``, to compare.
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
    check : whether to try first, with two more fits, that the same arguments give the same answer and that weights matter
        (and ω, if others than 1 are fitted). A fitter that breaks one of these promises is an error.

    Resamples are those of the library's own tables with this seed.
    """
    names, functions = quantities(h)
    levels = _ask.levels(level)
    methods = _ask.methods(method, [_native.method_name("recommended"), "vb"])
    for name in methods:
        if name not in DESIGNS:
            # The library says why.
            _native.choose(np.ones(1), name, levels)
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
        n_units=units_of(data) if n_units is None else _ask.whole("n_units", n_units),
    )
    count = _ask.whole("bootstraps", bootstraps)
    designs = sorted({design for name in methods for design in DESIGNS[name]})
    full = task.full_path()
    if full[0] is None:
        raise TrustvbError(
            "the fitter has no answer for all units at ω = 1: nothing can be calibrated"
        )
    if set(methods) & set(AT_ONE):
        task.check_scales(full[0])
    if check:
        _promises.check(task, full, resampled=bool(designs))
    evidence: dict[str, Evidence] = {}
    with Progress("fitting resamples", progress) as bar:
        total, done = count * len(designs), 0
        for design in designs:
            checked = task.checked(full) if design == "full" else task.split_values(full[0].start)
            jobs = [
                (design, replicate, checked, full[0].start) for replicate in range(1, count + 1)
            ]
            found = []
            for path in run(task, jobs, processes(n_jobs)):
                found.append(path)
                done += 1
                if bar.callback is not None:
                    bar.callback(done, total)
            evidence[design] = Evidence.gather(found)
    return Calibration(task, full, evidence, methods, named=method is not None)


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
        _native.check_scale(of)
    return [given.get(name, "real") for name in names]


def units_of(data: Any) -> int:
    if isinstance(data, Mapping):
        data = next(iter(data.values()))
    elif isinstance(data, tuple):
        data = data[0]
    shape = getattr(data, "shape", None)
    return int(shape[0]) if shape else len(data)
