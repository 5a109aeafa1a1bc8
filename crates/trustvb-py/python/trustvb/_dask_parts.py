"""Parts of a data set on a Dask cluster: each is a task's result, which Dask makes again from its source when a worker is lost."""

from __future__ import annotations

import itertools
import uuid
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from dask.distributed import Client, get_worker
from numpy.typing import NDArray

from . import _native
from ._far import Summary

_Vector = NDArray[np.float64]


class DaskParts:
    """Parts that workers hold. ``makers`` say how each is made: a function and its arguments, of which some may be futures."""

    def __init__(
        self,
        client: Client,
        makers: Sequence[tuple[Callable[..., _native.RowsPart], tuple[Any, ...]]],
        retries: int,
    ) -> None:
        self._client = client
        self._retries = retries
        self._passes = itertools.count(1)  # quantities are asked by several threads
        self._token = uuid.uuid4().hex[:8]  # a call shares no task with another
        with warnings.catch_warnings():
            # Dask advises against large tasks, because most people send the same data with many of them.
            warnings.filterwarnings("ignore", message="Sending large graph")
            self._parts = [
                client.submit(
                    make,
                    *arguments,
                    key=f"trustvb-rows-{number}/{len(makers)}-{self._token}",
                    pure=False,
                    retries=retries,
                )
                for number, (make, arguments) in enumerate(makers, start=1)
            ]

    def _each(
        self, what: str, work: Callable[..., Any], own: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        """What a function gives for each part and its own arguments, in the order of parts."""
        turn = next(self._passes)
        futures = [
            self._client.submit(
                work,
                part,
                *arguments,
                key=f"trustvb-{what}-{turn}-{number}-{self._token}",
                pure=False,
                retries=self._retries,
            )
            for number, (part, arguments) in enumerate(zip(self._parts, own, strict=True), start=1)
        ]
        found: list[Any] = self._client.gather(futures)
        return found

    def summaries(self) -> list[tuple[Summary, int]]:
        return self._each("summary", _summary, [()] * len(self._parts))

    def sums(self, numbers: _Vector) -> list[_Vector]:
        return self._each("pass", _sums, [(numbers,)] * len(self._parts))

    def rows(
        self, centre: list[float], scale: list[float], numbers: list[list[int]]
    ) -> list[_Vector]:
        return self._each("rows", _rows, [(centre, scale, own) for own in numbers])


def _summary(part: _native.RowsPart) -> tuple[Summary, int]:
    return part.summary(), part.n_dropped


def _sums(part: _native.RowsPart, numbers: _Vector) -> _Vector:
    """On a worker: Dask runs as many tasks there as it has threads, and passes share them."""
    state = get_worker().state
    # A copy: arrays may arrive at any address, and the native module needs them aligned.
    return part.sums(np.array(numbers), max(1, state.nthreads // max(1, state.executing_count)))


def _rows(
    part: _native.RowsPart, centre: list[float], scale: list[float], numbers: list[int]
) -> _Vector:
    return part.rows(centre, scale, numbers)
