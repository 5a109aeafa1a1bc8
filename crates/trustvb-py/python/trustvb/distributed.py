"""Tables, studies and fits on a Dask cluster: the same files and numbers as on one machine.

>>> from dask.distributed import Client, LocalCluster
>>> import trustvb
>>> from trustvb.distributed import build_table
>>> client = Client(LocalCluster())  # doctest: +SKIP
>>> model = trustvb.GaussianMixture(n_components=2).fit(trustvb.load_faithful())
>>> table = build_table(client, model, "faithful.tvb")  # doctest: +SKIP
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import pickle
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _ask, _far, _native
from ._calibrated import Calibrated
from ._far import DistributedMixture, LocalParts, Parts
from ._frames import FrameName
from ._progress import Progress, Wish
from ._shards import StudyShards, TableShards
from ._study import folder_for, read_study, study_summary
from ._table import Table, open_table

try:
    from dask.distributed import Client, KilledWorker, as_completed, get_worker

    from ._dask_parts import DaskParts
except ImportError as error:
    raise ImportError(
        "trustvb.distributed needs dask.distributed, which is not installed: pip install 'trustvb[dask]'"
    ) from error

if TYPE_CHECKING:
    import pandas

__all__ = ["DistributedMixture", "ShardsFailed", "build_table", "fit", "run_study"]

#: Shards unless asked otherwise: enough for a few hundred workers. It does not depend on the cluster, so that a call
#: that is made again finds the same shards, whoever is there to build them.
MOST_SHARDS = 256


#: Cancelled by somebody else, or with the connection; not all of these are kinds of ``Exception``.
_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)


class ShardsFailed(_native.TrustvbError):
    """Some shards could not be built.

    ``failed`` says why, by number from 1; ``shards`` is how many there are; ``path`` is where the others are, or ``None``
    if nothing was kept.
    """

    def __init__(self, what: str, failed: Mapping[int, str], shards: int, path: str | None) -> None:
        self.failed = dict(sorted(failed.items()))
        self.shards = shards
        self.path = path
        kept = (
            f"what is done is in {path}, and the same call builds only what is missing"
            if path is not None
            else "nothing is kept, because no path was given; with one, the same call would build only what is missing"
        )
        super().__init__(
            f"{len(failed)} of {shards} shards of the {what} failed: {_reasons(self.failed)}; {kept}"
        )


def build_table(
    client: Client,
    model: Calibrated,
    path: str | os.PathLike[str] | None = None,
    *,
    method: str | Iterable[str] | None = None,
    grid: int = 100,
    omega_min: float = 0.001,
    bootstraps: int = 500,
    fresh_splits: bool = False,
    subsets: int | None = None,
    resamples: str | os.PathLike[str] | None = None,
    matching: str | None = None,
    restarts: int | None = None,
    tvb: bool = False,
    with_data: bool = True,
    shards: int | None = None,
    via: Literal["client", "folder"] = "client",
    retries: int = 2,
    progress: Wish = None,
) -> Table:
    """Builds a fitted model's table on a Dask cluster: the same table, to the last byte, as ``model.table``.

    Parameters
    ----------
    client : of any cluster of ``dask.distributed``; trustvb must be installed on its machines, in the same version.
    model : a fitted :class:`GaussianMixture` or :class:`MixtureRegression`. Its data are sent once to each worker.
    path : a folder to keep the table in; parts that are there are not built again.
    method, grid, omega_min, bootstraps, fresh_splits, subsets, resamples, matching, restarts, tvb, with_data :
        as for ``model.table``.
    shards : tasks to make of it; one for each part of the table, and at most 256, if not given.
    via : ``"client"``: workers send their parts to this process, which needs nothing but the cluster;
        ``"folder"``: workers write into ``path``, a folder or a store that all of them reach under that name.
    retries : how often a shard that raised is tried again. When a worker is lost, Dask gives its shards to others.
    progress : whether to show a bar; if not given, when somebody watches.

    Raises
    ------
    ShardsFailed : if some shards failed for good. What is done is in ``path``, and the same call goes on from there.

    Ctrl-C cancels the shards, with the same promise.

    >>> from dask.distributed import Client
    >>> client = Client("tcp://scheduler:8786")  # doctest: +SKIP
    >>> table = build_table(client, model, "faithful.tvb", bootstraps=5000)  # doctest: +SKIP
    >>> table.intervals("pi[1]")  # doctest: +SKIP
    """
    if not isinstance(model, Calibrated):
        raise TypeError(
            f"give a fitted GaussianMixture or MixtureRegression, not {type(model).__name__}"
        )
    request = model._table_request(
        method,
        grid=grid,
        omega_min=omega_min,
        bootstraps=bootstraps,
        fresh_splits=fresh_splits,
        subsets=subsets,
        resamples=resamples,
        matching=matching,
        restarts=restarts,
        tvb=tvb,
    )
    work = TableShards.of(model._problem, model._iteration(), request, with_data)
    if path is not None:
        path = _located(path)
        _run(client, work, path, path, shards, via, retries, progress)
        return open_table(path)
    with tempfile.TemporaryDirectory(prefix="trustvb-") as folder:
        folder = os.path.join(folder, "table")
        _run(client, work, folder, None, shards, via, retries, progress)
        return open_table(folder)


def run_study(
    client: Client,
    study: str | os.PathLike[str] | Mapping[str, Any],
    path: str | os.PathLike[str] | None = None,
    *,
    shards: int | None = None,
    via: Literal["client", "folder"] = "client",
    retries: int = 2,
    progress: Wish = None,
    frame: FrameName = "pandas",
    **changes: Any,
) -> pandas.DataFrame | Any:
    """Runs a coverage study on a Dask cluster and returns its summary: that of :func:`trustvb.run_study`.

    ``study``, ``path``, ``frame`` and ``changes`` are those of :func:`trustvb.run_study`; ``client``, ``shards``, ``via``,
    ``retries`` and ``progress`` those of :func:`build_table`, and so are its promises.

    >>> run_study(client, "paper-gmm", "paper-gmm.study", scale=0.1)  # doctest: +SKIP
    """
    work = StudyShards(read_study(study, **changes))
    with folder_for(study, path) as (folder, stays):
        folder = _located(folder)
        _run(client, work, folder, folder if stays else None, shards, via, retries, progress)
        _native.Study.finish(folder)
        return study_summary(folder, frame=frame)


def fit(
    data: Any,
    n_components: int = 2,
    *,
    client: Client | None = None,
    columns: Sequence[str] | None = None,
    drop_missing: bool = False,
    retries: int = 2,
    **settings: Any,
) -> DistributedMixture:
    """Fits a Gaussian mixture to rows in parts, which stay where they are: only sums over them travel.

    Parameters
    ----------
    data : a folder of Parquet files, a Parquet or CSV file, a list of such files, an array or frame or a list of them, or
        a Dask dataframe. Files must have the same name on all machines. A file, array or partition is a part.
    n_components : number of components.
    client : of a cluster of ``dask.distributed``, whose workers hold the parts; if not given, this process does.
    columns : which to use, all if not given.
    drop_missing : leave out rows of files with missing or infinite values.
    retries : how often a task that raised is tried again. When a worker is lost its parts are loaded again by others.
    settings : those of :class:`trustvb.GaussianMixture`, such as ``random_state``; covariances are full.

    Returns
    -------
    A fitted :class:`DistributedMixture`. ``intervals`` are those of the one-fit method, ``jackknife``, from influence
    that is summed over parts. Numbers are those of one machine to rounding, and the same bits for any number of workers.

    >>> from trustvb.distributed import fit
    >>> mixture = fit("rows/", 3, client=client)  # doctest: +SKIP
    >>> mixture.intervals("pi[1]")  # doctest: +SKIP
    """
    mixture = DistributedMixture(n_components, **settings)
    names = None if columns is None else [str(name) for name in columns]
    makers, source = _makers(data, names, drop_missing, client)
    parts: Parts
    if client is None:
        parts = LocalParts([make(*arguments) for make, arguments in makers])
    elif not isinstance(client, Client) or client.asynchronous:
        raise TypeError(
            "give a dask.distributed Client that is not asynchronous: Client(cluster_or_address)"
        )
    else:
        parts = DaskParts(client, makers, _ask.whole("retries", retries, least=0))
    mixture._fit_parts(parts, source)
    return mixture


def _makers(
    data: Any, columns: list[str] | None, drop_missing: bool, client: Client | None
) -> tuple[list[tuple[Callable[..., _native.RowsPart], tuple[Any, ...]]], str]:
    """How each part is made, and what messages call all of them."""
    if _far.is_path(data):
        data, source = _far.files_of(data), os.fspath(data)
    else:
        source = "the parts"
    if hasattr(data, "to_delayed") and hasattr(data, "npartitions"):
        delayed = data.to_delayed()
        frames = [one.compute() for one in delayed] if client is None else client.compute(delayed)
        return [(_far.hold, (frame, columns)) for frame in frames], "the Dask dataframe"
    if hasattr(data, "shape") and not isinstance(data, list | tuple):
        data = [data]
    if not isinstance(data, list | tuple) or not data:
        what = "an empty list" if isinstance(data, list | tuple) else type(data).__name__
        raise TypeError(
            f"give a folder, a file, a list of files, arrays or frames, or a Dask dataframe, not {what}"
        )
    if all(_far.is_path(one) for one in data):
        files = [file for one in data for file in _far.files_of(one)]
        return [(_far.read, (file, columns, drop_missing)) for file in files], source
    return [(_far.hold, (one, columns)) for one in data], source


def _located(path: str | os.PathLike[str]) -> str:
    """A path that means the same in every process; an address (``s3://…``) already does."""
    text = os.fspath(path)
    return text if "://" in text else os.path.abspath(text)


def _run(
    client: Client,
    work: TableShards | StudyShards,
    folder: str,
    kept: str | None,
    shards: int | None,
    via: str,
    retries: int,
    progress: Wish,
) -> None:
    """Builds the shards that are missing in ``folder``; ``kept`` is what the user knows it as."""
    if not isinstance(client, Client) or client.asynchronous:
        raise TypeError(
            "give a dask.distributed Client that is not asynchronous: Client(cluster_or_address)"
        )
    if via not in ("client", "folder"):
        raise ValueError(f"via={via!r} is neither 'client' nor 'folder'")
    if via == "folder" and kept is None:
        raise ValueError("via='folder' needs a path that client and workers share")
    retries = _ask.whole("retries", retries, least=0)
    wanted = MOST_SHARDS if shards is None else _ask.whole("shards", shards)
    there = work.survey(folder)
    shards = min(wanted, len(there))
    missing = [i for i in range(1, shards + 1) if not all(there[i - 1 :: shards])]
    if missing:
        to = folder if via == "folder" else None
        failed = _submit(client, work, folder, to, missing, shards, retries, progress)
        if not failed and via == "folder":
            there = work.survey(folder)
            why = "it was built, but its parts are not in the folder that this process sees"
            failed = {i: why for i in missing if not all(there[i - 1 :: shards])}
        if failed:
            raise ShardsFailed(work.what, failed, shards, kept)


def _submit(
    client: Client,
    work: TableShards | StudyShards,
    folder: str,
    to: str | None,
    missing: Sequence[int],
    shards: int,
    retries: int,
    progress: Wish,
) -> dict[int, str]:
    """Lets the cluster build shards and keeps what it sends; returns why some failed."""
    token = uuid.uuid4().hex[:8]  # a call shares no task with another, nor with a failed one before
    name = f"trustvb-{work.what}"
    futures: dict[Any, int] = {}
    failed: dict[int, str] = {}
    # A task and not scattered data: it waits for the first worker, and is done again when all that had it are lost.
    with warnings.catch_warnings():
        # Dask advises against large tasks, because most people send the same data with many of them.
        warnings.filterwarnings("ignore", message="Sending large graph")
        data = client.submit(
            _load, pickle.dumps(work), key=f"{name}-data-{token}", pure=False, retries=retries
        )
    try:
        for number in missing:
            key = f"{name}-{number}/{shards}-{token}"
            future = client.submit(
                _build, data, (number, shards), to, key=key, pure=False, retries=retries
            )
            futures[future] = number
        with Progress("building shards", progress) as bar:
            tell: Callable[[int, int], object] = bar.callback or (lambda done, total: None)
            tell(0, len(missing))
            for done, future in enumerate(as_completed(list(futures)), start=1):
                number = futures.pop(future)
                try:
                    files = future.result()
                    if files is not None:
                        work.keep(files, folder)
                except (Exception, *_CANCELLED) as error:
                    failed[number] = _reason(error)
                future.release()
                tell(done, len(missing))
    finally:
        # After Ctrl-C: workers notice, and leave the shards that they are at.
        if client.status == "running":
            client.cancel([*futures, data], force=True)
    return failed


def _load(pickled: bytes) -> TableShards | StudyShards:
    """On a worker: what shards are built from."""
    work: TableShards | StudyShards = pickle.loads(pickled)
    return work


def _build(
    work: TableShards | StudyShards, shard: tuple[int, int], to: str | None
) -> dict[str, bytes] | None:
    """On a worker: builds a shard, into a folder that it shares, or to be sent as files."""
    worker = get_worker()
    key = worker.get_current_task()

    def watch(done: int, total: int) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise RuntimeError("nobody waits for this shard any more")

    # Dask runs as many tasks on a worker as it has threads: they share them.
    threads = max(1, worker.state.nthreads // max(1, worker.state.executing_count))
    if to is not None:
        if "://" not in to and not os.path.exists(os.path.join(to, "manifest.json")):
            raise FileNotFoundError(
                f"the worker {worker.address} does not see {to}; give a folder that all machines share, or "
                "via='client'"
            )
        work.build(to, shard, threads, watch)
        return None
    with tempfile.TemporaryDirectory(prefix="trustvb-", dir=worker.local_directory) as scratch:
        return work.build_files(scratch, shard, threads, watch)


def _reason(error: BaseException) -> str:
    if isinstance(error, KilledWorker):
        deaths = error.allowed_failures + 1
        return (
            f"{deaths} {'worker' if deaths == 1 else 'workers'} died while building it, the last at "
            f"{error.last_worker.address}; there may have been too little memory"
        )
    text = str(error) or "it was cancelled"
    return text if isinstance(error, _native.TrustvbError) else f"{type(error).__name__}: {text}"


def _reasons(failed: Mapping[int, str]) -> str:
    """Each reason once, with the numbers that it stopped."""
    numbers: dict[str, list[int]] = {}
    for number, why in failed.items():
        numbers.setdefault(why, []).append(number)
    listed = []
    for why, those in numbers.items():
        shown = ", ".join(map(str, those[:8])) + (", …" if len(those) > 8 else "")
        listed.append(f"{'shard' if len(those) == 1 else 'shards'} {shown}: {why}")
    return "; ".join(listed)
