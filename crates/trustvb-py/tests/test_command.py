"""The same seed gives the same bits from Python and from the command; tables are the same files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import trustvb
from conftest import ROOT, read_exactly
from trustvb import _native

ASKED = ["pi[1]", "mu[1,x1] - mu[2,x1]", "cor[1,1,2]", "logit(pi[1])"]
METHODS = [
    *("recommended", "vb", "tempered", "tvb", "tvb-sequential"),
    *("gpc", "anchored", "analytic", "jackknife", "bootstrap"),
]
NUMBERS = ["level", "omega", "estimate", "lower", "upper", "coverage", "coverage_se"]


#: Flags that only tell.
REMARKS = ("at-omega-1", "above-omega-1", "steadied")


def same(ours: pd.DataFrame, theirs: list[dict], name: str = "functional") -> None:
    """Bit for bit: JSON holds the shortest text that reads back the same."""
    assert list(ours.functional) == [a[name] for a in theirs]
    assert list(ours.method) == [a["method"] for a in theirs]
    for name in NUMBERS:
        expected = [np.nan if a[name] is None else a[name] for a in theirs]
        if name == "coverage_se":
            # The command says 0 where `analytic` has no Monte-Carlo error.
            expected = [
                np.nan if a["method"] == "analytic" else x
                for a, x in zip(theirs, expected, strict=True)
            ]
        np.testing.assert_array_equal(ours[name].to_numpy(), np.array(expected), err_msg=name)
    for column, is_remark in (("warnings", False), ("remarks", True)):
        assert list(ours[column]) == [
            ";".join(f for f in a["flags"] if (f in REMARKS) == is_remark) for a in theirs
        ]
    assert list(ours["recommended"]) == [a["recommended"] for a in theirs]


def options(seed: int) -> list[str]:
    return ["--grid", "15", "-B", "40", "--omega-min", "0.01", "--seed", str(seed)]


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
@pytest.mark.parametrize("seed", [1, 20_261_115])
def test_intervals_are_bit_identical(overlap, overlap_path, json_of, seed):
    theirs = json_of(
        "calibrate",
        overlap_path,
        *ASKED,
        "--method",
        ",".join(METHODS),
        "--level",
        "0.5,0.95",
        *options(seed),
    )
    model = trustvb.GaussianMixture(2, random_state=seed).fit(overlap)
    ours = model.intervals(
        ASKED, level=[0.5, 0.95], method=METHODS, grid=15, bootstraps=40, omega_min=0.01
    )
    same(ours, theirs["intervals"])


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_the_defaults_are_those_of_the_command(overlap, overlap_path, json_of):
    theirs = json_of("calibrate", overlap_path)
    model = trustvb.GaussianMixture().fit(overlap)
    same(model.compare(), theirs["intervals"], "label")
    one_answer(model.intervals(), theirs["intervals"])


def one_answer(ours: pd.DataFrame, theirs: list[dict]) -> None:
    """The recommended rows of the command beside its rows of VB."""
    use = [a for a in theirs if a["recommended"]]
    vb = [a for a in theirs if a["method"] == "vb"]
    assert list(ours.functional) == [a["label"] for a in use] == [a["label"] for a in vb]
    for rows, names in (
        (use, ("level", "estimate", "lower", "upper", "method")),
        (vb, ("lower", "upper", "coverage", "coverage_se")),
    ):
        for name in names:
            column = ours[name if rows is use else f"vb_{name}"]
            np.testing.assert_array_equal(column, [a[name] for a in rows], err_msg=name)


def test_demo_is_calibrate_without_arguments(json_of):
    ours = trustvb.demo()
    one_answer(ours, json_of("calibrate")["intervals"])
    assert "mu[1,waiting]" in str(ours) and "79.97" in str(ours)


def test_one_fit_is_bit_identical(overlap, overlap_path, json_of):
    theirs = json_of("fit", overlap_path, "--omega", "0.3", "--seed", "4")
    ours = trustvb.GaussianMixture(2, omega=0.3, random_state=4).fit(overlap)
    assert ours.lower_bound_ == theirs["bound"] and ours.n_iter_ == theirs["iterations"]
    np.testing.assert_array_equal(ours.posterior_.parameters[:2], theirs["blocks"]["pi"]["alpha"])
    np.testing.assert_array_equal(
        ours.means_, [block["m"] for block in theirs["blocks"]["mu_lambda"]]
    )


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_as_published(faithful, json_of):
    more = ["--grid", "10", "-B", "20", "--published"]
    theirs = json_of("calibrate", *more)
    ours = trustvb.GaussianMixture(published=True).fit(faithful).compare(grid=10, bootstraps=20)
    same(ours, theirs["intervals"], "label")


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_regressions_are_bit_identical(groups, tmp_path, json_of):
    groups.to_csv(tmp_path / "groups.csv", index=False)
    asked = ["beta[1,x] - beta[2,x]", "sum(beta)", "1/sqrt(noise[1])"]
    theirs = json_of(
        "calibrate", tmp_path / "groups.csv", *asked, "--formula", "y ~ x | who", *options(5)
    )
    read = read_exactly(tmp_path / "groups.csv")
    table = dict(grid=15, bootstraps=40, omega_min=0.01)
    by_formula = trustvb.MixtureRegression(random_state=5).fit("y ~ x | who", read)
    same(by_formula.compare(asked, **table), theirs["intervals"])
    by_arrays = trustvb.MixtureRegression(random_state=5).fit(read[["x"]], read["y"], read["who"])
    same(by_arrays.compare(asked, **table), theirs["intervals"])


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_the_command_reads_our_tables(overlap, json_of, command, tmp_path):
    model = trustvb.GaussianMixture(2, random_state=9).fit(overlap)
    table = model.table(grid=15, bootstraps=40, omega_min=0.01, path=tmp_path / "direct.tvb")
    model.table(grid=15, bootstraps=40, omega_min=0.01).save(tmp_path / "saved.tvb")
    ours = table.compare(ASKED, level=0.9)
    for name in ("direct.tvb", "saved.tvb"):
        same(ours, json_of("interval", tmp_path / name, *ASKED, "--level", "0.9")["intervals"])
    assert "all fits converged" in command("table", "info", tmp_path / "saved.tvb")


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_we_read_the_commands_tables(overlap, overlap_path, json_of, command, tmp_path):
    path = tmp_path / "built.tvb"
    command("table", "build", overlap_path, "-o", path, *options(9), "--quiet")
    table = trustvb.open_table(path)
    same(table.compare(ASKED), json_of("interval", path, *ASKED)["intervals"])
    model = trustvb.GaussianMixture(2, random_state=9).fit(overlap)
    again = model.table(grid=15, bootstraps=40, omega_min=0.01)
    stored = json.loads((path / "manifest.json").read_text())
    assert len(stored.pop("hash")) == 64  # the file's seal, which is not a setting
    assert again.manifest == table.manifest == stored
    # A build into the same folder finds everything there.
    assert model.table(grid=15, bootstraps=40, omega_min=0.01, path=path).manifest == table.manifest
    with pytest.raises(trustvb.TrustvbError, match=r"made with other settings: its path.seed is 9"):
        trustvb.GaussianMixture(2, random_state=8).fit(overlap).table(
            grid=15, bootstraps=40, omega_min=0.01, path=path
        )


def test_threads_change_nothing(overlap):
    model = trustvb.GaussianMixture(2, random_state=3).fit(overlap)
    tables = [model.table(grid=5, bootstraps=9, n_jobs=n) for n in (1, 2, None)]
    first = tables[0].to_arrow()
    assert all(table.to_arrow().equals(first) for table in tables[1:])


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
@pytest.mark.parametrize("bootstraps", [12, 60, 250])
@pytest.mark.parametrize("components", [1, 2])
def test_verdicts_are_the_commands(overlap, overlap_path, json_of, bootstraps, components):
    asked = ["-k", str(components), "-B", str(bootstraps), "--method", "recommended,vb"]
    theirs = json_of("calibrate", overlap_path, *asked, "--level", "0.5,0.95")["intervals"]
    verdicts = [a["verdict"] for a in theirs if a["method"] == "vb"]
    assert all(a["verdict"] is None for a in theirs if a["method"] != "vb")
    model = trustvb.GaussianMixture(components).fit(overlap)
    ours = model.intervals(level=[0.5, 0.95], bootstraps=bootstraps)
    assert list(ours.verdict) == verdicts
    # The only weight is a point, which nothing misses: that says nothing.
    assert (verdicts[0] == "VB was not checked") == (components == 1)


SHARED = ROOT / "r" / "trustvb" / "inst" / "extdata"
QUESTIONS = json.loads((SHARED / "doors.json").read_text())


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
@pytest.mark.parametrize("bootstraps", QUESTIONS["bootstraps"])
@pytest.mark.parametrize("case", QUESTIONS["cases"])
def test_rows_verdicts_and_flags_of_the_shared_questions(case, bootstraps, json_of):
    path, levels, asked = SHARED / case["data"], QUESTIONS["levels"], case["asked"]
    options = ["-k", str(case["components"]), "-B", str(bootstraps), "--method", "recommended,vb"]
    options += ["--level", ",".join(map(str, levels))]
    options += ["--formula", case["formula"]] if case["formula"] else []
    theirs = json_of("calibrate", path, *asked, *options)["intervals"]
    data = read_exactly(path)
    if case["formula"]:
        model = trustvb.MixtureRegression(case["components"]).fit(case["formula"], data)
    else:
        model = trustvb.GaussianMixture(case["components"]).fit(data)
    table = {"level": levels, "bootstraps": bootstraps}
    same(model.intervals(asked, method=["recommended", "vb"], **table), theirs)
    ours = model.intervals(asked, **table)
    assert list(ours.verdict) == [a["verdict"] for a in theirs if a["method"] == "vb"]


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
@pytest.mark.parametrize("bootstraps", [0, 20, 100, 1000])
@pytest.mark.parametrize("coverage", [0.5, 0.88, 0.9, 0.93, 0.95, 0.97, 1.0, float("nan")])
def test_a_verdict_is_the_librarys_wherever_it_is_drawn(coverage, bootstraps):
    from trustvb._answer import headline, one_answer

    se = (coverage * (1 - coverage) / max(1, bootstraps)) ** 0.5
    found = (coverage, se, 0.95, bootstraps)
    words = _native.verdict(0.0, 1.0, *found)
    vb = {"quantity": 0, "functional": "h", "level": 0.95, "estimate": 0.5, "lower": 0.0}
    vb |= {"upper": 1.0, "coverage": coverage, "coverage_se": se, "verdict": words}
    vb |= {"flags": ([], [], []), "method": "vb"}
    (row,) = one_answer([{**vb, "method": "balanced", "verdict": None}, vb], "balanced", bootstraps)
    assert row["verdict"] == words
    said = headline([row])
    known = words != "VB was not checked"
    assert known == (bootstraps > 0 and coverage == coverage)
    assert ("is not known here" in said) == (not known)
    assert ("not clearly too short" in said) == (words == "VB may be too short")
    for point in [(1.0, 1.0), (float("nan"), 1.0)]:
        assert _native.verdict(*point, *found) == "VB was not checked"


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_fits_of_subsets_are_called_so():
    rng = np.random.default_rng(1)
    data = np.vstack([rng.normal(0, 1, (2000, 2)), rng.normal(4, 1, (2000, 2))])
    table = trustvb.GaussianMixture(2).fit(data).table(subsets=3, bootstraps=9)
    fits = table.to_arrow().to_pandas()
    assert fits.groupby("design", observed=True).size().to_dict() == {"full": 10, "subset": 3}
    assert sorted(fits.replicate[fits.design == "subset"]) == [1, 2, 3]


def wide(columns: int = 20, rows: int = 600) -> np.ndarray:
    rng = np.random.default_rng(2)
    return rng.normal(size=(rows, columns)) + 4 * (np.arange(rows) % 2)[:, None]


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_tvb_is_left_out_where_its_fits_are_not_cheap():
    model = trustvb.GaussianMixture(2).fit(wide())
    with pytest.warns(UserWarning, match="left out.*30000 more fits; tvb=True asks for them"):
        rows = model.compare("pi[1]", bootstraps=300)
    assert list(rows.method) == ["balanced", "vb"]
    rows = model.compare("pi[1]", bootstraps=10, grid=3, tvb=True)
    assert list(rows.method) == ["balanced", "vb", "tvb"]
    assert list(model.intervals("pi[1]", bootstraps=10, grid=3, tvb=True).method) == [
        *("balanced", "vb", "tvb")
    ]
    with pytest.warns(UserWarning, match="left out"):
        table = model.table(bootstraps=20, grid=1000)
    assert table.manifest["replicates"] == {"full": 20, "split": 0}


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_a_table_has_the_grid_where_a_method_reads_one(overlap):
    model = trustvb.GaussianMixture(2).fit(overlap)
    table = model.table(bootstraps=10, grid=6)
    fits = table.to_arrow().to_pandas()
    sizes = fits.groupby(["design", "replicate"], observed=True).size()
    assert sizes["full", 0] == 6 and sizes["full", 1] == 1 and sizes["split", 4] == 6
    assert table.manifest["at_one"] == ["full"]
    assert "fits>" in repr(table) and len(table.compare("pi[1]").method) == 3
    with pytest.raises((ValueError, trustvb.TrustvbError), match="below ω = 1"):
        table.compare("pi[1]", method="anchored")
