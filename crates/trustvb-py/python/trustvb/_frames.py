"""Frames in and out: pandas, polars, Arrow and plain numpy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

FrameName: TypeAlias = Literal["pandas", "polars", "arrow", "dict"]
Column: TypeAlias = "NDArray[np.float64]"


def settled(x: Any, name: str = "X") -> Any:
    """What others hand over as a frame or an array that the rest of this file knows, or a sentence on why not."""
    kind = type(x)
    if kind.__name__ == "LazyFrame":
        raise TypeError(f"{name} is a lazy frame, which has no rows yet: call .collect() first")
    if kind.__module__.startswith("xarray."):
        if hasattr(x, "data_vars"):
            raise TypeError(
                f"{name} is an xarray Dataset: give {name}.to_dataframe(), or a DataArray of rows and columns"
            )
        return _from_xarray(x)
    if isinstance(x, Mapping) and not hasattr(x, "columns") and not hasattr(x, "toarray"):
        lengths = {str(column): np.size(values) for column, values in x.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of {name} have different lengths: {lengths}")
        return _Named(x)
    return x


class _Named:
    """Columns by name, as a frame."""

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name: Any) -> Any:
        return self._columns[name]


def _from_xarray(x: Any) -> Any:
    """Rows and columns, by their names if the second dimension has any."""
    array = np.asarray(x)
    if array.ndim != 2 or x.dims[1] not in x.coords:
        return array
    names = [*x.coords[x.dims[1]].values.tolist()]
    if not all(isinstance(name, str) for name in names):
        return array
    return _Named({name: array[:, j] for j, name in enumerate(names)})


def is_column(x: Any) -> bool:
    """Whether it is a single column: a Series, or an array of Arrow."""
    return not hasattr(x, "columns") and (
        (hasattr(x, "to_frame") and hasattr(x, "name")) or type(x).__name__ == "ChunkedArray"
    )


def is_frame(x: Any) -> bool:
    """Whether it has named columns: pandas, polars, Arrow, or anything that speaks Arrow."""
    if isinstance(x, np.ndarray) or is_column(x):
        return False
    return (
        (hasattr(x, "columns") and hasattr(x, "__getitem__"))
        or (hasattr(x, "column_names") and hasattr(x, "column"))
        or hasattr(x, "__arrow_c_stream__")
    )


def columns_of(frame: Any) -> dict[Any, Any]:
    """The columns of a frame by name, each as whatever the frame holds it as."""
    if hasattr(frame, "column_names") and hasattr(frame, "column"):
        return {name: frame.column(i) for i, name in enumerate(frame.column_names)}
    if hasattr(frame, "columns") and hasattr(frame, "__getitem__"):
        # By position: pandas allows a name twice, and the library then says so.
        names = list(frame.columns)
        if hasattr(frame, "iloc"):
            return _Pairs((name, frame.iloc[:, i]) for i, name in enumerate(names))
        return {name: frame[name] for name in names}
    import pyarrow

    return columns_of(pyarrow.table(frame))


class _Pairs(dict[Any, Any]):
    """A dict that remembers names that occur twice."""

    def __init__(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        pairs = list(pairs)
        super().__init__(pairs)
        self.pairs = pairs


def pairs_of(columns: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Names with columns, names that occur twice included."""
    return columns.pairs if isinstance(columns, _Pairs) else list(columns.items())


def numbers(column: Any, name: str = "the column") -> Column:
    """A column as doubles: without a copy where it already is one."""
    if hasattr(column, "to_numpy") and hasattr(column, "isna"):  # pandas
        try:
            array = column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            array = column.to_numpy()
    elif hasattr(column, "combine_chunks") or hasattr(column, "to_numpy"):  # Arrow
        array = column.to_numpy()
    else:
        array = np.asarray(column)
    return doubles(array, name)


def doubles(array: Any, name: str = "X") -> Column:
    """An array as aligned doubles in native order; no copy where it already is."""
    array = np.asarray(array)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{name} has the type {array.dtype}")
    if array.dtype.kind in "US" or (array.dtype.kind == "O" and _has_text(array)):
        text = next(x for x in array.ravel().tolist() if isinstance(x, str | bytes))
        raise ValueError(
            f"{name} holds text (`{text!s}`), which could not be converted string to float; "
            "give numbers"
        )
    if array.dtype.kind in "mM":
        raise ValueError(f"{name} holds dates or times ({array.dtype}); give numbers")
    return np.require(array, dtype=np.float64, requirements=["A"])


def _has_text(array: NDArray[Any]) -> bool:
    def is_number(text: Any) -> bool:
        try:
            float(text)
        except ValueError:
            return False
        return True

    return any(isinstance(x, str | bytes) and not is_number(x) for x in array.ravel().tolist())


def texts(column: Any) -> list[str]:
    """A column as text, for groups; whole numbers are written without a point."""
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if values.ndim != 1:
        raise ValueError(f"groups must have one dimension, not {values.ndim}")
    labels = []
    for value in values.tolist():
        if value is None or value != value:
            raise ValueError("a group is missing; fill it in, or leave that row out")
        whole = isinstance(value, float) and value.is_integer()
        labels.append(str(int(value)) if whole else str(value))
    return labels


def make(columns: Mapping[str, Any], frame: FrameName) -> Any:
    """A frame of the kind asked for."""
    if frame == "pandas":
        import pandas

        return pandas.DataFrame(dict(columns))
    if frame == "polars":
        import polars

        return polars.DataFrame(dict(columns))
    if frame == "arrow":
        import pyarrow

        return pyarrow.table(dict(columns))
    if frame == "dict":
        return dict(columns)
    raise ValueError(f"frame={frame!r} is not one of 'pandas', 'polars', 'arrow' and 'dict'")


_COMPARISON = (
    "functional",
    "method",
    "level",
    "omega",
    "estimate",
    "lower",
    "upper",
    "coverage",
    "coverage_se",
)

#: Columns of an answer.
ANSWER = (
    "functional",
    "level",
    "estimate",
    "lower",
    "upper",
    "vb_lower",
    "vb_upper",
    "vb_coverage",
    "vb_coverage_se",
    "verdict",
    "method",
)


def comparison(rows: list[dict[str, Any]], frame: FrameName) -> Any:
    """A row per quantity, method and level. Flags that speak against an interval are in ``warnings``, others in
    ``remarks``, joined by semicolons."""
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in _COMPARISON}
    columns["warnings"] = [flags(row, distrust=True) for row in rows]
    columns["recommended"] = [bool(row["recommended"]) for row in rows]
    columns["remarks"] = [flags(row, distrust=False) for row in rows]
    return _shown(columns, rows, frame)


def answer(rows: list[dict[str, Any]], frame: FrameName) -> Any:
    """A row per quantity and level, as :func:`_answer.one_answer` has them."""
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in ANSWER}
    columns["warnings"] = [flags(row, distrust=True) for row in rows]
    return _shown(columns, rows, frame)


def flags(row: dict[str, Any], *, distrust: bool) -> str:
    """Names of the flags that speak against an interval, or of those that only tell."""
    return ";".join(
        name for name, _, against in zip(*row["flags"], strict=True) if against == distrust
    )


def _shown(columns: dict[str, list[Any]], rows: list[dict[str, Any]], frame: FrameName) -> Any:
    if frame != "pandas":
        return make(columns, frame)
    from ._answer import warnings_of
    from ._intervals import Intervals

    result = Intervals(columns)
    result.attrs["bootstraps"] = rows[0].get("bootstraps") if rows else None
    result.attrs["warnings"] = {name: sentence for name, sentence, _ in warnings_of(rows)}
    return result
