"""Answers as text of at most 80 columns, and as HTML."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from . import _native
from ._answer import NO_INTERVAL, NOT_CHECKED, Row, headline, listed

WIDTH = 80

RECOMMENDED = _native.method_name("recommended")

#: Grey for what VB claims, the recommended method's blue for what to use.
GREY, BLUE = "#7d858f", "#0072b2"


def writer(row: Row) -> Callable[[float], str]:
    """Writes the numbers of a row with as many decimals as its interval's length deserves: 0.666, [0.603, 0.730]."""
    ends = [
        row["lower"],
        row["upper"],
        row.get("vb_lower", math.nan),
        row.get("vb_upper", math.nan),
    ]
    lengths = [high - low for low, high in (ends[:2], ends[2:])]
    length = next((x for x in lengths if math.isfinite(x) and x > 0), 0.0)
    largest = max((abs(x) for x in [*ends, row["estimate"]] if math.isfinite(x)), default=0.0)
    if length == 0:
        return lambda x: _special(x) or f"{x:.4g}"
    decimals = max(0, 2 - math.floor(math.log10(length)))
    if decimals > 6 or largest >= 1e7:
        digits = max(3, min(9, 3 + math.floor(math.log10(largest / length)) if largest else 3))
        return lambda x: _special(x) or f"{x:.{digits}g}"
    return lambda x: _special(x) or f"{x:.{decimals}f}"


def _special(x: float) -> str:
    if math.isnan(x):
        return "–"
    return "" if math.isfinite(x) else ("∞" if x > 0 else "-∞")


def brackets(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """``[lower, upper]``, their ends below each other."""
    left = max((len(low) for low, _ in pairs), default=0)
    right = max((len(high) for _, high in pairs), default=0)
    return [
        "–" if (low, high) == ("–", "–") else f"[{low:>{left}}, {high:>{right}}]"
        for low, high in pairs
    ]


def covers(row: Row) -> str:
    """``69%, too short``."""
    if row["verdict"] in (NOT_CHECKED, NO_INTERVAL):
        return str(row["verdict"]).removeprefix("VB was ")
    words = row["verdict"].removeprefix("VB is ").removeprefix("VB ")
    return _native.covered(row["vb_coverage"]) + ("" if words == "fine" else f", {words}")


def _lines(
    header: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[int]
) -> list[str]:
    """A table whose first column gets a line of its own where it is too long."""
    widths = [max(len(row[j]) for row in [header, *cells]) for j in range(len(header))]
    room = WIDTH - sum(widths[1:]) - 2 * (len(widths) - 1)
    widths[0] = max((len(row[0]) for row in cells if len(row[0]) <= room), default=2)
    lines = []
    for row in [header, *cells]:
        name, rest = row[0], row[1:]
        if len(name) > widths[0]:
            lines += textwrap.wrap(name, WIDTH) or [""]
            name = ""
        aligned = [
            f"{text:>{width}}" if j in right else f"{text:<{width}}"
            for j, (text, width) in enumerate(zip(rest, widths[1:], strict=True), start=1)
        ]
        lines.append("  ".join([f"{name:<{widths[0]}}", *aligned]).rstrip())
    return lines


def answer_text(rows: Sequence[Row], sentences: dict[str, str], most: int | None = None) -> str:
    """One row per quantity, level after level."""
    blocks = []
    for level in dict.fromkeys(row["level"] for row in rows):
        own = [row for row in rows if row["level"] == level]
        shown = own if most is None or len(own) <= most else own[:most]
        write = [writer(row) for row in shown]
        use = brackets([(w(r["lower"]), w(r["upper"])) for w, r in zip(write, shown, strict=True)])
        vb = brackets(
            [(w(r["vb_lower"]), w(r["vb_upper"])) for w, r in zip(write, shown, strict=True)]
        )
        claim = _native.percent(level)
        by = shown[0].get("method", RECOMMENDED)
        use_this = (
            f"use this {claim} interval" if by == RECOMMENDED else f"{claim} interval by {by}"
        )
        header = ["", "estimate", use_this, "VB's own", "VB covers"]
        cells = [
            [str(r["functional"]), w(r["estimate"]), mine, his, covers(r)]
            for r, w, mine, his in zip(shown, write, use, vb, strict=True)
        ]
        lines = _lines(header, cells, right=[1])
        if len(lines) > len(cells) + 1 and by == RECOMMENDED:
            header[2] = f"use this ({claim})"
            lines = _lines(header, cells, right=[1])
        if max(map(len, lines)) > WIDTH:
            # The frame has it; the line does not.
            lines = _lines(
                [*header[:3], header[4]], [[*row[:3], row[4]] for row in cells], right=[1]
            )
        if len(own) > len(shown):
            lines.append(f"… and {len(own) - len(shown)} more rows")
        blocks.append("\n".join([textwrap.fill(headline(own), WIDTH), "", *lines]))
    return "\n\n".join(blocks) + _footer(rows, sentences)


def comparison_text(rows: Sequence[Row], sentences: dict[str, str], most: int | None = None) -> str:
    """A block per quantity, a line per method and level."""
    shown = rows if most is None or len(rows) <= most else rows[:most]
    several = len({row["level"] for row in shown}) > 1
    write = [writer(row) for row in shown]
    limits = brackets([(w(r["lower"]), w(r["upper"])) for w, r in zip(write, shown, strict=True)])
    cells = []
    for row, interval in zip(shown, limits, strict=True):
        method = row["method"] + (f" {_native.percent(row['level'])}" if several else "")
        omega, coverage, se = row["omega"], row["coverage"], row["coverage_se"]
        share = "–" if math.isnan(coverage) else f"{100 * coverage:.1f}%"
        cells.append(
            [
                f"  {method}",
                interval,
                "–" if math.isnan(omega) else f"{omega:.3g}",
                share if math.isnan(se) else f"{share} ± {100 * se:.1f}",
                "use this" if row.get("recommended") else "",
            ]
        )
    name = "interval" if several else f"{_native.percent(shown[0]['level'])} interval"
    header = ["  method", name, "ω", "covers", ""]
    table = _lines(header, cells, right=[])
    lines, last = [table[0]], None
    for row, w, line in zip(shown, write, table[1:], strict=True):
        if row["functional"] != last:
            last = row["functional"]
            lines += textwrap.wrap(f"{last}: {w(row['estimate'])}", WIDTH)
        lines.append(line)
    if len(rows) > len(shown):
        lines.append(f"… and {len(rows) - len(shown)} more rows")
    return "\n".join(lines) + _footer(rows, sentences)


def _carrying(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Quantities by the name of the warning they carry."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for name in filter(None, str(row["warnings"]).split(";")):
            found.setdefault(name, []).append(str(row["functional"]))
    return found


def _footer(rows: Sequence[Row], sentences: dict[str, str]) -> str:
    text = ""
    of = len({row["functional"] for row in rows})
    for name, about in _carrying(rows).items():
        sentence = sentences.get(name)
        words = f"! {name}" + (f": {sentence}" if sentence else "") + f" ({listed(about, of)})"
        text += "\n" + textwrap.fill(words, WIDTH, subsequent_indent="  ")
    return "\n" + text if text else ""


def _bars(row: Row) -> str:
    """VB's own interval in grey above the one to use, on an axis of the row's own."""
    ends = [row[name] for name in ("lower", "upper", "vb_lower", "vb_upper", "estimate")]
    if not all(map(math.isfinite, ends)):
        return ""
    low, high = min(ends), max(ends)
    at = [4 + 152 * (x - low) / ((high - low) or 1) for x in ends]
    line = '<line x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}" stroke="{}" stroke-width="4"/>'
    return (
        '<svg width="160" height="18" role="img" aria-label="VB\'s interval above the one to use">'
        + line.format(at[2], at[3], 5, 5, GREY)
        + line.format(at[0], at[1], 13, 13, BLUE)
        + f'<circle cx="{at[4]:.1f}" cy="9" r="2.5" fill="currentColor"/></svg>'
    )


def answer_html(rows: Sequence[Row], sentences: dict[str, str], most: int | None = None) -> str:
    """The same as a table of HTML, with a picture of both intervals in each row."""
    parts = []
    for level in dict.fromkeys(row["level"] for row in rows):
        own = [row for row in rows if row["level"] == level]
        claim = _native.percent(level)
        by = own[0].get("method", RECOMMENDED)
        use_this = (
            f"use this {claim} interval" if by == RECOMMENDED else f"{claim} interval by {by}"
        )
        head = ("quantity", "estimate", use_this, "VB's own", "", "VB covers")
        body = ""
        for row in own if most is None else own[:most]:
            w = writer(row)
            use = f"{w(row['lower'])} to {w(row['upper'])}"
            vb = f"{w(row['vb_lower'])} to {w(row['vb_upper'])}"
            name = f"<code>{escape(str(row['functional']))}</code>"
            cells = [w(row["estimate"]), f"<b>{use}</b>", vb, _bars(row), escape(covers(row))]
            body += f'<tr><th scope="row" style="text-align:left">{name}</th>'
            body += "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
        parts.append(
            f"<p>{escape(headline(own))}</p><table><thead><tr>"
            + "".join(
                f'<th scope="col" style="text-align:left">{escape(text)}</th>' for text in head
            )
            + f"</tr></thead><tbody>{body}</tbody></table>"
        )
        if most is not None and len(own) > most:
            parts.append(f"<p>… and {len(own) - most} more rows</p>")
    about, of = _carrying(rows), len({row["functional"] for row in rows})
    if about:
        parts.append("<ul>")
        for name, whose in about.items():
            sentence = escape(sentences.get(name, ""))
            parts.append(f"<li><b>{escape(name)}</b> {sentence} ({escape(listed(whose, of))})</li>")
        parts.append("</ul>")
    return '<div class="trustvb">' + "".join(parts) + "</div>"


class Summary:
    """An answer to read: what was fitted, what VB claims, and the interval to use for each quantity."""

    def __init__(self, about: str, frame: Any) -> None:
        self._about, self._frame = about, frame

    def __str__(self) -> str:
        return textwrap.fill(self._about, WIDTH) + "\n" + repr(self._frame)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._about)}</p>{self._frame._repr_html_()}"
