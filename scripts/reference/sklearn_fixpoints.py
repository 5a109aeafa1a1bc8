"""Fixed points of scikit-learn's variational Gaussian mixture, for crates/trustvb/tests/sklearn.rs.

Run from the root of the repository

    cargo xtask fixtures

which runs this script in an environment with the versions of benches/requirements.txt. It writes iris.csv and
sklearn_fixpoints.json to crates/trustvb/tests/fixtures. How the start is fixed is told in fixed_start.py.
"""

import csv
import json
import pathlib

import numpy as np
import sklearn
from sklearn.datasets import load_iris

from fixed_start import build, fit

FIXTURES = pathlib.Path("crates/trustvb/tests/fixtures")
SWEEPS = 5000


def read(path):
    with open(path, newline="") as file:
        return np.array([[float(x) for x in row] for row in list(csv.reader(file))[1:]])


def write_iris(path):
    """Fisher's iris measurements (1936), as scikit-learn ships them, without the species."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["sepal_length", "sepal_width", "petal_length", "petal_width"])
        writer.writerows(load_iris().data.tolist())


def paper_prior(x, k):
    """The paper's prior: the Wishart scale W0 is the sample covariance matrix."""
    p = x.shape[1]
    return {
        "alpha0": 1 / k,
        "beta0": 1.0,
        "m0": x.mean(axis=0).tolist(),
        "nu0": p + 2.0,
        "W0": np.cov(x, rowvar=False).tolist(),
    }


def fixed_point(name, path, prior, centres):
    x = read(path)
    mixture = fit(build(prior, centres, tol=0.0, max_iter=SWEEPS), x)
    order = np.argsort(-mixture.weight_concentration_, kind="stable")
    fields = ["weight_concentration_", "mean_precision_", "means_", "degrees_of_freedom_", "covariances_"]
    return {
        "dataset": name,
        "csv": path.name,
        "prior": prior,
        "initial_centres": centres,
        **{field: getattr(mixture, field)[order].tolist() for field in fields},
    }


def main():
    write_iris(FIXTURES / "iris.csv")
    published = json.loads((FIXTURES / "gmm_fixpoints.json").read_text())["datasets"][0]
    iris_centres = [[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]]
    # The paper's prior empties a component of iris; this one keeps all three.
    iris = read(FIXTURES / "iris.csv")
    weak = {**paper_prior(iris, 3), "alpha0": 2.0, "beta0": 0.01}
    weak["W0"] = np.linalg.inv(weak["nu0"] * np.diag([0.2, 0.1, 0.2, 0.05])).tolist()
    fits = [
        fixed_point(
            "faithful", pathlib.Path("crates/trustvb/data/faithful.csv"), published["prior"], published["initial_centres"]
        ),
        fixed_point("iris", FIXTURES / "iris.csv", paper_prior(iris, 3), iris_centres),
        fixed_point("iris, weak prior", FIXTURES / "iris.csv", weak, iris_centres),
    ]
    note = (
        f"Written by `cargo xtask fixtures` (scripts/reference/sklearn_fixpoints.py) with scikit-learn {sklearn.__version__} "
        f"and numpy {np.__version__}: BayesianGaussianMixture at omega = 1 after {SWEEPS} sweeps from the given centres, "
        "reg_covar = 0, components by decreasing weight. prior.W0 is the Wishart scale (covariance_prior is its inverse); "
        "covariances_ is W_k^-1 / nu_k. iris.csv: Fisher (1936), from sklearn.datasets.load_iris."
    )
    text = json.dumps({"note": note, "fits": fits}, indent=1)
    (FIXTURES / "sklearn_fixpoints.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
