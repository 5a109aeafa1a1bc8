"""What derivatives say about bootstraps: how far each should have moved the estimates, to first order."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ._fitter import Fit, Task, Vector

#: The influence of each unit on a quantity, and the sum of it over each bootstrap's units.
Linear: TypeAlias = "tuple[Vector, Vector]"


def linear_parts(task: Task, fit: Fit, bootstraps: int) -> list[Linear | None]:
    """For each quantity, from a fitter that knows derivatives; None where it does not."""
    of: Any = getattr(task.fitter, "influence", None)
    if of is None or bootstraps == 0:
        return [None] * len(task.names)
    found = [
        of(task.data, fit, h or name) for name, h in zip(task.names, task.functions, strict=True)
    ]
    known = [i for i, influence in enumerate(found) if influence is not None]
    if not known:
        return [None] * len(found)
    all_known = np.stack([np.asarray(found[i], dtype=np.float64) for i in known])
    if all_known.shape[1] != task.n_units:
        raise ValueError(
            f"the fitter's `influence` returned {all_known.shape[1]} numbers for {task.n_units} units: one for each is needed"
        )
    # One resample after the other: all weights together may not fit into memory.
    replicates = range(1, bootstraps + 1)
    moved = np.stack([all_known @ task.weights("full", b) for b in replicates], axis=1)
    parts: list[Linear | None] = [None] * len(found)
    for at, i in enumerate(known):
        parts[i] = (all_known[at], np.ascontiguousarray(moved[at]))
    return parts
