"""Warnings and the one exception that users may raise; others come from the native module."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any


class CalibrationWarning(UserWarning):
    """A flag on an interval: what to know before trusting it."""


class ConvergenceWarning(UserWarning):
    """A fit stopped before it converged."""


class FitFailed(Exception):  # noqa: N818 - it says what happened, as data
    """Raised by a user's fitter for a fit that has no answer; it is recorded and not an error."""


_HERE = os.path.dirname(os.path.abspath(__file__))


def warn(message: str, category: type[Warning]) -> None:
    """Warns as if from the first line outside this package."""
    import sys

    level, frame = 1, sys._getframe()
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_HERE):
        level += 1
        frame = frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)


def warn_flags(answers: Iterable[dict[str, Any]]) -> None:
    """One warning per flag and sentence, naming the answers that carry it."""
    found: dict[tuple[str, str], list[str]] = {}
    for answer in answers:
        for name, sentence, distrust in zip(*answer["flags"], strict=True):
            if distrust:
                who = f"{answer['functional']} by {answer['method']} at {answer['level']:g}"
                found.setdefault((name, sentence), []).append(who)
    for (name, sentence), answering in found.items():
        more = f" and {len(answering) - 4} more" if len(answering) > 4 else ""
        shown = ", ".join(answering[:4]) + more
        warn(f"{name}: {sentence} ({shown})", CalibrationWarning)
