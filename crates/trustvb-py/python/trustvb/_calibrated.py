"""An estimator with tables and calibrated intervals."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _ask, _by, _native, _select
from ._ask import Asked
from ._base import Estimator, seed_of
from ._frames import FrameName
from ._held import Held, Need
from ._messages import ConvergenceWarning, warn
from ._progress import Progress, Wish
from ._select import Selection
from ._show import Summary
from ._table import Table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


class Calibrated(Estimator):
    """An estimator with tables and calibrated intervals."""

    omega: float
    prior: str | dict[str, Any] | None
    random_state: Any
    n_init: int
    tol: float | None
    max_iter: int
    acceleration: int
    means_init: Any
    published: bool

    weights_: NDArray[np.float64]
    lower_bound_: float
    lower_bounds_: NDArray[np.float64]
    n_iter_: int
    converged_: bool
    emptied_: list[int]
    flags_: dict[str, str]
    remarks_: list[str]
    _tables: Held

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_tables", None)  # they can be built again, and are large
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_problem" in state:
            self._tables = Held()

    def _generator(self) -> np.random.Generator:
        """For rows that are simulated: without a ``random_state`` another one every time, as in scikit-learn."""
        if self.random_state is None:
            return np.random.default_rng()
        return np.random.default_rng(seed_of(self.random_state))

    def _prior(self) -> dict[str, Any]:
        if self.prior is None or isinstance(self.prior, str):
            if self.prior not in ("default", "paper"):
                raise ValueError(
                    f"prior={self.prior!r} is neither 'default' nor 'paper' nor a dict"
                )
            paper = self.prior == "paper" or self.published
            return {"base": "paper" if paper else "default"}
        return {
            name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
            for name, value in self.prior.items()
        }

    def _iteration(self) -> str:
        centres = None
        if self.means_init is not None:
            centres = np.asarray(self.means_init, dtype=float).ravel().tolist()
        return json.dumps(
            {
                "seed": self._seed,
                "starts": _ask.whole("n_init", self.n_init),
                "centres": centres,
                "tolerance": None
                if self.tol is None
                else _ask.fraction("tol", self.tol, one=False),
                "max_sweeps": _ask.whole("max_iter", self.max_iter),
                "acceleration": _ask.whole("acceleration", self.acceleration, least=0),
            }
        )

    def _fit(
        self,
        problem: _native.Problem,
        weights: NDArray[np.float64] | None,
        weights_are: str = "frequency",
    ) -> None:
        if weights_are not in ("frequency", "survey"):
            raise ValueError(f"weights_are={weights_are!r} is neither 'frequency' nor 'survey'")
        self._seed = seed_of(self.random_state)
        omega = _ask.fraction("omega", self.omega, one=True)
        # Fractions that are no survey weights have a fit, but nothing that could be resampled.
        self._weighted = (
            weights is not None
            and weights_are == "frequency"
            and not (weights == np.floor(weights)).all()
        )
        if weights is not None and not self._weighted and not (weights == 1).all():
            problem, weights = problem.weighted(weights, weights_are), None
        fit = problem.fit(self._iteration(), omega, weights)
        self._problem = problem
        self._tables = Held()
        self.posterior_ = fit.posterior
        self.lower_bound_ = fit.bound
        self.lower_bounds_ = fit.trace
        self.n_iter_ = fit.sweeps
        self.converged_ = fit.status in ("converged", "stalled")
        self.emptied_ = fit.emptied
        self.flags_ = dict(problem.flags(fit))
        self.remarks_ = problem.remarks()
        self.weights_ = fit.posterior.mean()["pi"][0]
        if not self.converged_:
            how = (
                fit.why
                or f"it did not converge in {fit.sweeps} sweeps (last change {fit.change:.1e}); raise max_iter"
            )
            warn(f"the fit is not at an optimum: {how}", ConvergenceWarning)

    def select(
        self,
        *data: Any,
        n_components: Iterable[int] | int = range(1, 9),
        criterion: str | None = None,
        n_jobs: int | None = None,
        **named: Any,
    ) -> Selection:
        """Compares numbers of components by BIC, ICL and the bound, as ``trustvb select`` does.

        Parameters
        ----------
        data, named : what :meth:`fit` takes.
        n_components : the numbers to compare.
        criterion : ``"bic"`` (the default), ``"icl"`` or ``"bound"``.
        n_jobs : threads, all cores if not given; results do not depend on it.

        The estimator itself stays as it is. ``selection.model()`` is one with what was chosen, to be fitted.
        """
        return _select.select(self, data, named, n_components, (), criterion, n_jobs)

    def table(
        self,
        method: str | Iterable[str] | None = None,
        *,
        grid: int = 100,
        omega_min: float = 0.001,
        bootstraps: int = 500,
        fresh_splits: bool = False,
        subsets: int | None = None,
        resamples: str | os.PathLike[str] | None = None,
        matching: str | None = None,
        restarts: int | None = None,
        tvb: bool = False,
        path: str | os.PathLike[str] | None = None,
        with_data: bool = True,
        n_jobs: int | None = None,
        progress: Wish = None,
    ) -> Table:
        """Builds the table that intervals are read from.

        Parameters
        ----------
        method : the methods it is to serve, which decide its resamples. If not given: ``balanced``, ``vb``, and ``tvb``
            where its fits are cheap, as sizes of data and table tell.
        grid, omega_min : points of the grid of ω, even in log ω, and the smallest; only ω = 1 is fitted if no
            method looks at others (``balanced``, ``tempered``, ``bootstrap`` do not).
        bootstraps : of each design.
        fresh_splits : a new split and new bootstraps at every ω, as in the paper's studies.
        subsets : draw bootstraps of all units from this many subsets of n^0.7 units (bag of little bootstraps), for very
            many units; not with ``tvb``.
        resamples : a CSV file with your own.
        matching : ``"assignment"`` or ``"weight"``, how components of resamples get their numbers.
        restarts : k-means starts of each resample's own, instead of the full-data fit.
        tvb : whether it serves ``tvb`` in any case.
        path : a folder to keep it in; a build that was interrupted goes on there.
        with_data : whether the folder gets the data too.
        n_jobs : threads, all cores if not given; results do not depend on it.
        progress : whether to show a bar; if not given, when somebody watches.
        """
        request = self._table_request(
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
        with Progress("fitting resamples", progress) as bar:
            native = self._problem.table(
                self._iteration(),
                json.dumps(request),
                None if path is None else os.fspath(path),
                with_data,
                _ask.jobs(n_jobs),
                bar.callback,
                [held._native for held in self._tables],
            )
        return Table(native)

    def _table_request(
        self,
        method: str | Iterable[str] | None,
        *,
        grid: int,
        omega_min: float,
        bootstraps: int,
        fresh_splits: bool,
        subsets: int | None,
        resamples: str | os.PathLike[str] | None,
        matching: str | None,
        restarts: int | None,
        tvb: bool = False,
    ) -> dict[str, Any]:
        """What the native module is told about a table, checked."""
        request = self._table_settings(
            grid=grid,
            omega_min=omega_min,
            bootstraps=bootstraps,
            fresh_splits=fresh_splits,
            subsets=subsets,
            resamples=resamples,
            matching=matching,
            restarts=restarts,
        )
        return {"methods": self._methods(method, request, tvb), **request}

    def _table_settings(
        self,
        *,
        grid: int = 100,
        omega_min: float = 0.001,
        bootstraps: int = 500,
        fresh_splits: bool = False,
        subsets: int | None = None,
        resamples: str | os.PathLike[str] | None = None,
        matching: str | None = None,
        restarts: int | None = None,
    ) -> dict[str, Any]:
        """All of it but the methods."""
        self._check_fitted()
        if self._weighted:
            raise ValueError(
                "sample_weight has fractions, and a row cannot be resampled so many times: if they say how much "
                "rows count, fit with weights_are='survey'"
            )
        return {
            "grid": _ask.whole("grid", grid),
            "omega_min": _ask.fraction("omega_min", omega_min, one=True),
            "bootstraps": _ask.whole("bootstraps", bootstraps),
            "fresh_splits": bool(fresh_splits),
            "subsets": None if subsets is None else _ask.whole("subsets", subsets),
            "resamples": None if resamples is None else os.fspath(resamples),
            "matching": matching,
            "restarts": None if restarts is None else _ask.whole("restarts", restarts),
            "published": bool(self.published),
        }

    def _methods(
        self, method: str | Iterable[str] | None, settings: dict[str, Any], tvb: bool
    ) -> list[str]:
        """Methods by name, or the usual ones for a table of these settings; with ``tvb`` the paper's among them."""
        if method is not None:
            named = _ask.methods(method, [])
            return [*named, "tvb"] if tvb and "tvb" not in named else named
        request = json.dumps({"methods": [], **settings})
        usual, left_out = self._problem.usual_methods(self._iteration(), request, bool(tvb))
        if left_out is not None:
            warn(left_out, UserWarning)
        return usual

    def _held_table(self, method: Sequence[str], options: dict[str, Any]) -> Table:
        """A table that answers by these methods: one that is kept, or a new one."""
        self._check_fitted()
        silent = {name: options.pop(name, None) for name in ("n_jobs", "progress")}
        options.pop("tvb", None)
        if options.get("path") is not None:
            return self.table(method, **silent, **options)
        need = Need.of(method, options)
        return self._tables.find(need, lambda: self.table(method, **silent, **options))

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
        """The interval to use for each quantity, beside VB's own and how often that holds.

        ``h``, ``level``, ``method``, ``draws`` and ``frame`` are those of :meth:`Table.intervals`, other arguments
        those of :meth:`table`. The table is built once and kept. Without ``method`` it holds fits of bootstraps at ω = 1
        alone; a method that looks at other ω (``tvb``, ``gpc``, ``anchored``) adds a grid, once, when it is first asked.
        No fit is made twice. With ``tvb=True`` the frame is that of :meth:`compare`, with the paper's interval.
        """
        if method is not None or table.get("tvb"):
            return self.compare(h, level, method, draws=draws, frame=frame, **table)
        held, asking = self._asked(h, level, self._one_method(), table)
        return held.intervals(h, level, draws=draws, frame=frame, **asking)

    def intervals_by(
        self,
        *data: Any,
        by: Any,
        h: Asked = None,
        level: float | Iterable[float] = 0.95,
        table: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        progress: Wish = None,
        frame: FrameName = "pandas",
        keep: str | os.PathLike[str] | None = None,
        **named: Any,
    ) -> pandas.DataFrame | Any:
        """:meth:`intervals` for each group of rows, a model like this one fitted to each, as ``calibrate --by`` does.

        Parameters
        ----------
        data, named : what :meth:`fit` takes.
        by : the name of a column of the data, which is no part of the model, or a label for each row.
        h, level, frame : those of :meth:`intervals`.
        table : arguments of :meth:`table`, such as ``{"bootstraps": 200}``.
        n_jobs : threads, all cores if not given; results do not depend on it.
        keep : a file ``NAME.parquet`` for what is done, block by block of groups. The same call goes on where an
            interrupted one ended, and reads the file when all is done; another question or other data are refused.

        Returns
        -------
        A row per group, quantity and level with the columns of :meth:`intervals`; a column of truth values for each
        warning that some row carries; and ``error``, which says why a group has no answers. A group's rows are those
        that it would have alone. The estimator itself stays as it is.
        """
        return _by.intervals_by(
            self, data, named, by, h, level, dict(table or {}), n_jobs, progress, frame, keep
        )

    def compare(
        self,
        h: Asked = None,
        level: float | Iterable[float] = 0.95,
        method: str | Iterable[str] | None = None,
        *,
        draws: int = 500,
        frame: FrameName = "pandas",
        **table: Any,
    ) -> pandas.DataFrame | Any:
        """Intervals by several methods, a row per quantity, method and level.

        Arguments are those of :meth:`Table.compare` and :meth:`table`. If no method is named these are ``balanced``,
        ``vb``, and ``tvb`` where its fits, on a grid of ω, are cheap; ``tvb=True`` asks for it in any case.
        """
        self._check_fitted()
        others = ("n_jobs", "progress", "path", "with_data")
        settings = {name: x for name, x in table.items() if name not in (*others, "tvb")}
        tvb = bool(table.pop("tvb", False))
        methods = self._methods(method, self._table_settings(**settings), tvb)
        held, asking = self._asked(h, level, methods, table)
        return held.compare(h, level, methods, draws=draws, frame=frame, **asking)

    def summary(
        self,
        h: Asked = None,
        level: float | Iterable[float] = 0.95,
        *,
        draws: int = 500,
        **table: Any,
    ) -> Summary:
        """What was fitted, and :meth:`intervals`, to read: prints within 80 columns, and has an HTML form."""
        held, _ = self._asked(h, level, self._one_method(), table)
        return held.summary(h, level, draws=draws)

    def plot_intervals(
        self, h: Asked = None, level: float = 0.95, *, ax: Axes | None = None, **table: Any
    ) -> Axes:
        """The interval to use for each quantity against VB's own, with what VB covers."""
        held, _ = self._asked(h, level, self._one_method(), table)
        return held.plot_intervals(h, level=level, ax=ax)

    def plot_profile(
        self,
        level: float = 0.95,
        *,
        of: str | None = None,
        ax: Axes | None = None,
        **table: Any,
    ) -> Axes:
        """What each component is like, column by column, with the intervals to use.

        Probabilities of levels, or means and rates less that of the whole mixture in its standard deviations:
        ``of="probabilities"`` or ``"means"`` says which, where a model has both.
        """
        held, _ = self._asked(None, level, self._one_method(), table)
        return held.plot_profile(of=of, level=level, ax=ax)

    def _one_method(self) -> list[str]:
        """The method of the answer, and VB's own beside it; as published, the paper's."""
        return ["tvb" if self.published else _native.method_name("recommended"), "vb"]

    def _asked(
        self,
        h: Asked,
        level: float | Iterable[float],
        methods: list[str],
        table: dict[str, Any],
    ) -> tuple[Table, dict[str, Any]]:
        """The table that answers, and how to ask it. Anything wrong with the question is said before the work is done."""
        self._check_fitted()
        self.posterior_.check([asked for asked in _ask.functionals(h) if isinstance(asked, str)])
        _ask.levels(level)
        held = self._held_table(methods, dict(table))
        return held, {name: table[name] for name in ("n_jobs", "progress") if name in table}

    def to_arviz(
        self,
        h: Asked = None,
        *,
        omega: float | None = None,
        level: float = 0.95,
        method: str = "tempered",
        draws: int = 1000,
        chains: int = 4,
        **table: Any,
    ) -> Any:
        """Posterior draws for ArviZ: ``InferenceData`` before ArviZ 1.0, ``DataTree`` from then on.

        With ``omega`` all quantities come from one joint posterior at that ω. Without it each quantity is
        drawn at its own ω̂, calibrated by ``method`` at ``level``: its marginal interval is then right, but
        quantities are not draws of one joint law. ``tempered`` and ``jackknife`` stretch the draws at ω = 1
        about the estimate; ``balanced`` and ``bootstrap`` have no posterior. Draws are independent; chains are there because
        ArviZ expects them.
        """
        from ._arviz import to_arviz

        methods = [method]
        if omega is not None:
            # Nothing is calibrated; a single bootstrap brings the grid with it.
            methods = ["vb"] if omega == 1.0 else ["anchored"]
            table.setdefault("bootstraps", 1)
        held = self._held_table(methods, dict(table))
        return to_arviz(
            held,
            h,
            omega=omega,
            level=level,
            method=method,
            draws=draws,
            chains=chains,
            trace=self.lower_bounds_,
        )
