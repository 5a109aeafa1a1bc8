"""Plates that rows index, as `theta[group]` does: found by moving their members and looking which rows notice.

Rows that share a member are not independent, so that what was drawn independently are the plate's members: they are the units,
and a row goes with its own. A trace does not tell which that is, but the model does (`_noticed.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from numpyro import handlers
from numpyro.distributions.transforms import biject_to

from ._noticed import PAIRS, differ, noticed
from ._numpyro_sites import Unit, log_prob, samples
from ._quickly import Quickly

Values = dict[str, Any]


@dataclass
class Indexed(Unit):
    """A plate whose members rows index: the member of each entry of an observed site's log density."""

    members: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    def terms(self, trace: Any) -> tuple[Any, Any]:
        units, others = super().terms({n: s for n, s in trace.items() if n not in self.members})
        for name, member in self.members.items():
            if name in trace:
                units = units.at[member].add(log_prob(trace[name]).reshape(-1))
        return units, others


@dataclass
class _Shared:
    """Latent sites that have a value for each of so many members, and what rows notice of these."""

    name: str
    size: int
    #: The axis of each site's value along which members lie.
    axes: dict[str, int]
    is_plate: bool
    members: dict[str, NDArray[np.int64]] | None = None
    #: Whether some rows notice exactly one member, and none two.
    is_indexed: bool = False
    #: Whether the law of the members has parameters that are latent themselves.
    is_drawn: bool = False


def settled(
    model: Callable[..., Any], arguments: Any, trace: Any, unit: Unit, asked: str | int | None
) -> Unit:
    """The unit, with the members of rows where it is a plate that these index; refuses rows that cannot be resampled."""
    if asked is not None and not unit.is_outside:
        return unit  # the user has said so
    known = [_seen(model, arguments, trace, shared) for shared in _shared(trace, unit)]
    indexed = [shared for shared in known if shared.is_indexed]
    if unit.is_outside:
        _refuse_rows_of_their_own(trace, unit.plate)
        (own,) = (shared for shared in known if shared.is_plate and shared.name == unit.plate)
        if own.members is None:
            raise ValueError(
                f"the plate {own.name!r} does not hold the observed sites, and not every row depends on exactly one of its "
                "members: put the observed sites inside it, with a plate of rows within"
            )
        indexed = [shared for shared in indexed if shared is own or shared.is_drawn]
    else:
        # Effects of fixed levels without a plate are coefficients like others.
        indexed = [shared for shared in indexed if shared.is_plate or shared.is_drawn]
    if not indexed:
        return unit
    first, *others = indexed
    if others:
        listed = ", ".join(f"{_words(shared)} ({shared.size})" for shared in indexed)
        raise ValueError(
            f"each row depends on one member of each of several: {listed}. Rows that share a member are not independent, and no "
            "one of these can be resampled without the others"
        )
    if not first.is_plate:
        raise ValueError(
            f"each row depends on one of the {first.size} values of {first.name!r}, whose law has latent parameters: rows that "
            f"share a value are not independent. Draw {first.name!r} inside a plate, as in `with numpyro.plate('groups', "
            f"{first.size}): …`, which is resampled then"
        )
    _refuse_rows_of_their_own(trace, first.name)
    if not unit.is_outside and not (first.is_drawn and first.members is not None):
        raise ValueError(
            f"each row depends on one member of the plate {first.name!r} ({first.size}), which does not hold the observed "
            f"sites. If its members were drawn, as groups are, say unit={first.name!r}: they are resampled with their rows. If "
            f"they are fixed levels, say unit={unit.plate or unit.axis!r}. Or nest plates: that of the rows within that of "
            "their groups"
        )
    return Indexed(first.size, plate=first.name, members=first.members or {})


def _words(shared: _Shared) -> str:
    return f"the plate {shared.name!r}" if shared.is_plate else f"{shared.name!r}"


def _refuse_rows_of_their_own(trace: Any, plate: str | None) -> None:
    """Refuses latent values of rows, whose units a trace does not tell."""
    around = _around(trace)
    for site in samples(trace):
        own = {f.name for f in site["cond_indep_stack"]}
        if not site["is_observed"] and own & around and plate not in own:
            raise ValueError(
                f"{site['name']!r} belongs to rows, and rows to the plate {plate!r}, which they index: nest plates, that of the "
                "rows within that of their groups, so that both are weighted together"
            )


def _around(trace: Any) -> set[str]:
    """The plates that hold observed sites."""
    observed = (site for site in samples(trace) if site["is_observed"])
    return {frame.name for site in observed for frame in site["cond_indep_stack"]}


def _shared(trace: Any, unit: Unit) -> list[_Shared]:
    """Plates of latent sites that do not hold the observed ones, and latent arrays in no plate at all."""
    around = _around(trace)
    plates: dict[str, _Shared] = {}
    arrays: list[_Shared] = []
    for site in samples(trace):
        frames = site["cond_indep_stack"]
        if site["is_observed"] or (unit.dimension(site) is not None and not unit.is_outside):
            continue
        event = site["fn"].event_dim
        for frame in frames:
            if frame.size > 1 and frame.name not in around:
                plate = plates.setdefault(frame.name, _Shared(frame.name, frame.size, {}, True))
                plate.axes[site["name"]] = frame.dim - event
        shape = jnp.shape(site["value"])
        if not frames and shape and shape[0] > 1:
            arrays.append(_Shared(site["name"], shape[0], {site["name"]: -len(shape)}, False))
    return [*plates.values(), *arrays]


def _seen(model: Callable[..., Any], arguments: Any, trace: Any, shared: _Shared) -> _Shared:
    """What rows notice of members that are moved."""
    latent = [site for site in samples(trace) if not site["is_observed"]]
    around = _around(trace)
    watched = [
        site["name"]
        for site in samples(trace)
        if site["is_observed"]
        or (
            site["name"] not in shared.axes
            and any(f.name in around for f in site["cond_indep_stack"])
        )
    ]
    if any(site["fn"].support.is_discrete for site in latent):
        return shared  # which is refused elsewhere
    args, kwargs = arguments

    def densities(values: Values) -> tuple[dict[str, Any], list[Any]]:
        with handlers.block():
            fixed = handlers.substitute(handlers.seed(model, rng_seed=0), data=values)
            found = handlers.trace(fixed).get_trace(*args, **kwargs)
        own = [log_prob(found[name]) for name in shared.axes]
        return {name: log_prob(found[name]).reshape(-1) for name in watched}, own

    many = _at_once(densities)
    rng = np.random.default_rng(0)
    pairs = [(_somewhere(latent, rng), _somewhere(latent, rng)) for _ in range(PAIRS)]
    if len(latent) > len(shared.axes):
        here, there = pairs[0]
        elsewhere = {n: there[n] if n not in shared.axes else value for n, value in here.items()}
        shared.is_drawn = any(differ(a[0], a[1]).any() for a in many([here, elsewhere])[1])
    if not shared.is_plate and not shared.is_drawn:
        return shared  # coefficients

    def rows(pair: int, masks: list[NDArray[np.bool_]]) -> dict[str, Any]:
        return dict(many([_mixed(*pairs[pair], mask, shared) for mask in masks])[0])

    found = noticed(shared.size, rows)
    shared.is_indexed, shared.members = found.is_indexed, found.members
    return shared


def _somewhere(latent: list[Any], rng: np.random.Generator) -> Values:
    """Values of all latent sites near the middle of where they may be, none of them round."""
    values = {}
    for site in latent:
        to = biject_to(site["fn"].support)
        shape = to.inverse_shape(jnp.shape(site["value"]))
        values[site["name"]] = np.asarray(to(jnp.asarray(rng.uniform(-1, 1, shape))))
    return values


def _mixed(here: Values, there: Values, moved: NDArray[np.bool_], shared: _Shared) -> Values:
    """Values here, but for the members that are moved there."""
    values = dict(here)
    for name, axis in shared.axes.items():
        along = [1] * np.ndim(here[name])
        along[axis] = shared.size
        values[name] = np.where(moved.reshape(along), there[name], here[name])
    return values


def _at_once(densities: Callable[[Values], Any]) -> Callable[[list[Values]], Any]:
    """The same for several values, compiled if the model allows it."""

    known: dict[int, Quickly] = {}

    def many(values: list[Values]) -> Any:
        stacked = {name: np.stack([one[name] for one in values]) for name in values[0]}
        try:
            found = known.setdefault(len(values), Quickly(jax.vmap(densities)))(stacked)
        except Exception:
            # A model that looks at its values is run as it is; one that is wrong says so here.
            found = jax.tree.map(lambda *a: np.stack(a), *[densities(one) for one in values])
        return jax.tree.map(np.asarray, found)

    return many
