"""Variables of PyMC that rows index, as `theta[group]` does: rows that share a value are not independent, and are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pytensor.graph.traversal import ancestors
from pytensor.scalar import Mul
from pytensor.tensor.elemwise import Elemwise

from ._noticed import PAIRS, Rows, noticed


def refuse_indexed(
    model: Any, logp: Callable[..., Any], shapes: list[tuple[int, ...]], one_axis: bool
) -> None:
    """Refuses models whose rows each depend on one value of a variable that was drawn for groups.

    ``logp`` gives the prior and the log densities of observed variables; a variable whose law is fixed, and that nothing
    latent multiplies, has the effects of fixed levels and is a coefficient like others.
    """
    rng = np.random.default_rng(0)
    pairs = [[[rng.uniform(-1, 1, s) for s in shapes] for _ in range(2)] for _ in range(PAIRS)]
    for at, (variable, shape) in enumerate(zip(model.free_RVs, shapes, strict=True)):
        others = _latent(variable, model)
        if not others and not _is_scaled(variable, model):
            continue
        for axis in range(len(shape)):
            if shape[axis] < 2:
                continue

            def rows(
                pair: int, masks: list[NDArray[np.bool_]], at: int = at, axis: int = axis
            ) -> Rows:
                here, there = pairs[pair]
                found = []
                for mask in masks:
                    along = [1] * len(shapes[at])
                    along[axis] = len(mask)
                    values = list(here)
                    values[at] = np.where(mask.reshape(along), there[at], here[at])
                    found.append([np.ravel(part) for part in logp(*values)[1:]])
                names = [rv.name for rv in model.observed_RVs]
                return {name: np.stack([one[i] for one in found]) for i, name in enumerate(names)}

            if noticed(shape[axis], rows).is_indexed:
                law = (
                    f"whose law has latent parameters ({', '.join(others)})"
                    if others
                    else "scaled by others"
                )
                rows_all_the_same = "unit=0" if one_axis else "unit=AXIS"
                raise ValueError(
                    f"each row depends on one of the {shape[axis]} values of {variable.name!r}, {law}: rows that share a value "
                    f"are not independent. Sum {variable.name!r} out, or write the model for trustvb.numpyro with a plate "
                    f"around it, whose members are resampled with their rows; {rows_all_the_same} resamples rows all the same"
                )


def _latent(variable: Any, model: Any) -> list[str]:
    """The free variables that the law of one depends on."""
    above = set(ancestors([variable]))
    return [rv.name for rv in model.free_RVs if rv is not variable and rv in above]


def _is_scaled(variable: Any, model: Any) -> bool:
    """Whether it is multiplied by something latent on the way to the data, as `mu + tau * raw[group]` does."""
    others = {rv for rv in model.free_RVs if rv is not variable}
    for found in ancestors(model.observed_RVs):
        node = found.owner
        if (
            node is None
            or not isinstance(node.op, Elemwise)
            or not isinstance(node.op.scalar_op, Mul)
        ):
            continue
        above = [set(ancestors([one])) for one in node.inputs]
        own = [variable in one for one in above]
        if any(own) and any(
            one & others and not mine for one, mine in zip(above, own, strict=True)
        ):
            return True
    return False
