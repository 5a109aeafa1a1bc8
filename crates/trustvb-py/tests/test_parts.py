"""Rows in parts: the numbers of one machine."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas
import pytest
import trustvb
from trustvb import _native
from trustvb.distributed import DistributedMixture, fit


def rows(n: int = 90_000, seed: int = 1) -> pandas.DataFrame:
    """Two overlapping clusters, of so many rows that a fit does not fetch all of them."""
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.35
    values = rng.standard_normal((n, 2)) + 2.2 * labels[:, None]
    return pandas.DataFrame({"a": values[:, 0] + 1e4, "b": values[:, 1]})


@pytest.fixture(scope="module")
def data() -> pandas.DataFrame:
    return rows()


@pytest.fixture(scope="module")
def alone(data):
    return trustvb.GaussianMixture(2, random_state=4).fit(data)


def in_parts(data: pandas.DataFrame, ends=(1, 9_000, 9_000, 20_000)) -> list[pandas.DataFrame]:
    bounds = [0, *ends, len(data)]
    return [data.iloc[a:b] for a, b in itertools.pairwise(bounds)]


def agree(found, alone, quantities=("pi[1]", "mu", "sd[1,1]", "cor[2,1,2]")) -> None:
    np.testing.assert_allclose(
        found.posterior_.parameters, alone.posterior_.parameters, rtol=1e-8, atol=1e-9
    )
    asked = dict(h=list(quantities), method=["jackknife", "vb"], frame="dict")
    ours, theirs = found.intervals(**asked), alone.intervals(**asked)
    assert list(ours["method"]) == list(theirs["method"])
    for name in ("estimate", "lower", "upper"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-7, atol=1e-9)


def test_frames_arrays_and_files_give_one_answer(data, alone, tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    for number, part in enumerate(in_parts(data)):
        if len(part):
            part.to_parquet(folder / f"part-{number}.parquet")
    data.to_csv(tmp_path / "rows.csv", index=False)
    of_frames = fit(in_parts(data), random_state=4)
    agree(of_frames, alone)
    assert isinstance(of_frames, DistributedMixture) and of_frames.n_rows_ == len(data)
    assert list(of_frames.feature_names_in_) == ["a", "b"]
    for given in (folder, sorted(folder.glob("*.parquet")), tmp_path / "rows.csv"):
        agree(fit(given, random_state=4), alone)
    of_arrays = fit([part.to_numpy() for part in in_parts(data)], random_state=4)
    agree(of_arrays, alone)
    # The same parts, the same bits.
    again = fit(in_parts(data), random_state=4)
    assert (again.posterior_.parameters == of_frames.posterior_.parameters).all()
    np.testing.assert_allclose(of_frames.predict_proba(data), alone.predict_proba(data), atol=1e-7)


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_little_bootstraps_are_those_of_one_machine(data, alone):
    found = fit(in_parts(data), random_state=4)
    asked = dict(h=["pi[1]", "mu[2,a]", "sd[1,1]"], subsets=5, bootstraps=60, frame="dict")
    for more in ({}, {"method": ["balanced", "tempered", "bootstrap", "vb"]}):
        ours, theirs = found.intervals(**asked, **more), alone.intervals(**asked, **more)
        assert list(ours) == list(theirs)
        assert list(ours["method"]) == list(theirs["method"])
        for name in ("estimate", "lower", "upper"):
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-6, atol=1e-7)
    with pytest.raises(ValueError, match="subsets=10"):
        found.intervals(method="bootstrap")
    with pytest.raises(ValueError, match="half samples"):
        found.intervals(method="tvb", subsets=5)


def test_columns_are_chosen_and_gaps_left_out(data, tmp_path):
    wide = data.assign(c="text")
    wide.loc[17, "b"] = np.nan
    wide.to_parquet(tmp_path / "wide.parquet")
    found = fit(tmp_path / "wide.parquet", columns=["b", "a"], drop_missing=True, random_state=4)
    there = wide.dropna()[["b", "a"]]
    agree(found, trustvb.GaussianMixture(2, random_state=4).fit(there), ("pi[1]", "mu"))
    assert (found.n_rows_, found.n_dropped_) == (len(data) - 1, 1)
    for columns, words in ((["a", "b"], "missing"), (["a", "c"], "`c`")):
        with pytest.raises(ValueError, match=words):
            fit(tmp_path / "wide.parquet", columns=columns)


def test_what_cannot_be_is_said(data, tmp_path):
    with pytest.raises(TypeError, match="a folder, a file"):
        fit(17)
    with pytest.raises(TypeError, match="an empty list"):
        fit([])
    with pytest.raises(ValueError, match=r"without \*.parquet files"):
        fit(tmp_path)
    with pytest.raises(ValueError, match="part 2 has the columns"):
        fit([data, data[["b", "a"]]])
    with pytest.raises(TypeError, match="not asynchronous"):
        fit([data], client="tcp://somewhere")
    with pytest.raises(ValueError, match="rows in memory"):
        fit([data], covariance_type="tied")
    found = fit([data], random_state=4)
    with pytest.raises(ValueError, match="jackknife"):
        found.compare(method="balanced")
    with pytest.raises(ValueError, match="pickled"):
        pickle.dumps(found)


def test_what_a_keeper_raises_is_raised(data):
    summary = _native.RowsPart.of(
        ["a", "b"], [data["a"].to_numpy(), data["b"].to_numpy()]
    ).summary()

    def refuse(*_):
        raise LookupError("the rows have gone home")

    with pytest.raises(LookupError, match="gone home"):
        _native.Problem.far("rows", [summary], refuse, refuse, trustvb.GaussianMixture()._spec())


def test_a_part_is_pickled_as_it_is(data):
    part = _native.RowsPart.of(["a", "b"], [data["a"].to_numpy(), data["b"].to_numpy()])
    names, n, mean, sd, *_ = part.summary()
    assert (names, n) == (["a", "b"], len(data))
    np.testing.assert_allclose(mean, data.mean(), rtol=1e-12)
    np.testing.assert_allclose(sd, data.std(ddof=0), rtol=1e-9)
    before = pickle.loads(pickle.dumps(part))
    first = part.rows(mean, sd, [5, 2])
    after = pickle.loads(pickle.dumps(part))
    for copy in (before, after):
        assert copy.summary() == part.summary()
        assert (copy.rows(mean, sd, [5, 2]) == first).all()
    assert part.__sizeof__() >= 16 * len(data)
