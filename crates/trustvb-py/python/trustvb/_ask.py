"""What users ask: functionals, levels and methods in all the ways they may be given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from . import _native
from ._draws import Draws

Function: TypeAlias = "Callable[[Draws], Any]"
Asked: TypeAlias = "str | Function | Sequence[str | Function] | Mapping[str, str | Function] | None"
Native: TypeAlias = "str | tuple[str, Callable[[Any], Any]]"


def functionals(h: Asked) -> list[Native]:
    """Texts, and callables with a name; an empty list stands for every weight and mean."""
    if h is None:
        return []
    if isinstance(h, str) or callable(h):
        h = [h]
    if isinstance(h, Mapping):
        return [_named(name, f) for name, f in h.items()]
    return [f if isinstance(f, str) else _named(name_of(f, i), f) for i, f in enumerate(h)]


def single(h: str | Function) -> Native:
    """One functional."""
    asked = functionals(h)
    if len(asked) != 1:
        raise ValueError(f"give one functional, not {len(asked)}")
    return asked[0]


def name_of(f: Any, number: int) -> str:
    """What a callable is called in answers: its own name, or h1, h2, … for a lambda."""
    name = getattr(f, "__name__", None)
    return f"h{number + 1}" if name is None or name == "<lambda>" else str(name)


def _named(name: str, f: str | Function) -> Native:
    if isinstance(f, str):
        return f
    if not callable(f):
        raise TypeError(f"a functional is a text or a callable, not {type(f).__name__}")
    return name, lambda arrays: f(Draws(arrays))


def levels(level: float | Iterable[float]) -> list[float]:
    """Levels, each between 0 and 1."""
    found = [float(level)] if isinstance(level, int | float) else [float(x) for x in level]
    for x in found:
        if not 0 < x < 1:
            raise ValueError(
                f"the level {x:g} is not between 0 and 1; 0.95 asks for a 95% interval"
            )
    return found


def methods(method: str | Iterable[str] | None, usual: Iterable[str]) -> list[str]:
    """Methods by name, each once; the usual ones when none is given. ``recommended`` is one of them."""
    if method is None:
        return list(usual)
    names = [method] if isinstance(method, str) else list(method)
    return list(dict.fromkeys(_native.method_name(name) for name in names))


def outside_methods(method: str | Iterable[str] | None, usual: Iterable[str]) -> list[str]:
    """The same for fits made elsewhere, which have ``lrvb`` too."""
    if method is None:
        return list(usual)
    names = [method] if isinstance(method, str) else list(method)
    found = [name if name == "lrvb" else _native.method_name(name) for name in names]
    return list(dict.fromkeys(found))


def whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least ``least``."""
    import operator

    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        raise ValueError(f"{name}={value!r} is not a whole number of at least {least}")
    return number


def fraction(name: str, value: Any, *, one: bool) -> float:
    """A number above 0 and below 1, or at most 1."""
    number = float(value)
    if not (0 < number < 1 or (one and number == 1)):
        raise ValueError(
            f"{name}={value!r} must be greater than 0 and {'at most' if one else 'below'} 1"
        )
    return number


def jobs(n_jobs: int | None) -> int | None:
    """Threads or processes: ``None`` and -1 mean all cores, -2 all but one."""
    if n_jobs is None or n_jobs == -1:
        return None
    if n_jobs < 0:
        import os

        return max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return whole("n_jobs", n_jobs)


KINDS = ("gaussian", "count", "category")


def types(said: Mapping[str, str] | str | None, names: Sequence[str]) -> dict[str, str]:
    """What columns are said to hold: a word for all of them, or one for each name."""
    if said is None:
        return {}
    if isinstance(said, str):
        if said not in KINDS:
            raise ValueError(f"types={said!r} is not one of {', '.join(KINDS)}")
        return dict.fromkeys(names, said)
    if not isinstance(said, Mapping):
        raise TypeError(
            f"types={said!r} is neither a word nor a dict, such as {{'visits': 'count'}}"
        )
    for name, kind in said.items():
        if name not in names:
            raise ValueError(
                f"types has {name!r}, but there is no such column; there are {', '.join(names)}"
            )
        if kind not in KINDS:
            raise ValueError(f"types[{name!r}]={kind!r} is not one of {', '.join(KINDS)}")
    return dict(said)
