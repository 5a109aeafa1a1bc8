"""Which of several members, such as groups, each row depends on: found by moving them and looking which rows notice.

Members are numbered in binary; for each digit those that have it are moved, and then the others. A row with one member notices
exactly one of both, and what it notices are the digits of its member's number. Rows that look at all members, as at the
coefficients of a regression, notice both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Values from which members are moved, and to which: one pair may happen to leave a row where it is.
PAIRS = 2

#: Log densities of each observed site, a line for each of some values.
Rows = dict[str, NDArray[np.float64]]


@dataclass
class Noticed:
    """What rows notice of members that are moved."""

    #: Whether some notice exactly one member, and none more.
    is_indexed: bool
    #: If all do, the member of each entry of an observed site's log density.
    members: dict[str, NDArray[np.int64]] | None


def noticed(size: int, densities: Callable[[int, list[NDArray[np.bool_]]], Rows]) -> Noticed:
    """Looks at rows for each pair of values: with no member moved, and then with those that a mask marks."""
    n_digits = max(1, int(size - 1).bit_length())
    digits = (np.arange(size)[:, None] >> np.arange(n_digits)) & 1
    masks = [digits[:, digit] == which for digit in range(n_digits) for which in (0, 1)]
    notice: dict[str, NDArray[np.bool_]] = {}
    for pair in range(PAIRS):
        for name, found in densities(pair, [np.zeros(size, dtype=bool), *masks]).items():
            seen = differ(found[:1], found[1:]).reshape(n_digits, 2, -1)
            notice[name] = notice.get(name, np.zeros_like(seen)) | seen
    both = any(seen.all(axis=1).any() for seen in notice.values())
    one = {name: (seen.sum(axis=1) == 1).all(axis=0) for name, seen in notice.items()}
    if both or not any(found.any() for found in one.values()):
        return Noticed(False, None)
    if not all(found.all() for found in one.values()):
        return Noticed(True, None)
    powers = 1 << np.arange(n_digits)
    return Noticed(True, {name: powers @ seen[:, 1] for name, seen in notice.items()})


def differ(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where numbers do, but for noise of the last digits; where one is none, nothing is known."""
    with np.errstate(invalid="ignore"):
        apart: NDArray[np.bool_] = np.abs(a - b) > 1e-12 * (1 + np.abs(a))
    return apart
