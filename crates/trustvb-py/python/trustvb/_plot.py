"""Figures with matplotlib, in the colours of the command's figures. All return their axes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ask, _native

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._calibration import Calibration
    from ._table import Table

TEXT, MUTED, AXIS, GRID = "#1f2328", "#59616b", "#7d858f", "#e7e9ec"
COMPONENTS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3a3f45")

#: Colour, dashes and marker of each method, as in the command's figures.
METHODS: dict[str, tuple[str, Any, str]] = {
    "vb": ("#3a3f45", "solid", "o"),
    "balanced": ("#0072b2", "solid", "o"),
    "tempered": ("#009e73", "solid", "D"),
    "tvb": ("#d55e00", "solid", "s"),
    "gpc": ("#56b4e9", (0, (8, 3)), "D"),
    "anchored": ("#cc79a7", (0, (8, 3)), "o"),
    "analytic": ("#009e73", (0, (3.5, 2.5)), "^"),
    "tvb-sequential": ("#e69f00", (0, (8, 3, 2, 3)), "s"),
    "jackknife": ("#882255", "solid", "^"),
    "lrvb": ("#882255", (0, (6, 2)), "v"),
    "bootstrap": ("#882255", (0, (2, 2.5)), "D"),
}

#: They choose no ω, or without a curve, so they have none of their own.
WITHOUT_CURVE = ("vb", "balanced", "jackknife", "lrvb", "bootstrap")

#: Their curves come with the answer and not from the grid.
WITH_OWN_CURVE = ("tempered", "analytic", "tvb-sequential")

#: Their intervals are no posterior's, so they have no density.
WITHOUT_DENSITY = ("balanced", "bootstrap")

#: Their law is VB's at ω = 1, stretched about its estimate by 1/√ω.
STRETCHED = ("tempered", "jackknife", "lrvb")


def axes(ax: Axes | None, size: tuple[float, float] = (5.2, 3.6)) -> Axes:
    """Axes in our style: those that are given, or new ones."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'trustvb[plot]'") from error
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.set_axisbelow(True)
    ax.grid(True, color=GRID, linewidth=0.8)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(AXIS)
    ax.tick_params(colors=MUTED, labelsize=9)
    return ax


def finish(ax: Axes, title: str, x: str, y: str) -> Axes:
    """Title, names of the axes, and a legend if there is anything to tell apart."""
    ax.set_title(title, color=TEXT, fontsize=11, loc="left")
    ax.set_xlabel(x, color=TEXT, fontsize=9.5)
    ax.set_ylabel(y, color=TEXT, fontsize=9.5)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize=8.5, labelcolor=TEXT)
    return ax


def _coverage(
    ax: Axes | None, rows: list[dict[str, Any]], curves: dict[str, Any], smallest: float
) -> Axes:
    ax = axes(ax)
    level = rows[0]["level"]
    if smallest >= 1:
        # Nothing but ω = 1 was fitted: the curves say how far they go.
        smallest = min((float(np.min(curve["omega"])) for curve in curves.values()), default=0.1)
    # Curves of stretches go on to where nothing is covered, which would take half of the figure.
    largest = max([1.0, *(row["omega"] for row in rows if np.isfinite(row["omega"]))])
    for method, curve in curves.items():
        near = np.asarray(curve["omega"]) <= 1.3 * largest
        curves[method] = {name: np.asarray(column)[near] for name, column in curve.items()}
    ax.axhline(level, color=AXIS, linewidth=1, linestyle=(0, (4, 3)))
    ax.annotate(
        f"{100 * level:g}%",
        (smallest, level),
        xytext=(3, 3),
        textcoords="offset points",
        color=MUTED,
        fontsize=8.5,
    )
    for row in rows:
        colour, dash, marker = METHODS.get(row["method"], (COMPONENTS[4], "solid", "o"))
        curve = curves.get(row["method"])
        if curve is not None:
            omega, coverage, se = (np.asarray(curve[name]) for name in ("omega", "coverage", "se"))
            ax.plot(
                omega, coverage, color=colour, linestyle=dash, linewidth=1.6, label=row["method"]
            )
            ax.fill_between(
                omega, coverage - 2 * se, coverage + 2 * se, color=colour, alpha=0.13, linewidth=0
            )
        if np.isfinite(row["omega"]) and np.isfinite(row["coverage"]):
            ring = row["method"] == "vb"
            ax.plot(
                row["omega"],
                row["coverage"],
                marker,
                color=colour,
                markerfacecolor="white" if ring else colour,
                markersize=6.5,
                markeredgewidth=1.5,
                label="vb" if ring else None,
                zorder=3,
            )
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_xscale("log")
    ax.set_xlim(1.15 * largest, smallest * 0.87)
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if smallest >= 0.02 else (1.0, 3.0)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    seen = [row["coverage"] for row in rows if np.isfinite(row["coverage"])]
    seen += [float(np.nanmin(curve["coverage"])) for curve in curves.values()]
    ax.set_ylim(max(0.0, np.floor(10 * min(seen, default=0.0) - 0.6) / 10), 1.02)
    return finish(ax, str(rows[0].get("label") or rows[0]["functional"]), "ω", "estimated coverage")


def coverage(
    table: Table,
    h: Any,
    *,
    level: float = 0.95,
    method: str | Iterable[str] | None = None,
    draws: int = 500,
    ax: Axes | None = None,
) -> Axes:
    rows = table._answers(_one(h), level, method, draws)
    curves = {
        row["method"]: row["curve"]
        if row["method"] in WITH_OWN_CURVE
        else table.coverage_curve(h, level, row["method"], draws=draws, frame="dict")
        for row in rows
        if row["method"] not in WITHOUT_CURVE
    }
    return _coverage(ax, rows, curves, float(table.omegas[-1]))


def outside_coverage(
    calibration: Calibration,
    h: str | None = None,
    *,
    level: float | None = None,
    method: str | Iterable[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    if method is None and set(calibration._methods) <= set(WITHOUT_CURVE):
        method = [*calibration._methods, "tempered"]
    rows, level = _rows(calibration, h, level, method)
    curves = {
        row["method"]: calibration.coverage_curve(h, level, row["method"], frame="dict")
        for row in rows
        if row["method"] not in WITHOUT_CURVE
    }
    return _coverage(ax, rows, curves, float(calibration.omegas[-1]))


def _rows(
    calibration: Calibration, h: str | None, level: float | None, method: Any
) -> tuple[list[dict[str, Any]], float]:
    level = calibration._task.levels[0] if level is None else level
    i = calibration._index(h)
    names = _ask.outside_methods(method, calibration._methods)
    return [calibration._answer(i, name, level) for name in names], level


def _density(ax: Axes | None, rows: list[dict[str, Any]], curves: list[tuple[Any, Any]]) -> Axes:
    ax = axes(ax)
    highest = max((float(np.max(y)) for _, y in curves if len(y)), default=1.0)
    step = 0.06 * highest
    for number, (row, (x, y)) in enumerate(zip(rows, curves, strict=True)):
        colour, dash, marker = METHODS.get(row["method"], (COMPONENTS[4], "solid", "o"))
        label = f"{row['method']}, ω = {row['omega']:.3g}" if len(y) else row["method"]
        ax.plot(x, y, color=colour, linestyle=dash, linewidth=1.6, label=label)
        if len(y):
            ax.fill_between(x, 0, y, color=colour, alpha=0.08, linewidth=0)
        at = -step * (number + 1)
        ax.plot([row["lower"], row["upper"]], [at, at], color=colour, linewidth=2.6)
        ax.plot(row["estimate"], at, marker, color=colour, markersize=5)
    ax.axhline(0, color=AXIS, linewidth=0.8)
    ax.set_ylim(-step * (len(rows) + 1), highest * 1.08)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    first = rows[0]
    title = f"{first.get('label') or first['functional']}, {100 * first['level']:g}% intervals"
    return finish(ax, title, str(first["functional"]), "posterior density")


def density(
    table: Table,
    h: Any,
    *,
    level: float = 0.95,
    method: str | Iterable[str] | None = None,
    draws: int = 500,
    points: int = 200,
    ax: Axes | None = None,
) -> Axes:
    rows = [
        row for row in table._answers(_one(h), level, method, draws) if np.isfinite(row["lower"])
    ]
    if not rows:
        raise ValueError("there is no interval to draw")
    least = float(table.omegas[-1])
    curves = [
        ([], [])
        if row["method"] in WITHOUT_DENSITY
        else table._native.density(_ask.single(h), row["omega"], points, draws, True)
        if row["method"] in STRETCHED
        else table._native.density(_ask.single(h), max(row["omega"], least), points, draws)
        for row in rows
    ]
    return _density(ax, rows, curves)


def outside_density(
    calibration: Calibration,
    h: str | None = None,
    *,
    level: float | None = None,
    method: str | Iterable[str] | None = None,
    points: int = 200,
    ax: Axes | None = None,
) -> Axes:
    if not calibration._by_draws:
        raise ValueError("the fitter returned intervals and no draws: there is no density to draw")
    rows, _ = _rows(calibration, h, level, method)
    rows = [row for row in rows if np.isfinite(row["lower"])]
    curves: list[tuple[Any, Any]] = []
    i = calibration._index(h)
    for row in rows:
        if row["method"] in WITHOUT_DENSITY:
            curves.append(([], []))
            continue
        tempered = row["method"] in STRETCHED
        found = calibration._at(1.0 if tempered else row["omega"])
        assert found is not None
        values = calibration._task.sample(found.returned, i)
        if tempered:
            scale = calibration._task.scales[i]
            values = _native.tempered_draws(values, row["estimate"], row["omega"], scale)
        low, high = np.quantile(values, [0.0005, 0.9995])
        x = np.linspace(low, high, points)
        curves.append((x, _native.sampled_density(values, x)))
    return _density(ax, rows, curves)


def _one(h: Any) -> Any:
    _ask.single(h)
    return h


def clusters(
    table: Table,
    *,
    columns: tuple[str, str] | None = None,
    omega: float = 1.0,
    ax: Axes | None = None,
) -> Axes:
    """The data with each component's 95% ellipse (mixtures), or with each component's line."""
    data = table._native.data
    if data is None:
        raise ValueError("the table was built without its data: there is nothing to draw")
    if table.manifest.get("statistics"):
        raise ValueError(
            "the table was built with --stream and holds sums over groups, not rows: there is nothing "
            "to draw; build it without --stream"
        )
    blocks = table.manifest["layout"]["blocks"]
    # What can be drawn is a matter of what components are: planes of means, or lines.
    lines = any(block["family"] == "mv_normal" for block in blocks)
    if not lines and any("coordinate" in block for block in blocks):
        raise ValueError(
            "columns of any kind have no ellipses to draw: plot_intervals draws what classes are like"
        )
    names, values = data
    posterior = table._native.posterior(omega)
    ax = axes(ax)
    if lines:
        return _lines(ax, table, names, values, posterior, columns)
    i, j = (0, min(1, len(names) - 1)) if columns is None else map(names.index, columns)
    if i == j:
        raise ValueError("two columns are needed to draw clusters")
    rho = posterior.ln_rho(values)
    rho = np.exp(rho - rho.max(axis=1, keepdims=True))
    rho /= rho.sum(axis=1, keepdims=True)
    labels, sure = rho.argmax(axis=1), rho.max(axis=1)
    mean = posterior.mean()
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.sqrt(_chi_square_95()) * np.vstack([np.cos(angle), np.sin(angle)])
    for k in range(rho.shape[1]):
        colour = COMPONENTS[k % len(COMPONENTS)]
        own = labels == k
        ax.scatter(
            values[i][own],
            values[j][own],
            s=14,
            color=colour,
            alpha=0.25 + 0.5 * sure[own],
            linewidths=0,
        )
        centre = mean["mu"][0, k][[i, j]]
        covariance = mean["sigma"][0, k][np.ix_([i, j], [i, j])]
        if np.isfinite(covariance).all():
            x, y = centre[:, None] + np.linalg.cholesky(covariance) @ circle
            ax.plot(x, y, color=colour, linewidth=1.5)
        share = mean["pi"][0, k]
        ax.plot(
            *centre,
            "+",
            color=colour,
            markersize=9,
            markeredgewidth=2,
            label=f"{k + 1}: {share:.0%}",
        )
    return finish(ax, "Clusters", names[i], names[j])


def _chi_square_95() -> float:
    """The 95% point of χ² with 2 degrees of freedom."""
    return float(-2 * np.log(0.05))


def _lines(
    ax: Axes, table: Table, names: list[str], values: list[Any], posterior: Any, columns: Any
) -> Axes:
    design = [name for name in names[1:-1] if name != "(Intercept)"]
    if not design:
        raise ValueError("there is no predictor to draw against")
    name = design[0] if columns is None else columns[0]
    at = names.index(name)
    known = table.manifest["model"]["noise"]
    known = known.get("known") if isinstance(known, dict) else None
    groups = [int(g) for g in values[-1]]
    rho, _ = posterior.regression(values[1:-1], values[0], groups, known)
    labels = rho.argmax(axis=1)[np.asarray(groups)]
    beta = posterior.mean()["beta"][0]
    pi = posterior.mean()["pi"][0]
    x = np.array([values[at].min(), values[at].max()])
    for k in range(len(beta)):
        colour = COMPONENTS[k % len(COMPONENTS)]
        own = labels == k
        ax.scatter(values[at][own], values[0][own], s=10, color=colour, alpha=0.35, linewidths=0)
        # Other predictors stay at their means.
        line = sum(
            (x if c == at else np.full(2, values[c].mean())) * beta[k, c - 1]
            for c in range(1, len(names) - 1)
        )
        ax.plot(x, line, color=colour, linewidth=2, label=f"{k + 1}: {pi[k]:.0%}")
    return finish(ax, "Components", name, names[0])
