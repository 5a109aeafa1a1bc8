"""A quantity of one's own: the Bhattacharyya overlap of two clusters, as a function of draws.

The data are two overlapping Gaussians. No formula gives the law of the overlap, so it is evaluated at draws of all
parameters, in batches.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import trustvb


def overlap(draws: trustvb.Draws) -> np.ndarray:
    """The Bhattacharyya coefficient of components 1 and 2: 1 if they are the same, 0 if far apart."""
    shift = draws["mu"][:, 0] - draws["mu"][:, 1]
    first, second = draws["sigma"][:, 0], draws["sigma"][:, 1]
    middle = 0.5 * (first + second)
    distance = np.einsum("ni,ni->n", shift, np.linalg.solve(middle, shift[..., None])[..., 0])
    volume = np.linalg.det(middle) / np.sqrt(np.linalg.det(first) * np.linalg.det(second))
    return np.exp(-distance / 8) / np.sqrt(volume)


rng = np.random.default_rng(7)
first = rng.random(600) < 0.65
X = np.where(first[:, None], 0.0, 2.2) + rng.normal(size=(600, 2))

model = trustvb.GaussianMixture(n_components=2, random_state=1).fit(X)
methods = ["recommended", "vb", "tempered"]
table = model.table(methods, bootstraps=200)
answers = table.intervals([overlap, "pi[1]"], method=methods, draws=200)
print(answers.round(3).to_string(index=False))

figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.6), layout="constrained")
table.plot_clusters(ax=left)
table.plot_density(overlap, method=methods, draws=200, ax=right)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "own_functional.png", dpi=110)
