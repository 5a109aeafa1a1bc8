"""The first look at a NumPyro model and guide: their sites, and the values that a guide starts from.

Left to themselves they run operation by operation, each of which JAX compiles by itself: a hundred small compilations, seconds
in a new session. Here all of it is traced and compiled as one function, and what comes out takes the place of what was traced.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpyro import handlers
from numpyro.infer import autoguide, init_to_uniform

from ._numpyro_sites import Unit, find_unit
from ._quickly import Quickly

#: Guides that keep nothing of their first call but attributes, so that these can be put in place.
_SIMPLE = (
    autoguide.AutoNormal,
    autoguide.AutoDiagonalNormal,
    autoguide.AutoMultivariateNormal,
    autoguide.AutoLowRankMultivariateNormal,
    autoguide.AutoLaplaceApproximation,
)


def first_look(
    model: Callable[..., Any],
    guide: Any,
    arguments_of: Callable[[Any], Any],
    arrays: Any,
    unit: str | int | None,
) -> tuple[Any, Unit, Any, Any]:
    """The guide, ready for use; the unit that is resampled; a trace of the model, and one of the guide."""
    if type(guide) in _SIMPLE and guide.prototype_trace is None:
        try:
            return _at_once(model, _like(guide), arguments_of, arrays, unit)
        except Exception:
            # A model that looks at its data cannot be traced; one that is wrong says so below.
            pass
    of_model, of_guide = traces(model, guide, arguments_of(arrays))
    return guide, find_unit(of_model, unit), of_model, of_guide


def traces(model: Callable[..., Any], guide: Any, arguments: Any) -> tuple[Any, Any]:
    args, kwargs = arguments
    with handlers.block():
        of_model = handlers.trace(handlers.seed(model, rng_seed=0)).get_trace(*args, **kwargs)
        of_guide = handlers.trace(handlers.seed(guide, rng_seed=0)).get_trace(*args, **kwargs)
    return of_model, of_guide


def _at_once(
    model: Callable[..., Any],
    guide: Any,
    arguments_of: Callable[[Any], Any],
    arrays: Any,
    unit: str | int | None,
) -> tuple[Any, Unit, Any, Any]:
    seen: list[Any] = []
    known: list[Any] = []

    def leaves(arrays: Any) -> list[Any]:
        arguments = arguments_of(arrays)
        of_model, of_guide = traces(model, guide, arguments)
        if guide.init_loc_fn is init_to_uniform:
            # A place of the same kind, without NumPyro's search for one where the density is finite: a fit looks for that.
            _start_anywhere(guide)
            of_guide = traces(lambda *_, **__: None, guide, arguments)[1]
        found = (of_model, of_guide, vars(guide))
        pairs, tree = jax.tree_util.tree_flatten_with_path(found)
        seen[:] = [(leaf, _is_traced(leaf) and _matters(path, found)) for path, leaf in pairs]
        known[:] = [tree, find_unit(of_model, unit)]
        return [leaf for leaf, matters in seen if matters]

    values = iter(Quickly(leaves)(arrays))
    # What does not matter is left as it was traced: it has a shape and no value.
    real = [next(values) if matters else leaf for leaf, matters in seen]
    of_model, of_guide, attributes = jax.tree.unflatten(known[0], real)
    vars(guide).update(attributes)
    return guide, known[1], of_model, of_guide


def _is_traced(leaf: Any) -> bool:
    return isinstance(leaf, jax.core.Tracer)


def _matters(path: Any, found: tuple[Any, Any, Any]) -> bool:
    """Of traces, laws of latent sites and parameters; of a guide, all but its trace of the model, of which the same."""
    which: Any
    which, name, *rest = (getattr(key, "idx", getattr(key, "key", None)) for key in path)
    trace = found[which]
    if which == 2:
        if name != "prototype_trace":
            return True
        trace, (name, *rest) = trace[name], rest
    site = trace[name]
    if site["type"] == "param":
        return rest[0] in ("value", "kwargs")
    return site["type"] == "sample" and not site["is_observed"] and rest[0] == "fn"


def _start_anywhere(guide: Any) -> None:
    """Between -2 and 2 on the scale without bounds, as ``init_to_uniform`` says."""
    rng = np.random.default_rng(0)
    shapes = {name: jnp.shape(value) for name, value in guide._init_locs.items()}
    guide._init_locs = {name: rng.uniform(-2, 2, shape) for name, shape in shapes.items()}
    if hasattr(guide, "_init_latent"):
        guide._init_latent = rng.uniform(-2, 2, jnp.shape(guide._init_latent))


def _like(guide: Any) -> Any:
    """A guide of one's own to set up: the user's stays as it is."""
    made = copy.copy(guide)
    # What it collects goes into containers, which a copy would share.
    vars(made).update({k: copy.copy(v) for k, v in vars(guide).items() if isinstance(v, dict)})
    return made
