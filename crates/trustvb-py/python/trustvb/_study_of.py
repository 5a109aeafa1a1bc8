"""Coverage studies of fits made elsewhere: many simulated data sets, and how often intervals hold the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ask, _frames
from ._base import seed_of
from ._calibration import Calibration
from ._elements import quantities_of
from ._fitter import Fitter
from ._frames import FrameName
from ._native import TrustvbError
from ._outside import calibrate, quantities
from ._progress import Progress, Wish
from ._study_figure import FIVE, five_numbers

if TYPE_CHECKING:
    import pandas

#: Quantile of the Normal law for the limits of a coverage.
_Z = 1.959964


def study_of(
    fitter: Fitter,
    simulate: Callable[[np.random.Generator], Any],
    truth: float | Mapping[str, float],
    h: Any = None,
    *,
    replications: int = 200,
    level: float | Iterable[float] = 0.95,
    method: str | Iterable[str] | None = None,
    random_state: Any = None,
    progress: Wish = None,
    frame: FrameName = "pandas",
    **settings: Any,
) -> pandas.DataFrame | Any:
    """How often intervals hold the truth, over simulated data sets.

    Parameters
    ----------
    fitter, h : as for :func:`calibrate`; a fitter of :mod:`trustvb.numpyro` also takes names of elements, and those of
        ``truth`` if ``h`` is not given.
    simulate : ``simulate(rng)``, which draws a data set with a numpy generator.
    truth : the true value of each quantity, by name; a number if there is one quantity.
    replications : data sets.
    method : the recommended one beside ``vb`` if not given; ``vb`` is always among them.
    random_state : data set i and its resamples depend on it and on i alone.
    settings : others of :func:`calibrate`: ``bootstraps``, ``scale``, ``n_jobs``, …

    Returns a row per quantity, method and level: ``replications`` with an interval and those that ``failed``; ``coverage`` with
    its standard error and 95% limits (Wilson's); the mean ``length``; the mean interval ``score`` (length and 2/a times the
    distance by which the truth is missed), lower is better; ``bias`` and ``rmse`` of the estimate; ``flagged``, the
    share with a warning; and 5%, quartiles and 95% of lengths (``length_p5``, ``length_q1``, ``length_median``, …) and of the
    ω that were chosen (``omega_p5``, …). :func:`plot_study` draws it.
    """
    levels = _ask.levels(level)
    methods = None if method is None else [method] if isinstance(method, str) else list(method)
    methods = ["recommended", "vb"] if methods is None else list(dict.fromkeys([*methods, "vb"]))
    asked = _asked(fitter, truth, h)
    names, _ = quantities(asked)
    true = _truths(truth, names)
    seed, found = seed_of(random_state), _Found()
    count = _ask.whole("replications", replications)
    with Progress("data sets", progress) as bar:
        for i in range(count):
            rng = np.random.default_rng([seed, i])
            data = simulate(rng)
            try:
                result: Calibration | None = calibrate(
                    fitter,
                    data,
                    asked,
                    level=levels,
                    method=methods,
                    random_state=int(rng.integers(2**31)),
                    # The first data set has shown that the fitter keeps its promises.
                    check=settings.get("check", True) and i == 0,
                    progress=False,
                    **{name: value for name, value in settings.items() if name != "check"},
                )
            except TrustvbError:
                result = None
            found.add(result, names, methods, levels, true)
            if bar.callback is not None:
                bar.callback(i + 1, count)
    return _frames.make(found.table(), frame)


def _asked(fitter: Any, truth: Any, h: Any) -> Any:
    """Quantities; fitters whose draws have names take elements of them as text."""
    if not hasattr(fitter, "elements"):
        if h is None:
            raise ValueError("h is missing: the quantities, as for calibrate")
        return h
    if h is None and not isinstance(truth, Mapping):
        raise ValueError("h is missing: name the quantity, or give truth as a dict from names")
    return quantities_of(list(truth) if h is None else h)


def _truths(truth: float | Mapping[str, float], names: list[str]) -> list[float]:
    if not isinstance(truth, Mapping):
        if len(names) != 1:
            raise ValueError(f"truth is one number for {len(names)} quantities; give a dict")
        return [float(truth)]
    missing = [name for name in names if name not in truth]
    if missing:
        raise ValueError(f"truth has no value for {', '.join(missing)}")
    return [float(truth[name]) for name in names]


class _Found:
    """What every data set gave, by quantity, method and level."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str, float], list[tuple[float, ...]]] = {}

    def add(
        self,
        result: Calibration | None,
        names: list[str],
        methods: list[str],
        levels: list[float],
        true: list[float],
    ) -> None:
        if result is None:
            return self._add_failure(names, methods, levels, true)
        for row in result._answers(levels, methods):
            value = true[names.index(row["functional"])]
            key = (row["functional"], row["method"], row["level"])
            distrust = any(row["flags"][2])
            numbers = (
                value,
                row["estimate"],
                row["lower"],
                row["upper"],
                row["omega"],
                float(distrust),
            )
            self.rows.setdefault(key, []).append(numbers)
        return None

    def _add_failure(
        self, names: list[str], methods: list[str], levels: list[float], true: list[float]
    ) -> None:
        for name, value in zip(names, true, strict=True):
            for method in _ask.outside_methods(methods, ()):
                for level in levels:
                    nothing = (value, *[math.nan] * 4, 1.0)
                    self.rows.setdefault((name, method, level), []).append(nothing)

    def table(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {}
        for (name, method, level), rows in self.rows.items():
            row = {"functional": name, "method": method, "level": level, **_summary(rows, level)}
            for column, value in row.items():
                columns.setdefault(column, []).append(value)
        return columns


def _summary(rows: list[tuple[float, ...]], level: float) -> dict[str, Any]:
    value, estimate, lower, upper, omega, flagged = np.array(rows).T
    known = np.isfinite(lower) & np.isfinite(upper)
    n = int(known.sum())
    true = float(value[0])
    with np.errstate(invalid="ignore"):
        held = ((lower <= value) & (value <= upper))[known]
        missed = np.maximum(lower - value, 0) + np.maximum(value - upper, 0)
    length = (upper - lower)[known]
    error = (estimate - value)[known]
    share = float(held.mean()) if n else math.nan
    low, high = _wilson(share, n)

    def mean(x: Any) -> float:
        return float(np.mean(x)) if n else math.nan

    return {
        "truth": true,
        "replications": n,
        "failed": len(rows) - n,
        "coverage": share,
        "coverage_se": math.sqrt(share * (1 - share) / n) if n else math.nan,
        "coverage_low": low,
        "coverage_high": high,
        "length": mean(length),
        "score": mean(length + 2 / (1 - level) * missed[known]),
        "bias": mean(error),
        "rmse": math.sqrt(mean(error**2)) if n else math.nan,
        "flagged": float(flagged.mean()),
        **{f"length_{name}": x for name, x in zip(FIVE, five_numbers(length), strict=True)},
        **{f"omega_{name}": x for name, x in zip(FIVE, five_numbers(omega[known]), strict=True)},
    }


def _wilson(share: float, n: int) -> tuple[float, float]:
    """Limits of a coverage that was seen in n data sets."""
    if not n:
        return math.nan, math.nan
    z2 = _Z * _Z / n
    middle, half = share + z2 / 2, _Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n))
    return (middle - half) / (1 + z2), (middle + half) / (1 + z2)
