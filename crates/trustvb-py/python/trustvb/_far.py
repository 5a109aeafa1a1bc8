"""Gaussian mixtures of rows that are in parts, here or on other machines: passes go to the parts, sums come back.

No Dask here: who holds parts is behind :class:`Parts`.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import _frames, _native
from ._ask import Asked
from ._base import columns_of, feature_names
from ._frames import FrameName
from ._mixture import GaussianMixture

if TYPE_CHECKING:
    import pandas

_Vector = NDArray[np.float64]
Summary = tuple[list[str], int, list[float], list[float], list[float], list[float]]


class Parts(Protocol):
    """Whoever holds the parts of a data set."""

    def summaries(self) -> list[tuple[Summary, int]]:
        """What is known of each part, and how many of its rows were left out."""

    def sums(self, numbers: _Vector) -> list[_Vector]:
        """The sums of a pass over each part."""

    def rows(
        self, centre: list[float], scale: list[float], numbers: list[list[int]]
    ) -> list[_Vector]:
        """Rows of each part by number, row after row."""


class LocalParts:
    """Parts in this process, whose passes use all cores."""

    def __init__(self, parts: Sequence[_native.RowsPart]) -> None:
        self._parts = list(parts)

    def summaries(self) -> list[tuple[Summary, int]]:
        return [(part.summary(), part.n_dropped) for part in self._parts]

    def sums(self, numbers: _Vector) -> list[_Vector]:
        return [part.sums(numbers) for part in self._parts]

    def rows(
        self, centre: list[float], scale: list[float], numbers: list[list[int]]
    ) -> list[_Vector]:
        pairs = zip(self._parts, numbers, strict=True)
        return [part.rows(centre, scale, own) for part, own in pairs]


class DistributedMixture(GaussianMixture):
    """A fitted :class:`trustvb.GaussianMixture` whose rows are in parts, here or on other machines.

    Attributes and predictions are those of :class:`trustvb.GaussianMixture`. Its intervals are made without resamples of
    rows: by ``jackknife``, the one-fit method, beside VB's own, and by ``analytic`` where that is asked for. With
    ``subsets`` they are made of little bootstraps, whose rows are fetched, by ``balanced`` and others.
    ``n_rows_`` and ``n_dropped_`` say how many rows were fitted and left out.
    """

    n_rows_: int
    n_dropped_: int

    def _fit_parts(self, parts: Parts, source: str) -> None:
        known = parts.summaries()
        summaries = [summary for summary, _ in known]
        # Rows have their numbers part after part.
        ends = list(itertools.accumulate(n for _, n, *_ in summaries))

        def sums(numbers: _Vector) -> _Vector:
            found = parts.sums(numbers)
            total: _Vector = found[0].copy()
            for one in found[1:]:  # in the order of parts, so that the same bits come every time
                total += one
            return total

        def rows(centre: list[float], scale: list[float], numbers: list[int]) -> _Vector:
            asked = np.asarray(numbers, dtype=np.int64)
            owners = np.searchsorted(ends, asked, side="right")
            own = [np.flatnonzero(owners == part) for part in range(len(ends))]
            firsts = [0, *ends[:-1]]
            wanted = [(asked[at] - first).tolist() for at, first in zip(own, firsts, strict=True)]
            found = np.empty((len(asked), len(centre)))
            for at, values in zip(own, parts.rows(centre, scale, wanted), strict=True):
                found[at] = values.reshape(-1, len(centre))
            return found.reshape(-1)

        problem = _native.Problem.far(source, summaries, sums, rows, self._spec())
        names = summaries[0][0]
        self._check_shape(names, ends[-1], len(names), reset=True)
        self.n_rows_, self.n_dropped_ = ends[-1], sum(dropped for _, dropped in known)
        self._fit_problem(problem, None)

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
        """Intervals by ``jackknife`` beside VB's own, a row per quantity, method and level.

        The frame is that of :meth:`trustvb.GaussianMixture.compare`. Influence is summed over parts: nothing is fitted
        again, and of the rows only sums travel.

        With ``subsets=10`` it is that of :meth:`trustvb.GaussianMixture.intervals`, by the recommended method: ten random
        subsets of n^0.7 rows are fetched, one after the other, and bootstraps are drawn from them and fitted here.
        """
        if table.get("subsets") is not None:
            return super().intervals(h, level, method, draws=draws, frame=frame, **table)
        return self.compare(h, level, method, draws=draws, frame=frame, **table)


def files_of(path: str | os.PathLike[str]) -> list[str]:
    """A file, or the Parquet files of a folder by name; for people who write ``part-*.parquet``."""
    text = os.fspath(path)
    if not os.path.isdir(text):
        return [os.path.abspath(text)]
    found = sorted(str(one.absolute()) for one in Path(text).iterdir() if one.suffix == ".parquet")
    if not found:
        raise ValueError(f"{text} is a folder without *.parquet files")
    return found


def is_path(x: Any) -> bool:
    return isinstance(x, str | os.PathLike)


def read(path: str, columns: list[str] | None, drop_missing: bool) -> _native.RowsPart:
    """A part from a file."""
    return _native.RowsPart.read(path, columns, drop_missing)


def hold(x: Any, columns: list[str] | None) -> _native.RowsPart:
    """A part from an array or a frame."""
    if columns is not None:
        x = x[columns]
    x = _frames.settled(x)
    values = columns_of(x)
    names = feature_names(x) or [f"x{j + 1}" for j in range(len(values))]
    return _native.RowsPart.of(names, values)
