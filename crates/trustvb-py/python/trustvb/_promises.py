"""What a fitter promises, tried before the work: a broken promise would give an answer that looks right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from ._fitter import Result, Task, Vector

#: Of the spread of a posterior: more is another answer, less may be the order in which a machine adds.
_ANOTHER = 1e-3

#: Of the same: what is nearer has not been touched.
_UNTOUCHED = 1e-9

#: Of the length of an interval: what a fit of repeated rows may differ by from one with weights.
_REPEATED = 0.05


def check(task: Task, path: list[Result | None], *, resampled: bool, threads: int = 1) -> None:
    """Raises if the fitter gives two answers to one question, or the same to two.

    ``path`` holds the fits of all units along the grid. Two more are made: the first again, and one of a bootstrap; and a
    third of the bootstrap's rows, each as often as it was drawn, if the data can be repeated so. With several ``threads``
    they are made together.
    """
    first = path[0]
    assert first is not None
    units, weights = task.weights("full", 0), task.weights("full", 1)
    resampled = resampled and not np.array_equal(weights, units)
    jobs: list[Callable[[], Result | None]] = [lambda: task.fit(units, 1.0, None)]
    if resampled:
        jobs.append(lambda: task.fit(weights, 1.0, first.start))
        jobs.append(lambda: _fit_repeated(task, weights, first.start))
    made = _made(jobs, threads)
    again = next(made)
    if again is None or _apart(task, first, again) > _ANOTHER:
        raise ValueError(
            "the fitter breaks a promise: the same data, weights, ω and start gave two different answers. It must depend on its "
            "arguments alone; seed whatever is random in it, the same way at every call"
        )
    last = next((fit for fit in reversed(path) if fit is not None), first)
    if len(task.omegas) > 1 and last is not first and _apart(task, first, last) < _UNTOUCHED:
        raise ValueError(
            f"the fitter breaks a promise: it ignores `omega`. ω = 1 and ω = {task.omegas[-1]:g} gave the same answer; "
            "raise the likelihood to the power ω, or use methods that need ω = 1 only ('recommended', 'tempered')"
        )
    if not resampled:
        return
    other = next(made)
    if other is None:
        return
    if _apart(task, first, other) < _UNTOUCHED:
        raise ValueError(
            "the fitter breaks a promise: it ignores `weights`. All units and a bootstrap of them gave the same answer, so that "
            "resampling would say nothing; each unit's log likelihood must be multiplied by its weight"
        )
    _check_repeated(task, other, next(made))


def _made(jobs: list[Callable[[], Result | None]], threads: int) -> Iterator[Result | None]:
    """What each job makes, in order: one when it is asked for, or all at once."""
    if threads == 1:
        yield from (job() for job in jobs)
        return
    with ThreadPoolExecutor(min(threads, len(jobs))) as pool:
        waiting = [pool.submit(job) for job in jobs]
        try:
            for future in waiting:
                yield future.result()
        finally:
            for future in waiting:
                future.cancel()


def _fit_repeated(task: Task, weights: Vector, start: Any) -> Result | None:
    """A fit of rows as often as they were drawn; ``None`` for what cannot be repeated, which is believed."""
    if hasattr(task.fitter, "fit_many"):
        return None
    data = _repeated(task.data, np.repeat(np.arange(task.n_units), weights.astype(int)))
    if data is None:
        return None
    try:
        return replace(task, data=data).fit(np.ones(task.n_units), 1.0, start)
    except Exception:  # a fitter that knows its data by heart
        return None


def _check_repeated(task: Task, weighted: Result, repeated: Result | None) -> None:
    """Rows that are drawn twice must count as rows of weight 2 do."""
    if repeated is None:
        return
    for i, name in enumerate(task.names):
        lower, upper = task.limits(weighted.returned, i, task.levels[0])
        apart = abs(repeated.values[i] - weighted.values[i])
        if apart > _REPEATED * (upper - lower):
            raise ValueError(
                f"the fitter breaks a promise: rows of weight 2 are not as rows that are there twice. For a bootstrap {name!r} is "
                f"{weighted.values[i]:.6g} by weights and {repeated.values[i]:.6g} by repeated rows; each unit's log likelihood, "
                "and nothing else, must be multiplied by its weight, and start values must not decide where a fit ends"
            )


def _repeated(data: Any, rows: Any) -> Any:
    """Rows of arrays, of tuples of arrays, or of dicts of them; None if there is anything else."""
    if isinstance(data, tuple):
        parts = [_repeated(part, rows) for part in data]
        return None if any(part is None for part in parts) else tuple(parts)
    if isinstance(data, dict):
        found = {name: _repeated(part, rows) for name, part in data.items()}
        return None if any(part is None for part in found.values()) else found
    shape = getattr(data, "shape", ())
    if not isinstance(data, np.ndarray) or not shape or shape[0] != len(rows):
        return None
    return data[rows]


def _apart(task: Task, a: Result, b: Result) -> float:
    """How far two answers are apart at most, as a share of the spread of the first."""
    pairs = list(zip(_numbers(task, a), _numbers(task, b), strict=False))
    return max((_share(*one, *other) for one, other in pairs), default=np.inf)


def _numbers(task: Task, result: Result) -> Iterator[tuple[Vector, Vector]]:
    """Numbers that make up an answer, each array with the spread to measure it by."""
    fit = result.returned
    if fit.draws is not None:
        named = fit.draws.values() if isinstance(fit.draws, Mapping) else [fit.draws]
        for draws in named:
            array = np.asarray(draws)
            if array.dtype.kind not in "fiub":
                continue
            array = array.astype(np.float64)
            yield array, np.broadcast_to(array.std(axis=0), array.shape)
        return
    for i in range(len(task.names)):
        for level in task.levels:
            lower, upper = task.limits(fit, i, level)
            values = np.array([result.values[i], lower, upper])
            yield values, np.full(3, upper - lower)


def _share(a: Vector, spread: Vector, b: Vector, _: Vector) -> float:
    if a.shape != b.shape:
        return float(np.inf)
    apart = np.abs(a - b)
    apart[(np.isnan(a) & np.isnan(b)) | (a == b)] = 0.0
    # What has no spread is measured by its size.
    size = np.where(spread > 0, spread, np.maximum(np.abs(a), 1e-300))
    with np.errstate(invalid="ignore"):
        shares = apart / size
    return float(np.nanmax(shares, initial=0.0)) if not np.isnan(apart).any() else float(np.inf)
