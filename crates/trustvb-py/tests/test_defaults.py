"""What is meant where nothing is said: Python's signatures have the library's values."""

from __future__ import annotations

import inspect

import pytest
import trustvb
from trustvb import _native
from trustvb._table import Table

MODELS = [trustvb.GaussianMixture, trustvb.MixtureRegression, trustvb.LatentClass]
CALLS = [
    *(getattr(model, name) for model in MODELS for name in ("__init__", "table", "intervals")),
    *(getattr(model, name) for model in MODELS for name in ("compare", "summary")),
    *(Table.intervals, Table.compare, Table.summary, Table.coverage_curve),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__qualname__)
def test_signatures(call):
    usual = _native.defaults()
    parameters = inspect.signature(call).parameters
    shared = [name for name in parameters if name in usual]
    assert shared
    for name in shared:
        assert parameters[name].default == usual[name], name


def test_a_fit_and_a_table_without_a_word(faithful):
    usual = _native.defaults()
    manifest = trustvb.GaussianMixture().fit(faithful).table("vb").manifest
    assert manifest["bootstraps"] == usual["bootstraps"]
    assert manifest["omega_min"] == usual["omega_min"]
    assert manifest["path"]["fit"]["max_sweeps"] == usual["max_iter"]
    assert manifest["path"]["fit"]["stopping"] == {"relative": usual["tolerance"]}
    assert manifest["model"]["n_components"] == usual["n_components"]
