"""Fixed points of scikit-learn's variational Gaussian mixture with tied, diagonal and spherical covariances, for
crates/trustvb/tests/covariances.rs.

Run from the root of the repository with `cargo xtask fixtures`, after sklearn_fixpoints.py, which writes iris.csv.

scikit-learn's updates are those of (M1) up to conventions, which the fixture's `prior` undoes, and one formula:

- tied: it divides counts and scatter by K. nu and W^-1 are K times its own, so the prior's are too. E[log|Lambda|] is the
  same for all components and cancels, so its fixed points are exactly ours.
- spherical: it averages over columns instead of adding up. nu and W^-1 are p times its own.
- diagonal and spherical: it takes E[log|Lambda|] for that of a Wishart matrix, which agrees with p independent Gamma
  variables (or one) only for p = 1. `Exact` puts in the right one; with p = 1 scikit-learn is used as it is.
"""

import json
import pathlib

import numpy as np
import sklearn
from scipy.special import digamma
from sklearn.mixture._gaussian_mixture import _estimate_log_gaussian_prob

from fixed_start import FixedStart, fit

FIXTURES = pathlib.Path("crates/trustvb/tests/fixtures")
FAITHFUL = pathlib.Path("crates/trustvb/data/faithful.csv")
SWEEPS = 5000


class Exact(FixedStart):
    """With E[log|Lambda|] of independent precisions."""

    def _estimate_log_prob(self, X, xp=None):
        p, nu = X.shape[1], self.degrees_of_freedom_
        # One precision for all columns has p times as many degrees of freedom.
        shared = p if self.covariance_type == "spherical" else 1
        ln_gauss = _estimate_log_gaussian_prob(X, self.means_, self.precisions_cholesky_, self.covariance_type)
        mean_ln = digamma(0.5 * shared * nu) + np.log(2.0) - np.log(shared * nu)
        return ln_gauss + 0.5 * p * (mean_ln - 1.0 / self.mean_precision_)


def read(path, columns):
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)[:, columns]


def fixed_point(path, columns, shape, centres, nu0, spread):
    x = read(path, columns)
    p, k = x.shape[1], len(centres)
    centres = np.asarray(centres, dtype=float)
    covariance_prior = {
        "tied": nu0 * np.diag(spread),
        "diagonal": nu0 * np.asarray(spread),
        "spherical": nu0 * float(np.mean(spread)),
    }[shape]
    as_is = shape == "tied" or p == 1
    w0_inverse = {"tied": covariance_prior, "diagonal": np.diag(np.atleast_1d(covariance_prior))}.get(
        shape, covariance_prior * np.eye(p)
    )
    mixture = (FixedStart if as_is else Exact)(
        n_components=k,
        covariance_type={"diagonal": "diag"}.get(shape, shape),
        tol=0.0,
        reg_covar=0.0,
        max_iter=SWEEPS,
        weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=1.5,
        mean_precision_prior=0.05,
        mean_prior=x.mean(axis=0),
        degrees_of_freedom_prior=nu0,
        covariance_prior=covariance_prior,
    ).set_start(centres, np.linalg.inv(w0_inverse))
    fit(mixture, x)
    times = {"tied": k, "spherical": p}.get(shape, 1)
    order = np.argsort(-mixture.weight_concentration_, kind="stable")
    of_each = ["weight_concentration_", "mean_precision_", "means_"]
    # Tied ones are not of single components.
    spreads = ["degrees_of_freedom_", "covariances_"]
    found = {name: getattr(mixture, name)[order].tolist() for name in of_each}
    for name in spreads:
        values = np.asarray(getattr(mixture, name))
        found[name] = (values if shape == "tied" else values[order]).tolist()
    return {
        "csv": path.name,
        "columns": columns,
        "covariance": shape,
        "as_it_is": as_is,
        "times": times,
        "initial_centres": centres.tolist(),
        "prior": {
            "alpha0": 1.5,
            "beta0": 0.05,
            "m0": x.mean(axis=0).tolist(),
            "nu0": float(times * nu0),
            "W0": np.linalg.inv(times * w0_inverse).tolist(),
        },
        **found,
    }


def main():
    iris = [[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]]
    old = [[2.0, 55.0], [4.3, 80.0]]
    fits = []
    for shape in ["tied", "diagonal", "spherical"]:
        fits.append(fixed_point(FIXTURES / "iris.csv", [0, 1, 2, 3], shape, iris, 6.0, [0.2, 0.1, 0.2, 0.05]))
        fits.append(fixed_point(FAITHFUL, [0, 1], shape, old, 4.0, [0.2, 40.0]))
        fits.append(fixed_point(FAITHFUL, [0], shape, [[2.0], [4.3]], 3.0, [0.2]))
    note = (
        "Written by `cargo xtask fixtures` (scripts/reference/covariance_fixpoints.py, which tells how conventions are "
        f"matched) with scikit-learn {sklearn.__version__} and numpy {np.__version__}: BayesianGaussianMixture at omega = 1 "
        f"after {SWEEPS} sweeps from the given centres. nu and W^-1 are `times` its degrees of freedom and "
        "`times` degrees_of_freedom_ covariances_; as_it_is: nothing of it is replaced but the start."
    )
    text = json.dumps({"note": note, "fits": fits}, indent=1)
    (FIXTURES / "covariance_fixpoints.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
