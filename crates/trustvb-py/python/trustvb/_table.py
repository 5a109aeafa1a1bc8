"""A table of fits: build it once, ask it anything."""

from __future__ import annotations

import json
import math
import os
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _ask, _frames, _native
from ._answer import one_answer
from ._ask import Asked, Function
from ._draws import Draws
from ._frames import FrameName
from ._messages import warn, warn_flags
from ._progress import Progress, Wish
from ._show import WIDTH, Summary

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


class Table:
    """Fits over a grid of ω and many resamples, from which calibrated intervals are read.

    Made by ``model.table(...)`` or :func:`open_table`; the command line reads and writes the same files.
    """

    def __init__(self, native: _native.Table) -> None:
        self._native = native
        self._held: dict[Any, list[dict[str, Any]]] = {}

    @property
    def manifest(self) -> dict[str, Any]:
        """Everything that decides its content: model, grid, resamples, seed, hash of the data."""
        manifest: dict[str, Any] = json.loads(self._native.manifest)
        return manifest

    @property
    def omegas(self) -> NDArray[np.float64]:
        """The grid, from 1 downwards."""
        return self._native.omegas

    def __repr__(self) -> str:
        m = self.manifest
        b = m["replicates"]
        text = (
            f"<trustvb.Table: {m['model']['name']} with {m['layout']['n_components']} components, "
            f"{m['n_units']} units, {len(m['omegas'])} ω, {b['full']} full and {b['split']} split "
            f"bootstraps, seed {m['seed']}: {self._native.n_fits} fits>"
        )
        return textwrap.fill(text, WIDTH)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a folder, by habit called ``NAME.tvb``."""
        self._native.save(os.fspath(path))

    def intervals(
        self,
        h: Asked = None,
        level: float | Iterable[float] = 0.95,
        method: str | Iterable[str] | None = None,
        *,
        draws: int = 500,
        frame: FrameName = "pandas",
        n_jobs: int | None = None,
        progress: Wish = None,
    ) -> pandas.DataFrame | Any:
        """The interval to use for each quantity, beside VB's own and how often that holds.

        Parameters
        ----------
        h : quantities as texts such as ``"pi[1]"`` or ``"mu[1,waiting] - mu[2,waiting]"`` (components
            count from 1, component 1 is the heaviest), or callables over :class:`Draws`; one, a list,
            or a dict from names. Every weight and mean if not given.
        level : of the intervals, one or several.
        method : if given, the frame is that of :meth:`compare` for these methods.
        draws : behind each law that has no exact form; final limits use ten times as many.
        frame : ``"pandas"``, ``"polars"``, ``"arrow"`` or ``"dict"``.

        Returns
        -------
        A row per quantity and level: ``lower`` and ``upper`` by the recommended method (that of ``method``), VB's own
        as ``vb_lower`` and ``vb_upper``, the estimated coverage of VB's own with its Monte-Carlo error,
        ``vb_coverage`` and ``vb_coverage_se``, a ``verdict`` on it, and names of ``warnings``. The coverage is the share of the
        bootstraps at ω = 1 whose interval holds the estimate.

        Flags that speak against an interval are warned of as :class:`CalibrationWarning`, each once.
        """
        if method is not None:
            return self.compare(
                h, level, method, draws=draws, frame=frame, n_jobs=n_jobs, progress=progress
            )
        rows = self._one_answer(h, level, draws, n_jobs, progress)
        warn_flags(rows, compared=False)
        return _frames.answer(rows, frame)

    def compare(
        self,
        h: Asked = None,
        level: float | Iterable[float] = 0.95,
        method: str | Iterable[str] | None = None,
        *,
        draws: int = 500,
        frame: FrameName = "pandas",
        n_jobs: int | None = None,
        progress: Wish = None,
    ) -> pandas.DataFrame | Any:
        """Intervals by several methods, a row per quantity, method and level.

        ``method`` is ``balanced`` (which ``recommended`` stands for), ``tempered``, ``vb``, ``tvb``, ``tvb-sequential``,
        ``gpc``, ``jackknife``, ``bootstrap``, or the superseded ``anchored`` and ``analytic``, one or several; of
        ``balanced``, ``vb`` and ``tvb`` those that the table can answer if not given. Other arguments are those of
        :meth:`intervals`.
        """
        rows = self._answers(h, level, method, draws, n_jobs, progress)
        warn_flags(rows, compared=True)
        return _frames.comparison(rows, frame)

    def summary(
        self, h: Asked = None, level: float | Iterable[float] = 0.95, *, draws: int = 500
    ) -> Summary:
        """What was fitted, and :meth:`intervals`, to read: prints within 80 columns, and has an HTML form."""
        m = self.manifest
        full = m["replicates"]["full"]
        about = (
            f"{m['model']['name']} with {m['layout']['n_components']} components, {m['n_units']} units, "
            f"{full} bootstraps of all units, seed {m['seed']}"
        )
        frame = _frames.answer(self._one_answer(h, level, draws), "pandas")
        return Summary(about, frame)

    def _one_answer(
        self,
        h: Asked,
        level: float | Iterable[float],
        draws: int = 500,
        n_jobs: int | None = None,
        progress: Wish = None,
    ) -> list[dict[str, Any]]:
        """The recommended method's answers beside VB's; by ``tvb`` where the table has nothing for that."""
        possible = self._native.possible_methods
        method = next((name for name in possible if name != "vb"), None)
        if method is None:
            raise ValueError(
                "the table holds no resamples, so there is only VB's own interval, unchecked: build it for "
                "method 'recommended', or ask for method 'vb'"
            )
        rows = self._answers(h, level, [method, "vb"], draws, n_jobs, progress)
        return one_answer(rows, method, self.manifest["replicates"]["full"])

    def _answers(
        self,
        h: Asked,
        level: float | Iterable[float],
        method: str | Iterable[str] | None,
        draws: int,
        n_jobs: int | None = None,
        progress: Wish = None,
    ) -> list[dict[str, Any]]:
        asked = _ask.functionals(h)
        methods = _ask.methods(method, self._native.possible_methods)
        levels = _ask.levels(level)
        # Texts always mean the same; a callable may not.
        key = (tuple(asked), tuple(methods), tuple(levels), draws)
        held = all(isinstance(a, str) for a in asked)
        if held and key in self._held:
            return self._held[key]
        with Progress("calibrating", progress) as bar:
            answers = self._native.answer(
                asked,
                methods,
                levels,
                _ask.whole("draws", draws),
                _ask.jobs(n_jobs),
                bar.callback,
            )
        each = len(methods) * len(levels)
        for number, answer in enumerate(answers):
            answer["quantity"], answer["text"] = number // each, answer["functional"]
            if not asked:
                # Nobody has typed a name, so columns go by theirs.
                answer["functional"] = answer["label"]
        if held:
            self._held[key] = answers
        return answers

    def coverage_curve(
        self,
        h: str | Function,
        level: float = 0.95,
        method: str | None = None,
        *,
        step: int | None = None,
        draws: int = 500,
        frame: FrameName = "pandas",
    ) -> pandas.DataFrame | Any:
        """Estimated coverage by ω, with its Monte-Carlo standard error.

        ``method`` is ``anchored`` if not given, or ``tvb`` where bootstraps of all units have no grid of ω.
        ``tempered`` has a curve over stretches of VB's law, ω above 1 among them; methods that choose no ω
        have that of ``anchored``.

        ``step`` takes every so many points of the grid: all of them if not given, or about two dozen when
        the quantity needs draws.
        """
        step = 0 if step is None else _ask.whole("step", step)
        (level,) = _ask.levels(level)
        if method is None:
            method = "tvb" if "full" in self.manifest.get("at_one", ()) else "anchored"
        curve = self._native.curve(_ask.single(h), method, level, step, _ask.whole("draws", draws))
        return _frames.make(curve, frame)

    def draws(self, omega: float = 1.0, n: int = 1000, *, seed: int | None = None) -> Draws:
        """Joint draws of all parameters from the full-data posterior at ω."""
        seed = self.manifest["seed"] if seed is None else seed
        return Draws(self._native.posterior(float(omega)).draws(_ask.whole("n", n), seed))

    def sample(self, h: Asked, omega: float = 1.0, n: int = 1000) -> dict[str, NDArray[np.float64]]:
        """Draws of quantities from the full-data posterior at ω, by name."""
        found = self._native.sample(_ask.functionals(h), float(omega), _ask.whole("n", n))
        return dict(found)

    def to_arrow(self) -> Any:
        """All fits as an Arrow table: a row per design, replicate and ω."""
        import pyarrow

        columns: dict[str, Any] = self._native.columns()
        design = pyarrow.DictionaryArray.from_arrays(
            pyarrow.array(columns.pop("design")), pyarrow.array(["full", "split", "subset"])
        )
        table = pyarrow.table({"design": design, **columns})
        return table.replace_schema_metadata({"trustvb": self._native.manifest})

    def to_arviz(self, *args: Any, **kwargs: Any) -> Any:
        """Posterior draws for ArviZ; see :meth:`GaussianMixture.to_arviz`."""
        from ._arviz import to_arviz

        return to_arviz(self, *args, **kwargs)

    def plot_intervals(self, h: Asked = None, **kwargs: Any) -> Axes:
        """The interval to use for each quantity against VB's own, with what VB covers."""
        from . import _forest

        return _forest.intervals(self, h, **kwargs)

    def plot_profile(self, **kwargs: Any) -> Axes:
        """What each component is like, column by column, with the intervals to use.

        ``of="probabilities"`` or ``"means"`` says which, where a model has both.
        """
        from . import _profile

        return _profile.profile(self, **kwargs)

    def plot_coverage(self, h: str | Function, **kwargs: Any) -> Axes:
        """Coverage against ω, with the level and each method's ω̂."""
        from . import _plot

        return _plot.coverage(self, h, **kwargs)

    def plot_density(self, h: str | Function, **kwargs: Any) -> Axes:
        """The posterior density at each method's ω̂, with its interval."""
        from . import _plot

        return _plot.density(self, h, **kwargs)

    def plot_clusters(self, **kwargs: Any) -> Axes:
        """Two columns of the data with each component's ellipse, or each component's line."""
        from . import _plot

        return _plot.clusters(self, **kwargs)


def open_table(path: str | os.PathLike[str], *, in_memory: bool | None = None) -> Table:
    """Opens a table that ``model.table(path=...)``, ``table.save`` or ``trustvb table build`` wrote.

    Of a table that would take more than 256 MB of memory, each question reads what it needs; ``in_memory`` says whether
    to do so (``False``) or to read all fits at once (``True``) whatever the size. Answers are the same.
    One of an older format is read with a warning: its parts carry no checksum.
    """
    most = None if in_memory is None else math.inf if in_memory else 0.0
    table = Table(_native.Table.open(os.fspath(path), most))
    if not table._native.is_checked:
        warn(
            f"{os.fspath(path)} was written in format {table.manifest['schema']}, whose parts carry no checksum: "
            "they were not checked",
            UserWarning,
        )
    return table
