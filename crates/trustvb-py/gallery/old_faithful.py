"""Old Faithful: how much longer must the intervals of two clusters be?

The clusters are far apart, so variational Bayes is nearly right here: the recommended intervals, and `tempered`, which
stretches VB's law, hardly differ from its own; the paper's `tvb`, which compares half samples, makes them longer.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import trustvb

model = trustvb.GaussianMixture(n_components=2, random_state=1).fit(trustvb.load_faithful())
methods = ["recommended", "vb", "tempered", "tvb"]
table = model.table(methods, bootstraps=300, grid=50)
difference = "mu[1,waiting] - mu[2,waiting]"
answers = table.intervals(["pi[1]", difference], level=[0.9, 0.95], method=methods)
print(answers.round(3).to_string(index=False))

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
table.plot_clusters(ax=left)
table.plot_coverage(difference, method=methods, ax=middle)
table.plot_density(difference, method=methods, ax=right)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "old_faithful.png", dpi=110)
