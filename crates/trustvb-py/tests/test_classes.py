"""Latent classes: the command's numbers for the same data, frames of every kind, gaps, new rows."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import trustvb
from conftest import ROOT
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

TYPES = {"visits": "count"}
SMALL = dict(bootstraps=40)


@pytest.fixture(scope="module")
def patients() -> pd.DataFrame:
    """Two overlapping classes, columns of every kind, a tenth of the cells missing."""
    rng = np.random.default_rng(5)
    n = 300
    second = rng.random(n) < 0.35
    frame = pd.DataFrame(
        {
            "smoker": np.where(rng.random(n) < np.where(second, 0.8, 0.25), "yes", "no"),
            "ill": rng.random(n) < np.where(second, 0.7, 0.2),
            "grade": rng.choice(["a", "b", "c"], size=n),
            "visits": rng.poisson(np.where(second, 6.0, 1.5)),
            "age": rng.normal(np.where(second, 60.0, 41.0), 9.0),
            "item": (rng.random(n) < np.where(second, 0.6, 0.3)).astype(int),
        }
    )
    gaps = rng.random(frame.shape) < 0.1
    gaps[gaps.all(axis=1), 0] = False
    return frame.astype(object).mask(gaps, None).infer_objects()


@pytest.fixture(scope="module")
def fitted(patients) -> trustvb.LatentClass:
    return trustvb.LatentClass(2, types=TYPES, random_state=3).fit(patients)


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_numbers_are_those_of_the_command(patients, tmp_path, json_of, command):
    path = tmp_path / "patients.csv"
    patients.to_csv(path, index=False)
    asked = [
        "pi[1]",
        "p[2,smoker,yes]",
        "rate[2,visits] / rate[1,visits]",
        "mu[1,age]",
        "sd[1,age]",
    ]
    said = ["--model", "mixture", "--types", "visits=count", "--seed", "9"]
    theirs = json_of("calibrate", path, *asked, *said, "-B", "40", "--method", "balanced,vb")
    model = trustvb.LatentClass(2, types=TYPES, random_state=9).fit(patients)
    ours = model.compare(asked, method=["balanced", "vb"], **SMALL)
    found = theirs["intervals"]
    assert list(ours.functional) == [row["functional"] for row in found]
    for name in ("estimate", "lower", "upper", "coverage"):
        expected = [np.nan if row[name] is None else row[name] for row in found]
        np.testing.assert_array_equal(ours[name].to_numpy(), np.array(expected, dtype=float))
    fit = json_of("fit", path, *said)
    assert model.lower_bound_ == fit["bound"]
    # Their tables and ours are the same files.
    build = ("table", "build", path, *said, "-B", "40", "--method", "balanced", "--quiet")
    command(*build, "-o", tmp_path / "theirs.tvb")
    model.table("balanced", path=tmp_path / "ours.tvb", **SMALL)
    command("table", "diff", tmp_path / "ours.tvb", tmp_path / "theirs.tvb")


def test_kinds_and_attributes(fitted, patients):
    assert fitted.types_ == {
        "smoker": "category",
        "ill": "category",
        "grade": "category",
        "visits": "count",
        "age": "gaussian",
        "item": "category",
    }
    assert fitted.levels_["ill"] == ["False", "True"] and fitted.levels_["item"] == ["0", "1"]
    assert fitted.n_missing_ == int(patients.isna().sum().sum()) > 100
    assert fitted.probabilities_["grade"].shape == (2, 3)
    np.testing.assert_allclose(fitted.probabilities_["grade"].sum(axis=1), 1.0)
    assert fitted.rates_["visits"][1] == pytest.approx(6.0, abs=1.0)
    assert fitted.means_["age"][0] == pytest.approx(41.0, abs=2.5)
    assert fitted.sds_["age"][0] == pytest.approx(9.0, abs=1.5)
    profile = fitted.profile()
    assert list(profile.columns) == ["column", "value", "class 1", "class 2"]
    assert len(profile) == 1 + 2 + 2 + 3 + 1 + 2 + 2
    assert profile["class 1"][0] == fitted.weights_[0]


def test_frames_of_every_kind_give_the_same_fit(fitted, patients):
    def bound(frame, types=TYPES) -> float:
        return trustvb.LatentClass(2, types=types, random_state=3).fit(frame).lower_bound_

    typed = patients.assign(
        smoker=patients.smoker.astype("category"),
        ill=patients.ill.astype("boolean"),
        grade=patients.grade.astype("string"),
        visits=patients.visits.astype("Int64"),
        item=patients.item.astype("Float64"),
    )
    expected = fitted.lower_bound_
    assert bound(typed) == expected
    columns = {
        name: [None if pd.isna(x) else x for x in column] for name, column in patients.items()
    }
    polars = pl.DataFrame(columns, strict=False)
    assert bound(polars) == expected
    assert bound(polars.with_columns(pl.col("grade").cast(pl.Categorical))) == expected
    assert bound(polars.to_arrow()) == expected
    array = patients.astype(object).to_numpy()
    assert bound(array, {"x4": "count"}) == expected


def test_types_are_what_frames_and_users_say():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(1, 5, 200), "b": rng.normal(size=200)})
    fit = trustvb.LatentClass(2).fit
    assert fit(frame).types_ == {"a": "category", "b": "gaussian"}
    assert fit(frame.assign(a=frame.a * 10)).types_ == {"a": "gaussian", "b": "gaussian"}
    assert fit(frame.astype({"a": "category"})).types_["a"] == "category"
    assert fit(frame.astype({"a": str})).levels_["a"] == ["1", "2", "3", "4"]
    said = trustvb.LatentClass(2, types={"a": "count"})
    assert said.fit(frame.astype({"a": "category"})).types_["a"] == "count"


def test_new_rows(fitted, patients):
    proba = fitted.predict_proba(patients)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    # By Bayes' rule from the numbers of the flat posterior, for rows that are complete.
    from scipy.special import digamma, gammaln

    q = dict(zip(fitted.posterior_.parameter_names, fitted.posterior_.parameters, strict=True))
    row = patients.dropna().iloc[[0]]
    expected = []
    for k in (1, 2):
        alpha = np.array([q["pi.alpha[1]"], q["pi.alpha[2]"]])
        term = digamma(alpha[k - 1]) - digamma(alpha.sum())
        for name in ("smoker", "ill", "grade", "item"):
            levels = fitted.levels_[name]
            alpha = np.array([q[f"p.{name}.alpha[{k},{j + 1}]"] for j in range(len(levels))])
            value = row[name].iloc[0]
            text = str(int(value)) if name == "item" else str(value)
            term += digamma(alpha[levels.index(text)]) - digamma(alpha.sum())
        a, b = q[f"rate.visits.a[{k}]"], q[f"rate.visits.b[{k}]"]
        x = float(row.visits.iloc[0])
        term += x * (digamma(a) - np.log(b)) - a / b - gammaln(x + 1)
        beta, nu = q[f"mu.age.beta[{k}]"], q[f"mu.age.nu[{k}]"]
        m, w = q[f"mu.age.m[{k},1]"], q[f"mu.age.W_inverse[{k},1,1]"]
        x = float(row.age.iloc[0])
        term += 0.5 * (digamma(nu / 2) + np.log(2 / w) - 1 / beta - np.log(2 * np.pi))
        term -= 0.5 * nu * (x - m) ** 2 / w
        expected.append(term)
    odds = np.exp(expected[0] - expected[1])
    np.testing.assert_allclose(fitted.predict_proba(row)[0], [odds / (1 + odds), 1 / (1 + odds)])
    np.testing.assert_array_equal(fitted.predict(patients), proba.argmax(axis=1))
    # Of a row of which nothing is known, only the weights speak.
    nothing = fitted.predict_proba(row.assign(**dict.fromkeys(row.columns, None)))
    np.testing.assert_allclose(nothing[0], fitted.weights_, atol=0.01)
    assert fitted.score(patients) == pytest.approx(fitted.score_samples(patients).mean())


def test_what_cannot_be_is_refused_in_a_sentence(fitted, patients):
    row = patients.dropna().iloc[[0]]
    with pytest.raises(ValueError, match=r"`never`, a level that the fit has not seen.*no, yes"):
        fitted.predict(row.assign(smoker="never"))
    with pytest.raises(ValueError, match="`old`, which is no number"):
        fitted.predict(row.assign(age="old"))
    with pytest.raises(ValueError, match="no count"):
        fitted.predict(row.assign(visits=-1))
    with pytest.raises(ValueError, match="row 3 holds no value at all"):
        trustvb.LatentClass().fit(pd.DataFrame({"a": ["x", "y", None], "b": [1.5, 2, None]}))
    with pytest.raises(ValueError, match="has one value only"):
        trustvb.LatentClass().fit(pd.DataFrame({"a": ["x", "x"], "b": [1.5, 2]}))
    with pytest.raises(ValueError, match="no such column; there are a, b"):
        trustvb.LatentClass(types={"c": "count"}).fit(pd.DataFrame({"a": [1, 2], "b": [1.5, 2]}))
    with pytest.raises(ValueError, match="is not one of gaussian, count, category"):
        trustvb.LatentClass(types={"a": "poisson"}).fit(pd.DataFrame({"a": [1, 2]}))
    with pytest.raises(ValueError, match="infinity"):
        trustvb.LatentClass().fit(pd.DataFrame({"a": [1, np.inf]}))
    with pytest.raises(ValueError, match="dates or times"):
        trustvb.LatentClass().fit(pd.DataFrame({"a": pd.to_datetime(["2020-01-01"] * 3)}))
    with pytest.raises(ValueError, match="neither None nor 'default' nor a dict"):
        trustvb.LatentClass(prior="paper").fit(patients)
    with pytest.raises(ValueError, match="covariance_type"):
        trustvb.LatentClass(covariance_type="full")
    weights = np.arange(1, len(patients) + 1) / 7
    weighted = trustvb.LatentClass(types=TYPES).fit(patients, sample_weight=weights)
    with pytest.raises(ValueError, match="weights_are='survey'"):
        weighted.intervals("pi[1]")
    with pytest.raises(ValueError, match="row 3 has -1"):
        trustvb.LatentClass().fit(patients, sample_weight=np.where(weights == 4 / 7, -1, 1))
    with pytest.raises(ValueError, match="neither 'frequency' nor 'survey'"):
        trustvb.LatentClass(types=TYPES).fit(patients, sample_weight=weights, weights_are="counts")


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_weights_are_repetitions(patients):
    weights = np.where(np.arange(len(patients)) % 3 == 0, 2, 1)
    model = trustvb.LatentClass(types=TYPES, random_state=1)
    weighted = model.fit(patients, sample_weight=weights).lower_bound_
    repeated = clone(model).fit(patients.loc[patients.index.repeat(weights)]).lower_bound_
    assert weighted == pytest.approx(repeated, rel=1e-8)
    # Intervals too: the same units are drawn.
    few = {"bootstraps": 60, "frame": "pandas"}
    one = model.intervals("p[1,smoker,yes]", **few)
    again = clone(model).fit(patients.loc[patients.index.repeat(weights)])
    two = again.intervals("p[1,smoker,yes]", **few)
    np.testing.assert_allclose(one[["lower", "upper"]], two[["lower", "upper"]], rtol=1e-4)
    # And what was pickled is the same problem.
    kept = pickle.loads(pickle.dumps(model)).intervals("p[1,smoker,yes]", **few)
    assert (kept.lower == one.lower).all()


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_survey_weights(patients):
    weights = np.linspace(0.2, 3, len(patients))
    model = trustvb.LatentClass(types=TYPES, random_state=1)
    one, seven = (
        clone(model)
        .fit(patients, sample_weight=times * weights, weights_are="survey")
        .intervals("pi[1]", bootstraps=60)
        for times in (1, 7)
    )
    np.testing.assert_allclose(one[["lower", "upper"]], seven[["lower", "upper"]], rtol=1e-6)
    plain = model.fit(patients).intervals("pi[1]", bootstraps=60)
    assert one.upper[0] - one.lower[0] > plain.upper[0] - plain.lower[0]


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_a_profile(fitted):
    pytest.importorskip("matplotlib").use("Agg")
    ax = fitted.plot_profile(**SMALL)
    assert ax.get_ylabel() == "probability" and ax.get_ylim() == (-0.03, 1.03)
    assert any("smoker = yes" in label.get_text() for label in ax.get_xticklabels())
    assert "standard deviations" in fitted.plot_profile(of="means", **SMALL).get_ylabel()
    with pytest.raises(ValueError, match="neither 'probabilities' nor 'means'"):
        fitted.plot_profile(of="medians", **SMALL)


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_everything_else_that_estimators_have(fitted, patients, tmp_path):
    answers = fitted.intervals(["p[1,smoker,yes]", "rate[1,visits]"], **SMALL)
    assert (answers.lower < answers.estimate).all() and (answers.estimate < answers.upper).all()
    assert "pi[1]" in str(fitted.summary("pi[1]", **SMALL))
    everything = fitted.intervals(**SMALL)
    assert {"pi[1]", "p[1,smoker,yes]", "rate[2,visits]", "mu[1,age]"} <= set(everything.functional)
    own = fitted.intervals(
        lambda draws: draws["p.smoker"][:, 1, 1] - draws["p.smoker"][:, 0, 1], **SMALL
    )
    text = fitted.intervals("p[2,smoker,yes] - p[1,smoker,yes]", **SMALL)
    assert own.estimate[0] == pytest.approx(text.estimate[0], abs=0.02)
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(loaded.predict_proba(patients), fitted.predict_proba(patients))
    np.testing.assert_array_equal(loaded.score_samples(patients), fitted.score_samples(patients))
    pd.testing.assert_frame_equal(
        loaded.intervals("pi[1]", **SMALL), fitted.intervals("pi[1]", **SMALL)
    )
    table = fitted.table("balanced", **SMALL)
    table.save(tmp_path / "kept.tvb")
    kept = trustvb.open_table(tmp_path / "kept.tvb")
    pd.testing.assert_frame_equal(
        kept.intervals("p[1,ill,`True`]"), table.intervals("p[1,ill,`True`]")
    )
    with pytest.raises(ValueError, match="no ellipses"):
        kept.plot_clusters()


def test_criteria_prefer_the_number_of_classes_that_there_are(patients):
    models = [trustvb.LatentClass(k, types=TYPES, random_state=1).fit(patients) for k in (1, 2)]
    assert models[1].bic(patients) < models[0].bic(patients)
    assert models[1].aic(patients) < models[1].bic(patients)
    # One class of complete columns: the likelihood is that of the columns' own shares.
    items = patients[["smoker", "grade"]].dropna()
    alone = trustvb.LatentClass(1, prior={"level0": 1e-9}).fit(items)
    ln = sum(
        float(n * np.log(n / len(items))) for name in items for n in items[name].value_counts()
    )
    assert alone.bic(items) == pytest.approx(-2 * ln + np.log(len(items)) * 3)


def test_sampled_rows_are_like_the_data(fitted):
    rows, labels = fitted.sample(20_000)
    again, _ = fitted.sample(20_000)
    pd.testing.assert_frame_equal(rows, again)
    assert list(rows.columns) == list(fitted.types_) and labels.mean() == pytest.approx(
        fitted.weights_[1], abs=0.01
    )
    second = rows[labels == 1]
    expected = fitted.probabilities_["smoker"][1, 1]
    assert (second.smoker == "yes").mean() == pytest.approx(expected, abs=0.02)
    assert second.visits.mean() == pytest.approx(fitted.rates_["visits"][1], rel=0.03)
    assert second.age.mean() == pytest.approx(fitted.means_["age"][1], abs=0.5)
    assert set(rows.item.unique()) == {0.0, 1.0}
    assert set(fitted.predict(rows)) == {0, 1}


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_arviz(fitted):
    arviz = pytest.importorskip("arviz")
    assert arviz
    data = fitted.to_arviz(omega=1.0, draws=50)
    posterior = data["posterior"]
    assert dict(posterior["p.grade"].sizes) == {
        "chain": 4,
        "draw": 50,
        "component": 2,
        "p.grade_level": 3,
    }
    assert list(posterior["p.grade"].coords["p.grade_level"].values) == ["a", "b", "c"]
    assert posterior["rate.visits"].sizes["component"] == 2
    calibrated = fitted.to_arviz(["p[1,smoker,yes]"], draws=50, **SMALL)
    assert calibrated["posterior"]["p[1,smoker,yes]"].shape == (4, 50)
    everything = fitted.to_arviz(draws=20, **SMALL)
    assert "rate[1,visits]" in everything["posterior"]


@pytest.mark.filterwarnings(
    "ignore::trustvb.ConvergenceWarning",
    "ignore:.*does not inherit from `sklearn.base.BaseEstimator`:UserWarning",
)
def test_estimator_checks():
    results = check_estimator(trustvb.LatentClass(), on_skip=None)
    assert sum(result["status"] == "passed" for result in results) > 35


def test_the_titanic_is_all_there():
    frame = pd.read_csv(ROOT / "docs" / "data" / "titanic.csv")
    assert frame["class"].value_counts().to_dict() == {
        "crew": 885,
        "third": 706,
        "first": 325,
        "second": 285,
    }
    assert frame.sex.value_counts().to_dict() == {"male": 1731, "female": 470}
    assert frame.age.value_counts().to_dict() == {"adult": 2092, "child": 109}
    assert (frame.survived == "yes").sum() == 711


def test_codes_are_categories_and_one_word_is_for_all_columns():
    rng = np.random.default_rng(2)
    k = rng.random(200) < 0.6
    frame = pd.DataFrame(
        {
            "smokes": 1 + (rng.random(200) < np.where(k, 0.8, 0.2)),
            "grade": rng.integers(1, 6, 200),
            "size": rng.normal(np.where(k, 0, 3), 1),
        }
    )
    model = trustvb.LatentClass(2, random_state=1).fit(frame)
    assert list(model.types_.values()) == ["category", "category", "gaussian"]
    assert model.levels_["smokes"] == ["1", "2"] and model.flags_ == {}
    assert "`smokes` (2 values) and `grade` (5 values)" in model.remarks_[0]
    codes = frame[["smokes", "grade"]]
    for kind in ("category", "count"):
        model = trustvb.LatentClass(2, types=kind, random_state=1).fit(codes)
        assert set(model.types_.values()) == {kind} and model.remarks_ == []
    with pytest.raises(ValueError, match="types='ordinal' is not one of"):
        trustvb.LatentClass(types="ordinal").fit(codes)
    with pytest.raises(
        ValueError,
        match=r"column `smokes` has 2 different values only, 1 and 2, .* use LatentClass",
    ):
        trustvb.GaussianMixture(1).fit(frame)
    for types in ("gaussian", {"smokes": "gaussian"}):
        accepted = trustvb.GaussianMixture(1, types=types).fit(frame)
        assert list(accepted.flags_) == ["codes"] and "`smokes` has 2" in accepted.flags_["codes"]
    with pytest.raises(ValueError, match="LatentClass has others"):
        trustvb.GaussianMixture(types={"grade": "count"}).fit(frame)


def test_ordered_levels_keep_their_order():
    size = ["mid", "low", "high", "mid", "low", None] * 20
    order = ["none", "low", "mid", "high"]
    turned = pd.Categorical([3, 1, 2, 3, 2, 1] * 20, categories=[3, 2, 1], ordered=True)
    frame = pd.DataFrame({"size": pd.Categorical(size, order, ordered=True), "turned": turned})
    model = trustvb.LatentClass(2, random_state=1).fit(frame)
    assert model.levels_ == {"size": ["low", "mid", "high"], "turned": ["3", "2", "1"]}
    assert model.predict(frame.head(3)).shape == (3,)
    plain = trustvb.LatentClass(2, random_state=1).fit(frame.astype({"size": object}))
    assert plain.levels_["size"] == ["high", "low", "mid"]
    polars = pytest.importorskip("polars")
    enum = polars.DataFrame(
        {"size": polars.Series(size, dtype=polars.Enum(order)), "other": ["a", "b", "b"] * 40}
    )
    assert trustvb.LatentClass(2).fit(enum).levels_["size"] == ["low", "mid", "high"]
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pandas(frame[["size", "turned"]])
    assert trustvb.LatentClass(2).fit(table).levels_ == model.levels_


def test_a_component_on_a_heap_is_a_flag():
    rng = np.random.default_rng(1)
    spent = np.where(np.arange(300) < 120, 0.0, rng.lognormal(size=300))
    model = trustvb.GaussianMixture(3, random_state=1).fit(spent[:, None])
    assert list(model.flags_) == ["heap"] and "the value 0 in `x1`" in model.flags_["heap"]
    with pytest.warns(trustvb.CalibrationWarning, match="heap"):
        model.intervals("pi[1]", method="vb")


def test_a_column_that_the_model_does_not_fit_is_a_flag():
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.normal(size=400), rng.lognormal(size=400)])
    model = trustvb.GaussianMixture(1, random_state=1).fit(rows)
    assert list(model.flags_) == ["misfit"]
    assert "`x2` in component 1 (a long tail above)" in model.flags_["misfit"]
    with pytest.warns(trustvb.CalibrationWarning, match="take the logarithm"):
        model.intervals("mu[1,x1]", bootstraps=200)
    rows[:, 1] = np.log(rows[:, 1])
    assert trustvb.GaussianMixture(1, random_state=1).fit(rows).flags_ == {}
