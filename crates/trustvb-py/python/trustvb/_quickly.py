"""Functions that run a few times: compiled without much optimisation, which would take longer than it saves, and together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import jax

#: Options of the compiler that make it quick, the best first. Releases differ in what they know.
_OPTIONS: tuple[dict[str, Any], ...] = (
    {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False},
    {"xla_backend_optimization_level": 0},
    {},
)


class Quickly:
    """A function for arguments of one shape and type, traced when it is first called or begun."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._jitted = jax.jit(function)
        self._compiled: Future[Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._compiled is None:
            begin([self], *arguments)
        assert self._compiled is not None
        return self._compiled.result()(*arguments)


def begin(functions: Iterable[Quickly], *arguments: Any) -> None:
    """Traces functions, which is Python's work, and compiles them meanwhile, each in a thread: nobody waits for the last."""
    left = [function for function in functions if function._compiled is None]
    if not left:
        return
    pool = ThreadPoolExecutor(len(left), thread_name_prefix="trustvb-compile")
    try:
        for function in left:
            function._compiled = pool.submit(_compile, function._jitted.lower(*arguments))
    finally:
        pool.shutdown(wait=False)


def _compile(lowered: Any) -> Any:
    for options in _OPTIONS:
        try:
            return lowered.compile(compiler_options=options)
        except Exception as error:
            if "No such compile option" not in str(error) or not options:
                raise
    raise AssertionError("the last options are none")
