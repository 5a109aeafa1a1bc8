"""How many components, and which covariances."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _ask, _frames
from ._base import seed_of
from ._frames import FrameName

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_COLUMNS = [
    "components",
    "covariance",
    "free_parameters",
    "log_likelihood",
    "bic",
    "icl",
    "bound",
    "evidence",
]


def select(
    model: Any,
    data: Sequence[Any],
    named: Mapping[str, Any],
    n_components: Iterable[int] | int,
    shapes: Sequence[str],
    criterion: str | None,
    n_jobs: int | None,
) -> Selection:
    """Compares models like ``model`` on the data that its ``fit`` would take."""
    asked = n_components if isinstance(n_components, Iterable) else [n_components]
    try:
        wanted = [operator.index(k) for k in asked]
    except TypeError:
        raise ValueError(
            f"n_components={n_components!r} is no list of whole numbers, such as range(1, 9)"
        ) from None
    if not wanted or min(wanted) < 1:
        raise ValueError("n_components: give whole numbers of at least 1, such as range(1, 9)")
    # One component, one start: only the data are wanted of it.
    simple: dict[str, Any] = {"n_components": 1, "n_init": 1}
    if "means_init" in model.get_params():
        simple["means_init"] = None
    bound = type(model)(**{**model.get_params(), **simple}).fit(*data, **named)
    if bound._weighted:
        raise ValueError(
            "sample_weight has fractions: if they say how much rows count, give weights_are='survey'"
        )
    iteration = json.dumps(
        {
            "seed": seed_of(model.random_state),
            "starts": _ask.whole("n_init", model.n_init),
            "centres": None,
            "tolerance": model.tol,
            "max_sweeps": _ask.whole("max_iter", model.max_iter),
            "acceleration": _ask.whole("acceleration", model.acceleration, least=0),
        }
    )
    text = bound._problem.select(iteration, wanted, list(shapes), criterion, _ask.jobs(n_jobs))
    return Selection(json.loads(text), model)


class Selection:
    """What was compared, and which is recommended.

    Attributes
    ----------
    n_components, covariance_type : what was chosen; the latter is ``None`` for models without shapes.
    criterion, margin : what it was chosen by, and by how much it is better than the next, on the scale of twice a log
        likelihood.
    words : the recommendation in sentences.
    candidates : a dict for each model that was compared, as in the JSON of ``trustvb select``.
    """

    def __init__(self, found: dict[str, Any], model: Any) -> None:
        self._model = model
        self.n_components: int = found["chosen"]["components"]
        self.covariance_type: str | None = found["chosen"]["covariance"]
        self.criterion: str = found["criterion"]
        self.margin = float("inf") if found["margin"] is None else float(found["margin"])
        self.words: list[str] = found["words"]
        self.candidates: list[dict[str, Any]] = found["candidates"]
        self.chosen_by: dict[str, dict[str, Any]] = found["chosen_by"]

    def model(self) -> Any:
        """An estimator with what was chosen, not fitted."""
        changed: dict[str, Any] = {"n_components": self.n_components}
        if "covariance_type" in self._model.get_params():
            changed["covariance_type"] = self.covariance_type
        return type(self._model)(**{**self._model.get_params(), **changed})

    def to_frame(self, frame: FrameName = "pandas") -> pandas.DataFrame | Any:
        """A row for each model that was compared."""
        columns = {name: [row[name] for row in self.candidates] for name in _COLUMNS}
        if all(shape is None for shape in columns["covariance"]):
            del columns["covariance"]
        return _frames.make(columns, frame)

    def plot(self, ax: Axes | None = None, path: str | os.PathLike[str] | None = None) -> Axes:
        """The criterion against the number of components, the chosen one marked; needs matplotlib."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots()
        shapes = list(dict.fromkeys(row["covariance"] for row in self.candidates))
        for shape in shapes:
            own = [row for row in self.candidates if row["covariance"] == shape]
            ax.plot(
                [row["components"] for row in own],
                [row[self.criterion] for row in own],
                marker="o",
                label=shape,
            )
        best = self.chosen_by[self.criterion]
        ax.plot(
            [best["components"]],
            [best[self.criterion]],
            marker="o",
            markersize=14,
            markerfacecolor="none",
            color="black",
            linestyle="none",
        )
        ax.set_xlabel("components")
        better = "higher" if self.criterion in ("bound", "evidence") else "lower"
        ax.set_ylabel(f"{self.criterion.upper()} ({better} is better)")
        if len(shapes) > 1:
            ax.legend()
        if path is not None:
            figure: Any = ax.figure
            figure.savefig(os.fspath(path))
        return ax

    def __repr__(self) -> str:
        named = any(row["covariance"] not in (None, "full") for row in self.candidates)
        lines = []
        for row in self.candidates:
            shape = f"{row['covariance']:<10}" if named else ""
            numbers = "".join(
                f"{'–':>12}" if row[name] is None else f"{row[name]:>12.1f}"
                for name in ("bic", "icl", "bound")
            )
            lines.append(f"{row['components']:>10}  {shape}{numbers}")
        header = "components  " + ("covariance" if named else "")
        header += "".join(f"{name:>12}" for name in ("BIC", "ICL", "bound"))
        return "\n".join([header, *lines, *self.words])
