"""Calibrated intervals for NumPyro: from an ordinary model and guide, in one line.

>>> import trustvb.numpyro
>>> answer = trustvb.numpyro.calibrate(model, AutoNormal(model), X, y)  # doctest: +SKIP
>>> answer.intervals()  # doctest: +SKIP

The objective is the evidence lower bound over fixed draws, so that the same data give the same answer; what belongs to a
unit is multiplied by its weight and by ω. Fits are compiled, made in batches, and run until they converge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from numpy.typing import NDArray
from numpyro import handlers
from numpyro.distributions.transforms import biject_to
from numpyro.infer import autoguide

from . import _outside
from ._automatic import AutomaticFitter, Problem, Vector, double, on_device
from ._base_draws import standard_normal
from ._calibration import Calibration
from ._elements import elements_of
from ._numpyro_first import first_look
from ._numpyro_index import Indexed, settled
from ._numpyro_sites import FixedDraws, base_shape, samples
from ._progress import Wish
from ._quickly import Quickly

__all__ = ["Fitter", "calibrate"]

#: Guides whose one law is over all latent values together.
_JOINT = (autoguide.AutoContinuous,)

#: What a model may do with concrete data but not with traced ones.
_CONCRETE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerBoolConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)


def calibrate(
    model: Callable[..., Any],
    guide: Any = None,
    *args: Any,
    quantities: Any = None,
    level: float | Iterable[float] = 0.95,
    method: str | Iterable[str] | None = None,
    scale: str | Mapping[str, str] = "found",
    unit: str | int | None = None,
    bootstraps: int = 200,
    grid: int = 30,
    omega_min: float = 0.01,
    particles: int | None = None,
    draws: int = 1000,
    random_state: Any = None,
    n_jobs: int | None = 1,
    workers: Any = None,
    check: bool = True,
    steady: bool = True,
    progress: Wish = None,
    model_kwargs: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> Calibration:
    """Calibrates the intervals of a NumPyro model and guide.

    Parameters
    ----------
    model : a model; other positional arguments, named ones that are not below, and ``model_kwargs`` are its own.
    guide : ``AutoNormal`` if not given. An automatic guide, the class of one, or a guide of one's own whose draws can be
        differentiated.
    quantities : names of latent sites or of their elements, ``"beta[0]"``; or functions of draws by name, as in
        :func:`trustvb.calibrate`. All elements of latent sites outside the unit's plate if not given.
    method : as in :func:`trustvb.calibrate`; also ``jackknife`` and ``lrvb``, which need one fit.
    scale : as there; ``"found"`` looks where a quantity goes when parameters go everywhere.
    unit : the plate that is resampled; in a model without plates the axis of the observed sites. It must be said if there
        are several. In a hierarchical model resample what was drawn independently, which is the groups.
    particles : fixed draws behind the objective, 64 or, for more than 16 latent values, 4 for each of them up to 256.
    draws : of the posterior, for quantities.

    Other arguments are those of :func:`trustvb.calibrate`.
    """
    fitter = Fitter(model, guide, unit=unit, particles=particles, draws=draws)
    data = fitter.data(*args, **{**kwargs, **(model_kwargs or {})})
    h = fitter.elements(data) if quantities is None else quantities
    return _outside.calibrate(
        fitter,
        data,
        h,
        level=level,
        method=method,
        scale=scale,
        bootstraps=bootstraps,
        grid=grid,
        omega_min=omega_min,
        random_state=random_state,
        n_jobs=n_jobs,
        workers=workers,
        check=check,
        steady=steady,
        progress=progress,
    )


class Fitter(AutomaticFitter):
    """A NumPyro model and guide as a fitter for :func:`trustvb.calibrate` and :func:`trustvb.study_of`.

    Its data are what :meth:`data` makes of the model's arguments; a tuple stands for positional and a dict for named ones.
    Data sets of the same shapes share what is compiled.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        guide: Any = None,
        *,
        unit: str | int | None = None,
        particles: int | None = None,
        draws: int = 1000,
    ) -> None:
        super().__init__()
        self._model, self._guide, self._unit = model, guide, unit
        self._particles, self._draws = particles, draws

    @staticmethod
    def data(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The model's arguments as data of a fitter."""
        return args, kwargs

    def elements(self, data: Any) -> dict[str, Any]:
        """Every element of every latent site that belongs to no unit."""
        with double():
            return elements_of(self._compiled(data)[0].problem.shapes)

    def _problem(self, data: Any) -> tuple[Any, Callable[[], Problem], Any]:
        args, kwargs = _arguments(data)
        leaves, tree = jax.tree.flatten((args, kwargs))
        is_array = [isinstance(a, np.ndarray | jax.Array) and np.ndim(a) > 0 for a in leaves]
        arrays = [on_device(a) for a, ok in zip(leaves, is_array, strict=True) if ok]
        fixed = [a for a, ok in zip(leaves, is_array, strict=True) if not ok]
        shapes = tuple((a.shape, str(a.dtype)) for a in arrays)
        key = (tree, tuple(is_array), shapes, tuple(_named(a) for a in fixed))

        def restore(arrays: list[Any]) -> Any:
            pool, others = iter(arrays), iter(fixed)
            return jax.tree.unflatten(tree, [next(pool if ok else others) for ok in is_array])

        def make() -> Problem:
            return _NumpyroProblem(self, restore, arrays)

        return key, make, arrays


class _NumpyroProblem:
    """A model and guide for data of some shape."""

    def __init__(self, fitter: Fitter, restore: Callable[[Any], Any], arrays: Any) -> None:
        self._model, self._restore = fitter._model, restore
        guide = _as_guide(fitter._guide, fitter._model)
        self._guide, self._unit, trace, guide = first_look(
            self._model, guide, restore, arrays, fitter._unit
        )
        self._unit = settled(self._model, restore(arrays), trace, self._unit, fitter._unit)
        self.n_units = self._unit.size
        latent = [site for site in samples(trace) if not site["is_observed"]]
        for site in latent:
            if site["fn"].support.is_discrete:
                raise ValueError(
                    f"{site['name']!r} is discrete, which a guide with a differentiable objective cannot have: sum it out"
                )
        own = [site["name"] for site in latent if self._unit.dimension(site) is not None]
        if own and isinstance(self._guide, _JOINT):
            raise ValueError(
                f"{', '.join(map(repr, own))} belongs to units, and {type(self._guide).__name__} has one law for all latent "
                "values together, so that nothing can be weighted: use AutoNormal, or resample another plate"
            )
        self._supports = {s["name"]: s["fn"].support for s in latent if s["name"] not in own}
        self.shapes = {s["name"]: jnp.shape(s["value"]) for s in latent if s["name"] not in own}
        if not self.shapes:
            raise ValueError(
                "every latent site belongs to a unit, so that there is nothing to know"
            )
        self._laplace = isinstance(self._guide, autoguide.AutoLaplaceApproximation)
        self._set_parameters(trace, guide)
        size = sum(_size(base_shape(site["fn"])) for site in samples(guide))
        if self._laplace:
            size = len(self._start)
        elif size == 0 and all(
            isinstance(site["fn"], autoguide.dist.Delta) for site in samples(guide)
        ):
            raise ValueError("the guide is a point: it has no interval to calibrate")
        particles = fitter._particles or (64 if size <= 16 else min(256, 4 * size))
        keys = np.zeros((max(particles, fitter._draws), 2), dtype=np.uint32)
        if any(base_shape(site["fn"]) is None for site in samples(guide)):
            # Only laws that are not made of Normals look at them.
            keys = np.asarray(jax.random.split(jax.random.PRNGKey(7), len(keys)))
        few = 1 if self._laplace else particles
        self._few = standard_normal(few, 0 if self._laplace else size, 11), keys[:few]
        self._many = standard_normal(fitter._draws, size, 12), keys[: fitter._draws]
        # Which member each row indexes is known for these data.
        self.fixed: list[Any] | None = arrays if isinstance(self._unit, Indexed) else None
        self.terms: Callable[[Any, Any], tuple[Any, Any]] = jax.jit(self._terms)
        try:
            jax.eval_shape(self.terms, self._start, arrays)
        except _CONCRETE:
            # It looks at its data: it is compiled for these.
            self.fixed = arrays
            self.terms = jax.jit(lambda x, arrays: self._terms(x, arrays))

    def _set_parameters(self, trace: Any, guide: Any) -> None:
        """Parameters of the guide, and of the model if it has any, as one vector without bounds."""
        sites = [s for t in (trace, guide) for s in t.values() if s["type"] == "param"]
        real = autoguide.constraints.real
        bounds = {s["name"]: biject_to(s["kwargs"].get("constraint", real)) for s in sites}
        shapes: dict[str, tuple[int, ...]] = {}
        back: list[Any] = []

        def flat(values: dict[str, Any]) -> Any:
            free = {name: bounds[name].inv(value).astype(float) for name, value in values.items()}
            shapes.update({name: jnp.shape(value) for name, value in free.items()})
            joined, unravel = ravel_pytree(free)
            back[:] = [unravel]
            return joined

        # At once: operation by operation each would be compiled.
        start = Quickly(flat)({s["name"]: s["value"] for s in sites})
        self._start = np.asarray(start)
        owners = {s["name"]: self._owners(s, shapes[s["name"]]) for s in sites}
        self.unit_of = np.concatenate([np.ravel(owners[name]) for name in sorted(owners)])
        self._parameters = lambda x: {
            name: bounds[name](value) for name, value in back[0](x).items()
        }

    def _owners(self, site: Any, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """The unit that each entry of a parameter belongs to."""
        at = self._unit.dimension(site) if self._unit.plate is not None else None
        axis = None if at is None else at - (site["kwargs"].get("event_dim") or 0)
        if axis is None or len(shape) < -axis or shape[axis] != self.n_units:
            return np.full(shape, -1)
        along = [1] * len(shape)
        along[axis] = self.n_units
        return np.broadcast_to(np.arange(self.n_units).reshape(along), shape)

    def start(self) -> Vector:
        return self._start

    def _arguments(self, arrays: Any) -> Any:
        return self._restore(arrays if self.fixed is None else self.fixed)

    def _guided(self, parameters: Any, arguments: Any, numbers: Any, key: Any) -> Any:
        args, kwargs = arguments
        guide = FixedDraws(handlers.substitute(self._guide, data=parameters), numbers, key)
        return handlers.trace(guide).get_trace(*args, **kwargs)

    def _terms(self, x: Any, arrays: Any) -> tuple[Any, Any]:
        arguments, parameters = self._arguments(arrays), self._parameters(x)
        args, kwargs = arguments

        def particle(numbers: Any, key: Any) -> tuple[Any, Any]:
            with handlers.block():
                guided = self._guided(parameters, arguments, numbers, key)
                model = handlers.replay(self._model, trace=guided)
                modelled = handlers.trace(handlers.substitute(model, data=parameters)).get_trace(
                    *args, **kwargs
                )
            units, others = self._unit.terms(modelled)
            less_units, less_others = self._unit.terms(guided)
            return units - less_units, others - less_others

        units, others = jax.vmap(particle)(*self._few)
        return units.mean(axis=0), others.mean(axis=0)

    def _values(self, x: Any, arrays: Any, numbers: Any, key: Any) -> dict[str, Any]:
        with handlers.block():
            guided = self._guided(self._parameters(x), self._arguments(arrays), numbers, key)
        return {name: guided[name]["value"] for name in self.shapes}

    def posterior(self, x: Any, arrays: Any, curvature: Callable[[], Any]) -> tuple[Any, Any]:
        numbers, keys = self._many
        if self._laplace:
            # With H = LLᵀ, L⁻ᵀz has the covariance H⁻¹.
            factor = jnp.linalg.cholesky(curvature())
            moved = jax.scipy.linalg.solve_triangular(factor.T, jnp.asarray(numbers).T, lower=False)
            values = lambda x: self._values(x, arrays, numbers[0], keys[0])  # noqa: E731
            return jax.vmap(values)(x + moved.T), values(x)
        draws = jax.vmap(lambda z, key: self._values(x, arrays, z, key))(numbers, keys)
        return draws, {name: a.mean(axis=0) for name, a in draws.items()}

    def means(self, x: Any, arrays: Any) -> dict[str, Any]:
        numbers, keys = self._many
        if self._laplace:
            return self._values(x, arrays, numbers[0], keys[0])
        draws = jax.vmap(lambda z, key: self._values(x, arrays, z, key))(numbers, keys)
        return {name: a.mean(axis=0) for name, a in draws.items()}

    def wild(self, n: int, seed: int) -> dict[str, Vector]:
        rng = np.random.default_rng(seed)
        to = {name: biject_to(support) for name, support in self._supports.items()}
        free = {
            name: 5 * rng.standard_normal((n, *to[name].inverse_shape(self.shapes[name])))
            for name in to
        }
        found = Quickly(lambda free: {name: jax.vmap(to[name])(a) for name, a in free.items()})(
            free
        )
        return {name: np.asarray(a) for name, a in found.items()}


def _size(shape: tuple[int, ...] | None) -> int:
    return 0 if shape is None else int(np.prod(shape))


def _as_guide(guide: Any, model: Callable[..., Any]) -> Any:
    if guide is None:
        return autoguide.AutoNormal(model)
    return guide(model) if isinstance(guide, type) else guide


def _arguments(data: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and named arguments of a model."""
    if isinstance(data, tuple) and len(data) == 2 and isinstance(data[0], tuple):
        args, kwargs = data
        if isinstance(kwargs, Mapping):
            return args, dict(kwargs)
    if isinstance(data, Mapping):
        return (), dict(data)
    return (data if isinstance(data, tuple) else (data,)), {}


def _named(leaf: Any) -> Any:
    """What stands for a leaf in a key."""
    try:
        hash(leaf)
    except TypeError:
        return id(leaf)
    return leaf
