"""Columns of any kind with missing cells, as the native module takes them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _frames

#: Numbers with NaN for what is missing, or texts with empty ones for it, perhaps with the order of their levels.
Cells: TypeAlias = "NDArray[np.float64] | list[str] | tuple[list[str], list[str]]"


def columns_of(X: Any) -> list[tuple[Cells, bool]]:
    """The cells of each column, and whether its type already says that it is a category."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError(
            "Sparse data was passed, but dense data is required. Use '.toarray()' to make it dense."
        )
    if _frames.is_frame(X):
        found = _frames.pairs_of(_frames.columns_of(X))
        return [_cells(column, f"the column `{name}`") for name, column in found]
    if _frames.is_column(X):
        raise ValueError(
            "Expected 2D array, got 1D array instead: X is a Series, a single column. Give X.to_frame()"
        )
    array = _unmasked(X) if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data either using array.reshape(-1, 1) "
            "if your data has a single feature or array.reshape(1, -1) if it contains a single sample."
        )
    # An array has one type for all its columns, which then says nothing about any of them.
    return [(_values(array[:, j], f"the column x{j + 1}")[0], False) for j in range(array.shape[1])]


def length_of(cells: Cells) -> int:
    """How many there are."""
    return len(cells[0]) if isinstance(cells, tuple) else len(cells)


def _unmasked(array: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    values = array.data.astype(object)
    values[np.ma.getmaskarray(array)] = None
    return values


def _cells(column: Any, name: str) -> tuple[Cells, bool]:
    said = str(getattr(column, "dtype", getattr(column, "type", "")))
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    cells, texts = _values(values, name)
    is_category = said == "category" or said.startswith(("Categorical", "Enum", "dictionary"))
    order = _order(column, said)
    if order is None:
        return cells, texts or is_category
    if not isinstance(cells, list):
        cells = ["" if np.isnan(x) else str(x) for x in np.asarray(cells).tolist()]
    return (cells, order), True


def _order(column: Any, said: str) -> list[str] | None:
    """The order of a category's levels, if its type has one: that of others is the accident of what came first."""
    if said == "category" and hasattr(column, "cat"):  # pandas
        levels = column.cat.categories.tolist()
    elif said.startswith("Enum"):  # polars
        levels = column.dtype.categories.to_list()
    elif said.startswith("dictionary") and getattr(column.type, "ordered", False):  # Arrow
        chunks = getattr(column, "chunks", [column])
        levels = chunks[0].dictionary.to_pylist() if chunks else []
    else:
        return None
    return [str(level).strip() for level in levels]


def _values(array: NDArray[Any], name: str) -> tuple[Cells, bool]:
    """The cells, and whether they are texts or truth values one and all."""
    kind = array.dtype.kind
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; give one value per row")
    if kind == "c":
        raise ValueError(f"Complex data not supported\n{name} has the type {array.dtype}")
    if kind in "mM":
        raise ValueError(f"{name} holds dates or times ({array.dtype}); give numbers or texts")
    if kind in "iuf":
        return _finite(_frames.doubles(array, name), name), False
    values = array.tolist()
    there = [value for value in values if not _is_missing(value)]
    if all(_is_number(value) for value in there):
        numbers = [float("nan") if _is_missing(value) else float(value) for value in values]
        return _finite(np.array(numbers, dtype=np.float64), name), False
    for value in there:
        if not (_is_number(value) or isinstance(value, str | bool | np.bool_)):
            raise TypeError(
                f"{name} holds `{value!s}`, whose type ({type(value).__name__}) is neither a text nor a number; "
                "argument must be a string or a number"
            )
    texts = ["" if _is_missing(value) else str(value).strip() for value in values]
    return texts, all(isinstance(value, str | bool | np.bool_) for value in there)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _is_number(value: Any) -> bool:
    from numbers import Real

    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _finite(column: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    infinite = np.flatnonzero(np.isinf(column))
    if len(infinite):
        row = int(infinite[0])
        raise ValueError(
            f"Input X contains infinity: {name} is {column[row]} in row {row + 1}; a missing cell is NaN or None"
        )
    return column
