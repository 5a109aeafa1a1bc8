"""Two kinds of plants: growth against light, measured several times on each plant.

All measurements of a plant belong to one kind, so plants are the units that are resampled, and the formula says so
after the bar.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import trustvb

rng = np.random.default_rng(4)
plants, times = 150, 5
sun_loving = np.repeat(rng.random(plants) < 0.6, times)
light = rng.uniform(0, 10, plants * times)
growth = np.where(sun_loving, 1.0 + 0.9 * light, 3.5 + 0.2 * light) + rng.normal(
    0, 1.8, plants * times
)
frame = pd.DataFrame(
    {"growth": growth, "light": light, "plant": np.repeat(np.arange(plants), times)}
)

model = trustvb.MixtureRegression(n_components=2, random_state=1)
model.fit("growth ~ light | plant", frame)
methods = ["recommended", "vb", "tempered"]
table = model.table(methods, bootstraps=300)
slopes = "beta[1,light] - beta[2,light]"
answers = table.intervals(["pi[1]", slopes], method=[*methods, "jackknife"])
print(answers.round(3).to_string(index=False))

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
table.plot_clusters(ax=left)
table.plot_density("pi[1]", method=methods, ax=middle)
table.plot_density(slopes, method=methods, ax=right)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "mixture_regression.png", dpi=110)
