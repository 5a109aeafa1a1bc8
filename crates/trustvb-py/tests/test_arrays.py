"""Arrays and frames of every kind: each behaves as scikit-learn's users expect."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import trustvb
import xarray as xr


@pytest.fixture(scope="module")
def X() -> np.ndarray:  # noqa: N802
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(0, 1, (90, 3)), rng.normal(4, 1, (60, 3))])


@pytest.fixture(scope="module")
def means(X) -> np.ndarray:
    return trustvb.GaussianMixture(2).fit(X).means_


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


SAME = {
    "C order": np.ascontiguousarray,
    "F order": np.asfortranarray,
    "non-contiguous rows": lambda X: np.repeat(X, 2, axis=0)[::2],
    "non-contiguous columns": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "negative strides": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "big-endian": lambda X: X.astype(">f8"),
    "unaligned": lambda X: (
        np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view("f8").reshape(X.shape)
    ),
    "object": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "pandas": pd.DataFrame,
    "pandas, named": lambda X: pd.DataFrame(X, columns=["a", "b", "c"]),
    "pandas, nullable": lambda X: pd.DataFrame(X).astype("Float64"),
    "pandas, Arrow": lambda X: pd.DataFrame(X).astype("float64[pyarrow]"),
    "polars": lambda X: pl.DataFrame(X, schema=["a", "b", "c"]),
    "xarray": lambda X: xr.DataArray(X, dims=("row", "column")),
    "xarray, named": lambda X: xr.DataArray(
        X, dims=("row", "columns"), coords={"columns": ["a", "b", "c"]}
    ),
    "xarray, of a frame": lambda X: xr.DataArray(pd.DataFrame(X, columns=["a", "b", "c"])),
    "columns by name": lambda X: {n: X[:, j] for j, n in enumerate("abc")},
    "Arrow": lambda X: pa.table({n: X[:, j] for j, n in enumerate("abc")}),
    "Arrow, chunked": lambda X: pa.concat_tables(
        [pa.table({n: part[:, j] for j, n in enumerate("abc")}) for part in (X[:40], X[40:])]
    ),
}


@pytest.mark.parametrize("kind", SAME)
def test_the_same_numbers_give_the_same_fit(X, means, kind):
    given = SAME[kind](X)
    model = trustvb.GaussianMixture(2).fit(given)
    np.testing.assert_array_equal(model.means_, means)
    assert model.predict(given).shape == (150,)


def test_input_is_not_changed(X):
    before = X.copy()
    trustvb.GaussianMixture(2).fit(X).predict(X)
    np.testing.assert_array_equal(X, before)


def test_narrow_and_whole_numbers_are_taken(X):
    narrow = trustvb.GaussianMixture(2).fit(X.astype(np.float32))
    np.testing.assert_allclose(narrow.means_, trustvb.GaussianMixture(2).fit(X).means_, rtol=1e-4)
    assert narrow.means_.dtype == np.float64
    trustvb.GaussianMixture(2).fit((10 * X).astype(np.int16))


def test_names_come_from_frames(X):
    for kind in ("pandas, named", "polars", "Arrow", "xarray, named", "columns by name"):
        given = SAME[kind](X)
        model = trustvb.GaussianMixture(2).fit(given)
        assert list(model.feature_names_in_) == ["a", "b", "c"]
        answer = model.intervals("mu[1,b]", method="analytic")
        assert answer.functional[0] == "mu[1,b]"
    assert not hasattr(trustvb.GaussianMixture(2).fit(X), "feature_names_in_")
    model = trustvb.GaussianMixture(2).fit(X)
    assert (
        model.intervals("mu[1,x2]", method="vb").lower[0]
        == model.intervals("mu[1,2]", method="vb").lower[0]
    )


def bad(X, value):
    X = X.copy()
    X[3, 1] = value
    return X


WRONG = {
    "1-d": (lambda X: X[:, 0], ValueError, "(?s)Expected 2D array.*Reshape your data"),
    "0-d": (lambda X: np.float64(3), ValueError, "Expected 2D array"),
    "3-d": (lambda X: X[:, :, None], ValueError, "dim 3"),
    "Series": (lambda X: pd.Series(X[:, 0]), ValueError, "Expected 2D.*Series.*to_frame"),
    "Series of polars": (lambda X: pl.Series(X[:, 0]), ValueError, "Expected 2D.*Series"),
    "lazy": (lambda X: pl.LazyFrame({"a": X[:, 0]}), TypeError, r"lazy frame.*call \.collect\(\)"),
    "xarray, 1-d": (lambda X: xr.DataArray(X[:, 0]), ValueError, "Expected 2D array, got 1D"),
    "Dataset": (lambda X: xr.Dataset({"a": ("i", X[:, 0])}), TypeError, "to_dataframe"),
    "uneven": (lambda X: {"a": X[:, 0], "b": X[:9, 1]}, ValueError, "different lengths"),
    "no rows": (lambda X: X[:0], ValueError, r"0 sample\(s\)"),
    "no columns": (lambda X: X[:, :0], ValueError, r"0 feature\(s\)"),
    "one row": (lambda X: X[:1], ValueError, r"1 sample\(s\)"),
    "NaN": (
        lambda X: bad(X, np.nan),
        ValueError,
        "row 4, column `x2`: `NaN`.*or use LatentClass, which takes them",
    ),
    "infinite": (lambda X: bad(X, np.inf), ValueError, "row 4, column `x2`: `inf`"),
    "None": (
        lambda X: bad(X.astype(object), None),
        ValueError,
        "row 4, column `x2`: `NaN`.*or use LatentClass, which takes them",
    ),
    "complex": (lambda X: X + 1j, ValueError, "Complex data not supported"),
    "text": (lambda X: X.astype(str).astype(object) + "a", ValueError, "holds text"),
    "dates": (lambda X: X.astype("i8").astype("M8[D]"), ValueError, "dates"),
    "a dict in it": (lambda X: bad(X.astype(object), {}), TypeError, "float"),
    "constant column": (lambda X: np.c_[X, np.ones(150)], ValueError, "`x4`"),
    "collinear": (lambda X: np.c_[X, X[:, 0] + X[:, 1]], ValueError, "collinear"),
    "a name twice": (
        lambda X: pd.DataFrame(X, columns=["a", "a", "b"]),
        ValueError,
        "both named `a`",
    ),
    "mixed names": (
        lambda X: pd.DataFrame(X, columns=["a", 1, "b"]),
        TypeError,
        "string names",
    ),
    "missing in pandas": (
        lambda X: pd.DataFrame(X).astype("Float64").mask(pd.DataFrame(X) > 3),
        ValueError,
        "missing or infinite",
    ),
    "missing in polars": (
        lambda X: pl.DataFrame({"a": [1.0, None] * 10, "b": range(20)}),
        ValueError,
        "row 2, column `a`",
    ),
    "missing in Arrow": (
        lambda X: pa.table({"a": [1.0, None] * 10, "b": list(range(20))}),
        ValueError,
        "row 2, column `a`",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_is_said(X, kind):
    make, error, message = WRONG[kind]
    with pytest.raises(error, match=message) as caught:
        trustvb.GaussianMixture(2).fit(make(X))
    assert "--" not in str(caught.value), "advice in the words of the command line"


def test_sparse_data_are_refused(X):
    from scipy.sparse import csr_matrix

    with pytest.raises(TypeError, match="Sparse"):
        trustvb.GaussianMixture(2).fit(csr_matrix(X))


def test_prediction_checks_too(X):
    model = trustvb.GaussianMixture(2).fit(X)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="row 4, column 2 is nan"):
        model.predict_proba(bad(X, np.nan))
    assert model.predict(X[:1]).shape == (1,)
    for kind in ("Series", "Series of polars", "lazy", "Dataset"):
        make, error, message = WRONG[kind]
        with pytest.raises(error, match=message):
            model.predict(make(X))
    with pytest.raises(ValueError, match="not fitted"):
        trustvb.GaussianMixture().predict(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components=0 is not a whole number of at least 1"),
        ({"n_components": 2.5}, "n_components=2.5"),
        ({"n_components": 400}, "150 rows for 400 components; ask for at most 150 as n_components"),
        ({"omega": 0}, "omega=0 must be greater than 0"),
        ({"omega": 1.5}, "omega=1.5"),
        ({"prior": "flat"}, "neither 'default' nor 'paper'"),
        ({"prior": {"alpha": 1}}, "unknown field `alpha`"),
        ({"prior": {"alpha0": -1.0}}, "alpha0"),
        ({"update": "other"}, "unknown variant `other`"),
        ({"random_state": -1}, "random_state=-1"),
        ({"n_init": 0}, "n_init=0"),
        ({"tol": 2}, "tol=2"),
        ({"means_init": [[1.0, 2.0]]}, "centres has 2 numbers but must have 2 rows of 3"),
    ],
    ids=str,
)
def test_parameters_are_checked(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        trustvb.GaussianMixture(**parameters).fit(X)
