"""Mixtures of regressions: formulas, arrays, groups, predictions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import trustvb


def test_formula_and_arrays_are_the_same_model(groups):
    by_formula = trustvb.MixtureRegression(random_state=2).fit("y ~ x | who", groups)
    by_arrays = trustvb.MixtureRegression(random_state=2).fit(groups[["x"]], groups.y, groups.who)
    numpy = trustvb.MixtureRegression(random_state=2).fit(
        groups[["x"]].to_numpy(), groups.y.to_numpy(), groups.who.to_numpy()
    )
    for other in (by_arrays, numpy):
        np.testing.assert_array_equal(by_formula.posterior_.parameters, other.posterior_.parameters)
    assert by_formula.term_names_ == ["(Intercept)", "x"]
    assert by_arrays.formula_ == "y ~ x | group" and numpy.formula_ == "y ~ x1 | group"
    assert by_formula.coef_.shape == (2, 1) and by_formula.intercept_.shape == (2,)
    np.testing.assert_allclose(by_formula.coef_[:, 0], [2.0, -0.5], atol=0.15)
    np.testing.assert_allclose(by_formula.intercept_, [1.0, -1.0], atol=0.15)
    np.testing.assert_allclose(by_formula.noise_precision_, 1.0, atol=0.25)


def test_every_frame_will_do(groups):
    expected = trustvb.MixtureRegression().fit("y ~ x | who", groups).coef_
    columns = {name: groups[name].to_numpy() for name in groups}
    for frame in (pl.DataFrame(columns), pa.table(columns), columns):
        model = trustvb.MixtureRegression().fit("y ~ x | who", frame)
        np.testing.assert_array_equal(model.coef_, expected)


def test_predictions(groups):
    model = trustvb.MixtureRegression().fit("y ~ x + I(x^2) | who", groups)
    without_response = groups.drop(columns=["y", "who"])
    predicted = model.predict(without_response)
    components = model.predict_components(without_response)
    np.testing.assert_allclose(components @ model.weights_, predicted)
    x = groups.x.to_numpy()
    design = np.c_[np.ones(480), x, x**2]
    beta = np.c_[model.intercept_, model.coef_]
    np.testing.assert_allclose(components, design @ beta.T)
    assert 0 < model.score(groups, groups.y) < 1

    membership = model.predict_proba(groups, groups.y, groups.who)
    assert membership.shape == (480, 2)
    np.testing.assert_allclose(membership.sum(axis=1), 1)
    of_groups = membership.reshape(60, 8, 2)
    assert (of_groups == of_groups[:, :1]).all(), "a group has one component"
    np.testing.assert_allclose(model.predict_proba(groups), np.tile(model.weights_, (480, 1)))
    assert model.score_samples(groups, groups.y, groups.who).shape == (60,)
    responses, labels = model.sample(groups, groups.who)
    assert responses.shape == labels.shape == (480,)


def test_densities_integrate_to_one(groups):
    model = trustvb.MixtureRegression().fit(groups[["x"]].to_numpy(), groups.y)
    y = np.linspace(-40, 40, 4001)
    density = np.exp(model.score_samples(np.full((4001, 1), 0.7), y))
    assert np.trapezoid(density, y) == pytest.approx(1, abs=1e-6)


def test_known_noise_and_no_intercept(groups):
    model = trustvb.MixtureRegression(noise=2.0, fit_intercept=False).fit(
        groups[["x"]], groups.y, groups.who
    )
    assert model.formula_ == "y ~ 0 + x | group" and model.term_names_ == ["x"]
    np.testing.assert_array_equal(model.noise_precision_, [2.0, 2.0])
    np.testing.assert_array_equal(model.intercept_, [0, 0])
    with pytest.raises(ValueError, match="noise='loud' is neither"):
        trustvb.MixtureRegression(noise="loud").fit(groups[["x"]], groups.y)


def test_names_that_are_no_names(groups):
    frame = groups.rename(columns={"x": "light level"})
    model = trustvb.MixtureRegression().fit(frame[["light level"]], frame.y, frame.who)
    assert model.term_names_ == ["(Intercept)", "light level"]
    answers = model.intervals("beta[1,2]", method="analytic")
    assert answers.lower[0] < 2 < answers.upper[0]


def test_weights_of_groups(groups):
    weights = np.repeat(np.random.default_rng(1).integers(0, 3, 60), 8)
    # The default prior is for columns standardised by all rows, whatever their weight.
    weighted = trustvb.MixtureRegression(prior="paper")
    weighted.fit("y ~ x | who", groups, sample_weight=weights)
    twice = groups.assign(who=groups.who + "b")
    repeated = pd.concat([groups[weights >= 1], twice[weights == 2]])
    again = trustvb.MixtureRegression(prior="paper").fit("y ~ x | who", repeated)
    np.testing.assert_allclose(weighted.coef_, again.coef_, rtol=1e-6)
    with pytest.raises(ValueError, match="all rows of a group"):
        trustvb.MixtureRegression().fit("y ~ x | who", groups, sample_weight=np.arange(480))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("y ~ x |",), "a formula needs a frame"),
        (("y ~ z", {"y": [1.0, 2.0], "x": [1.0, 3.0]}), "z"),
        (("y x", {"y": [1.0]}), "y x"),
        ((np.ones((4, 1)), None), "requires y"),
        ((np.arange(4.0)[:, None], np.arange(3.0)), "inconsistent numbers of samples"),
        ((np.arange(4.0)[:, None], [1.0, np.nan, 2.0, 1.0]), "y contains NaN"),
        ((np.arange(4.0)[:, None], [1.0, 0.0, 2.0, 1.0], ["a", "b"]), "groups has 2 rows"),
        ((np.arange(4.0)[:, None], [1.0, 0.0, 2.0, 1.0], ["a"] * 4), "1 group for 2 components"),
        (
            (np.arange(4.0)[:, None], [1.0, 0.0, 2.0, 1.0], ["a", None, "b", "b"]),
            "a group is missing",
        ),
    ],
)
def test_what_is_wrong_is_said(arguments, message):
    with pytest.raises(ValueError, match=message):
        trustvb.MixtureRegression().fit(*arguments)


@pytest.mark.parametrize(
    ("formula", "column", "meant"),
    [
        ("y ~ xx | who", "xx", "x"),
        ("yy ~ x | who", "yy", "y"),
        ("y ~ x | whom", "whom", "who"),
        ("y ~ I(xx^2) | who", "xx", "x"),
        ("y ~ . - zz | who", "zz", None),
    ],
)
def test_a_typo_in_a_formula_is_told_with_all_columns(groups, formula, column, meant):
    with pytest.raises(ValueError, match=f"no column `{column}`") as caught:
        trustvb.MixtureRegression().fit(formula, groups)
    assert "its columns are `y`, `x`, `who`" in str(caught.value)
    assert (f"did you mean `{meant}`?" in str(caught.value)) == (meant is not None)


def test_prediction_from_wrong_columns(groups):
    model = trustvb.MixtureRegression().fit("y ~ x | who", groups)
    with pytest.raises(ValueError, match=r"no column `x`, .* its columns are `y`, `who`"):
        model.predict(groups[["y", "who"]])
    with pytest.raises(ValueError, match="no column `y`"):
        model.score_samples(groups[["x"]])
    for wrong in (groups["x"], pl.Series(groups["x"].to_numpy()), groups[["x"]].to_numpy()):
        with pytest.raises(ValueError, match=r"fitted to the formula .*: give a frame"):
            model.predict(wrong)
    lazy = pl.LazyFrame({"x": groups["x"].to_numpy()})
    with pytest.raises(TypeError, match=r"lazy frame.*call \.collect\(\)"):
        model.predict(lazy)
    with pytest.raises(TypeError, match="lazy frame"):
        trustvb.MixtureRegression().fit("y ~ x | who", pl.LazyFrame({"x": [1.0]}))
    with pytest.raises(TypeError, match="y is a lazy frame"):
        trustvb.MixtureRegression().fit(groups[["x"]], lazy)


def test_a_dot_stands_for_the_columns_of_the_fit(groups):
    more = groups.assign(z=np.arange(480.0) % 7)
    model = trustvb.MixtureRegression().fit("y ~ . | who", more)
    expected = model.predict(more)
    np.testing.assert_array_equal(model.predict(more.assign(later=1.0)), expected)
    np.testing.assert_array_equal(model.predict(more[["x", "z"]]), expected)
    with pytest.raises(ValueError, match="no column `z`"):
        model.predict(groups)
    without = trustvb.MixtureRegression().fit("y ~ . - z | who", more)
    assert without.term_names_ == ["(Intercept)", "x"]
    np.testing.assert_array_equal(without.predict(groups[["x"]]), without.predict(more))


def test_samples_repeat_themselves_only_with_a_seed(groups):
    fit = lambda state: trustvb.MixtureRegression(random_state=state).fit("y ~ x | who", groups)  # noqa: E731
    free, seeded = fit(None), fit(3)
    assert not np.array_equal(free.sample(groups)[0], free.sample(groups)[0])
    np.testing.assert_array_equal(seeded.sample(groups)[0], seeded.sample(groups)[0])
