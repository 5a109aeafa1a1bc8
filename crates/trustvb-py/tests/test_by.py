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


class Counting(trustvb.GaussianMixture):
    """Counts fits, and is interrupted after some."""

    made = 0
    most = 10**9

    def fit(self, *args, **kwargs):
        Counting.made += 1
        if Counting.made > Counting.most:
            raise KeyboardInterrupt
        return super().fit(*args, **kwargs)


def test_what_is_kept_is_gone_on_with(tmp_path, monkeypatch):
    rng = np.random.default_rng(8)
    data = pandas.DataFrame({"x": np.where(rng.random(1350) < 0.4, 4.0, 0.0)})
    data["x"] += rng.standard_normal(1350)
    data["site"] = [f"s{i % 45}" for i in range(1350)]
    data.loc[data["site"] == "s7", "x"] = 1.0
    asked = dict(by="site", h=["pi[1]", "mu"], table={"bootstraps": 20}, n_jobs=2)
    model, file = Counting(2, random_state=3), tmp_path / "sites.parquet"
    with pytest.warns(UserWarning, match="1 of 45 groups"):
        expected = model.intervals_by(data, **asked)
    monkeypatch.setattr(Counting, "made", 0)
    monkeypatch.setattr(Counting, "most", 30)
    with pytest.raises(KeyboardInterrupt):
        model.intervals_by(data, keep=file, **asked)
    assert not file.exists() and len(list((tmp_path / "sites.parquet.parts/parts").iterdir())) == 1
    with pytest.raises((ValueError, trustvb.TrustvbError), match="level"):
        model.intervals_by(data, keep=file, level=0.8, **asked)
    with pytest.raises((ValueError, trustvb.TrustvbError), match="data"):
        model.intervals_by(data.assign(x=data["x"] + 1), keep=file, **asked)
    monkeypatch.setattr(Counting, "made", 0)
    monkeypatch.setattr(Counting, "most", 25)
    for made in (25, 25):  # the second time the file is there
        with pytest.warns(UserWarning, match="1 of 45 groups"):
            found = model.intervals_by(data, keep=file, **asked)
        pandas.testing.assert_frame_equal(found, expected)
        assert Counting.made == made
    kept = pandas.read_parquet(file)
    assert (
        kept["lower"].equals(expected["lower"]) and kept["group"].tolist() == found["site"].tolist()
    )


def test_what_cannot_be_kept_is_said(frame, tmp_path):
    model = trustvb.GaussianMixture(2)
    with pytest.raises(ValueError, match=r"\.parquet"):
        model.intervals_by(frame, by="half", keep=tmp_path / "halves.csv")
    with pytest.raises(ValueError, match="functions cannot be kept"):
        model.intervals_by(frame, by="half", h=lambda q: 1.0, keep=tmp_path / "halves.parquet")
    constant = frame.assign(waiting=1.0)
    with pytest.raises(ValueError, match="none of 2 groups"):
        model.intervals_by(constant, by="half", keep=tmp_path / "halves.parquet", table=FEW)
    assert not list(tmp_path.iterdir())
