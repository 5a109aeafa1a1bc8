"""The same question for each group of rows: one model per group, one tidy frame, as ``trustvb calibrate --by``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _ask, _frames
from ._ask import Asked
from ._frames import FrameName
from ._messages import CalibrationWarning, ConvergenceWarning, warn
from ._native import TrustvbError
from ._progress import Progress, Wish

Rows = NDArray[np.intp]


def intervals_by(
    model: Any,
    data: Sequence[Any],
    named: Mapping[str, Any],
    by: Any,
    h: Asked,
    level: float | Iterable[float],
    table: dict[str, Any],
    n_jobs: int | None,
    progress: Wish,
    frame: FrameName,
) -> Any:
    """A row per group, quantity and level; a group that cannot be fitted is a row that says why."""
    _ask.levels(level)
    column, labels, data = _split_off(by, [_frames.settled(x, "the data") for x in data])
    groups = _groups(labels)
    checked = [*data, *named.values()]
    for x in checked:
        if _length(x) not in (None, len(labels)):
            raise ValueError(f"by has {len(labels)} values, but the data have {_length(x)} rows")

    def one(rows: Rows) -> list[dict[str, Any]] | str:
        fresh = type(model)(**model.get_params())
        try:
            fresh.fit(
                *(_take(x, rows) for x in data),
                **{name: _take(x, rows) for name, x in named.items()},
            )
            options = {"n_jobs": 1, "progress": False, **table}
            held, _ = fresh._asked(h, level, fresh._one_method(), options)
            answers: list[dict[str, Any]] = held._one_answer(h, level, n_jobs=1, progress=False)
        except (TrustvbError, ValueError) as error:
            return str(error)
        return answers

    found = _all(one, list(groups.values()), n_jobs, progress)
    failed = [answer for answer in found if isinstance(answer, str)]
    if len(failed) == len(found):
        raise ValueError(f"none of {len(found)} groups could be fitted; the first: {failed[0]}")
    if failed:
        warn(f"{len(failed)} of {len(found)} groups could not be fitted: see `error`", UserWarning)
    return _frames.make(_columns(column, groups, found), frame)


def _all(
    one: Callable[[Rows], Any], groups: list[Rows], n_jobs: int | None, progress: Wish
) -> list[Any]:
    """What came of each group, in their order, on several threads: fits leave Python's lock."""
    workers = _ask.jobs(n_jobs) or os.cpu_count() or 1
    with warnings.catch_warnings(), Progress("groups", progress) as bar:
        # What they would say stands in the columns of the frame.
        warnings.simplefilter("ignore", CalibrationWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        with ThreadPoolExecutor(workers) as pool:
            waiting = [pool.submit(one, rows) for rows in groups]
            try:
                found = []
                for future in waiting:
                    found.append(future.result())
                    if bar.callback is not None:
                        bar.callback(len(found), len(groups))
                return found
            finally:
                for future in waiting:
                    future.cancel()


def _columns(
    column: str, groups: Mapping[str, Rows], found: Sequence[list[dict[str, Any]] | str]
) -> dict[str, Any]:
    """The frame's columns: those of ``intervals`` behind the group and its size, and one for each warning."""
    answers = [
        (label, len(rows), answer)
        for (label, rows), answers in zip(groups.items(), found, strict=True)
        for answer in ([{"error": answers}] if isinstance(answers, str) else answers)
    ]
    columns: dict[str, Any] = {
        column: [label for label, _, _ in answers],
        "rows": [n for _, n, _ in answers],
    }
    for name in _frames.ANSWER:
        text = name in ("functional", "verdict", "method")
        columns[name] = [row.get(name, "" if text else float("nan")) for _, _, row in answers]
    raised = [
        set(_frames.flags(row, distrust=True).split(";")) if "flags" in row else set()
        for _, _, row in answers
    ]
    columns["error"] = [row.get("error", "") for _, _, row in answers]
    for name in sorted(set().union(*raised) - {""}):
        columns[name] = [name in own for own in raised]
    return columns


def _groups(labels: Sequence[str]) -> dict[str, Rows]:
    """The rows of each label, in the order in which labels appear."""
    places: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        places.setdefault(label, []).append(row)
    return {label: np.array(rows, dtype=np.intp) for label, rows in places.items()}


def _split_off(by: Any, data: list[Any]) -> tuple[str, list[str], list[Any]]:
    """The column's name, its values, and the data without it where it was one of their columns."""
    if not isinstance(by, str):
        name = getattr(by, "name", None)
        return (name if isinstance(name, str) else "group"), _frames.texts(by), data
    for place, x in enumerate(data):
        if _frames.is_frame(x) and by in [str(name) for name in _frames.columns_of(x)]:
            columns = _frames.pairs_of(_frames.columns_of(x))
            labels = _frames.texts(next(own for name, own in columns if str(name) == by))
            return by, labels, [*data[:place], _without(x, by), *data[place + 1 :]]
    raise ValueError(
        f"by={by!r} is no column of the data: give a column's name, or a label for each row"
    )


def _without(frame: Any, name: str) -> Any:
    """A frame without a column, of the kind that it is."""
    if hasattr(frame, "iloc"):
        return frame.drop(columns=name)
    if hasattr(frame, "drop_columns"):
        return frame.drop_columns([name])
    if hasattr(frame, "drop"):
        return frame.drop(name)
    kept = {key: x for key, x in _frames.columns_of(frame).items() if str(key) != name}
    return _frames.settled(kept)


def _take(x: Any, rows: Rows) -> Any:
    """Some rows of whatever holds rows; texts and ``None`` as they are."""
    if x is None or isinstance(x, str):
        return x
    if hasattr(x, "iloc"):
        return x.iloc[rows]
    if hasattr(x, "take") and not isinstance(x, np.ndarray):
        return x.take(rows)
    if _frames.is_frame(x) and not hasattr(x, "filter"):
        return _frames.settled(
            {name: np.asarray(own)[rows] for name, own in _frames.columns_of(x).items()}
        )
    return x[rows] if hasattr(x, "shape") else np.asarray(x)[rows]


def _length(x: Any) -> int | None:
    if x is None or isinstance(x, str):
        return None
    if _frames.is_frame(x):
        columns = _frames.columns_of(x)
        return len(next(iter(columns.values()))) if columns else 0
    return len(x)
