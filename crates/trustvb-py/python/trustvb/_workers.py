"""Paths of fits by worker processes, with joblib where it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import _ask
from ._fitter import Task


def processes(n_jobs: int | None) -> int:
    import os

    n = _ask.jobs(-1 if n_jobs is None else n_jobs)
    return (os.cpu_count() or 1) if n is None else n


def run(task: Task, jobs: list[Any], processes: int) -> Iterator[Any]:
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


def _path(task: Task, job: Any) -> Any:
    return task.path(*job)


_task_of_worker: Task | None = None


def _start_worker(task: Task) -> None:
    global _task_of_worker
    _task_of_worker = task


def _path_of_worker(job: Any) -> Any:
    assert _task_of_worker is not None
    return _task_of_worker.path(*job)


def _run_without_joblib(task: Task, jobs: list[Any], processes: int) -> Iterator[Any]:
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
