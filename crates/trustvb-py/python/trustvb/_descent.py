"""A minimiser that can be compiled and batched: BFGS from a start value and a guess of the inverse Hessian.

It stops by the Newton decrement ``gᵀ B g``, which has no units: it is twice the nats that are still to be gained, and the
square of the distance to the minimum in posterior standard deviations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

#: The Newton decrement at which a fit has converged: 10⁻⁴ posterior standard deviations or less from the minimum.
TOLERANCE = 1e-8

#: The share of a promised decrease that a step must bring.
_ARMIJO = 1e-4


class Minimum(NamedTuple):
    """Where a search ended."""

    x: Any
    inverse: Any
    """The inverse Hessian as BFGS sees it."""
    value: Any
    decrement: Any
    steps: Any
    """Evaluations of the function and its gradient."""


class _State(NamedTuple):
    x: Any
    value: Any
    gradient: Any
    inverse: Any
    direction: Any
    length: Any
    decrement: Any
    steps: Any
    updates: Any


#: A function's value and gradient.
Slope = Callable[[Any], tuple[Any, Any]]


def minimise(slope: Slope, start: Any, inverse: Any, *, steps: int) -> Minimum:
    """From ``start``, with ``inverse`` as the first guess of the inverse Hessian; for JAX, to be compiled.

    One evaluation of value and gradient per turn of the loop, a rejected step shortens the next: the function is traced
    once, and a batch of problems goes on until the last has converged.
    """
    first = jax.tree.map(jnp.asarray, _before(start, inverse, jnp))
    found = jax.lax.while_loop(
        lambda s: _going_on(s, steps), lambda s: _turn(s, slope, False, jnp), first
    )
    return Minimum(found.x, found.inverse, found.value, found.decrement, found.steps)


def minimise_one(slope: Slope, start: Any, inverse: Any, *, steps: int) -> Minimum:
    """The same in numpy, which has nothing to compile. Without a guess the first step is a short one downhill."""
    cold = inverse is None
    state = _before(np.asarray(start), np.eye(len(start)) if cold else inverse, np)
    with np.errstate(all="ignore"):
        while _going_on(state, steps):
            state = _turn(state, slope, cold, np)
    return Minimum(state.x, state.inverse, state.value, state.decrement, state.steps)


def _before(start: Any, inverse: Any, xp: Any) -> _State:
    zero = xp.zeros_like(start)
    return _State(start, xp.inf, zero, inverse, zero, 1.0, xp.inf, 0, 0)


def _going_on(s: _State, steps: int) -> Any:
    return (s.steps < steps) & (s.decrement > TOLERANCE) & (s.length > 1e-14)


def _turn(s: _State, slope: Slope, cold: bool, xp: Any) -> _State:
    """Looks at the end of the step; takes it, or shortens it."""
    at = s.x + s.length * s.direction
    value, gradient = slope(at)
    # Close to the minimum a decrease drowns in rounding.
    rounding = 1e-13 * xp.abs(s.value)
    enough = value <= s.value + _ARMIJO * s.length * (s.gradient @ s.direction) + rounding
    first = s.steps == 0
    accepted = xp.isfinite(value) & xp.all(xp.isfinite(gradient)) & (enough | first)
    small = xp.eye(len(at)) / (1 + xp.linalg.norm(gradient))
    given = small if cold else s.inverse
    inverse = xp.where(first, given, _updated(s, at - s.x, gradient - s.gradient, cold, xp))
    direction = -inverse @ gradient
    # Rounding may spoil the approximation; then it is as at the start.
    spoilt = ~(gradient @ direction < 0)
    inverse = xp.where(spoilt, small, inverse)
    direction = xp.where(spoilt, -small @ gradient, direction)
    new = _State(
        at,
        value,
        gradient,
        inverse,
        direction,
        1.0,
        -(gradient @ direction),
        s.steps + 1,
        s.updates + 1,
    )
    length = xp.where(first, 0.0, 0.3 * s.length)
    rejected = s._replace(length=length, steps=s.steps + 1)
    return _State(*(xp.where(accepted, a, b) for a, b in zip(new, rejected, strict=True)))


def _updated(s: _State, moved: Any, turned: Any, cold: bool, xp: Any) -> Any:
    """The inverse Hessian after a step; unchanged where the function is not convex along it."""
    curvature = moved @ turned
    convex = curvature > 1e-14 * xp.linalg.norm(moved) * xp.linalg.norm(turned)
    curvature = xp.where(convex, curvature, 1.0)
    base = s.inverse
    if cold:
        # The first step tells the size of what was no guess at all.
        size = curvature / (turned @ turned + 1e-300)
        base = xp.where(convex & (s.updates == 1), size * xp.eye(len(moved)), base)
    along = base @ turned
    new = (
        base
        + (1 + turned @ along / curvature) * xp.outer(moved, moved) / curvature
        - (xp.outer(along, moved) + xp.outer(moved, along)) / curvature
    )
    return xp.where(convex, new, s.inverse)
