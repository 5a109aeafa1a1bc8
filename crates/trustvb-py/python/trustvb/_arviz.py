"""Posterior draws as ArviZ takes them: InferenceData before 1.0, DataTree from then on."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _ask, _frames, _native
from ._plot import STRETCHED, WITHOUT_DENSITY

if TYPE_CHECKING:
    from ._table import Table

Arrays = dict[str, "NDArray[np.float64]"]

_DIMS: dict[str, list[str]] = {
    "pi": ["component"],
    "mu": ["component", "column"],
    "sigma": ["component", "column", "column_"],
    "beta": ["component", "term"],
    "tau": ["component"],
    "noise": ["component"],
}


def to_arviz(
    table: Table,
    h: Any = None,
    *,
    omega: float | None = None,
    level: float = 0.95,
    method: str = "tempered",
    draws: int = 1000,
    chains: int = 4,
    trace: NDArray[np.float64] | None = None,
) -> Any:
    try:
        import arviz
    except ImportError as error:
        raise ImportError("this needs ArviZ: pip install 'trustvb[arviz]'") from error
    n = _ask.whole("draws", draws) * _ask.whole("chains", chains)
    manifest = table.manifest
    (level,) = _ask.levels(level)
    if omega is not None:
        posterior: Arrays = dict(table.draws(omega, n)) if h is None else table.sample(h, omega, n)
        rows: list[dict[str, Any]] = []
    else:
        (method,) = _ask.methods(method, ())
        if method in WITHOUT_DENSITY:
            raise ValueError(f"{method} has no posterior to draw from; tempered has one")
        rows = table._answers(h, level, method, 500)
        posterior = _at_own_omega(table, h, rows, n)
    posterior = {name: x.reshape(chains, draws, *x.shape[1:]) for name, x in posterior.items()}
    every = _coords(manifest["layout"])
    usual = {**_DIMS, **_dims_of_columns(manifest["layout"])}
    dims = {name: usual[name] for name in posterior if name in usual and posterior[name].ndim > 2}
    used = {dim for of in dims.values() for dim in of}
    coords = {dim: values for dim, values in every.items() if dim in used}
    attributes = {
        "inference_library": "trustvb",
        "inference_library_version": _native.__version__,
        "model": manifest["model"]["name"],
        "seed": manifest["seed"],
        "data_hash": manifest["data_hash"],
        "omega": float("nan") if omega is None else float(omega),
        "method": method if omega is None else "none",
        "level": level,
        "omegas": json.dumps({row["functional"]: row["omega"] for row in rows}),
        "draws_are": "independent",
    }
    extra = _calibration(rows, trace)
    if _version(arviz) < (1, 0):
        return _inference_data(arviz, posterior, dims, coords, attributes, extra)
    return _data_tree(arviz, posterior, dims, coords, attributes, extra)


def _coords(layout: dict[str, Any]) -> dict[str, Any]:
    names = layout["coordinates"]
    numbers = list(range(1, layout["n_components"] + 1))
    levels = {f"{b['name']}_level": b["levels"] for b in layout["blocks"] if b.get("levels")}
    return {"component": numbers, "column": names, "column_": names, "term": names, **levels}


def _dims_of_columns(layout: dict[str, Any]) -> dict[str, list[str]]:
    """Of blocks that belong to one column: a number per class, or one per class and level."""
    dims = {}
    for block in layout["blocks"]:
        name = block["name"]
        if block.get("levels"):
            dims[name] = ["component", f"{name}_level"]
        elif block.get("coordinate") is not None:
            dims[name] = ["component"]
            dims[name.replace("mu.", "sd.", 1)] = ["component"]
    return dims


def _at_own_omega(table: Table, h: Any, rows: list[dict[str, Any]], n: int) -> Arrays:
    """Each quantity at its own ω̂. Weights, means and coefficients go into arrays when all are there.

    At a method's ω̂ means from the fit there, or from that at ω = 1, stretched.
    """
    asked = dict(a for a in _ask.functionals(h) if not isinstance(a, str))
    found: Arrays = {}
    for row in rows:
        if not np.isfinite(row["omega"]):
            raise ValueError(
                f"{row['functional']} has no calibrated ω; give omega, or another method"
            )
        stretched = row["method"] in STRETCHED
        where = row["omega"] if stretched else max(row["omega"], float(table.omegas[-1]))
        text = row["text"]
        if text in asked:
            sampled = table._native.sample([(text, asked[text])], where, n, stretched)
        else:
            sampled = table._native.sample([text.split(" [")[0]], where, n, stretched)
        found[row["functional"]] = dict(sampled)[text]
    if h is not None or table.manifest["model"]["name"] == "mixture":
        return found
    k = table.manifest["layout"]["n_components"]
    in_order = list(found.values())
    wide = "mu" if any(name.startswith("mu[") for name in found) else "beta"
    weights = np.stack(in_order[:k], axis=-1)
    means = np.stack(in_order[k:], axis=-1).reshape(n, k, -1)
    return {"pi": weights, wide: means}


def _calibration(rows: list[dict[str, Any]], trace: NDArray[np.float64] | None) -> Any:
    import xarray

    variables: dict[str, Any] = {}
    if rows:
        for name in ("omega", "estimate", "lower", "upper", "coverage", "coverage_se"):
            variables[name] = ("quantity", [row[name] for row in rows])
        variables["warnings"] = ("quantity", [_frames.flags(row, distrust=True) for row in rows])
    if trace is not None and len(trace):
        variables["lower_bound"] = ("sweep", trace)
    return xarray.Dataset(
        variables, {"quantity": [row["functional"] for row in rows]} if rows else {}
    )


def _version(arviz: Any) -> tuple[int, int]:
    major, minor = arviz.__version__.split(".")[:2]
    return int(major), int("".join(c for c in minor if c.isdigit()) or 0)


def _inference_data(
    arviz: Any, posterior: Arrays, dims: Any, coords: Any, attributes: Any, extra: Any
) -> Any:
    data = arviz.from_dict(posterior=posterior, dims=dims, coords=coords, attrs=attributes)
    data["posterior"].attrs.update(attributes)
    # The group is not in ArviZ's schema, which it warns of.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        data.add_groups({"trustvb": extra})
    return data


def _data_tree(
    arviz: Any, posterior: Arrays, dims: Any, coords: Any, attributes: Any, extra: Any
) -> Any:
    import xarray

    data = arviz.from_dict({"posterior": posterior}, dims=dims, coords=coords)
    data.attrs.update(attributes)
    data["posterior"].attrs.update(attributes)
    data["trustvb"] = xarray.DataTree(extra)
    return data
