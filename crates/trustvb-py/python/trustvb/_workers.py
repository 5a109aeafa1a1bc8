"""Bootstraps by several workers: processes, threads or a Dask cluster's, each of which is given the task once."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from inspect import getattr_static, getclosurevars
from itertools import pairwise
from types import FunctionType, MethodType, ModuleType
from typing import Any

from . import _ask
from ._fitter import Path, Task, Vector

#: Jobs that each process has, so that none waits long for the last.
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


def number(n_jobs: int | None, kind: Any) -> int:
    """How many workers are meant; a cluster has those that it has."""
    if is_client(kind):
        # It may have none yet, and more later.
        return max(2, sum(int(threads) for threads in kind.nthreads().values()))
    n = _ask.jobs(-1 if n_jobs is None else n_jobs)
    return (os.cpu_count() or 1) if n is None else n


def kind(asked: Any, fitter: Any) -> Any:
    """What was asked for; or threads for a fitter that computes outside Python, and processes for others."""
    if asked is None:
        outside = hasattr(fitter, "fit_many") or is_compiled(fitter)
        return "threads" if outside else "processes"
    if is_client(asked):
        if asked.asynchronous:
            raise TypeError("workers is an asynchronous Client: give one that is not")
        return asked
    if asked not in KINDS:
        listed = " and ".join(map(repr, KINDS))
        raise ValueError(f"workers={asked!r} is not one of {listed}, nor a dask.distributed.Client")
    return asked


def is_client(x: Any) -> bool:
    """Whether it is a client of Dask, which is not imported to find out."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(x, distributed.Client)


def is_compiled(fitter: Any, depth: int = 3) -> bool:
    """Whether a function is compiled by JAX, or names one that is: such lets other threads go on while it computes."""
    if type(fitter).__name__ == "PjitFunction":
        return True
    if depth == 0:
        return False
    return any(is_compiled(used, depth - 1) for used in _used(fitter))


def _used(fitter: Any) -> Iterator[Any]:
    """What a callable is made of: what it wraps, the names in its code, its attributes."""
    if isinstance(fitter, MethodType):
        yield from (fitter.__func__, fitter.__self__)
    elif isinstance(fitter, partial):
        yield fitter.func
    elif isinstance(fitter, FunctionType):
        try:
            names = getclosurevars(fitter)
        except ValueError:  # a name that has no value yet
            return
        yield from (*names.nonlocals.values(), *names.globals.values())
    elif not isinstance(fitter, type | ModuleType):
        yield from getattr(fitter, "__dict__", {}).values()
        yield getattr_static(type(fitter), "__call__", None)


def run(work: Work, count: int, workers: int, kind: Any) -> Iterator[tuple[str, list[Path]]]:
    """Bootstraps 1 to ``count`` of each design, in order, whoever makes them."""
    jobs = [
        (design, replicates)
        for design in work.checked
        for replicates in _shared(work.task.fitter, count, workers, kind)
    ]
    if workers == 1:
        for job in jobs:
            yield job[0], work.paths(*job)
        return
    if is_client(kind):
        from . import _dask_fits

        yield from _dask_fits.run(kind, work, jobs)
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


def _shared(fitter: Any, count: int, workers: int, kind: Any) -> list[list[int]]:
    """Bootstraps 1 to ``count`` as jobs."""
    if hasattr(fitter, "fit_many"):
        # However many workers there are, so that sums are added in the same order.
        batch = int(getattr(fitter, "batch", count))
        ends = [*range(0, count, batch), count]
    elif workers == 1 or kind == "threads":
        # A job costs a thread nothing.
        ends = list(range(count + 1))
    else:
        # As many for each process, of the same size but for one: nobody waits while others have two jobs left.
        jobs = min(count, _SHARES * workers)
        ends = [count * i // jobs for i in range(jobs + 1)]
    return [list(range(a + 1, b + 1)) for a, b in pairwise(ends)]


def _pool(work: Work, workers: int, kind: str) -> Executor:
    if kind == "threads":
        return ThreadPoolExecutor(workers)
    try:
        # It pickles functions that cannot be imported, and needs no guard in the calling script.
        from joblib.externals.loky import ProcessPoolExecutor
    except ImportError:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        _check_pickles(work)
        # Not forked: a copy of a process with threads may hang.
        context: Any = multiprocessing.get_context("spawn")
        spawned: Executor = ProcessPoolExecutor(
            workers, mp_context=context, initializer=_start_worker, initargs=(work,)
        )
        return spawned
    pool: Executor = ProcessPoolExecutor(workers, initializer=_start_worker, initargs=(work,))
    return pool


def _check_pickles(work: Work) -> None:
    """Refuses a task that cannot be given to processes which have to import what is in it."""
    try:
        pickle.dumps(work)
    except (AttributeError, TypeError, pickle.PicklingError) as why:
        raise TypeError(
            f"the fitter, its data or a quantity cannot be given to other processes: {why}. Install joblib, which sends "
            "functions wherever they are defined; or define them at the top of a module; or use workers='threads' or "
            "n_jobs=1"
        ) from why


_work_of_worker: Work | None = None


def _start_worker(work: Work) -> None:
    global _work_of_worker
    _work_of_worker = work


def _paths_of_worker(design: str, replicates: list[int]) -> list[Path]:
    assert _work_of_worker is not None
    return _work_of_worker.paths(design, replicates)
