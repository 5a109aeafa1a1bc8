"""Bootstraps by several workers: processes or threads, each of which is given the task once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from . import _ask
from ._fitter import Path, Task, Vector

#: Jobs that each worker has on average, so that none waits long for the last.
_SHARES = 4

#: Kinds of workers.
KINDS = ("processes", "threads")


@dataclass
class Work:
    """A task and, by design, the values that bootstraps are checked against."""

    task: Task
    checked: dict[str, Vector]
    start: Any

    def paths(self, design: str, replicates: list[int]) -> list[Path]:
        return self.task.paths(design, replicates, self.checked[design], self.start)


def number(n_jobs: int | None) -> int:
    """How many workers are meant."""
    n = _ask.jobs(-1 if n_jobs is None else n_jobs)
    return (os.cpu_count() or 1) if n is None else n


def kind(asked: str | None, fitter: Any) -> str:
    """Threads for a fitter that makes many fits at once, which computes outside Python; processes for others."""
    if asked is None:
        return "threads" if hasattr(fitter, "fit_many") else "processes"
    if asked not in KINDS:
        raise ValueError(f"workers={asked!r} is not one of {' and '.join(map(repr, KINDS))}")
    return asked


def run(work: Work, count: int, workers: int, kind: str) -> Iterator[tuple[str, list[Path]]]:
    """Bootstraps 1 to ``count`` of each design, in order, whoever makes them."""
    if hasattr(work.task.fitter, "fit_many"):
        # However many workers there are, so that sums are added in the same order.
        batch = int(getattr(work.task.fitter, "batch", count))
    else:
        batch = 1 if workers == 1 else max(1, count // (_SHARES * workers))
    jobs = [
        (design, list(range(first, min(first + batch, count + 1))))
        for design in work.checked
        for first in range(1, count + 1, batch)
    ]
    if workers == 1:
        for job in jobs:
            yield job[0], work.paths(*job)
        return
    with _pool(work, min(workers, len(jobs)), kind) as pool:
        # Not `map`, which would hold all results until the first is asked for.
        one = work.paths if kind == "threads" else _paths_of_worker
        waiting = [pool.submit(one, *job) for job in jobs]
        try:
            for job, future in zip(jobs, waiting, strict=True):
                yield job[0], future.result()
        finally:
            for future in waiting:
                future.cancel()


def _pool(work: Work, workers: int, kind: str) -> Executor:
    if kind == "threads":
        return ThreadPoolExecutor(workers)
    try:
        # It pickles functions that cannot be imported, and needs no guard in the calling script.
        from joblib.externals.loky import ProcessPoolExecutor
    except ImportError:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        # Not forked: a copy of a process with threads may hang.
        context: Any = multiprocessing.get_context("spawn")
        spawned: Executor = ProcessPoolExecutor(
            workers, mp_context=context, initializer=_start_worker, initargs=(work,)
        )
        return spawned
    pool: Executor = ProcessPoolExecutor(workers, initializer=_start_worker, initargs=(work,))
    return pool


_work_of_worker: Work | None = None


def _start_worker(work: Work) -> None:
    global _work_of_worker
    _work_of_worker = work


def _paths_of_worker(design: str, replicates: list[int]) -> list[Path]:
    assert _work_of_worker is not None
    return _work_of_worker.paths(design, replicates)
