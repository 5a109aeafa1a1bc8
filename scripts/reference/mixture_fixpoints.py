"""Fixed points of mixtures of columns, from code that shares nothing with trustvb.

Categories and counts at omega = 1 come from BayesPy, limits of a flat prior from StepMix's EM. What neither has (Gaussian
columns with a joint prior, fractions omega < 1) comes from the plain sums below. Writes
crates/trustvb/tests/fixtures/mixture_fixpoints.json; run by `cargo xtask fixtures`.
"""

import json
import warnings
from pathlib import Path

import numpy as np
from bayespy.inference import VB
from bayespy.nodes import Categorical, Dirichlet, Gamma, Mixture, Poisson
from scipy.special import digamma
from stepmix.stepmix import StepMix

OUT = Path(__file__).parents[2] / "crates/trustvb/tests/fixtures/mixture_fixpoints.json"
K = 2


def data():
    """Two classes, two binary items, one of three levels, a count and a number; a tenth of the cells is missing."""
    rng = np.random.default_rng(20261116)
    n = 150
    z = (rng.random(n) < 0.4).astype(int)
    items = [(rng.random(n) < np.where(z, 0.8, 0.25)).astype(float) for _ in range(2)]
    laws = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    three = np.array([rng.choice(3, p=laws[k]) for k in z], dtype=float)
    count = rng.poisson(np.where(z, 5.0, 1.5)).astype(float)
    number = np.round(rng.normal(np.where(z, 2.0, 0.0), 1.0), 6)
    columns = [*items, three, count, number]
    for column in columns:
        column[rng.random(n) < 0.1] = np.nan
    # No row without a value.
    columns[3][np.all([np.isnan(c) for c in columns], axis=0)] = 2.0
    return columns, z


def start(z):
    """Responsibilities to begin with: nearly the truth."""
    r = np.where(z[:, None] == np.arange(K)[None, :], 0.9, 0.1)
    return r / r.sum(axis=1, keepdims=True)


def count_prior(x):
    seen = x[~np.isnan(x)]
    return 0.5, 0.5 / ((seen.sum() + 0.5) / (len(seen) + 1))


def bayespy(columns, z):
    """Items, the three levels and the count by BayesPy."""
    n = len(z)
    weights = Dirichlet(np.ones(K))
    labels = Categorical(weights, plates=(n,))
    labels.initialize_from_value(z)
    nodes, observed = [], []
    for x, levels in zip(columns[:3], (2, 2, 3), strict=True):
        p = Dirichlet(np.full(levels, 1.0 / levels), plates=(K,))
        node = Mixture(labels, Categorical, p)
        there = ~np.isnan(x)
        node.observe(np.where(there, x, 0).astype(int), mask=there)
        nodes.append(p)
        observed.append(node)
    a, b = count_prior(columns[3])
    rate = Gamma(a, b, plates=(K,))
    node = Mixture(labels, Poisson, rate)
    there = ~np.isnan(columns[3])
    node.observe(np.where(there, columns[3], 0).astype(int), mask=there)
    observed.append(node)
    q = VB(*observed, labels, weights, *nodes, rate)
    q.update(*nodes, rate, weights, verbose=False)
    q.update(repeat=5000, tol=0, verbose=False)
    natural = rate.phi
    return {
        "pi": (weights.phi[0]).tolist(),
        "p": [p.phi[0].tolist() for p in nodes],
        "rate": [(natural[1]).tolist(), (-natural[0]).tolist()],
    }


def plain(columns, z, omega, sweeps=20000):
    """All five columns by plain sums, at any omega."""
    n = len(z)
    there = [~np.isnan(x) for x in columns]
    filled = [np.where(t, x, 0.0) for x, t in zip(columns, there, strict=True)]
    x = columns[4][there[4]]
    m0, beta0, nu0 = x.mean(), 0.01, 3.0
    w0 = 0.3 * x.var(ddof=1) / K ** (2 / len(columns))
    a0, b0 = count_prior(columns[3])
    r = start(z)
    old = None
    for _ in range(sweeps):
        alpha = 1.0 + omega * r.sum(axis=0)
        levels = []
        for j, size in enumerate((2, 2, 3)):
            one_hot = (filled[j][:, None] == np.arange(size)) & there[j][:, None]
            levels.append(1.0 / size + omega * r.T @ one_hot)
        a = a0 + omega * r.T @ filled[3]
        b = b0 + omega * r.T @ there[3]
        seen = omega * r.T @ there[4]
        mean = omega * r.T @ filled[4] / seen
        scatter = omega * np.array([(r[:, k] * there[4] * (filled[4] - mean[k]) ** 2).sum() for k in range(K)])
        beta, nu = beta0 + seen, nu0 + seen
        m = (beta0 * m0 + seen * mean) / beta
        w = w0 + scatter + beta0 * seen / (beta0 + seen) * (mean - m0) ** 2
        ln = np.tile(digamma(alpha) - digamma(alpha.sum()), (n, 1))
        for j, p in enumerate(levels):
            ln_p = digamma(p) - digamma(p.sum(axis=1, keepdims=True))
            ln += np.where(there[j][:, None], ln_p[:, filled[j].astype(int)].T, 0.0)
        ln_rate = digamma(a) - np.log(b)
        ln += np.where(there[3][:, None], filled[3][:, None] * ln_rate - a / b, 0.0)
        ln_precision = digamma(nu / 2) + np.log(2.0) - np.log(w)
        form = 1 / beta + nu / w * (filled[4][:, None] - m) ** 2
        ln += np.where(there[4][:, None], 0.5 * (ln_precision - form), 0.0)
        r = np.exp(ln - ln.max(axis=1, keepdims=True))
        r /= r.sum(axis=1, keepdims=True)
        now = np.concatenate([alpha, *[p.ravel() for p in levels], a, b, m, w])
        if old is not None and np.max(np.abs(now - old) / np.abs(now)) < 1e-14:
            break
        old = now
    return {
        "omega": omega,
        "pi": alpha.tolist(),
        "p": [p.tolist() for p in levels],
        "rate": [a.tolist(), b.tolist()],
        "mu": [beta.tolist(), nu.tolist(), m.tolist(), w.tolist()],
    }


def stepmix(columns, z):
    """Maximum likelihood of the two binary items and a third one made of the count, without missing cells."""
    there = ~np.isnan(columns[0]) & ~np.isnan(columns[1]) & ~np.isnan(columns[2]) & ~np.isnan(columns[3])
    items = np.stack([columns[0], columns[1], columns[2] > 0, columns[3] > 2], axis=1)[there].astype(int)
    # Every row ten times: the prior's share is a tenth of what it is.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = StepMix(n_components=K, measurement="binary", n_init=20, max_iter=100000, abs_tol=1e-14, rel_tol=1e-14,
                        random_state=1, progress_bar=0)
        model.fit(items)
    pis = model.get_parameters()["measurement"]["pis"]
    weights = np.asarray(model.weights_)
    order = np.argsort(-weights)
    return {"items": items.T.tolist(), "pi": weights[order].tolist(), "p": np.asarray(pis)[order].tolist()}


def main():
    columns, z = data()
    fixture = {
        "note": "Made by scripts/reference/mixture_fixpoints.py: BayesPy 0.6.6 (categories, count, omega = 1), plain sums"
        " (all columns), StepMix 3.0.0 (maximum likelihood). Dirichlet parameters, Gamma shapes and rates, and beta, nu, m"
        " and W^-1 by class. null is a missing cell.",
        "columns": [[None if np.isnan(x) else x for x in c] for c in columns],
        "bayespy": bayespy(columns, z),
        "plain": [plain(columns, z, omega) for omega in (1.0, 0.4, 0.1)],
        "stepmix": stepmix(columns, z),
    }
    OUT.write_text(json.dumps(fixture) + "\n")


if __name__ == "__main__":
    main()
