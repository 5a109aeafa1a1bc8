"""Progress in a terminal or a notebook; silence elsewhere."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any, TypeAlias

Wish: TypeAlias = "bool | Callable[[int, int], object] | None"

_WIDTH = 30
_EVERY = 0.1


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


def _line(what: str, done: int, total: int, since: float) -> str:
    if total == 0:
        return f"{what} …"
    share = min(done / total, 1.0)
    full = int(share * _WIDTH)
    bar = "█" * full + "░" * (_WIDTH - full)
    left = (time.monotonic() - since) * (1 - share) / share if share > 0 else float("nan")
    rest = f", {left:.0f} s left" if left == left else ""
    return f"{what} {bar} {done}/{total}{rest}"


class Progress:
    """A bar for ``what``: ``with Progress("fitting", progress) as tell: work(tell.callback)``.

    ``None`` shows it when somebody watches, ``True`` always, ``False`` never; a callable is called with
    what is done and the total.
    """

    def __init__(self, what: str, wish: Wish = None) -> None:
        self._what = what
        self._since = time.monotonic()
        self._last = 0.0
        self._shown = False
        self._handle: Any = None
        self.callback: Callable[[int, int], object] | None = None
        if callable(wish):
            self.callback = wish
        elif wish is False:
            pass
        elif _in_notebook():
            self.callback = self._notebook
        elif wish or (sys.stderr is not None and sys.stderr.isatty()):
            self.callback = self._terminal

    def _due(self) -> bool:
        now = time.monotonic()
        if now - self._last < _EVERY:
            return False
        self._last = now
        return True

    def _terminal(self, done: int, total: int) -> None:
        if self._due():
            self._shown = True
            sys.stderr.write("\r" + _line(self._what, done, total, self._since) + "\x1b[K")
            sys.stderr.flush()

    def _notebook(self, done: int, total: int) -> None:
        if not self._due():
            return
        display: Any = importlib.import_module("IPython.display").display

        bundle = {"text/plain": _line(self._what, done, total, self._since)}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)
