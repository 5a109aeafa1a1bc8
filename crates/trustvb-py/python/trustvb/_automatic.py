"""A fitter made by automatic differentiation: objectives that are sums over units, fitted in batches, and their influence.

The objective is ``ω Σ w_n u_n(x) + g(x)`` in the variational parameters x, with ``u_n`` what unit n adds to the evidence lower
bound and ``g`` what belongs to no unit. With H minus its Hessian at the optimum and m(x) the posterior means,

    dm/dw_n = ω ∇m H⁻¹ ∇u_n      the influence of unit n: `jackknife`
    ∇m H⁻¹ ∇mᵀ                   the linear-response covariance (Giordano, Broderick and Jordan 2018): `lrvb`
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from numpy.typing import NDArray

from . import _descent
from ._fitter import Fit
from ._messages import FitFailed
from ._quickly import Quickly, begin

Vector = NDArray[np.float64]

#: Evaluations of objective and gradient until a fit is given up.
STEPS = 500

#: Columns of a Hessian that are computed at once.
_BATCH = 32

#: Unknowns above which the whole Hessian is not computed to speed up a fit.
_LARGE = 600


class Problem(Protocol):
    """A model and a variational family for data of some shape. Functions of x must be traceable by JAX."""

    n_units: int

    fixed: list[Any] | None
    """The data that it is for, if its functions take no others."""

    shapes: dict[str, tuple[int, ...]]
    """Of the values at which quantities are estimated, by name."""

    unit_of: NDArray[np.int64]
    """The unit that each entry of x belongs to, -1 for none."""

    def start(self) -> Vector:
        """Where a fit without a start value begins."""

    terms: Callable[[Any, Any], tuple[Any, Any]]
    """What each unit adds to the evidence lower bound, and what belongs to none: of x and the arrays, compiled by `jax.jit`."""

    def posterior(self, x: Any, arrays: Any, curvature: Callable[[], Any]) -> tuple[Any, Any]:
        """Draws by name, and the values at which quantities are estimated. ``curvature()`` is H, for a family that needs it."""

    def means(self, x: Any, arrays: Any) -> Any:
        """The same values, as a function that can be differentiated without knowing H."""

    def wild(self, n: int, seed: int) -> dict[str, Vector]:
        """Values all over the place where parameters may be, to see where a quantity can go."""


@dataclass
class State:
    """Where the next fit starts."""

    x: Any
    inverse: Any


@dataclass
class _Compiled:
    """A problem with its compiled functions."""

    problem: Problem
    slope: Quickly
    posterior: Quickly
    many: Callable[..., Any]
    derivatives: Quickly
    wild: dict[str, Vector] | None = None


def double() -> Any:
    """Double precision for a while, whatever the session's setting is."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    import jax.experimental as before  # JAX 0.7 and older

    return before.enable_x64()  # type: ignore[attr-defined]


class AutomaticFitter:
    """Keeps the promises of :func:`trustvb.calibrate`: weights, ω, the same answer for the same question.

    ``fit_many`` fits a batch at once; ``spread`` has the standard deviations of one-fit methods; ``influence`` has what
    makes bootstraps steadier; ``scale_of`` finds where a quantity lies.
    """

    #: Resamples in a batch.
    batch = 50

    def __init__(self) -> None:
        self._known: dict[Any, _Compiled] = {}
        # Tracing is not for several threads at once: NumPyro keeps its handlers in one stack for all of them.
        self._tracing = threading.RLock()
        self._traced: set[Any] = set()

    def __getstate__(self) -> dict[str, Any]:
        # What is compiled, and the lock, stay where they are.
        return {**self.__dict__, "_known": {}, "_tracing": None, "_traced": set()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._tracing = threading.RLock()

    def _problem(self, data: Any) -> tuple[Any, Callable[[], Problem], Any]:
        """A key for the shape of the data, a maker of its problem, and the arrays to hand on."""
        raise NotImplementedError

    def _compiled(self, data: Any) -> tuple[_Compiled, Any]:
        key, make, arrays = self._problem(data)
        with self._tracing:
            known = self._known.get(key)
            if known is None or not _is_for(known.problem, arrays):
                known = self._known[key] = _compile(make())
        return known, arrays

    def n_units(self, data: Any) -> int:
        """How many there are."""
        with double():
            return self._compiled(data)[0].problem.n_units

    def __call__(self, data: Any, weights: Vector, omega: float, start: Any) -> Fit:
        with double(), self._tracing:
            compiled, arrays = self._compiled(data)
            found = _one(compiled, weights, float(omega), arrays, start)
            fit = _fits(found, 1)[0]
        if isinstance(fit, FitFailed):
            raise fit
        return fit

    def fit_many(
        self, data: Any, weights: Vector, omegas: Vector, starts: Sequence[Any]
    ) -> list[Fit | FitFailed]:
        """A fit for each row of ``weights``."""
        if any(start is None for start in starts):
            rows = zip(weights, omegas, starts, strict=True)
            return [self._or_failed(data, *row) for row in rows]
        with double():
            compiled, arrays = self._compiled(data)
            x = np.stack([start.x for start in starts])
            inverse = np.stack([start.inverse for start in starts])
            arguments = (x, inverse, weights, omegas, arrays)
            if (id(compiled), len(weights)) in self._traced:
                found = compiled.many(*arguments)
            else:
                with self._tracing:
                    found = compiled.many(*arguments)
                    self._traced.add((id(compiled), len(weights)))
            return _fits(found, len(weights))

    def _or_failed(self, *arguments: Any) -> Fit | FitFailed:
        try:
            return self(*arguments)
        except FitFailed as failed:
            return failed

    def spread(self, method: str, data: Any, fit: Fit, h: Callable[[Any], Any]) -> float:
        """The standard deviation of h by ``jackknife`` (over data sets) or ``lrvb`` (of the posterior), from the fit of all
        units at ω = 1; NaN if the objective is not curved there."""
        influence, covariance = self._derivatives(data, fit)
        gradient = _gradient(h, fit)
        if method == "lrvb":
            return float(np.sqrt(gradient @ covariance @ gradient))
        moved = gradient @ influence
        return float(np.sqrt(((moved - moved.mean()) ** 2).sum()))

    def influence(self, data: Any, fit: Fit, h: Callable[[Any], Any]) -> Vector | None:
        """The derivative of h in each unit's weight, from the fit of all units at ω = 1; None if the objective is not curved
        there, or there are too many unknowns for their Hessian."""
        if len(fit.state.x) > _LARGE:
            return None
        influence, _ = self._derivatives(data, fit)
        moved: Vector = _gradient(h, fit) @ influence
        return moved if np.isfinite(moved).all() else None

    def _derivatives(self, data: Any, fit: Fit) -> tuple[Vector, Vector]:
        """Influence and linear-response covariance of the means, found once."""
        with double(), self._tracing:
            compiled, arrays = self._compiled(data)
            state = fit.state
            if not hasattr(state, "slopes"):
                state.slopes = _slopes(compiled, state.x, arrays)
            found: tuple[Vector, Vector] = state.slopes
            return found

    def scale_of(self, data: Any, h: Callable[[Any], Any]) -> str:
        """Where h lies whatever the parameters are: tried at wild values of them."""
        with double(), self._tracing:
            compiled, _ = self._compiled(data)
            if compiled.wild is None:
                compiled.wild = compiled.problem.wild(400, 1)
        wild = compiled.wild
        with np.errstate(all="ignore"):
            values = np.asarray(h(wild), dtype=np.float64)
        if not np.isfinite(values).all() or np.ptp(values) == 0:
            return "positive" if (values > 0).all() and np.ptp(values) > 0 else "real"
        if values.min() >= 0:
            return "unit" if values.max() <= 1 else "positive"
        return "correlation" if np.abs(values).max() <= 1 else "real"


def on_device(array: Any) -> Any:
    """An array as JAX keeps it; real numbers in double precision. Nothing is compiled for it, as `jnp.asarray` would."""
    if jnp.issubdtype(array.dtype, jnp.floating):
        array = array.astype(np.float64)
    return array if isinstance(array, jax.Array) else jax.device_put(array)


def _is_for(problem: Problem, arrays: list[Any]) -> bool:
    """Whether a problem takes these data: any of their shape, or those it was made for."""
    if problem.fixed is None:
        return True
    return all(np.array_equal(a, b) for a, b in zip(problem.fixed, arrays, strict=True))


def _compile(problem: Problem) -> _Compiled:
    def objective(x: Any, weights: Any, omega: Any, arrays: Any) -> Any:
        units, others = problem.terms(x, arrays)
        # A unit of weight 0 is not there, even where its likelihood is.
        counted = jnp.where(weights > 0, units, 0.0)
        return -(omega * weights @ counted + others), units

    # As a function of its own it is traced once for all that is made of it: tracing takes longer than computing.
    with_units = jax.jit(jax.value_and_grad(objective, has_aux=True))

    def slope(*arguments: Any) -> Any:
        (value, _), gradient = with_units(*arguments)
        return value, gradient

    def posterior(x: Any, weights: Any, omega: Any, arrays: Any) -> Any:
        return problem.posterior(x, arrays, lambda: hessian(x, weights, omega, arrays))

    def one(x: Any, inverse: Any, weights: Any, omega: Any, arrays: Any) -> Any:
        size = _sizes(problem, weights, jnp)
        found = _descent.minimise(
            lambda x: slope(x, weights, omega, arrays),
            x,
            size[:, None] * inverse * size,
            steps=STEPS,
        )
        found = found._replace(inverse=found.inverse / size[:, None] / size)
        return found, *posterior(found.x, weights, omega, arrays)

    many = jax.vmap(one, in_axes=(0, 0, 0, 0, None))

    def derivatives(x: Any, weights: Any, omega: Any, arrays: Any) -> Any:
        """H; and the slopes of what each unit adds and of the means, a row for each entry of x. Together, because compiling
        takes longer than computing."""

        def together(x: Any) -> Any:
            (_, units), gradient = with_units(x, weights, omega, arrays)
            return gradient, units, ravel_pytree(problem.means(x, arrays))[0]

        return _columns(together, x)

    def hessian(x: Any, weights: Any, omega: Any, arrays: Any) -> Any:
        return _columns(lambda x: slope(x, weights, omega, arrays)[1], x)

    return _Compiled(
        problem,
        slope=Quickly(slope),
        posterior=Quickly(posterior),
        many=jax.jit(many),
        derivatives=Quickly(derivatives),
    )


def _columns(function: Callable[[Any], Any], x: Any) -> Any:
    """Derivatives in each entry of x, forwards."""
    column = lambda direction: jax.jvp(function, (x,), (direction,))[1]  # noqa: E731
    if len(x) <= _BATCH:
        return jax.vmap(column)(jnp.eye(len(x)))
    # Not all at once: of many unknowns and units memory would not hold them.
    return jax.lax.map(column, jnp.eye(len(x)), batch_size=_BATCH)


def _one(compiled: _Compiled, weights: Any, omega: float, arrays: Any, start: Any) -> Any:
    """A fit by itself. Without a start value: downhill first, then with the Hessian found there, until it stays."""

    def slope(x: Vector) -> Any:
        value, gradient = compiled.slope(x, weights, omega, arrays)
        return float(value), np.asarray(gradient)

    if start is not None:
        size = _sizes(compiled.problem, np.asarray(weights), np)
        guess = size[:, None] * start.inverse * size
        found = _descent.minimise_one(slope, start.x, guess, steps=STEPS)
    else:
        first = compiled.problem.start()
        small = len(first) <= _LARGE
        needed = (compiled.slope, compiled.derivatives, compiled.posterior)
        begin(needed if small else needed[::2], first, weights, omega, arrays)
        found = _descent.minimise_one(slope, _defined(slope, first), None, steps=STEPS)
        for _ in range(3 if small else 0):
            inverse = _inverse(compiled.derivatives(found.x, weights, omega, arrays)[0])
            if inverse is None:
                break
            found = _descent.minimise_one(slope, found.x, inverse, steps=STEPS)
            if found.steps <= 2:
                break
    return found, *compiled.posterior(found.x, weights, omega, arrays)


def _defined(slope: Callable[[Vector], Any], first: Vector) -> Vector:
    """Where the objective and its gradient are finite: the place given, or one near it."""
    for attempt in range(100):
        away = np.random.default_rng(attempt).uniform(-2, 2, len(first)) if attempt else 0.0
        value, gradient = slope(first + away)
        if np.isfinite(value) and np.isfinite(gradient).all():
            return first + away
    return first


def _sizes(problem: Problem, weights: Any, xp: Any) -> Any:
    """By how much to shorten steps in each entry of x: what belongs to a unit is curved as much as the unit weighs."""
    own = weights[np.maximum(problem.unit_of, 0)]
    return xp.where(problem.unit_of < 0, 1.0, xp.maximum(own, 0.5) ** -0.5)


def _inverse(hessian: Any) -> Any:
    """The inverse, with curvatures made positive; None if there is none."""
    matrix = np.asarray(hessian)
    if not np.isfinite(matrix).all():
        return None
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    size = np.maximum(np.abs(values), 1e-10 * np.abs(values).max() + 1e-300)
    return (vectors / size) @ vectors.T


def _slopes(compiled: _Compiled, x: Any, arrays: Any) -> tuple[Vector, Vector]:
    """The influence of each unit on the means, a column each, and their linear-response covariance."""
    n = compiled.problem.n_units
    found = compiled.derivatives(x, np.ones(n), 1.0, arrays)
    matrix, units, means = (np.asarray(a).T for a in found)
    matrix = 0.5 * (matrix + matrix.T)
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.full((len(means), n), np.nan), np.full((len(means),) * 2, np.nan)
    return means @ np.linalg.solve(matrix, units.T), means @ np.linalg.solve(matrix, means.T)


def _gradient(h: Callable[[Any], Any], fit: Fit) -> Vector:
    """Of h in the values at which it is estimated, by central differences: h may be any function."""
    names = sorted(fit.mean)
    centre = np.concatenate([np.ravel(fit.mean[name]) for name in names])
    spread = np.concatenate([np.ravel(fit.draws[name].std(axis=0)) for name in names])
    step = 1e-3 * np.where(spread > 0, spread, 1.0)
    points = centre + np.concatenate([np.diag(step), -np.diag(step)])
    draws, at = {}, 0
    for name in names:
        shape = np.shape(fit.mean[name])
        size = int(np.prod(shape))
        draws[name] = points[:, at : at + size].reshape(-1, *shape)
        at += size
    above, below = np.split(np.asarray(h(draws), dtype=np.float64), 2)
    return (above - below) / (2 * step)


def _fits(found: Any, n: int) -> list[Fit | FitFailed]:
    """Results as the rest of the package knows them."""
    minimum, draws, values = jax.tree.map(np.asarray, found)
    if np.ndim(minimum.value) == 0:
        minimum, draws, values = jax.tree.map(lambda a: a[None], (minimum, draws, values))
    fits: list[Fit | FitFailed] = []
    for i in range(n):
        own = {name: a[i] for name, a in draws.items()}
        if not (np.isfinite(minimum.value[i]) and all(np.isfinite(a).all() for a in own.values())):
            fits.append(FitFailed("the objective is not finite at the end of the fit"))
            continue
        fits.append(
            Fit(
                draws=own,
                mean={name: a[i] for name, a in values.items()},
                state=State(minimum.x[i], minimum.inverse[i]),
                converged=bool(minimum.decrement[i] <= _descent.TOLERANCE),
            )
        )
    return fits
