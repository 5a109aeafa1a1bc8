"""Coverage studies: many data sets with known truth, and what intervals do in them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import _ask, _frames, _native
from ._frames import FrameName
from ._progress import Progress, Wish

if TYPE_CHECKING:
    import pandas


def run_study(
    study: str | os.PathLike[str] | Mapping[str, Any],
    path: str | os.PathLike[str] | None = None,
    *,
    n_jobs: int | None = None,
    progress: Wish = None,
    frame: FrameName = "pandas",
    **changes: Any,
) -> pandas.DataFrame | Any:
    """Runs a coverage study and returns its summary, a row per cell, quantity, method and level.

    Parameters
    ----------
    study : a built-in study such as ``"paper-gmm"`` (``trustvb study`` lists them), a TOML file, the folder of a study,
        or a dict with the fields of such a file.
    path : a folder to keep every interval in, the same as that of ``trustvb study -o``; a study that was interrupted
        goes on there. Without it only the summary is left.
    n_jobs : threads, all cores if not given; results do not depend on it.
    progress : whether to show a bar; if not given, when somebody watches.
    frame : ``"pandas"``, ``"polars"``, ``"arrow"`` or ``"dict"``.
    changes : what to change in the study, by name: ``only`` (cells), ``half``, ``scale``, ``replications``, ``bootstraps``,
        ``grid``, ``seed``, ``level``, ``method``, ``quantities``, ``labels``; each means what the option of the command
        does.

    >>> summary = run_study("section3", only="sep3/n=300", replications=4, bootstraps=20, grid=10)
    >>> list(summary.method.unique())
    ['vb', 'tvb', 'gpc', 'anchored', 'analytic', 'bootstrap']
    """
    native = read_study(study, **changes)
    with folder_for(study, path) as (folder, _):
        with Progress("replications", progress) as bar:
            native.run_shard(folder, (1, 1), _ask.jobs(n_jobs), bar.callback)
        _native.Study.finish(folder)
        return study_summary(folder, frame=frame)


def study_summary(
    path: str | os.PathLike[str], *, frame: FrameName = "pandas"
) -> pandas.DataFrame | Any:
    """The summary of what a study's folder holds so far; columns are those of ``summary.csv``."""
    return _frames.make(_native.Study.summary(os.fspath(path)), frame)


def read_study(
    study: str | os.PathLike[str] | Mapping[str, Any],
    *,
    only: str | Iterable[str] | None = None,
    half: str | None = None,
    scale: float | None = None,
    replications: int | None = None,
    bootstraps: int | None = None,
    grid: int | None = None,
    seed: int | None = None,
    level: float | Iterable[float] | None = None,
    method: str | Iterable[str] | None = None,
    quantities: str | Iterable[str] | None = None,
    labels: str | None = None,
) -> _native.Study:
    """The study that is meant, with its changes, checked."""
    if scale is not None and not 0 < scale <= 1000:
        raise ValueError(f"scale={scale!r} must be greater than 0, and at most 1000")
    changes = json.dumps(
        {
            "only": _listed(only),
            "half": half,
            "scale": scale,
            "replications": None
            if replications is None
            else _ask.whole("replications", replications),
            "bootstraps": None if bootstraps is None else _ask.whole("bootstraps", bootstraps),
            "grid": None if grid is None else _ask.whole("grid", grid),
            "seed": None if seed is None else _ask.whole("seed", seed, least=0),
            "levels": [] if level is None else _ask.levels(level),
            "methods": _listed(method),
            "quantities": _listed(quantities),
            "labels": labels,
        }
    )
    if isinstance(study, Mapping):
        return _native.Study.of(json.dumps(dict(study)), changes)
    return _native.Study.read(os.fspath(study), changes)


def _listed(texts: str | Iterable[str] | None) -> list[str]:
    return [] if texts is None else [texts] if isinstance(texts, str) else list(texts)


@contextmanager
def folder_for(
    study: str | os.PathLike[str] | Mapping[str, Any], path: str | os.PathLike[str] | None
) -> Iterator[tuple[str, bool]]:
    """Where a study is run, and whether it stays: where asked, in the folder it was read from, or nowhere for long."""
    if path is not None:
        yield os.fspath(path), True
    elif not isinstance(study, Mapping) and _is_folder(os.fspath(study)):
        yield os.fspath(study), True
    else:
        with tempfile.TemporaryDirectory(prefix="trustvb-") as folder:
            yield os.path.join(folder, "study"), False


def _is_folder(name: str) -> bool:
    return "://" in name or os.path.isdir(name)
