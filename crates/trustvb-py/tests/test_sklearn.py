"""scikit-learn's own checks, and its conventions."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import trustvb
from sklearn.base import clone, is_regressor
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

CODES = (
    "its second column has two values, a code rather than a measurement, and the library says so"
)

#: Checks that are not for us, each with the reason.
NOT_FOR_MIXTURES = {
    "check_sample_weights_shape": CODES,
    "check_sample_weights_not_overwritten": CODES,
    "check_sample_weight_equivalence_on_dense_data": (
        "it fits 27 rows of 30 columns; full covariances need more rows than columns, and the library "
        "says so (weights are tested here on data that allow a fit)"
    ),
}
NOT_FOR_REGRESSIONS = {
    "check_sample_weight_equivalence_on_dense_data": "as above: fewer rows than coefficients",
    "check_regressors_no_decision_function": (
        "predict_proba gives the probabilities of components, which a mixture of regressions has"
    ),
    "check_methods_sample_order_invariance": "score_samples needs the response",
    "check_methods_subset_invariance": "score_samples needs the response",
}


@pytest.mark.filterwarnings(
    "ignore::trustvb.ConvergenceWarning",
    # By design: see _base.py.
    "ignore:.*does not inherit from `sklearn.base.BaseEstimator`:UserWarning",
)
@pytest.mark.parametrize(
    ("estimator", "excluded"),
    [
        (trustvb.GaussianMixture(), NOT_FOR_MIXTURES),
        (trustvb.GaussianMixture(n_components=1), NOT_FOR_MIXTURES),
        (trustvb.MixtureRegression(), NOT_FOR_REGRESSIONS),
        (trustvb.MixtureRegression(fit_intercept=False), NOT_FOR_REGRESSIONS),
    ],
    ids=lambda x: repr(x) if hasattr(x, "fit") else "",
)
def test_estimator_checks(estimator, excluded):
    results = check_estimator(estimator, expected_failed_checks=excluded, on_skip=None)
    assert sum(result["status"] == "passed" for result in results) > 35
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failed == set(excluded), "an excluded check passes: exclude it no longer"


def test_clone_pickle_and_parameters(faithful):
    model = trustvb.GaussianMixture(3, random_state=5, prior={"alpha0": 1.0})
    assert repr(model) == "GaussianMixture(n_components=3, prior={'alpha0': 1.0}, random_state=5)"
    copy = clone(model)
    assert copy.get_params() == model.get_params() and copy is not model
    with pytest.raises(ValueError, match="Invalid parameter 'components'"):
        model.set_params(components=2)
    model.set_params(n_components=2).fit(faithful)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict_proba(faithful), model.predict_proba(faithful))
    np.testing.assert_array_equal(loaded.score_samples(faithful), model.score_samples(faithful))
    first = model.intervals("pi[1]", method="analytic")
    pd.testing.assert_frame_equal(loaded.intervals("pi[1]", method="analytic"), first)


def test_pickled_regressions_still_answer(groups):
    model = trustvb.MixtureRegression(random_state=2).fit("y ~ x | who", groups)
    loaded = pickle.loads(pickle.dumps(model))
    asked = dict(h="beta[1,x] - beta[2,x]", method=["vb", "analytic"])
    pd.testing.assert_frame_equal(loaded.intervals(**asked), model.intervals(**asked))
    np.testing.assert_array_equal(loaded.predict(groups), model.predict(groups))


def test_in_pipelines_and_searches(faithful, groups):
    pipeline = make_pipeline(StandardScaler(), trustvb.GaussianMixture(2)).fit(faithful)
    assert set(pipeline.predict(faithful)) == {0, 1}
    assert np.isfinite(cross_val_score(trustvb.GaussianMixture(2), faithful, cv=3)).all()
    assert is_regressor(trustvb.MixtureRegression())
    scores = cross_val_score(trustvb.MixtureRegression(), groups[["x"]], groups["y"], cv=3)
    assert (scores > 0).all()


def test_attributes(faithful):
    model = trustvb.GaussianMixture(2, random_state=1).fit(faithful)
    assert model.weights_.shape == (2,) and model.weights_[0] > model.weights_[1]
    assert model.means_.shape == (2, 2) and model.covariances_.shape == (2, 2, 2)
    assert model.converged_ and model.n_iter_ >= len(model.lower_bounds_) > 3
    assert (np.diff(model.lower_bounds_) > -1e-9).all()
    assert model.lower_bounds_[-1] == pytest.approx(model.lower_bound_)
    assert list(model.feature_names_in_) == ["eruptions", "waiting"]
    assert model.emptied_ == []
    assert model.weights_[0] == pytest.approx(0.642, abs=1e-3)


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_weights_are_repetitions(faithful):
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, len(faithful))
    weighted = trustvb.GaussianMixture(2).fit(faithful, sample_weight=weights)
    repeated = trustvb.GaussianMixture(2).fit(faithful.loc[faithful.index.repeat(weights)])
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-6)
    np.testing.assert_allclose(weighted.covariances_, repeated.covariances_, rtol=1e-6)
    one = weighted.intervals("pi[1]", bootstraps=50)
    two = repeated.intervals("pi[1]", bootstraps=50)
    np.testing.assert_allclose(one[["lower", "upper"]], two[["lower", "upper"]], rtol=1e-4)


def test_unconverged_fits_are_told(faithful):
    with pytest.warns(trustvb.ConvergenceWarning, match="raise max_iter"):
        model = trustvb.GaussianMixture(3, max_iter=2).fit(faithful)
    assert not model.converged_


def test_responsibilities_are_those_of_the_command(faithful, command, tmp_path):
    file = tmp_path / "r.csv"
    command("fit", "--responsibilities", file, "--quiet")
    theirs = pd.read_csv(file).iloc[:, 1:]
    ours = trustvb.GaussianMixture(2).fit(faithful).predict_proba(faithful)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_scores_and_samples_agree(faithful):
    model = trustvb.GaussianMixture(2).fit(faithful[["eruptions"]].to_numpy())
    x = np.linspace(-20, 30, 200_001)
    density = np.exp(model.score_samples(x[:, None]))
    assert np.trapezoid(density, x) == pytest.approx(1, abs=1e-6)
    rows, labels = model.sample(20_000)
    assert labels.mean() == pytest.approx(model.weights_[1], abs=0.02)
    ours = np.mean(rows[:, 0] < 3)
    assert ours == pytest.approx(np.trapezoid(density[x < 3], x[x < 3]), abs=0.02)
    assert model.score(faithful[["eruptions"]].to_numpy()) > -2


def test_samples_repeat_themselves_only_with_a_seed(faithful):
    free = trustvb.GaussianMixture(2).fit(faithful)
    assert not np.array_equal(free.sample(5)[0], free.sample(5)[0])
    seeded = trustvb.GaussianMixture(2, random_state=1).fit(faithful)
    np.testing.assert_array_equal(seeded.sample(5)[0], seeded.sample(5)[0])
    # Fits and intervals have a seed even so.
    np.testing.assert_array_equal(free.means_, seeded.means_)


def test_criteria_and_precisions_are_those_of_scikit_learn(faithful):
    from sklearn.mixture import GaussianMixture as Theirs

    model = trustvb.GaussianMixture(2).fit(faithful)
    theirs = Theirs(2).fit(faithful)
    theirs.weights_, theirs.means_ = model.weights_, model.means_
    theirs.covariances_ = model.covariances_
    theirs.precisions_cholesky_ = np.array(
        [np.linalg.cholesky(np.linalg.inv(sigma)) for sigma in model.covariances_]
    )
    assert model.bic(faithful) == pytest.approx(theirs.bic(faithful))
    assert model.aic(faithful) == pytest.approx(theirs.aic(faithful))
    np.testing.assert_allclose(model.precisions_, np.linalg.inv(model.covariances_))
    scores = [trustvb.GaussianMixture(k).fit(faithful).bic(faithful) for k in (1, 2)]
    assert scores[1] < scores[0]


@pytest.mark.parametrize(
    ("name", "value", "ours"),
    [
        ("warm_start", True, "means_init"),
        ("reg_covar", 1e-6, "prior"),
        ("init_params", "kmeans", "n_init"),
        ("verbose", 2, "progress"),
        ("weight_concentration_prior", 0.1, "alpha0"),
        ("degrees_of_freedom_prior", 3, "nu0"),
    ],
)
def test_parameters_that_only_scikit_learn_has_are_refused(name, value, ours):
    for estimator in (trustvb.GaussianMixture, trustvb.MixtureRegression):
        with pytest.raises(ValueError, match=f"no parameter '{name}': .*{ours}"):
            estimator(**{name: value})
        with pytest.raises(ValueError, match=f"no parameter '{name}'"):
            estimator().set_params(**{name: value})
    with pytest.raises(TypeError, match="unexpected keyword argument 'wram_start'"):
        trustvb.GaussianMixture(wram_start=True)


def test_every_parameter_of_scikit_learns_mixtures_is_known_or_refused():
    from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

    ours = set(trustvb.GaussianMixture().get_params())
    for theirs in (GaussianMixture, BayesianGaussianMixture):
        for name in set(theirs().get_params()) - ours:
            with pytest.raises(ValueError, match="no parameter"):
                trustvb.GaussianMixture(**{name: None})


def test_a_scaler_is_not_needed_for_intervals_in_the_datas_units(faithful):
    """Units do not matter to the default prior: fitted to the data itself, intervals are those behind a
    scaler, taken back."""
    scaler = StandardScaler()
    pipeline = make_pipeline(scaler, trustvb.GaussianMixture(2)).fit(faithful)
    scaled = pipeline[-1].intervals(["pi[1]", "mu[1,2]"])
    plain = trustvb.GaussianMixture(2).fit(faithful).intervals(["pi[1]", "mu[1,2]"])
    back = lambda x: x * np.array([1, scaler.scale_[1]]) + np.array([0, scaler.mean_[1]])  # noqa: E731
    for name in ("estimate", "lower", "upper", "vb_lower", "vb_upper"):
        np.testing.assert_allclose(back(scaled[name]), plain[name], rtol=1e-6)
