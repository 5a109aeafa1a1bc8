"""Fixed standard Normal draws: a Latin hypercube with mean 0 and, where there are enough, covariance I.

Every fit uses the same ones, so that fits differ by the data alone. With their first two moments exact, so is the
expectation of anything quadratic; what is not has far less noise than independent draws would give it.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray


def standard_normal(draws: int, dimension: int, seed: int) -> NDArray[np.float64]:
    """``draws`` × ``dimension`` numbers; each column has the same, evenly spread, in another order."""
    if dimension == 0:
        return np.zeros((draws, 0))
    law = NormalDist()
    even = np.array([law.inv_cdf((i + 0.5) / draws) for i in range(draws)])
    even /= max(even.std(), 1e-300)
    rng = np.random.default_rng(seed)
    found = np.stack([rng.permutation(even) for _ in range(dimension)], axis=1)
    if draws >= 2 * dimension + 2:
        # The columns are nearly uncorrelated already: this makes them so, and hardly moves their quantiles.
        factor = np.linalg.cholesky(found.T @ found / draws)
        found = np.linalg.solve(factor, found.T).T
    return np.ascontiguousarray(found)
