"""Quantities that are elements of named draws, written as text: ``beta[0]``, ``sigma``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _ask

_TEXT = re.compile(r"\s*([^\[\]]+?)\s*(?:\[\s*(-?\d+(?:\s*,\s*-?\d+)*)\s*\])?\s*")


@dataclass(frozen=True)
class Element:
    """An element of a site, counted from 0 as arrays are."""

    site: str
    at: tuple[int, ...]

    def __call__(self, draws: Mapping[str, Any]) -> Any:
        if self.site not in draws:
            raise ValueError(f"there is no latent site {self.site!r}; there are {', '.join(draws)}")
        shape = draws[self.site].shape[1:]
        if len(shape) != len(self.at) or any(
            not -n <= i < n for i, n in zip(self.at, shape, strict=False)
        ):
            raise ValueError(
                f"{self.site!r} has the shape {shape}, so that {list(self.at)} is not one of its elements"
            )
        place: tuple[Any, ...] = (slice(None), *self.at)
        return draws[self.site][place]


def quantities_of(asked: Any) -> dict[str, Callable[[Any], Any]]:
    """Functions of draws by name, from names of elements and functions."""
    if isinstance(asked, str) or callable(asked):
        asked = [asked]
    if not isinstance(asked, Mapping):
        named = [(q if isinstance(q, str) else _ask.name_of(q, i), q) for i, q in enumerate(asked)]
        if len({name for name, _ in named}) < len(named):
            raise ValueError("quantities need names of their own; give a dict from names")
        asked = dict(named)
    return {str(name): _element(q) if isinstance(q, str) else q for name, q in asked.items()}


def _element(text: str) -> Element:
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} is not an element of a site: write `beta`, `beta[0]` or `beta[0,1]`, or give a function of draws"
        )
    at = match[2]
    return Element(match[1], tuple(int(i) for i in at.split(",")) if at else ())


def elements_of(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Callable[[Any], Any]]:
    """Every element of arrays of these shapes."""
    return quantities_of(
        [
            name + (f"[{','.join(map(str, at))}]" if at else "")
            for name, shape in shapes.items()
            for at in np.ndindex(*shape)
        ]
    )
