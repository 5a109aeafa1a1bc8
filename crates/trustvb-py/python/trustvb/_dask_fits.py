"""Bootstraps of a user's fitter on a Dask cluster: each of its processes is given the task once."""

from __future__ import annotations

import pickle
import threading
import uuid
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import cloudpickle
from dask.distributed import Client, KilledWorker

from ._fitter import Path
from ._native import TrustvbError
from ._workers import Work


class Held:
    """A task as a process of the cluster holds it: sent as it came, made once, and shared by the process's threads.

    What a fitter compiles stays with it for all later jobs there, and never travels.
    """

    def __init__(self, pickled: bytes) -> None:
        self._pickled, self._lock = pickled, threading.Lock()
        self._work: Work | None = None

    def __reduce__(self) -> Any:
        return Held, (self._pickled,)

    def work(self) -> Work:
        """The task."""
        with self._lock:
            if self._work is None:
                self._work = pickle.loads(self._pickled)
            return self._work


def run(
    client: Client, work: Work, jobs: Sequence[tuple[str, list[int]]]
) -> Iterator[tuple[str, list[Path]]]:
    """The bootstraps of each job, in order."""
    token = uuid.uuid4().hex[:8]  # a call shares no job with another
    # A task and not scattered data: it waits for the first worker, and is done again when all that had it are lost.
    with warnings.catch_warnings():
        # Dask advises against large tasks, because most people send the same data with many of them.
        warnings.filterwarnings("ignore", message="Sending large graph")
        held = client.submit(
            Held, cloudpickle.dumps(work), key=f"trustvb-fitter-{token}", pure=False
        )
    waiting = [
        client.submit(_paths, held, *job, key=f"trustvb-fits-{i}/{len(jobs)}-{token}", pure=False)
        for i, job in enumerate(jobs, start=1)
    ]
    try:
        for (design, replicates), future in zip(jobs, waiting, strict=True):
            try:
                paths = future.result()
            except KilledWorker as error:
                deaths = error.allowed_failures + 1
                raise TrustvbError(
                    f"{deaths} {'worker' if deaths == 1 else 'workers'} died while fitting bootstraps {replicates[0]} to "
                    f"{replicates[-1]}, the last at {error.last_worker.address}; there may have been too little memory"
                ) from None
            yield design, paths
    finally:
        # After Ctrl-C, or an error in a fit: what waits is left, what is at work ends its bootstraps.
        if client.status == "running":
            client.cancel([*waiting, held], force=True)


def _paths(held: Held, design: str, replicates: list[int]) -> list[Path]:
    """On a worker."""
    return held.work().paths(design, replicates)
