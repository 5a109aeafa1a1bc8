"""The same question for each group of rows: one model per group, one tidy frame, as ``trustvb calibrate --by``.

With ``keep`` what is done is kept in a Parquet file, block by block of groups, and the same call goes on from there.
"""

from __future__ import annotations

import hashlib
import json
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
from ._native import KeptGroups, TrustvbError
from ._progress import Progress, Wish

Rows = NDArray[np.intp]
Row = dict[str, Any]

#: Answers' cells that are words, and all cells of a row that is kept.
_WORDS = ("functional", "verdict", "method")
_CELLS = ("group", "rows", *_frames.ANSWER, "warnings", "error")


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
    keep: str | os.PathLike[str] | None,
) -> Any:
    """A row per group, quantity and level; a group that cannot be fitted is a row that says why."""
    _ask.levels(level)
    column, labels, data = _split_off(by, [_frames.settled(x, "the data") for x in data])
    groups = _groups(labels)
    checked = [*data, *named.values()]
    for x in checked:
        if _length(x) not in (None, len(labels)):
            raise ValueError(f"by has {len(labels)} values, but the data have {_length(x)} rows")

    def one(label: str) -> list[Row]:
        rows = groups[label]
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
            return [_row(label, len(rows), {}, str(error))]
        return [_row(label, len(rows), answer, "") for answer in answers]

    every = list(groups)
    if keep is None:
        found: list[Row] = []
        _all(one, every, n_jobs, progress, lambda _, rows: found.extend(rows))
    else:
        settings = _settings(model, h, level, table)
        kept = KeptGroups(
            _file(keep), column, _digest(labels, data, named), len(every), json.dumps(settings)
        )
        _missing(kept, one, every, n_jobs, progress)
        first = kept.finish()
        # Of a run in which all failed nothing is kept.
        found = _restored(kept.rows()) if first is None else [{"error": first}] * len(every)
    failed = [str(row["error"]) for row in found if row["error"]]
    if len(failed) == len(groups):
        raise ValueError(f"none of {len(groups)} groups could be fitted; the first: {failed[0]}")
    if failed:
        warn(f"{len(failed)} of {len(groups)} groups could not be fitted: see `error`", UserWarning)
    return _frames.make(_columns(column, found), frame)


def _all(
    one: Callable[[str], list[Row]],
    labels: Sequence[str],
    n_jobs: int | None,
    progress: Wish,
    take: Callable[[int, list[Row]], None],
) -> None:
    """Gives what came of each group to ``take``, in their order; several threads work, as fits leave Python's lock."""
    workers = _ask.jobs(n_jobs) or os.cpu_count() or 1
    with warnings.catch_warnings(), Progress("groups", progress) as bar:
        # What they would say stands in the columns of the frame.
        warnings.simplefilter("ignore", CalibrationWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        with ThreadPoolExecutor(workers) as pool:
            waiting = [pool.submit(one, label) for label in labels]
            try:
                for number, future in enumerate(waiting):
                    take(number, future.result())
                    if bar.callback is not None:
                        bar.callback(number + 1, len(labels))
            finally:
                for future in waiting:
                    future.cancel()


def _missing(
    kept: KeptGroups,
    one: Callable[[str], list[Row]],
    labels: Sequence[str],
    n_jobs: int | None,
    progress: Wish,
) -> None:
    """Does what is not kept yet, and keeps each block when its last group is done."""
    blocks = kept.missing()
    todo = [(block, group) for block, first, end in blocks for group in range(first, end)]
    last = {block: end - 1 for block, _, end in blocks}
    rows: list[Row] = []

    def take(number: int, more: list[Row]) -> None:
        block, group = todo[number]
        rows.extend(more)
        if group == last[block]:
            kept.keep(block, [(name, [row[name] for row in rows]) for name in _CELLS])
            rows.clear()

    _all(one, [labels[group] for _, group in todo], n_jobs, progress, take)


def _row(label: str, n_rows: int, answer: Mapping[str, Any], error: str) -> Row:
    """The cells of an answer, words and numbers alone, so that a file gives them back."""
    row: Row = {"group": label, "rows": float(n_rows), "error": error}
    for name in _frames.ANSWER:
        row[name] = str(answer.get(name, "")) if name in _WORDS else _number(answer.get(name))
    row["warnings"] = _frames.flags(dict(answer), distrust=True) if "flags" in answer else ""
    return row


def _number(x: Any) -> float:
    return float("nan") if x is None else float(x)


def _restored(columns: Sequence[tuple[str, list[Any]]]) -> list[Row]:
    names = [name for name, _ in columns]
    return [
        dict(zip(names, cells, strict=True))
        for cells in zip(*(own for _, own in columns), strict=True)
    ]


def _columns(column: str, found: Sequence[Row]) -> dict[str, Any]:
    """The frame's columns: those of ``intervals`` behind the group and its size, and one for each warning."""
    columns: dict[str, Any] = {
        column: [row["group"] for row in found],
        "rows": [int(row["rows"]) for row in found],
    }
    for name in (*_frames.ANSWER, "error"):
        columns[name] = [row[name] for row in found]
    raised = [set(str(row["warnings"]).split(";")) for row in found]
    for name in sorted(set().union(*raised) - {""}):
        columns[name] = [name in own for own in raised]
    return columns


def _file(keep: str | os.PathLike[str]) -> str:
    name = os.fspath(keep)
    if not name.lower().endswith(".parquet"):
        raise ValueError(
            f"keep={name!r}: what is kept becomes a Parquet file; end its name in .parquet"
        )
    return name


def _settings(model: Any, h: Asked, level: Any, table: Mapping[str, Any]) -> dict[str, Any]:
    """All that decides a group's answers but its rows: another question does not go on with this one's file."""
    asked = [h] if isinstance(h, str) or callable(h) else list(h or [])
    if not all(isinstance(text, str) for text in asked):
        raise ValueError(
            "quantities that are functions cannot be kept: nobody can tell later which they were"
        )
    return {
        "model": type(model).__name__,
        "parameters": {name: _plain(x) for name, x in model.get_params().items()},
        "quantities": asked,
        "level": [float(x) for x in np.atleast_1d(np.asarray(level, dtype=float))],
        "table": {name: _plain(x) for name, x in table.items()},
    }


def _plain(x: Any) -> Any:
    """A setting as JSON has it; what it has not, as it is written."""
    if isinstance(x, np.ndarray | np.generic):
        return x.tolist()
    return x if x is None or isinstance(x, str | bool | int | float) else repr(x)


def _digest(labels: Sequence[str], data: Sequence[Any], named: Mapping[str, Any]) -> str:
    """A hash of all groups' rows."""
    hashed = hashlib.sha256()

    def add(name: str, values: Any) -> None:
        values = np.asarray(values)
        cells = values.tobytes() if values.dtype.kind in "fiub" else repr(values.tolist()).encode()
        for part in (name.encode(), str(values.dtype).encode(), str(values.shape).encode(), cells):
            hashed.update(len(part).to_bytes(8, "little"))
            hashed.update(part)

    add("by", list(labels))
    for name, x in [*((str(at), x) for at, x in enumerate(data)), *named.items()]:
        if x is not None and _frames.is_frame(x):
            for column, values in _frames.pairs_of(_frames.columns_of(x)):
                add(f"{name}.{column}", values)
        else:
            add(name, x)
    return hashed.hexdigest()


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
