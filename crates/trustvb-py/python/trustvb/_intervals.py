"""Intervals as a frame of pandas that prints as an answer."""

from __future__ import annotations

from typing import Any

import pandas

from . import _show

_ANSWER = {
    *("functional", "level", "estimate", "lower", "upper", "vb_lower", "vb_upper"),
    *("vb_coverage", "verdict", "warnings"),
}
_COMPARISON = {
    *("functional", "method", "level", "omega", "estimate", "lower", "upper"),
    *("coverage", "coverage_se", "warnings"),
}


class Intervals(pandas.DataFrame):  # type: ignore[misc]
    """A pandas frame in everything but how it is shown, as long as it has the columns that are shown."""

    @property
    def _constructor(self) -> Any:
        return Intervals

    def _shown_by(self, answer: Any, comparison: Any) -> Any:
        """Who can show this frame; nobody if it has been made into something else."""
        columns = set(self.columns)
        numbers = ["estimate", "lower", "upper"]
        if self.empty or self.columns.nlevels > 1 or not self.columns.is_unique:
            return None
        if not columns >= {*numbers, "functional"} or not all(
            pandas.api.types.is_float_dtype(self[name]) for name in numbers
        ):
            return None
        return answer if columns >= _ANSWER else comparison if columns >= _COMPARISON else None

    def _said(self) -> tuple[list[dict[str, Any]], dict[str, str], int | None]:
        bootstraps = self.attrs.get("bootstraps")
        rows = [{**row, "bootstraps": bootstraps} for row in self.to_dict("records")]
        return rows, self.attrs.get("warnings", {}), pandas.get_option("display.max_rows")

    def __repr__(self) -> str:
        show = self._shown_by(_show.answer_text, _show.comparison_text)
        text: str = super().__repr__() if show is None else show(*self._said())
        return text

    def _repr_html_(self) -> str | None:
        show = self._shown_by(_show.answer_html, None)
        text: str | None = super()._repr_html_() if show is None else show(*self._said())
        return text
