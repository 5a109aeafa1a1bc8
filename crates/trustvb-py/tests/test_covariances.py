"""Shapes of covariances, and choosing among them."""

import numpy as np
import pytest
import trustvb

SHAPES = ["full", "tied", "diagonal", "diag", "spherical"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    own = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=400)
    own[:150] += [4, 0]
    return own


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_has_scikit_learns_arrays_and_its_own_predictions(rows, shape):
    model = trustvb.GaussianMixture(2, covariance_type=shape, random_state=1).fit(rows)
    expected = {"full": (2, 2, 2), "tied": (2, 2), "spherical": (2,)}.get(shape, (2, 2))
    assert model.covariances_.shape == expected and model.precisions_.shape == expected
    if shape == "spherical":
        np.testing.assert_allclose(model.precisions_, 1 / model.covariances_)
    proba = model.predict_proba(rows)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    # Rows of the fit are treated as in the fit, which has as many rows in a component as its weight says.
    alpha = 1 + proba.sum(axis=0)
    np.testing.assert_allclose(model.weights_, alpha / alpha.sum(), rtol=1e-6)
    drawn, labels = model.sample(500)
    assert drawn.shape == (500, 2) and set(labels) == {0, 1}
    answers = model.intervals(["pi[1]", "mu[1,1] - mu[2,1]", "sd[2,2]"], bootstraps=500)
    assert len(answers) == 3


def test_criteria_are_scikit_learns(rows):
    sklearn_mixture = pytest.importorskip("sklearn.mixture")
    for ours, theirs in [
        ("full", "full"),
        ("tied", "tied"),
        ("diagonal", "diag"),
        ("spherical", "spherical"),
    ]:
        model = trustvb.GaussianMixture(2, covariance_type=ours, random_state=1).fit(rows)
        other = sklearn_mixture.GaussianMixture(2, covariance_type=theirs)
        other.weights_, other.means_, other.covariances_ = (
            model.weights_,
            model.means_,
            model.covariances_,
        )
        precisions = {
            "full": lambda m: np.linalg.cholesky(np.linalg.inv(m.covariances_)),
            "tied": lambda m: np.linalg.cholesky(np.linalg.inv(m.covariances_)),
        }.get(ours, lambda m: 1 / np.sqrt(m.covariances_))
        other.precisions_cholesky_ = precisions(model)
        assert model.bic(rows) == pytest.approx(other.bic(rows), rel=1e-9)


def test_select_finds_number_and_shape_and_changes_nothing(rows):
    model = trustvb.GaussianMixture(5, random_state=1)
    found = model.select(rows, n_components=range(1, 5), covariance_type="all")
    assert (found.n_components, found.covariance_type) == (2, "tied")
    assert len(found.candidates) == 16 and found.margin > 0
    assert not hasattr(model, "posterior_") and model.n_components == 5
    chosen = found.model().fit(rows)
    assert chosen.covariances_.shape == (2, 2)
    frame = found.to_frame()
    assert frame.loc[frame.bic.idxmin(), "covariance"] == "tied"
    best = next(
        row for row in found.candidates if (row["components"], row["covariance"]) == (2, "tied")
    )
    assert chosen.bic(rows) == pytest.approx(best["bic"], rel=1e-6)
    assert "Recommended: 2 components" in repr(found)


def test_select_works_for_other_models_and_says_what_is_wrong(rows):
    regression = trustvb.MixtureRegression()
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(200, 1))
    y = np.where(np.arange(200) % 2, 3 * x[:, 0], 5 - 4 * x[:, 0]) + 0.1 * rng.standard_normal(200)
    assert regression.select(x, y, n_components=[1, 2, 3]).n_components == 2
    classes = trustvb.LatentClass()
    assert classes.select(rows, n_components=[1, 2, 3]).covariance_type is None
    with pytest.raises(ValueError, match="at least 1"):
        trustvb.GaussianMixture().select(rows, n_components=[])
    with pytest.raises(ValueError, match="at least 1"):
        trustvb.GaussianMixture().select(rows, n_components=[0, 1])
    with pytest.raises(ValueError, match="need at least 402 rows"):
        trustvb.GaussianMixture().select(rows, n_components=[201])
    with pytest.raises(ValueError, match="none of bic, icl, bound and evidence"):
        trustvb.GaussianMixture().select(rows, n_components=[1], criterion="aic")
    with pytest.raises(ValueError, match="none of 'full', 'tied'"):
        trustvb.GaussianMixture(covariance_type="round").fit(rows)
    with pytest.raises(ValueError, match="sample_weight"):
        trustvb.GaussianMixture().select(rows, sample_weight=np.full(400, 0.5))
    twice = trustvb.GaussianMixture().select(
        rows, n_components=[1, 2], sample_weight=np.full(400, 2.0)
    )
    assert twice.model().n_components == 2
