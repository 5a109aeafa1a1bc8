"""Gaussian families on the scale where parameters have no bounds: mean-field, full-rank, and Laplace's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from ._automatic import Vector
from ._base_draws import standard_normal
from ._quickly import Quickly

#: What the family may be called.
FAMILIES = ("mean-field", "full-rank", "laplace")

#: The standard deviation that fits begin with.
_START = 0.1


class GaussianProblem:
    """A law N(m, LLᵀ) for the unbounded parameters z of a log density that is a sum over units.

    ``density(z)`` has the log likelihood of each unit and the log prior with its Jacobian; ``values(z)`` what quantities are
    made of. The entropy of the family is known, its expectations are over fixed draws.
    """

    def __init__(
        self,
        family: str,
        density: Callable[[Any], tuple[Any, Any]],
        values: Callable[[Any], dict[str, Any]],
        start: Vector,
        n_units: int,
        particles: int | None,
        draws: int,
    ) -> None:
        if family not in FAMILIES:
            raise ValueError(f"family={family!r} is not one of {', '.join(map(repr, FAMILIES))}")
        self._family, self._density, self._values = family, density, values
        self._size, self.n_units = len(start), n_units
        size = self._size
        particles = particles or (64 if size <= 16 else min(256, 4 * size))
        if family == "full-rank" and particles < 2 * size:
            raise ValueError(
                f"a full-rank family for {size} parameters needs at least {2 * size} particles, not {particles}: with fewer its "
                "bound has no maximum"
            )
        self.shapes = {name: a.shape for name, a in jax.eval_shape(values, start).items()}
        self.fixed: list[Any] | None = []
        self.terms: Callable[[Any, Any], tuple[Any, Any]] = jax.jit(self._terms)
        self._below = np.tril_indices(size, -1)
        scales = np.full(size, np.log(_START))
        more = {"laplace": [], "mean-field": [scales]}.get(
            family, [scales, np.zeros(len(self._below[0]))]
        )
        self._start = np.concatenate([start, *more])
        self.unit_of: NDArray[np.int64] = np.full(len(self._start), -1)
        self._few = standard_normal(particles, size, 11)
        self._many = standard_normal(draws, size, 12)

    def start(self) -> Vector:
        return self._start

    def _moved(self, x: Any, numbers: Any) -> tuple[Any, Any]:
        """Draws, and the log determinant of L."""
        p = self._size
        mean, scales = x[:p], x[p : 2 * p]
        if self._family == "mean-field":
            return mean + jnp.exp(scales) * numbers, scales.sum()
        # Rows of L are in units of their diagonal: all parameters are numbers without units.
        unit = jnp.eye(p).at[self._below].set(x[2 * p :])
        return mean + numbers @ (jnp.exp(scales)[:, None] * unit).T, scales.sum()

    def _terms(self, x: Any, arrays: Any) -> tuple[Any, Any]:
        if self._family == "laplace":
            return self._density(x)
        draws, entropy = self._moved(x, self._few)
        units, others = jax.vmap(self._density)(draws)
        return units.mean(axis=0), others.mean() + entropy

    def posterior(self, x: Any, arrays: Any, curvature: Callable[[], Any]) -> tuple[Any, Any]:
        if self._family == "laplace":
            # With H = LLᵀ, L⁻ᵀz has the covariance H⁻¹.
            factor = jnp.linalg.cholesky(curvature())
            moved = jax.scipy.linalg.solve_triangular(factor.T, jnp.asarray(self._many).T)
            return jax.vmap(self._values)(x + moved.T), self._values(x)
        draws = jax.vmap(self._values)(self._moved(x, self._many)[0])
        return draws, {name: a.mean(axis=0) for name, a in draws.items()}

    def means(self, x: Any, arrays: Any) -> dict[str, Any]:
        if self._family == "laplace":
            return self._values(x)
        draws = jax.vmap(self._values)(self._moved(x, self._many)[0])
        return {name: a.mean(axis=0) for name, a in draws.items()}

    def wild(self, n: int, seed: int) -> dict[str, Vector]:
        z = 5 * np.random.default_rng(seed).standard_normal((n, self._size))
        return {name: np.asarray(a) for name, a in Quickly(jax.vmap(self._values))(z).items()}
