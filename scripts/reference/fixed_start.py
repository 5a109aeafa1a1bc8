"""scikit-learn's variational Gaussian mixture with trustvb's prior and trustvb's start."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture
from threadpoolctl import threadpool_limits


class FixedStart(BayesianGaussianMixture):
    """`BayesianGaussianMixture` offers no start at given centres, so its private
    `_initialize_parameters` is replaced: it hands over responsibilities instead of asking k-means for them.

    They are those of an E-step from q(theta) with every parameter at its prior but the means at the centres,
    r_nk proportional to exp(-nu0/2 (x_n - c_k)' W0 (x_n - c_k)), which is where trustvb starts, so both programs go
    through the same sweeps.
    """

    def set_start(self, centres, w0):
        self.start_centres_ = np.asarray(centres, dtype=float)
        self.start_w0_ = np.asarray(w0, dtype=float)
        return self

    def _initialize_parameters(self, X, random_state, xp=None):
        shift = X[:, None, :] - self.start_centres_[None, :, :]
        form = np.einsum("nki,ij,nkj->nk", shift, self.start_w0_, shift, optimize=True)
        log_resp = -0.5 * self.degrees_of_freedom_prior * form
        resp = np.exp(log_resp - log_resp.max(axis=1, keepdims=True))
        self._initialize(X, resp / resp.sum(axis=1, keepdims=True))


def build(prior, centres, tol, max_iter):
    """The mixture with a prior given as {alpha0, beta0, m0, nu0, W0}; scikit-learn takes W0^-1."""
    return FixedStart(
        n_components=len(centres),
        covariance_type="full",
        tol=tol,
        reg_covar=0.0,
        max_iter=max_iter,
        n_init=1,
        weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=prior["alpha0"],
        mean_precision_prior=prior["beta0"],
        mean_prior=np.asarray(prior["m0"], dtype=float),
        degrees_of_freedom_prior=prior["nu0"],
        covariance_prior=np.linalg.inv(np.asarray(prior["W0"], dtype=float)),
    ).set_start(centres, prior["W0"])


def fit(mixture, x):
    """Fits on one thread. Stopping at `max_iter` is not worth a warning here; callers look at the result."""
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(x)
