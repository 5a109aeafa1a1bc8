"""Calibrated intervals for PyMC: from a ``pm.Model``, in one line.

>>> import trustvb.pymc
>>> answer = trustvb.pymc.calibrate(model)  # doctest: +SKIP
>>> answer.intervals()  # doctest: +SKIP

The families are those of ``pm.fit``: mean-field ADVI and full-rank ADVI; and Laplace's approximation. Their objectives are
over fixed draws, so that the same data give the same answer, and are run by JAX until they converge. The log likelihood of
each unit is multiplied by its weight and by ω.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from pymc.sampling.jax import get_jaxified_graph

from . import _outside
from ._automatic import AutomaticFitter, Problem, double
from ._calibration import Calibration
from ._elements import elements_of
from ._gaussian_family import GaussianProblem
from ._progress import Wish
from ._pymc_index import refuse_indexed

__all__ = ["Fitter", "calibrate"]


def calibrate(
    model: Any,
    *,
    family: str = "mean-field",
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
) -> Calibration:
    """Calibrates the intervals of a variational fit of a PyMC model.

    Parameters
    ----------
    model : a ``pm.Model`` with observed data.
    family : ``"mean-field"``, ``"full-rank"`` or ``"laplace"``.
    quantities : names of variables or of their elements, ``"beta[0]"``, deterministic ones too; or functions of draws by
        name, as in :func:`trustvb.calibrate`. All elements of the free variables if not given.
    unit : the dimension of the observed variables that is resampled, by its name or as an axis; needed if observed variables
        have several.

    Other arguments are those of :func:`trustvb.numpyro.calibrate`.
    """
    fitter = Fitter(model, family=family, unit=unit, particles=particles, draws=draws)
    h = fitter.elements() if quantities is None else quantities
    return _outside.calibrate(
        fitter,
        None,
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
    """A PyMC model as a fitter for :func:`trustvb.calibrate`; the model holds its data, so that ``data`` is ``None``."""

    def __init__(
        self,
        model: Any,
        *,
        family: str = "mean-field",
        unit: str | int | None = None,
        particles: int | None = None,
        draws: int = 1000,
    ) -> None:
        super().__init__()
        self._model = model
        self._make = lambda: _problem(model, family, unit, particles, draws)

    def elements(self) -> dict[str, Any]:
        """Every element of every free variable."""
        free = {rv.name for rv in self._model.free_RVs}
        with double():
            shapes = self._compiled(None)[0].problem.shapes
        return elements_of({name: shape for name, shape in shapes.items() if name in free})

    def _problem(self, data: Any) -> tuple[Any, Callable[[], Problem], Any]:
        return None, self._make, []


def _problem(
    model: Any, family: str, unit: str | int | None, particles: int | None, draws: int
) -> Problem:
    if not model.observed_RVs:
        raise ValueError("the model has no observed variable")
    if model.discrete_value_vars:
        names = ", ".join(v.name for v in model.discrete_value_vars)
        raise ValueError(f"{names} is discrete, which no Gaussian family has: sum it out")
    if model.potentials:
        names = ", ".join(p.name for p in model.potentials)
        raise ValueError(
            f"whether the potential {names} belongs to the data or to the prior is not known: write it as an observed variable "
            "(pm.CustomDist) or as a prior"
        )
    inputs = model.value_vars
    prior = model.logp(vars=model.free_RVs, jacobian=True)
    parts = model.logp(vars=model.observed_RVs, sum=False)
    try:
        logp = get_jaxified_graph(inputs=inputs, outputs=[prior, *parts])
        named = [*model.free_RVs, *model.deterministics]
        constrained = get_jaxified_graph(inputs=inputs, outputs=model.replace_rvs_by_values(named))
    except ValueError as error:
        raise ValueError(
            f"the model is random beyond its variables ({error}): minibatches make the objective random; give it all data"
        ) from None
    point = model.initial_point()
    start = [np.asarray(point[v.name], dtype=np.float64) for v in inputs]
    shapes = [a.shape for a in start]
    ends = np.cumsum([a.size for a in start])[:-1].tolist()

    def unpacked(z: Any) -> list[Any]:
        return [part.reshape(s) for part, s in zip(jnp.split(z, ends), shapes, strict=True)]

    found = [np.shape(part) for part in logp(*start)[1:]]
    axes, n_units = _axes(model, [tuple(shape) for shape in found], unit)
    sizes = {rv.name: np.shape(a) for rv, a in zip(named, constrained(*start), strict=True)}
    for rv in model.free_RVs:
        if n_units > 1 and n_units in sizes[rv.name]:
            raise ValueError(
                f"{rv.name!r} has as many values as there are units: if each belongs to one, weights would have to reach it too. Sum "
                "it out, or use trustvb.numpyro with a plate"
            )

    if unit is None:
        refuse_indexed(model, logp, shapes, all(len(shape) == 1 for shape in found))

    def density(z: Any) -> tuple[Any, Any]:
        prior, *parts = logp(*unpacked(z))
        units = jnp.zeros(n_units)
        for part, axis in zip(parts, axes, strict=True):
            units = units + jnp.moveaxis(part, axis, 0).reshape(n_units, -1).sum(axis=1)
        return units, prior

    def values(z: Any) -> dict[str, Any]:
        made = zip(named, constrained(*unpacked(z)), strict=True)
        # What has a value for every unit, as fitted means have, is no quantity.
        return {rv.name: jnp.asarray(a) for rv, a in made if n_units not in sizes[rv.name]}

    flat = np.concatenate([np.ravel(a) for a in start])
    return GaussianProblem(family, density, values, flat, n_units, particles, draws)


def _axes(
    model: Any, shapes: list[tuple[int, ...]], unit: str | int | None
) -> tuple[list[int], int]:
    """The axis of each observed variable along which units lie, and how many there are."""
    names = [rv.name for rv in model.observed_RVs]
    listed = ", ".join(f"{name} {shape}" for name, shape in zip(names, shapes, strict=True))
    if isinstance(unit, str):
        dims = [tuple(model.named_vars_to_dims.get(name) or ()) for name in names]
        if any(unit not in own for own in dims):
            known = ", ".join(f"{name} {own}" for name, own in zip(names, dims, strict=True))
            raise ValueError(
                f"the dimension {unit!r} is not one of all observed variables: {known}"
            )
        axes = [own.index(unit) for own in dims]
    elif unit is None and any(len(shape) != 1 for shape in shapes):
        raise ValueError(
            f"which units are resampled? The log likelihoods of observed variables have the shapes {listed}: say unit=, a name of "
            "dims or an axis, of what was drawn independently"
        )
    else:
        axes = [unit or 0] * len(shapes)
    if any(not -len(shape) <= axis < len(shape) for axis, shape in zip(axes, shapes, strict=True)):
        raise ValueError(f"unit={unit!r} is not an axis of all observed variables: {listed}")
    sizes = {shape[axis] for axis, shape in zip(axes, shapes, strict=True)}
    if len(sizes) > 1:
        raise ValueError(f"observed variables do not have the same number of units: {listed}")
    return axes, sizes.pop()
