"""What calibration around a user's fitter found: intervals, curves, figures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ask, _frames, _native
from ._answer import one_answer
from ._fitter import Evidence, Result, Task, Vector
from ._frames import FrameName
from ._messages import warn_flags
from ._show import WIDTH, Summary
from ._steady import Linear, linear_parts

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

DESIGNS = {
    "vb": (),
    "balanced": ("full",),
    "tempered": ("full",),
    "bootstrap": ("full",),
    "jackknife": (),
    "lrvb": (),
    "tvb": ("split",),
    "gpc": ("full",),
    "anchored": ("full",),
}

#: They look at fits below ω = 1.
ALONG_GRID = ("tvb", "gpc", "anchored")

#: They need an estimate and an interval of each fit at ω = 1, and nothing else.
AT_ONE = ("balanced", "tempered", "bootstrap")

#: They need the fit of all units at ω = 1 and its derivatives.
ONE_FIT = ("jackknife", "lrvb")

#: They are made of estimates alone: they choose no ω and have no law.
WITHOUT_OMEGA = ("balanced", "bootstrap")


class Calibration:
    """Calibrated intervals of a user's own procedure, with their evidence."""

    def __init__(
        self,
        task: Task,
        full: list[Result | None],
        evidence: dict[str, Evidence],
        methods: list[str],
        *,
        named: bool,
        steady: bool = True,
    ) -> None:
        self._named, self._steady = named, steady
        self._task, self._full, self._evidence, self._methods = task, full, evidence, methods
        self._extra: dict[float, Result | None] = {}
        self._spreads: dict[tuple[int, str], float] = {}
        self._parts: list[Linear | None] | None = None
        self._by_draws = full[0] is not None and full[0].returned.draws is not None

    @property
    def omegas(self) -> Vector:
        """The grid, from 1 downwards."""
        return self._task.omegas

    @property
    def names(self) -> list[str]:
        """Names of the quantities."""
        return list(self._task.names)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{self._bootstraps(design)} {design}" for design in self._evidence)
        text = (
            f"<trustvb.Calibration: {', '.join(self.names)}; {len(self.omegas)} ω, "
            f"{sizes or 'no'} bootstraps, {self._task.n_units} units, seed {self._task.seed}>"
        )
        return textwrap.fill(text, WIDTH)

    def intervals(
        self,
        level: float | Iterable[float] | None = None,
        method: str | Iterable[str] | None = None,
        *,
        frame: FrameName = "pandas",
    ) -> pandas.DataFrame | Any:
        """The interval to use for each quantity, beside that of the fitter and how often that holds.

        A row per quantity and level, with the columns of :meth:`Table.intervals`; what is called VB's is the
        fitter's own. If methods were named, here or in the call, it is the frame of :meth:`compare` for these.
        """
        if method is not None or self._named:
            return self.compare(level, self._methods if method is None else method, frame=frame)
        rows = self._one_answer(level)
        warn_flags(rows, compared=False)
        return _frames.answer(rows, frame)

    def compare(
        self,
        level: float | Iterable[float] | None = None,
        method: str | Iterable[str] | None = None,
        *,
        frame: FrameName = "pandas",
    ) -> pandas.DataFrame | Any:
        """Intervals by several methods, a row per quantity, method and level.

        All methods that the fits can answer by if none is named; the levels of the call if none is given.
        """
        rows = self._answers(level, self._possible(level) if method is None else method)
        warn_flags(rows, compared=True)
        return _frames.comparison(rows, frame)

    def summary(self, level: float | Iterable[float] | None = None) -> Summary:
        """What was fitted, and one answer per quantity, to read."""
        rows = self._one_answer(level)
        steadied = any("steadied" in row["flags"][0] for row in rows)
        about = (
            f"{self._task.n_units} units, {self._bootstraps('full')} bootstraps of all units"
            f"{' steadied by derivatives' if steadied else ''}, seed {self._task.seed}"
        )
        return Summary(about, _frames.answer(rows, "pandas"))

    def _bootstraps(self, design: str) -> int:
        evidence = self._evidence.get(design)
        return 0 if evidence is None else int(evidence.places.shape[-1])

    def _possible(self, level: float | Iterable[float] | None) -> list[str]:
        """Methods that the fits can answer by, the recommended one first."""
        levels = self._task.levels if level is None else _ask.levels(level)
        along = len(self.omegas) > 1
        full, split = "full" in self._evidence, "split" in self._evidence
        there = {
            "balanced": full,
            "vb": True,
            "tempered": full and set(levels) <= set(self._task.levels),
            "bootstrap": full,
            "jackknife": hasattr(self._task.fitter, "spread"),
            "lrvb": hasattr(self._task.fitter, "spread"),
            "tvb": split and along,
            "gpc": full and along,
            "anchored": full and along,
        }
        return [name for name, is_there in there.items() if is_there]

    def _one_answer(self, level: float | Iterable[float] | None) -> list[dict[str, Any]]:
        method = next((name for name in self._possible(level) if name != "vb"), None)
        if method is None:
            raise ValueError(
                "there are no resamples, so there is only the fitter's own interval, unchecked: call calibrate with "
                "method='recommended', or ask for method 'vb'"
            )
        rows = self._answers(level, [method, "vb"])
        return one_answer(rows, method, self._bootstraps("full"))

    def _answers(
        self, level: float | Iterable[float] | None, method: str | Iterable[str]
    ) -> list[dict[str, Any]]:
        levels = self._task.levels if level is None else _ask.levels(level)
        rows = []
        for i in range(len(self.names)):
            for name in _ask.outside_methods(method, ()):
                rows += [{**self._answer(i, name, level), "quantity": i} for level in levels]
        return rows

    def _gathered(self, i: int, level: float) -> dict[str, tuple[Vector, Vector, Vector]]:
        """The evidence for one quantity; with draws it is the same at every level."""
        at = 0
        if not self._by_draws:
            if level not in self._task.levels:
                raise ValueError(
                    f"the level {level:g} was not among those of the call: the fitter returned intervals, "
                    "which are known at their own levels only"
                )
            at = self._task.levels.index(level)
        return {design: evidence.of(at, i) for design, evidence in self._evidence.items()}

    def _chosen(self, i: int, method: str, level: float) -> dict[str, Any]:
        """ω̂ with its evidence, and the limits there."""
        if method in ALONG_GRID and not set(self._methods) & set(ALONG_GRID):
            raise ValueError(
                f"{method} was not among the methods of the call, and only ω = 1 was fitted"
            )
        (choice,) = _native.choose(self.omegas, method, [level], **self._gathered(i, level))
        found = None if np.isnan(choice["omega"]) else self._at(choice["omega"])
        choice["failed"] = found is None and not np.isnan(choice["omega"])
        choice["lower"], choice["upper"] = (
            (np.nan, np.nan) if found is None else self._task.limits(found.returned, i, level)
        )
        return choice

    def _chosen_at_one(self, i: int, method: str, level: float) -> dict[str, Any]:
        """The same by a method that needs nothing but fits at ω = 1."""
        evidence, first = self._evidence.get("full"), self._full[0]
        assert first is not None
        if evidence is None:
            raise ValueError(
                f"{method} was not among the methods of the call, which made no bootstraps of all units"
            )
        levels = self._task.levels
        if method == "tempered" and level not in levels:
            raise ValueError(
                f"the level {level:g} was not among those of the call: tempered knows the intervals of "
                "resamples at their own levels only"
            )
        at = levels.index(level) if level in levels else 0
        limits = self._task.limits(first.returned, i, level)
        return _native.interval_at_one(
            method,
            level,
            self._task.scales[i],
            (first.values[i], *limits),
            evidence.at_one[at, i],
            float(evidence.unconverged[0]),
            self._linear(i) if method == "balanced" else None,
        )

    def _linear(self, i: int) -> Linear | None:
        """What derivatives say about the bootstraps of a quantity."""
        first = self._full[0]
        assert first is not None
        if self._parts is None:
            count = self._bootstraps("full") if self._steady else 0
            self._parts = linear_parts(self._task, first.returned, count)
        return self._parts[i]

    def _chosen_by_one_fit(self, i: int, method: str, level: float) -> dict[str, Any]:
        """The same from derivatives of the fit of all units."""
        task, first = self._task, self._full[0]
        assert first is not None
        if not hasattr(task.fitter, "spread"):
            raise ValueError(
                f"{method} needs derivatives of the fitter's objective, and it has no `spread`"
            )
        if (i, method) not in self._spreads:
            h = task.functions[i]
            spread = task.fitter.spread(method, task.data, first.returned, h or task.names[i])
            self._spreads[i, method] = float(spread)
        limits = task.limits(first.returned, i, level)
        fit = (first.values[i], *limits)
        return _native.interval_by_sd(level, task.scales[i], fit, self._spreads[i, method])

    def _answer(self, i: int, method: str, level: float) -> dict[str, Any]:
        first = self._full[0]
        assert first is not None
        estimate = first.values[i]
        if np.isnan(estimate) and method in (*AT_ONE, *ONE_FIT):
            choice: dict[str, Any] = dict.fromkeys(("omega", "coverage", "coverage_se"), np.nan)
            choice["curve"] = {name: np.empty(0) for name in ("omega", "coverage", "se")}
            choice["flags"] = ([], [], [])
        else:
            choose = self._chosen_at_one if method in AT_ONE else self._chosen
            choose = self._chosen_by_one_fit if method in ONE_FIT else choose
            choice = choose(i, method, level)
        lower = upper = np.nan
        names, sentences, distrust = (list(x) for x in choice["flags"])
        more = []
        if np.isnan(estimate):
            more.append("undefined")
        elif choice.get("failed"):
            more.append("full-fit-failed")
        else:
            lower, upper = choice["lower"], choice["upper"]
            if estimate < lower or estimate > upper:
                more.append("estimate-outside")
        for flag in more:
            name, sentence = _native.flag(flag)
            names.append(name)
            sentences.append(sentence)
            distrust.append(True)
        coverage, se = float(choice["coverage"]), float(choice["coverage_se"])
        known = (lower, upper, coverage, se, level, self._bootstraps("full"))
        return {
            "functional": self.names[i],
            "method": method,
            "recommended": method == _native.method_name("recommended"),
            "level": level,
            # It has none, which is not an ω of 1.
            "omega": np.nan if method in WITHOUT_OMEGA else choice["omega"],
            "estimate": estimate,
            "lower": lower,
            "upper": upper,
            "coverage": choice["coverage"],
            "coverage_se": choice["coverage_se"],
            "verdict": _native.verdict(*known) if method == "vb" else None,
            "flags": (names, sentences, distrust),
            "curve": choice["curve"],
        }

    def _at(self, omega: float) -> Result | None:
        """The fit of all units at ω: from the grid, or made now."""
        on_grid = np.flatnonzero(self.omegas == omega)
        if len(on_grid):
            return self._full[int(on_grid[0])]
        if omega not in self._extra:
            before = [r for r, w in zip(self._full, self.omegas, strict=True) if w > omega and r]
            start = before[-1].start if before else None
            self._extra[omega] = self._task.fit(self._task.weights("full", 0), omega, start)
        return self._extra[omega]

    def _index(self, h: str | None) -> int:
        if h is None and len(self.names) == 1:
            return 0
        if h not in self.names:
            raise ValueError(f"there is no quantity {h!r}; there are {', '.join(self.names)}")
        return self.names.index(h)

    def coverage_curve(
        self,
        h: str | None = None,
        level: float | None = None,
        method: str | None = None,
        *,
        frame: FrameName = "pandas",
    ) -> pandas.DataFrame | Any:
        """Estimated coverage at every ω of the grid, with its Monte-Carlo standard error.

        ``method`` is ``anchored`` if not given, or ``tempered`` if nothing but ω = 1 was fitted; the curve of
        ``tempered`` is over stretches of the law, ω above 1 among them. ``balanced`` has none.
        """
        level = self._task.levels[0] if level is None else _ask.levels(level)[0]
        if method is None:
            method = "anchored" if set(self._methods) & set(ALONG_GRID) else "tempered"
        (method,) = _ask.outside_methods(method, ())
        if method in (*WITHOUT_OMEGA, *ONE_FIT):
            chosen = "finds ω without resamples" if method in ONE_FIT else "chooses no ω"
            raise ValueError(f"{method} {chosen}, so that it has no curve of coverage")
        if method == "tempered":
            return _frames.make(self._chosen_at_one(self._index(h), method, level)["curve"], frame)
        design = "split" if method == "tvb" else "full"
        gathered = self._gathered(self._index(h), level)
        if design not in gathered:
            raise ValueError(f"{method} was not among the methods of the call")
        same, anchor, _ = gathered[design]
        places = anchor if method in ("anchored", "vb") else same
        tail = 0.5 * (1 - level)
        known = ~np.isnan(places)
        n = known.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            coverage = ((places >= tail) & (places <= 1 - tail) & known).sum(axis=1) / n
            se = np.sqrt(coverage * (1 - coverage) / n)
        return _frames.make({"omega": self.omegas, "coverage": coverage, "se": se}, frame)

    def plot_intervals(self, **kwargs: Any) -> Axes:
        """The interval to use for each quantity against the fitter's own, with what that covers."""
        from . import _forest

        return _forest.outside_intervals(self, **kwargs)

    def plot_coverage(self, h: str | None = None, **kwargs: Any) -> Axes:
        """Coverage against ω, with the level and each method's ω̂."""
        from . import _plot

        return _plot.outside_coverage(self, h, **kwargs)

    def plot_density(self, h: str | None = None, **kwargs: Any) -> Axes:
        """The posterior density at each method's ω̂, with its interval; only with draws."""
        from . import _plot

        return _plot.outside_density(self, h, **kwargs)
