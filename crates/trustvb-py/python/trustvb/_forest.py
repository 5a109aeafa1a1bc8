"""A figure of answers: the interval to use for each quantity against VB's own. It returns its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ask
from ._answer import NOT_CHECKED
from ._messages import warn_flags
from ._plot import AXIS, METHODS, TEXT, axes, finish
from ._show import covers, writer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._calibration import Calibration
    from ._table import Table


def intervals(
    table: Table, h: Any = None, *, level: float = 0.95, draws: int = 500, ax: Axes | None = None
) -> Axes:
    (level,) = _ask.levels(level)
    return _forest(ax, table._one_answer(h, level, draws))


def outside_intervals(
    calibration: Calibration, *, level: float | None = None, ax: Axes | None = None
) -> Axes:
    level = calibration._task.levels[0] if level is None else level
    return _forest(ax, calibration._one_answer(level))


def _forest(ax: Axes | None, rows: list[dict[str, Any]]) -> Axes:
    """A line per quantity: VB's own interval in grey above the one to use, each line on a scale of its own.

    Quantities have different units, so that the axis is counted in half-lengths of the interval to use.
    """
    warn_flags(rows, compared=False)
    rows = [row for row in rows if np.isfinite(row["upper"] - row["lower"])]
    if not rows:
        raise ValueError("there is no interval to draw")
    ax = axes(ax, (6.4, 0.9 + 0.42 * len(rows)))
    colour = METHODS[rows[0]["method"]][0]
    for number, row in enumerate(rows):
        half = 0.5 * (row["upper"] - row["lower"]) or 1.0
        for name, at, own in (("vb_", -0.13, AXIS), ("", 0.13, colour)):
            ends = [(row[f"{name}{end}"] - row["estimate"]) / half for end in ("lower", "upper")]
            label = ("VB's own" if name else f"use this ({row['method']})") if not number else None
            ax.plot(ends, [number + at] * 2, color=own, linewidth=3.4, label=label)
        ax.plot(0, number, "o", color=TEXT, markersize=4)
        write = writer(row)
        checked = row["verdict"] if row["verdict"] == NOT_CHECKED else f"VB covers {covers(row)}"
        ax.annotate(
            f"{write(row['lower'])} to {write(row['upper'])}   {checked}",
            (1.02, number),
            xycoords=("axes fraction", "data"),
            va="center",
            color=TEXT,
            fontsize=8.5,
        )
    ax.set_yticks(range(len(rows)), [str(row["functional"]) for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xticks([])
    ax.grid(False)
    ax.spines["bottom"].set_visible(False)
    title = f"{100 * rows[0]['level']:g}% intervals, each on a scale of its own"
    finish(ax, title, "", "")
    ax.legend(
        frameon=False,
        fontsize=8.5,
        labelcolor=TEXT,
        ncols=2,
        loc="upper left",
        bbox_to_anchor=(0, 0),
    )
    return ax
