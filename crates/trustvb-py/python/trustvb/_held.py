"""The tables that a model keeps: which of them answers a question, so that nothing is built that is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import _native
from ._table import Table


@dataclass(frozen=True)
class Need:
    """What a table must hold for some methods."""

    designs: frozenset[str]
    """Of its bootstraps."""
    grid: frozenset[str]
    """Those of them of which fits below ω = 1 are looked at."""
    fits_anew: bool
    """Whether a method makes fits of its own, by the table's settings."""
    along: str
    """The grid's settings."""
    others: str
    """All other settings."""

    @classmethod
    def of(cls, methods: Sequence[str], options: dict[str, Any]) -> Need:
        needs = {name: _native.method_needs(name) for name in methods}
        along = {name: options.get(name) for name in ("grid", "omega_min")}
        others = {name: x for name, x in options.items() if name not in along and x is not None}
        return cls(
            frozenset(design for design, _ in needs.values() if design is not None),
            frozenset(design for design, grid in needs.values() if grid and design is not None),
            any(design is None and name != "vb" for name, (design, _) in needs.items()),
            json.dumps(along, sort_keys=True, default=str),
            json.dumps(others, sort_keys=True, default=str),
        )

    def is_met_by(self, there: Need) -> bool:
        """Whether a table made for ``there`` gives the answers of one that was made for this."""
        if self.others != there.others or not self.designs <= there.designs:
            return False
        # Bootstraps of all units give more to say of any method, and what is said must not depend on what was
        # asked before.
        if ("full" in self.designs) != ("full" in there.designs):
            return False
        if self.grid and not (self.grid <= there.grid and self.along == there.along):
            return False
        if self.fits_anew:
            return (bool(self.grid), self.along) == (bool(there.grid), there.along)
        return True


class Held:
    """Tables by what they were made for."""

    def __init__(self) -> None:
        self._tables: list[tuple[Need, Table]] = []

    def __len__(self) -> int:
        return len(self._tables)

    def __iter__(self) -> Iterator[Table]:
        return iter([table for _, table in self._tables])

    def find(self, need: Need, build: Callable[[], Table]) -> Table:
        """One that is there, or a new one, which takes the place of those that it makes superfluous."""
        for there, table in self._tables:
            if need.is_met_by(there):
                return table
        table = build()
        self._tables = [held for held in self._tables if not held[0].is_met_by(need)]
        self._tables.append((need, table))
        return table
