"""One model per group of rows."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import trustvb

FEW = {"bootstraps": 100}


@pytest.fixture(scope="module")
def frame() -> pandas.DataFrame:
    faithful = trustvb.load_faithful()
    rows = pandas.DataFrame(faithful)
    return rows.assign(half=np.where(np.arange(len(rows)) % 2 == 0, "even", "odd"))


@pytest.fixture(scope="module")
def answers(frame: pandas.DataFrame) -> pandas.DataFrame:
    return trustvb.GaussianMixture(2, random_state=3).intervals_by(frame, by="half", table=FEW)


def test_a_group_has_the_answers_that_it_has_alone(frame, answers):
    assert answers["half"].drop_duplicates().tolist() == ["even", "odd"]
    assert (answers["rows"] == 136).all() and (answers["error"] == "").all()
    assert answers["few-bootstraps"].all()
    alone = frame[frame["half"] == "odd"].drop(columns="half")
    with pytest.warns(trustvb.CalibrationWarning, match="few-bootstraps"):
        expected = trustvb.GaussianMixture(2, random_state=3).fit(alone).intervals(**FEW)
    found = answers[answers["half"] == "odd"].reset_index(drop=True)
    for column in (
        "functional",
        "estimate",
        "lower",
        "upper",
        "vb_lower",
        "vb_coverage",
        "verdict",
    ):
        assert found[column].tolist() == expected[column].tolist(), column


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", ["polars", "arrow", "dict", "array"])
def test_frames_of_all_kinds_and_any_threads_give_the_same(frame, answers, kind, n_jobs):
    model, by = trustvb.GaussianMixture(2, random_state=3), "half"
    data = {
        "polars": lambda: polars.from_pandas(frame),
        "arrow": lambda: pyarrow.Table.from_pandas(frame),
        "dict": lambda: {name: frame[name].to_numpy() for name in frame},
        "array": lambda: frame.drop(columns="half").to_numpy(),
    }[kind]()
    if kind == "array":
        by = frame["half"]
    found = model.intervals_by(data, by=by, table=FEW, n_jobs=n_jobs)
    assert found["lower"].tolist() == answers["lower"].tolist()
    assert found["half"].tolist() == answers["half"].tolist()


def test_a_group_that_cannot_be_fitted_is_a_row_that_says_why(frame):
    few = pandas.concat([frame, frame.head(1).assign(half="one")])
    with pytest.warns(UserWarning, match="1 of 3 groups could not be fitted"):
        found = trustvb.GaussianMixture(2, random_state=3).intervals_by(few, by="half", table=FEW)
    last = found.iloc[-1]
    assert last["half"] == "one" and last["rows"] == 1 and np.isnan(last["lower"])
    assert "1 sample" in last["error"]


def test_regressions_and_classes_have_groups_too():
    rng = np.random.default_rng(1)
    x, site = rng.normal(size=240), np.repeat(["a", "b"], 120)
    y = np.where(np.arange(240) % 2 == 0, 2 * x, -2 * x) + 0.3 * rng.normal(size=240)
    rows = pandas.DataFrame({"x": x, "y": y, "site": site})
    model = trustvb.MixtureRegression(2, random_state=1)
    found = model.intervals_by("y ~ x", rows, by="site", h="beta[1,x]", table=FEW)
    assert found["site"].tolist() == ["a", "b"]
    items = pandas.DataFrame(rng.random((240, 4)) < np.repeat([[0.9], [0.2]], 120, axis=0))
    items.columns = list("abcd")
    shuffled = items.sample(frac=1, random_state=2).reset_index(drop=True)
    classes = trustvb.LatentClass(2, random_state=1)
    found = classes.intervals_by(shuffled, by=site, h="pi[1]", table=FEW)
    assert found["group"].tolist() == ["a", "b"] and (found["lower"] < found["upper"]).all()


def test_what_is_wrong_with_all_groups_is_said_at_once(frame):
    model = trustvb.GaussianMixture(2)
    with pytest.raises(ValueError, match="no column of the data"):
        model.intervals_by(frame, by="site")
    with pytest.raises(ValueError, match="by has 3 values, but the data have 272 rows"):
        model.intervals_by(frame.drop(columns="half"), by=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"none of 2 groups could be fitted; the first:.*tau"):
        model.intervals_by(frame, by="half", h="tau[1]", table=FEW)
