"""A figure of what components are like, column by column, with the intervals to use. It returns its axes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ask
from ._messages import warn_flags
from ._plot import TEXT, axes, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._table import Table

#: Colours and markers of components, as in the command's figures.
_COLOURS = ("#2a9d8f", "#c2506b", "#4b3f9e", "#8a8a1e", "#8c5a3c", "#51606e")
_MARKERS = ("o", "s", "D", "^")

_ELEMENT = re.compile(r"^(p|mu|rate)\[(\d+),(.*)\]$")


def profile(
    table: Table,
    *,
    of: str | None = None,
    level: float = 0.95,
    draws: int = 500,
    ax: Axes | None = None,
) -> Axes:
    """A line for each component over the items, with an interval at each."""
    if of not in (None, "probabilities", "means"):
        raise ValueError(f"of={of!r} is neither 'probabilities' nor 'means'")
    (level,) = _ask.levels(level)
    rows = table._one_answer(None, level, draws)
    warn_flags(rows, compared=False)
    shares = [row["estimate"] for row in rows if row["functional"].startswith("pi[")]
    found: dict[tuple[str, str], dict[int, tuple[float, float, float]]] = {}
    for row in rows:
        element = _ELEMENT.match(row["functional"])
        if element is not None:
            name, k, rest = element.group(1), int(element.group(2)), element.group(3)
            values = (row["estimate"], row["lower"], row["upper"])
            found.setdefault((name, rest), {})[k] = values
    probabilities = {rest: values for (name, rest), values in found.items() if name == "p"}
    if of == "probabilities" or (of is None and probabilities):
        items, label = probabilities, "probability"
    else:
        others = {(name, rest): found[name, rest] for name, rest in found if name != "p"}
        items = _standardised(table, others, np.array(shares), level, draws)
        label = "mean, in standard deviations"
    if not items:
        raise ValueError("the model has no means or probabilities of columns to draw")
    ax = axes(ax, (max(4.2, 1.2 + 0.55 * len(items) * (1 + 0.25 * len(shares))), 3.8))
    for k in range(1, len(shares) + 1):
        colour, marker = _COLOURS[(k - 1) % len(_COLOURS)], _MARKERS[(k - 1) % len(_MARKERS)]
        x = np.arange(len(items)) + 0.16 * (k - (len(shares) + 1) / 2)
        estimate, lower, upper = np.array(
            [values.get(k, (np.nan,) * 3) for values in items.values()]
        ).T
        ax.plot(x, estimate, color=colour, linewidth=1.2, alpha=0.55)
        ax.vlines(x, lower, upper, color=colour, linewidth=2)
        name = f"{k} ({100 * shares[k - 1]:.0f}%)"
        ax.plot(x, estimate, marker, color=colour, markersize=5.5, label=name)
    names = [item.replace("`", "").replace(",", " = ", 1) for item in items]
    ax.set_xticks(range(len(items)), names, rotation=30 if len(items) > 5 else 0)
    if label == "probability":
        ax.set_ylim(-0.03, 1.03)
    finish(ax, f"Profile of {len(shares)} components, {100 * level:g}% intervals", "", label)
    ax.legend(title="component", frameon=False, fontsize=8.5, labelcolor=TEXT)
    return ax


def _standardised(
    table: Table,
    items: dict[tuple[str, str], dict[int, tuple[float, float, float]]],
    shares: Any,
    level: float,
    draws: int,
) -> dict[str, dict[int, tuple[float, float, float]]]:
    """Means and rates less that of the whole mixture, in its standard deviations."""
    done = {}
    for (name, column), values in items.items():
        means = np.array([values[k + 1][0] for k in range(len(shares))])
        if name == "rate":
            variances = means  # of a Poisson law
        else:
            asked = [f"sd[{k + 1},{column}]" for k in range(len(shares))]
            rows = table._one_answer(asked, level, draws)
            variances = np.array([row["estimate"] for row in rows]) ** 2
        mean = float(shares @ means)
        sd = float(np.sqrt(shares @ (variances + means**2) - mean**2))
        done[column] = {
            k: ((own[0] - mean) / sd, (own[1] - mean) / sd, (own[2] - mean) / sd)
            for k, own in values.items()
        }
    return done
