"""One answer per quantity: the interval to use beside VB's own, how often that holds, and a verdict in words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

#: What a verdict can be.
TOO_SHORT, FINE, TOO_LONG = "VB is too short", "VB is fine", "VB is too long"
NOT_CHECKED, NO_INTERVAL = "VB was not checked", "no interval"

Row = dict[str, Any]


def verdict(coverage: float, se: float, level: float, bootstraps: int) -> str:
    """What bootstraps say of VB's own interval, beyond their noise.

    It is too short if the estimated coverage is more than two standard errors below the level. It is too long if the
    coverage is above the level by more than two standard errors of an interval that keeps its promise: at a
    coverage of 1 the estimated error is 0, which says nothing.
    """
    if math.isnan(coverage) or bootstraps < 1:
        return NOT_CHECKED
    if coverage + 2 * se < level:
        return TOO_SHORT
    if coverage - 2 * math.sqrt(level * (1 - level) / bootstraps) > level:
        return TOO_LONG
    return FINE


def one_answer(rows: Sequence[Row], method: str, bootstraps: int) -> list[Row]:
    """A row per quantity and level, from rows of ``method`` and of ``vb``."""
    found: dict[tuple[int, float], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((row["quantity"], row["level"]), {})[row["method"]] = row
    answers = []
    for of in found.values():
        use, vb = of[method], of["vb"]
        coverage, se = float(vb["coverage"]), float(vb["coverage_se"])
        words = verdict(coverage, se, use["level"], bootstraps)
        if vb["lower"] == vb["upper"]:
            words = FINE  # a constant, which nothing misses
        answers.append(
            {
                **{name: use[name] for name in ("functional", "level", "estimate")},
                **{name: use[name] for name in ("lower", "upper")},
                "vb_lower": vb["lower"],
                "vb_upper": vb["upper"],
                "vb_coverage": coverage,
                "vb_coverage_se": se,
                "verdict": NO_INTERVAL if math.isnan(use["lower"]) else words,
                "method": method,
                "flags": use["flags"],
            }
        )
    return answers


def headline(rows: Sequence[Row]) -> str:
    """One sentence on what VB claims and how often that holds, at the level of the first row."""
    level = rows[0]["level"]
    rows = [row for row in rows if row["level"] == level and row["verdict"] != NO_INTERVAL]
    checked = [row for row in rows if row["verdict"] != NOT_CHECKED]
    claim = f"{percent(level)} interval"
    if not rows:
        return "No quantity has an interval."
    if not checked:
        return f"Whether VB's own {claim}s hold was not checked."
    n = len(checked)
    sentences = []
    for words, which in (("too short", TOO_SHORT), ("longer than they need be", TOO_LONG)):
        own = [row for row in checked if row["verdict"] == which]
        if not own:
            continue
        covers = span([row["vb_coverage"] for row in own])
        if n == 1:
            words = words.replace("they need", "it need")
            return f"VB's own {claim} is {words}: it covers {covers}."
        of = f"all {n}" if len(own) == n else f"{len(own)} of {n}"
        held = f"they cover {covers}" if len(own) > 1 else f"that one covers {covers}"
        sentences.append(f"VB's own {claim}s are {words} for {of} quantities: {held}.")
    if sentences:
        return " ".join(sentences)
    covers = span([row["vb_coverage"] for row in checked])
    if n == 1:
        return f"VB's own {claim} is fine: it covers {covers}."
    return f"VB's own {claim}s are fine: they cover {covers}."


def percent(share: float) -> str:
    """A level or a coverage, without decimals that say nothing."""
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def span(shares: Iterable[float]) -> str:
    """``69–79%``."""
    shares = [round(100 * share) for share in shares]
    low, high = min(shares), max(shares)
    return f"{low}%" if low == high else f"{low}–{high}%"


_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def merged(sentences: Sequence[str]) -> str:
    """Sentences that differ in numbers alone as one, with the range of each number; otherwise the first.

    Components are listed, because what lies between two of them is a third.
    """
    distinct = list(dict.fromkeys(sentences))
    gaps = [_NUMBER.split(sentence) for sentence in distinct]
    if len(distinct) == 1 or any(gap != gaps[0] for gap in gaps):
        return distinct[0]
    text = gaps[0][0]
    numbers = zip(*(_NUMBER.findall(sentence) for sentence in distinct), strict=True)
    for found, after in zip(numbers, gaps[0][1:], strict=True):
        values = sorted(set(found), key=float)
        if text.endswith("component "):
            text += ", ".join(values)
        else:
            text += values[0] if len(values) == 1 else f"{values[0]}–{values[-1]}"
        text += after
    return text


def warnings_of(rows: Iterable[Row]) -> list[tuple[str, str, list[Row]]]:
    """Each flag that speaks against an interval, once: its name, its sentence, the rows that carry it."""
    found: dict[str, tuple[list[str], list[Row]]] = {}
    for row in rows:
        for name, sentence, distrust in zip(*row["flags"], strict=True):
            if distrust:
                sentences, carrying = found.setdefault(name, ([], []))
                sentences.append(sentence)
                carrying.append(row)
    return [(name, merged(sentences), rows) for name, (sentences, rows) in found.items()]


def listed(names: Sequence[str], of: int = 0, most: int = 4) -> str:
    """``pi[1], pi[2] and 4 more``, each once; ``all 6 quantities`` if there are no others."""
    names = list(dict.fromkeys(names))
    if len(names) == of > 2:
        return f"all {of} quantities"
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
