"""Warnings and the one exception that users may raise; others come from the native module."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any

from ._answer import listed, warnings_of


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


def warn_flags(rows: Iterable[dict[str, Any]], *, compared: bool) -> None:
    """One warning per flag, naming the quantities that carry it; and, where methods are compared, whose."""
    rows = list(rows)
    # Where methods are compared, names are no quantities.
    of = 0 if compared else len({row["functional"] for row in rows})
    for name, sentence, carrying in warnings_of(rows):
        about = [
            f"{row['functional']} by {row['method']} at {row['level']:g}"
            if compared
            else str(row["functional"])
            for row in carrying
        ]
        warn(f"{name}: {sentence} ({listed(about, of)})", CalibrationWarning)
