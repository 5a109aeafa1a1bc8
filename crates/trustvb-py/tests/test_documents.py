"""The READMEs and the page of the package: their examples run, and it leaves nothing out."""

from __future__ import annotations

import inspect
import re

import pytest
import trustvb
import trustvb.distributed
from conftest import ROOT

PAGE = (ROOT / "docs" / "PYTHON.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
OWN_README = (ROOT / "crates" / "trustvb-py" / "README.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore")
def test_its_examples_run(tmp_path, monkeypatch, groups):
    monkeypatch.chdir(tmp_path)
    import matplotlib

    matplotlib.use("Agg")
    blocks = re.findall(r"```python\n(.*?)```", README + OWN_README + PAGE, flags=re.DOTALL)
    assert len(blocks) > 6
    names = {"groups_of_rows": groups}
    for block in blocks:
        exec(compile(block, "a README.md or docs/PYTHON.md", "exec"), names)


@pytest.mark.filterwarnings("ignore")
def test_the_examples_of_outside_fits_run():
    pytest.importorskip("numpyro")
    page = (ROOT / "docs" / "OUTSIDE.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python(?: pymc)?\n(.*?)```", page, flags=re.DOTALL)
    assert len(blocks) > 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/OUTSIDE.md", "exec"), names)
    import trustvb.numpyro
    import trustvb.pymc

    for module in (trustvb.numpyro, trustvb.pymc):
        for parameter in inspect.signature(module.calibrate).parameters:
            assert f"`{parameter}`" in page, f"{module.__name__}.calibrate({parameter})"


def test_the_answer_it_shows_is_the_one_that_prints():
    shown = repr(trustvb.demo())
    assert shown in PAGE
    assert shown in OWN_README


def test_it_names_everything():
    for name in trustvb.__all__:
        if name == "__version__":
            continue
        assert f"`{name}" in PAGE or f"trustvb.{name}" in PAGE, name
        thing = getattr(trustvb, name)
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            for method, _ in inspect.getmembers(thing, callable):
                if not method.startswith("_") and method not in dir(dict):
                    assert f"`{method}" in PAGE or f".{method}(" in PAGE, f"{name}.{method}"
    for function in (
        trustvb.GaussianMixture.__init__,
        trustvb.MixtureRegression.__init__,
        trustvb.LatentClass.__init__,
        trustvb.GaussianMixture.table,
        trustvb.GaussianMixture.intervals,
        trustvb.GaussianMixture.compare,
        trustvb.GaussianMixture.summary,
        trustvb.GaussianMixture.plot_intervals,
        trustvb.calibrate,
        trustvb.study_of,
        trustvb.plot_study,
        trustvb.GaussianMixture.to_arviz,
        trustvb.run_study,
        trustvb._study.read_study,
        trustvb.distributed.build_table,
        trustvb.distributed.fit,
        trustvb.distributed.run_study,
    ):
        for parameter in inspect.signature(function).parameters:
            if parameter not in ("self", "changes", "settings"):
                assert f"`{parameter}`" in PAGE, f"{function.__qualname__}({parameter})"


def test_a_cluster_takes_the_options_of_table():
    alone = inspect.signature(trustvb.GaussianMixture.table).parameters
    cluster = inspect.signature(trustvb.distributed.build_table).parameters
    for name in set(alone) - {"self", "n_jobs"}:
        assert cluster[name].default == alone[name].default, name


def test_everything_public_has_words():
    for module in (trustvb, trustvb.distributed):
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing):
                assert thing.__doc__, name
