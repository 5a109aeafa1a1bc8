"""Old Faithful, built in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _frames, _native
from ._progress import Wish

if TYPE_CHECKING:
    import pandas


def load_faithful(*, frame: _frames.FrameName = "pandas") -> pandas.DataFrame | Any:
    """The 272 eruptions of the Old Faithful geyser: their length and the waiting time, in minutes."""
    names, columns = _native.faithful()
    return _frames.make(dict(zip(names, columns, strict=True)), frame)


def demo(*, progress: Wish = None) -> pandas.DataFrame:
    """Calibrated 95% intervals for the weights and means of two Gaussians in Old Faithful.

    The same numbers as ``trustvb calibrate`` without arguments.
    """
    from ._mixture import GaussianMixture

    model = GaussianMixture(n_components=2).fit(load_faithful())
    rows = model.table(progress=progress)._answers(None, 0.95, None, 500)
    frame: Any = _frames.answers([{**row, "functional": row["label"]} for row in rows], "pandas")
    shown = ["estimate", "lower", "upper", "omega", "coverage"]
    result: pandas.DataFrame = frame.set_index(["functional", "method"])[shown].round(4)
    return result
