"""Variational Bayes with intervals whose coverage can be believed.

>>> import trustvb
>>> model = trustvb.GaussianMixture(n_components=2).fit(trustvb.load_faithful())
>>> model.intervals(["pi[1]", "mu[1,waiting] - mu[2,waiting]"])  # doctest: +SKIP
"""

from __future__ import annotations

from ._calibration import Calibration
from ._classes import LatentClass
from ._demo import demo, load_faithful
from ._draws import Draws
from ._fitter import Fit
from ._messages import CalibrationWarning, ConvergenceWarning, FitFailed
from ._mixture import GaussianMixture
from ._native import TrustvbError, __version__
from ._outside import calibrate, resample_weights
from ._regression import MixtureRegression
from ._select import Selection
from ._study import run_study, study_summary
from ._study_figure import plot_study
from ._study_of import study_of
from ._table import Table, open_table

__all__ = [
    "Calibration",
    "CalibrationWarning",
    "ConvergenceWarning",
    "Draws",
    "Fit",
    "FitFailed",
    "GaussianMixture",
    "LatentClass",
    "MixtureRegression",
    "Selection",
    "Table",
    "TrustvbError",
    "__version__",
    "calibrate",
    "demo",
    "load_faithful",
    "open_table",
    "plot_study",
    "resample_weights",
    "run_study",
    "study_of",
    "study_summary",
]
