"""A procedure of one's own: Bayesian logistic regression with a Gaussian variational family.

Jaakkola and Jordan (2000) bound the logistic likelihood by a Gaussian with one number ξ per row. Raised to the power ω
and with a weight w on each row, the posterior N(m, S) and ξ follow from

    S⁻¹ = S0⁻¹ + 2ω Σ w λ(ξ) xxᵀ,   m = ω S Σ w (y − ½) x,   ξ² = xᵀ(S + mmᵀ)x,   λ(ξ) = tanh(ξ/2)/(4ξ).

The data are not what the model thinks: outcomes come in pairs that are copies of each other, half of the rows being
duplicates, so variational Bayes believes that it knows twice as much as it does. Units are pairs: resampling them
shows it.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import trustvb

#: The same draws for every fit: differences between fits are then not noise.
STANDARD = np.random.default_rng(0).standard_normal((500, 2))


def logistic_regression(data, weights, omega, start):
    """Fits pairs of rows; `start` is the state of the fit before, here ξ."""
    X, y = data  # pairs: X has the shape (units, 2, columns), y (units, 2)
    rows, outcomes = X.reshape(-1, X.shape[-1]), y.ravel()
    w = omega * np.repeat(weights, 2)
    xi = np.ones(len(rows)) if start is None else start
    for _ in range(200):
        lam = np.tanh(xi / 2) / (4 * xi)
        precision = np.eye(rows.shape[1]) / 100 + 2 * (rows * (w * lam)[:, None]).T @ rows
        S = np.linalg.inv(precision)
        m = S @ (rows.T @ (w * (outcomes - 0.5)))
        new = np.sqrt(np.einsum("ni,ij,nj->n", rows, S + np.outer(m, m), rows))
        converged = np.abs(new - xi).max() < 1e-8
        xi = new
        if converged:
            break
    draws = m + STANDARD @ np.linalg.cholesky(S).T
    return trustvb.Fit(draws=draws, state=xi, converged=bool(converged))


def make_data(pairs=150, seed=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=pairs)
    y = (rng.random(pairs) < 1 / (1 + np.exp(-(0.3 + 1.2 * x)))).astype(float)
    X = np.stack([np.ones(pairs), x], axis=1)
    return np.repeat(X[:, None], 2, axis=1), np.repeat(y[:, None], 2, axis=1)


def slope(draws):
    return draws[:, 1]


def probability_at_one(draws):
    return 1 / (1 + np.exp(-draws.sum(axis=1)))


if __name__ == "__main__":
    calibration = trustvb.calibrate(
        logistic_regression,
        make_data(),
        {"slope": slope, "P(y = 1 | x = 1)": probability_at_one},
        method=["recommended", "vb", "tempered", "anchored"],
        scale={"P(y = 1 | x = 1)": "unit"},
        bootstraps=200,
        grid=16,
        omega_min=0.1,
        random_state=1,
        n_jobs=1,
    )
    print(calibration.intervals().round(3).to_string(index=False))

    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.6), layout="constrained")
    calibration.plot_coverage("slope", ax=left)
    calibration.plot_density("slope", method=["recommended", "vb", "tempered"], ax=right)
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figure.savefig(folder / "own_fitter.png", dpi=110)
