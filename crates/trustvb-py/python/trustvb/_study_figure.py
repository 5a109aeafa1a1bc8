"""Figures of coverage studies: coverage with its limits, lengths and chosen ω. They return their axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ask, _frames
from ._plot import AXIS, COMPONENTS, GRID, METHODS, MUTED, axes, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What can be shown.
SHOWN = ("coverage", "length", "omega")

#: Columns of boxes: 5%, quartiles, 95%.
FIVE = ("p5", "q1", "median", "q3", "p95")

#: Room for all methods of a group, of 1.
_ROOM = 0.72


def plot_study(
    summary: Any,
    show: str = "coverage",
    *,
    level: float | None = None,
    method: str | Iterable[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The figures that ``trustvb study`` draws, of the summary that :func:`study_of` or :func:`run_study` returned.

    Parameters
    ----------
    summary : what one of them returned, or the same read from a CSV file.
    show : ``"coverage"``, with Wilson's 95% limits; ``"length"``, quartiles with whiskers from 5% to 95%, over the mean length
        of VB's own; ``"omega"``, the ω that was chosen, likewise.
    level : the first one if not given.
    method : some of the methods.
    ax : where to draw.
    """
    if show not in SHOWN:
        raise ValueError(f"show={show!r} is not one of {', '.join(map(repr, SHOWN))}")
    rows = _rows(summary)
    level = rows[0]["level"] if level is None else _ask.levels(level)[0]
    rows = [row for row in rows if row["level"] == level]
    if not rows:
        raise ValueError(f"the study has no level {level:g}")
    asked = None if method is None else [method] if isinstance(method, str) else list(method)
    there = list(dict.fromkeys(row["method"] for row in rows))
    for name in asked or ():
        if name not in there:
            raise ValueError(f"the study has no method {name!r}; there are {', '.join(there)}")
    methods = [name for name in there if asked is None or name in asked]
    ax = _frame(ax, list(dict.fromkeys(row["group"] for row in rows)), len(methods))
    draw = {"coverage": _coverage, "length": _lengths, "omega": _omegas}[show]
    return draw(ax, rows, methods, float(level))


def _rows(summary: Any) -> list[dict[str, Any]]:
    """A summary's rows, each with the name of its group."""
    try:
        columns = _frames.columns_of(_frames.settled(summary, "summary"))
    except (ImportError, TypeError):
        columns = {}
    # The two kinds of studies call a few things by other names.
    same = {
        "functional": "quantity",
        "coverage_lower": "coverage_low",
        "coverage_upper": "coverage_high",
    }
    named = {same.get(str(name), str(name)): list(column) for name, column in columns.items()}
    named.setdefault("mean_length", named.get("length", []))
    missing = {"quantity", "method", "level", "coverage", "coverage_low"} - set(named)
    if missing or not named["level"]:
        raise ValueError(
            "that is no summary of a study: give what study_of or run_study returned, or its CSV file as a frame"
        )
    rows = [dict(zip(named, row, strict=True)) for row in zip(*named.values(), strict=True)]
    cells = list(dict.fromkeys(row.get("cell") for row in rows))
    one = len({row["quantity"] for row in rows}) == 1
    for row in rows:
        cell, quantity = row.get("cell"), row["quantity"]
        row["group"] = quantity if len(cells) == 1 else cell if one else f"{cell}\n{quantity}"
    return rows


def _frame(ax: Axes | None, groups: Sequence[str], methods: int) -> Axes:
    """Axes with a place for each group, every other one on a band."""
    width = 1.6 + len(groups) * max(0.7, 0.17 * methods)
    ax = axes(ax, (min(max(width, 4.2), 14), 3.6))
    for i in range(0, len(groups), 2):
        ax.axvspan(i - 0.5, i + 0.5, color=GRID, alpha=0.45, linewidth=0)
    long = max(map(len, groups)) * len(groups) > 60
    ax.set_xticks(
        range(len(groups)), groups, rotation=30 if long else 0, ha="right" if long else "center"
    )
    ax.set_xlim(-0.5, len(groups) - 0.5)
    ax.grid(False, axis="x")
    return ax


def _placed(rows: list[dict[str, Any]], methods: list[str]) -> Any:
    """Rows with where they are drawn and how; each method named once, for the legend."""
    groups = list(dict.fromkeys(row["group"] for row in rows))
    step = _ROOM / len(methods)
    named: set[str] = set()
    for row in rows:
        if row["method"] not in methods:
            continue
        x = groups.index(row["group"]) + (methods.index(row["method"]) + 0.5) * step - _ROOM / 2
        colour, _, marker = METHODS.get(row["method"], (COMPONENTS[4], "solid", "o"))
        label = None if row["method"] in named else row["method"]
        yield row, x, colour, marker, label
        named.add(row["method"])


def _coverage(ax: Axes, rows: list[dict[str, Any]], methods: list[str], level: float) -> Axes:
    ax.axhline(level, color=AXIS, linewidth=1, linestyle=(0, (4, 3)))
    for row, x, colour, marker, label in _placed(rows, methods):
        ax.plot([x, x], [row["coverage_low"], row["coverage_high"]], color=colour, linewidth=1.6)
        ring = "white" if row["method"] == "vb" else colour
        ax.plot(
            x,
            row["coverage"],
            marker,
            color=colour,
            markerfacecolor=ring,
            markersize=5,
            label=label,
        )
    title = f"How often {100 * level:g}% intervals hold the truth"
    return _finish(ax, title, f"coverage, {_sets(rows)}")


def _lengths(ax: Axes, rows: list[dict[str, Any]], methods: list[str], level: float) -> Axes:
    own = {row["group"]: row["mean_length"] for row in rows if row["method"] == "vb"}
    if not own or "length_p5" not in rows[0]:
        raise ValueError(
            "lengths are drawn over VB's own, and this summary has no such method or no quartiles of lengths; `trustvb study "
            "FOLDER` draws those of a study that run_study has kept"
        )
    ax.axhline(1, color=AXIS, linewidth=1, linestyle=(0, (4, 3)))
    for row, x, colour, _, label in _placed(rows, methods):
        over = own[row["group"]]
        _box(ax, x, [row[f"length_{name}"] / over for name in FIVE], colour, label, len(methods))
    return _finish(ax, f"How long {100 * level:g}% intervals are", "length over VB's mean length")


def _omegas(ax: Axes, rows: list[dict[str, Any]], methods: list[str], level: float) -> Axes:
    if "omega_p5" not in rows[0]:
        raise ValueError("this summary does not have the ω that were chosen")
    chosen = [
        name
        for name in methods
        if name != "vb" and any(_known(r["omega_p5"]) for r in rows if r["method"] == name)
    ]
    if not chosen:
        raise ValueError(f"none of {', '.join(methods)} chooses an ω")
    ax.axhline(1, color=AXIS, linewidth=1, linestyle=(0, (4, 3)))
    for row, x, colour, _, label in _placed(rows, chosen):
        _box(ax, x, [row[f"omega_{name}"] for name in FIVE], colour, label, len(chosen))
    ax.set_yscale("log")
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    return _finish(ax, f"The ω chosen for {100 * level:g}% intervals", "chosen ω")


def _box(
    ax: Axes, x: float, five: list[float], colour: str, label: str | None, methods: int
) -> None:
    low, q1, median, q3, high = five
    half = 0.3 * _ROOM / methods
    ax.plot([x, x], [low, high], color=colour, linewidth=1.2)
    ax.fill_between(
        [x - half, x + half], q1, q3, facecolor="white", edgecolor=colour, linewidth=1.4, zorder=2
    )
    ax.plot([x - half, x + half], [median] * 2, color=colour, linewidth=2.2, label=label, zorder=3)


def _finish(ax: Axes, title: str, y: str) -> Axes:
    finish(ax, title, "", y)
    ax.tick_params(axis="x", length=0, colors=MUTED)
    ax.legend(frameon=False, fontsize=8.5, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _sets(rows: list[dict[str, Any]]) -> str:
    """Over how many data sets."""
    counts = [int(row["replications"]) for row in rows if "replications" in row]
    if not counts:
        return "over data sets"
    few, many = min(counts), max(counts)
    return f"{few} data sets" if few == many else f"{few} to {many} data sets"


def _known(x: Any) -> bool:
    return x is not None and math.isfinite(x)


def five_numbers(values: Any) -> list[float]:
    """5%, quartiles and 95% of those that are finite."""
    known = np.asarray(values)[np.isfinite(values)]
    if not len(known):
        return [math.nan] * 5
    return [float(q) for q in np.quantile(known, [0.05, 0.25, 0.5, 0.75, 0.95])]
