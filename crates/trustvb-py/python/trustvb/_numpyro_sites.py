"""What NumPyro's traces tell: which plate is the unit, what each unit adds to the bound, and fixed draws of a guide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpyro.distributions as dist
from numpyro.primitives import Messenger


class FixedDraws(Messenger):  # type: ignore[misc]
    """Gives the sites of a guide the values that standard Normal numbers lead to, in their order.

    A site that is not made of Normals is drawn with a key that is the same for every fit.
    """

    def __init__(self, fn: Any, numbers: Any, key: Any) -> None:
        super().__init__(fn)
        self.numbers, self.key, self.used, self.sites = numbers, key, 0, 0

    def process_message(self, message: Any) -> None:
        if message["type"] != "sample" or message["is_observed"] or message["value"] is not None:
            return
        fn, self.sites = message["fn"], self.sites + 1
        shape = base_shape(fn)
        if shape is None:
            if not fn.has_rsample:
                raise ValueError(
                    f"the guide's site {message['name']!r} cannot be differentiated: give it a law whose draws are a function "
                    "of its parameters, as Normal's are"
                )
            message["value"] = fn.rsample(jax.random.fold_in(self.key, self.sites))
            return
        size = _size(shape)
        numbers = self.numbers[self.used : self.used + size].reshape(shape)
        self.used += size
        message["value"], message["intermediates"] = _draw(fn, numbers)


def base_shape(fn: Any) -> tuple[int, ...] | None:
    """The shape of the standard Normal numbers behind a law; None if there are none."""
    if isinstance(fn, dist.Delta):
        return (0,)
    if isinstance(fn, dist.Normal | dist.MultivariateNormal):
        return tuple(fn.shape())
    if isinstance(fn, dist.Independent | dist.TransformedDistribution):
        return base_shape(fn.base_dist)
    if isinstance(fn, dist.ExpandedDistribution):
        inner = fn.base_dist
        return (
            tuple(fn.shape()) if isinstance(inner, dist.Normal | dist.MultivariateNormal) else None
        )
    return None


def _draw(fn: Any, numbers: Any) -> tuple[Any, list[Any]]:
    """The value that these numbers lead to, with the steps on the way that its density needs."""
    if isinstance(fn, dist.Delta):
        return fn.v, []
    if isinstance(fn, dist.Independent | dist.ExpandedDistribution):
        return _draw(fn.base_dist, numbers)
    if isinstance(fn, dist.TransformedDistribution):
        value, steps = _draw(fn.base_dist, numbers)
        for transform in fn.transforms:
            before = value
            value, within = transform.call_with_intermediates(before)
            steps.append([before, within])
        return value, steps
    if isinstance(fn, dist.MultivariateNormal):
        return fn.loc + jnp.squeeze(fn.scale_tril @ numbers[..., None], -1), []
    return fn.loc + fn.scale * numbers, []


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def log_prob(site: Any) -> Any:
    """A site's log density, an entry for each member of its batch."""
    steps = site.get("intermediates")
    found = (
        site["fn"].log_prob(site["value"], steps) if steps else site["fn"].log_prob(site["value"])
    )
    return found if site["scale"] is None else site["scale"] * found


def samples(trace: Any) -> Iterator[Any]:
    """The sample sites of a trace."""
    return (site for site in trace.values() if site["type"] == "sample")


@dataclass
class Unit:
    """What is resampled: a plate, or, in a model without plates, an axis of the observed sites."""

    size: int
    plate: str | None = None
    axis: int = 0
    #: Whether the plate holds no observed site: then rows must index it.
    is_outside: bool = False

    def dimension(self, site: Any) -> int | None:
        """The axis of a site's log density along which its units lie; None if it belongs to no unit."""
        if self.plate is None:
            return self.axis if site["is_observed"] else None
        return next((f.dim for f in site["cond_indep_stack"] if f.name == self.plate), None)

    def terms(self, trace: Any) -> tuple[Any, Any]:
        """The log density of a trace by unit, and that of sites that belong to none."""
        units, others = jnp.zeros(self.size), jnp.zeros(())
        for site in samples(trace):
            found, dimension = log_prob(site), self.dimension(site)
            if dimension is None:
                others = others + found.sum()
            else:
                units = units + jnp.moveaxis(found, dimension, 0).reshape(self.size, -1).sum(axis=1)
        return units, others


def find_unit(trace: Any, asked: str | int | None) -> Unit:
    """The unit that was asked for, or the only one that there can be."""
    for name, site in trace.items():
        if site["type"] == "plate" and site["args"][1] not in (None, site["args"][0]):
            raise ValueError(
                f"the plate {name!r} is subsampled: minibatches make the objective random. Give the model all data, with "
                "subsample_size=None"
            )
    observed = [site for site in samples(trace) if site["is_observed"]]
    if not observed:
        raise ValueError("the model has no observed site: it needs `obs=` with these arguments")
    plates = {f.name: f.size for site in observed for f in site["cond_indep_stack"]}
    if not plates and not isinstance(asked, str):
        return _axis(trace, observed, asked)
    common = {
        name: size
        for name, size in plates.items()
        if all(any(f.name == name for f in site["cond_indep_stack"]) for site in observed)
    }
    listed = ", ".join(f"{name!r} ({size})" for name, size in plates.items()) or "no plate"
    if asked is None and len(common) == 1:
        asked = next(iter(common))
    elif asked is None:
        why = "each of them" if common else "no one plate"
        raise ValueError(
            f"which units are resampled? Observed sites are inside {listed}, and {why} holds all of them: say unit=NAME, the "
            "plate of what was drawn independently, in a hierarchical model that of the groups"
        )
    if not isinstance(asked, str):
        raise ValueError(f"unit={asked!r} is not the name of a plate; there are {listed}")
    latent = {
        f.name: f.size
        for site in samples(trace)
        if not site["is_observed"]
        for f in site["cond_indep_stack"]
    }
    if asked not in plates and asked in latent:
        return Unit(latent[asked], plate=asked, is_outside=True)
    if asked not in common:
        left = [s["name"] for s in observed if all(f.name != asked for f in s["cond_indep_stack"])]
        raise ValueError(
            f"the plate {asked!r} does not hold the observed sites {', '.join(left)}; there are {listed}"
        )
    return Unit(common[asked], plate=asked)


def _axis(trace: Any, observed: list[Any], asked: int | None) -> Unit:
    """The unit of a model without plates."""
    shapes = {site["name"]: jnp.shape(log_prob(site)) for site in observed}
    listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    if asked is None and any(len(shape) != 1 for shape in shapes.values()):
        raise ValueError(
            f"which units are resampled? The model has no plates and the log densities of its observed sites have the shapes "
            f"{listed}: put what is independent into a plate, or say unit=AXIS"
        )
    axis = asked or 0
    sizes = {shape[axis] if -len(shape) <= axis < len(shape) else 0 for shape in shapes.values()}
    if len(sizes) != 1 or 0 in sizes:
        raise ValueError(
            f"observed sites do not have the same number of units along axis {axis}: {listed}"
        )
    (size,) = sizes
    for site in samples(trace):
        if not site["is_observed"] and size in jnp.shape(site["value"]) and size > 1:
            raise ValueError(
                f"{site['name']!r} has as many values as there are units: put both into a plate if each belongs to one, so that "
                "they are weighted together"
            )
    return Unit(size, axis=axis)
