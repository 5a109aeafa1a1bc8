"""One answer per quantity: the interval to use beside VB's own, how often that holds, and a verdict in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import Any

from . import _native

#: The library's words where nothing is known of VB's own interval, and what is said where there is none to use.
NOT_CHECKED, NO_INTERVAL = _native.UNCHECKED, "no interval"

#: Bootstraps of rows that do not tell theirs: enough to say what is said without "as far as".
MANY = 1000

Row = dict[str, Any]


def one_answer(rows: Sequence[Row], method: str, bootstraps: int) -> list[Row]:
    """A row per quantity and level, from rows of ``method`` and of ``vb``."""
    found: dict[tuple[int, float], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((row["quantity"], row["level"]), {})[row["method"]] = row
    answers = []
    for of in found.values():
        use, vb = of[method], of["vb"]
        coverage, se = float(vb["coverage"]), float(vb["coverage_se"])
        answers.append(
            {
                **{name: use[name] for name in ("functional", "level", "estimate")},
                **{name: use[name] for name in ("lower", "upper")},
                "vb_lower": vb["lower"],
                "vb_upper": vb["upper"],
                "vb_coverage": coverage,
                "vb_coverage_se": se,
                "verdict": NO_INTERVAL if isnan(use["lower"]) else vb["verdict"],
                "method": method,
                "flags": use["flags"],
                "bootstraps": bootstraps,
            }
        )
    return answers


def headline(rows: Sequence[Row]) -> str:
    """One sentence on what VB claims and how often that holds, at the level of the first row, in the command's words."""
    level = rows[0]["level"]
    rows = [row for row in rows if row["level"] == level]
    if all(row["verdict"] == NO_INTERVAL for row in rows):
        return "No quantity has an interval."
    known = [
        (str(row["functional"]), str(row["verdict"]), float(row["vb_coverage"])) for row in rows
    ]
    return _native.verdict_on_all(known, level, rows[0].get("bootstraps") or MANY)


def warnings_of(rows: Iterable[Row]) -> list[tuple[str, str, list[Row]]]:
    """Each flag that speaks against an interval, once: its name, its sentence, the rows that carry it."""
    found: dict[str, tuple[list[str], list[Row]]] = {}
    for row in rows:
        for name, sentence, distrust in zip(*row["flags"], strict=True):
            if distrust:
                sentences, carrying = found.setdefault(name, ([], []))
                sentences.append(sentence)
                carrying.append(row)
    return [
        (name, "; ".join(text for text, _ in _native.merged_sentences(sentences)), rows)
        for name, (sentences, rows) in found.items()
    ]


def listed(names: Sequence[str], of: int = 0, most: int = 4) -> str:
    """``pi[1], pi[2] and 4 more``, each once; ``all 6 quantities`` if there are no others."""
    names = list(dict.fromkeys(names))
    if len(names) == of > 2:
        return f"all {of} quantities"
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
