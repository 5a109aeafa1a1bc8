"""Fixed points of Gaussian mixtures under the default prior, (M4'') and (M8) of docs/METHOD.md, for tests/fixpoints.rs.

No other program has this prior, so the updates are written here once more: from the page, with full matrices in the
data's units, and with a bound whose terms are expectations of log densities, one by one. Full covariances have several
ties, tied ones a single matrix whose scale is learned. Writes crates/trustvb/tests/fixtures/pooled_fixpoints.json; run
by `cargo xtask fixtures`.
"""

import json
from pathlib import Path

import numpy as np
import scipy
from scipy.special import digamma, gammaln, multigammaln

ROOT = Path(__file__).resolve().parents[2] / "crates/trustvb"
SETS = {
    "iris.csv": (ROOT / "tests/fixtures/iris.csv", [[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]]),
    "faithful.csv": (ROOT / "data/faithful.csv", [[2.0, 55.0], [4.3, 80.0]]),
}
SWEEPS = 100_000
ALPHA0, BETA0 = 1.0, 0.01


def ties_of(p, settings):
    """(nu, t, rho) of every tie: the usual one, the loose one, then strong ones where nothing is said of nu0."""
    loose = settings.get("loose", 0.5)
    strong = [] if "nu0" in settings or p == 1 else [p + 20, p + 60, p + 200, p + 600]
    usual = settings.get("nu0", p + 6)
    share = 0.1 * (1 - loose)
    ties = [(usual, usual, 1 - loose - share * len(strong))]
    if loose > 0:
        ties.append((p + 2, 1, loose))
    ties += [(nu, nu, share) for nu in strong]
    assert abs(sum(rho for _, _, rho in ties) - 1) < 1e-12
    return [(float(nu), float(t), float(rho)) for nu, t, rho in ties]


def sum_digamma(p, nu):
    return sum(digamma((nu - j) / 2) for j in range(p))


def expected_ln_det(scale, nu):
    """E[ln|X|] of a Wishart matrix with this scale."""
    p = len(scale)
    return sum_digamma(p, nu) + p * np.log(2) + np.linalg.slogdet(scale)[1]


def ln_wishart(p, nu, ln_det_scale, mean_ln_det, trace):
    """E[ln Wishart(X; V, nu)] given E[ln|V|], E[ln|X|] and E[tr(V^-1 X)]."""
    return (nu - p - 1) / 2 * mean_ln_det - trace / 2 - nu / 2 * (p * np.log(2) + ln_det_scale) - multigammaln(nu / 2, p)


def ln_dirichlet(alpha, mean_ln):
    return gammaln(alpha.sum()) - gammaln(alpha).sum() + ((alpha - 1) * mean_ln).sum()


class Mixture:
    def __init__(self, x, k, omega, shape, settings):
        self.x, self.k, self.omega, self.shape = x, k, omega, shape
        n, p = x.shape
        self.n, self.p = n, p
        self.m0 = x.mean(axis=0)
        self.ties = ties_of(p, settings)
        if shape == "tied":
            nu = float(settings.get("nu0", p + 60))
            self.ties = [(nu, nu, 1.0)]
        self.g = p + 2
        self.h = np.atleast_2d(np.cov(x.T)) / (self.g * k ** (2 / p))
        # Precisions: one for each component, or one for all.
        self.groups = 1 if shape == "tied" else k
        self.q = np.tile([rho for _, _, rho in self.ties], (self.groups, 1))

    def begin(self, centres):
        """Rows belong to centres whose covariance is what the prior guesses: where trustvb starts too."""
        shift = self.x[:, None, :] - np.asarray(centres)[None, :, :]
        guess = self.g * self.h
        form = np.einsum("nki,ij,nkj->nk", shift, np.linalg.inv(guess), shift)
        r = np.exp(-0.5 * (form - form.min(axis=1, keepdims=True)))
        self.r = r / r.sum(axis=1, keepdims=True)
        self.mean_precision = np.tile(np.linalg.inv(guess), (self.groups, 1, 1))
        self.scale()

    def averages(self):
        """Mean t and nu of every precision's ties."""
        return self.q @ [t for _, t, _ in self.ties], self.q @ [nu for nu, _, _ in self.ties]

    def scale(self):
        """q(S)."""
        t, nu = self.averages()
        self.d = self.g + nu.sum()
        self.v = np.linalg.inv(np.linalg.inv(self.h) + np.einsum("k,kij->ij", t, self.mean_precision))
        self.mean_s = self.d * self.v
        self.ln_det_s = expected_ln_det(self.v, self.d)

    def components(self):
        """q(pi), q(mu, Lambda)."""
        t, nu = self.averages()
        counts = self.omega * self.r.sum(axis=0)
        self.alpha, self.beta = ALPHA0 + counts, BETA0 + counts
        # An emptied component has no mean of its own.
        own = self.omega * self.r.T @ self.x / np.maximum(counts, 1e-300)[:, None]
        self.m = (BETA0 * self.m0 + counts[:, None] * own) / self.beta[:, None]
        scatter = []
        for c in range(self.k):
            apart, shift = self.x - own[c], own[c] - self.m0
            within = self.omega * (self.r[:, c, None] * apart).T @ apart
            scatter.append(within + BETA0 * counts[c] / (BETA0 + counts[c]) * np.outer(shift, shift))
        scatter = np.array(scatter)
        if self.shape == "tied":
            scatter, counts = scatter.sum(axis=0, keepdims=True), counts.sum(keepdims=True)
        self.w_inverse = t[:, None, None] * self.mean_s + scatter
        self.w = np.linalg.inv(self.w_inverse)
        self.nu = nu + counts
        self.mean_precision = self.nu[:, None, None] * self.w
        self.ln_det = np.array([expected_ln_det(w, nu) for w, nu in zip(self.w, self.nu, strict=True)])

    def choose(self):
        """q(c)."""
        p = self.p
        trace = np.einsum("ij,kji->k", self.mean_s, self.mean_precision)
        ln = np.stack(
            [
                np.log(rho) + nu / 2 * (p * np.log(t / 2) + self.ln_det_s + self.ln_det)
                - t / 2 * trace - multigammaln(nu / 2, p)
                for nu, t, rho in self.ties
            ],
            axis=1,
        )
        q = np.exp(ln - ln.max(axis=1, keepdims=True))
        self.q = q / q.sum(axis=1, keepdims=True)

    def densities(self):
        """E[ln pi_k] + E[ln N(x_n; mu_k, Lambda_k^-1)]."""
        ln = np.empty((self.n, self.k))
        for c in range(self.k):
            g = 0 if self.shape == "tied" else c
            shift = self.x - self.m[c]
            form = np.einsum("ni,ij,nj->n", shift, self.mean_precision[g], shift)
            ln[:, c] = (self.ln_det[g] - self.p * np.log(2 * np.pi) - self.p / self.beta[c] - form) / 2
        return ln + digamma(self.alpha) - digamma(self.alpha.sum())

    def assign(self):
        ln = self.densities()
        r = np.exp(ln - ln.max(axis=1, keepdims=True))
        self.r = r / r.sum(axis=1, keepdims=True)

    def bound(self):
        """(M1), one expectation after the other, at the parameters as they are."""
        p = self.p
        ln = self.densities()
        entropy = -(self.r * np.log(np.maximum(self.r, 1e-300))).sum()
        total = self.omega * ((self.r * ln).sum() + entropy)
        mean_ln = digamma(self.alpha) - digamma(self.alpha.sum())
        total += ln_dirichlet(np.full(self.k, ALPHA0), mean_ln) - ln_dirichlet(self.alpha, mean_ln)
        for c in range(self.k):
            precision = self.mean_precision[0 if self.shape == "tied" else c]
            shift = self.m[c] - self.m0
            # Normal laws of mu_k given Lambda_k; what is in ln|Lambda_k| and ln 2 pi is in both.
            total += (p * np.log(BETA0) - BETA0 * shift @ precision @ shift - p * BETA0 / self.beta[c]) / 2
            total -= (p * np.log(self.beta[c]) - p) / 2
        for c in range(self.groups):
            trace = np.trace(self.mean_s @ self.mean_precision[c])
            for q, (nu, t, rho) in zip(self.q[c], self.ties, strict=True):
                ln_det_scale = -p * np.log(t) - self.ln_det_s
                total += q * ln_wishart(p, nu, ln_det_scale, self.ln_det[c], t * trace)
                total += q * (np.log(rho) - np.log(max(q, 1e-300)))
            nu = self.nu[c]
            total -= ln_wishart(p, nu, np.linalg.slogdet(self.w[c])[1], self.ln_det[c], nu * p)
        to_prior = np.trace(np.linalg.inv(self.h) @ self.mean_s)
        total += ln_wishart(p, self.g, np.linalg.slogdet(self.h)[1], self.ln_det_s, to_prior)
        total -= ln_wishart(p, self.d, np.linalg.slogdet(self.v)[1], self.ln_det_s, self.d * p)
        return total

    def numbers(self):
        return np.concatenate([self.alpha, self.m.ravel(), self.w_inverse.ravel(), self.nu, self.q.ravel()])

    def run(self):
        """To the fixed point; no step may lower the bound."""
        old, bound, still = None, -np.inf, 0
        for sweep in range(SWEEPS):
            for step in (self.components, self.choose, self.scale, self.assign):
                step()
                if sweep > 0 and sweep < 200:
                    now = self.bound()
                    assert now >= bound - 1e-9 * abs(now), (step.__name__, sweep, now - bound)
                    bound = now
            now = self.numbers()
            if old is not None:
                size = np.maximum(np.abs(now), 1e-3)
                still = still + 1 if np.max(np.abs(now - old) / size) < 3e-13 else 0
                if still >= 5:
                    return sweep
            old = now
        raise RuntimeError("no fixed point")


def fixed_point(name, shape, omega, columns=None, settings=None, centres=None):
    path, usual = SETS[name]
    settings = settings or {}
    x = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    columns = list(range(x.shape[1])) if columns is None else columns
    centres = np.asarray(usual if centres is None else centres, dtype=float)
    centres = centres if centres.shape[1] == len(columns) else centres[:, columns]
    mixture = Mixture(x[:, columns], len(centres), omega, shape, settings)
    mixture.begin(centres)
    sweeps = mixture.run()
    print(name, shape, omega, columns, settings, sweeps, "sweeps, bound", mixture.bound())
    order = np.argsort(-mixture.alpha, kind="stable")
    own = order if shape == "full" else [0]
    return {
        "csv": name,
        "covariance": shape,
        "omega": omega,
        "columns": [j + 1 for j in columns],
        "prior": settings,
        "initial_centres": centres.tolist(),
        "alpha": mixture.alpha[order].tolist(),
        "beta": mixture.beta[order].tolist(),
        "m": mixture.m[order].tolist(),
        "nu": mixture.nu[own].tolist(),
        "W_inverse": mixture.w_inverse[own].tolist(),
        "ties": mixture.q[own].tolist(),
        "bound": mixture.bound(),
    }


def main():
    fits = []
    for omega in (1.0, 0.4, 0.1):
        for name in ("iris.csv", "faithful.csv"):
            for shape in ("full", "tied"):
                fits.append(fixed_point(name, shape, omega))
    for shape in ("full", "tied"):
        fits.append(fixed_point("faithful.csv", shape, 1.0, columns=[1]))
        fits.append(fixed_point("iris.csv", shape, 1.0, settings={"nu0": 12.0}))
    fits.append(fixed_point("iris.csv", "full", 1.0, settings={"loose": 0.0}))
    fits.append(fixed_point("iris.csv", "full", 0.4, settings={"loose": 0.9}))
    fits.append(fixed_point("iris.csv", "full", 1.0, settings={"nu0": 12.0, "loose": 0.0}))
    note = (
        "Made by scripts/reference/pooled_fixpoints.py with numpy "
        f"{np.__version__} and scipy {scipy.__version__}: the default prior's fixed points from given centres, and (M1) there. "
        "nu, W_inverse and ties are those of every component, or of the one matrix that tied covariances have; ties are "
        "the usual one, the loose one and strong ones, in this order."
    )
    text = json.dumps({"note": note, "fits": fits}, indent=1)
    (ROOT / "tests/fixtures/pooled_fixpoints.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
