"""Draws from a posterior, by quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Base = dict[str, NDArray[np.float64]]
else:
    _Base = dict


class Draws(_Base):
    """Arrays by the name of the quantity, with the draws along the first axis.

    Gaussian mixtures have ``pi (n, K)``, ``mu (n, K, p)`` and ``sigma (n, K, p, p)``; mixtures of
    regressions ``pi``, ``beta (n, K, p)``, ``tau (n, K)`` and, when it is estimated, ``noise (n, K)``.
    Latent classes have ``pi`` and, for each column by its name, ``p.smoker (n, K, levels)``, ``rate.visits (n, K)``, or
    ``mu.age (n, K)`` and ``sd.age (n, K)``.
    ``sd (n, K, p)`` and ``cor (n, K, p, p)`` are computed when they are asked for. Components and columns
    count from 0 here, as everywhere in Python.
    """

    def __missing__(self, name: str) -> NDArray[np.float64]:
        if name not in ("sd", "cor") or "sigma" not in self:
            known = [*self, *(["sd", "cor"] if "sigma" in self else [])]
            raise KeyError(f"there is no quantity {name!r}; there are {', '.join(known)}")
        sd = np.sqrt(np.diagonal(self["sigma"], axis1=-2, axis2=-1))
        self["sd"] = sd
        self["cor"] = self["sigma"] / (sd[..., :, None] * sd[..., None, :])
        return self[name]
