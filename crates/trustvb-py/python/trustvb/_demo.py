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
    """The 95% intervals to use for the weights and means of two Gaussians in Old Faithful, beside VB's own.

    The same numbers as ``trustvb calibrate`` without arguments.
    """
    from ._mixture import GaussianMixture

    model = GaussianMixture(n_components=2).fit(load_faithful())
    result: pandas.DataFrame = model.intervals(progress=progress)
    return result
