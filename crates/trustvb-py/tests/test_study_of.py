"""Coverage studies of fits made elsewhere, against the Normal law."""

from __future__ import annotations

import numpy as np
import pytest
import trustvb
from test_outside import ManyMeans, half_as_wide


def simulate(rng):
    return rng.normal(3, 1, 100)


@pytest.fixture(scope="module")
def study():
    return trustvb.study_of(
        ManyMeans(),
        simulate,
        {"mean": 3.0},
        {"mean": lambda d: d},
        replications=400,
        bootstraps=200,
        method=["recommended", "jackknife"],
        random_state=1,
    )


def test_coverage_is_that_of_the_normal_law(study):
    assert list(study.method) == ["balanced", "jackknife", "vb"]
    found = study.set_index("method")
    # P(|Z| < 1.96/2) = 0.673; a coverage over 400 data sets has a standard error of 2.3% there and 1.1% at 95%.
    assert found.coverage["vb"] == pytest.approx(0.673, abs=0.07)
    for method in ("balanced", "jackknife"):
        assert found.coverage[method] == pytest.approx(0.945, abs=0.035)
        assert found.length[method] == pytest.approx(2 * 1.96 / 10, rel=0.03)
        assert found.score[method] < found.score["vb"]
    assert found.rmse["vb"] == pytest.approx(0.1, rel=0.15) and abs(found.bias["vb"]) < 0.02
    assert (found.coverage_low < found.coverage).all() and (
        found.coverage < found.coverage_high
    ).all()
    assert (found.replications == 400).all() and (found.failed == 0).all()


def test_wilson_limits():
    from trustvb._study_of import _wilson

    # Brown, Cai and DasGupta (2001): none of 10 gives 0 to 0.2775.
    assert _wilson(0.0, 10) == pytest.approx((0, 0.2775), abs=1e-4)


def test_it_depends_on_the_seed_alone(study):
    few = [
        trustvb.study_of(half_as_wide, simulate, 3.0, lambda d: d, replications=3, bootstraps=200)
        for _ in range(2)
    ]
    assert few[0].equals(few[1])
    polars = trustvb.study_of(
        half_as_wide, simulate, 3.0, lambda d: d, replications=1, method="vb", frame="dict"
    )
    assert polars["method"] == ["vb"]


def test_data_sets_without_an_answer_are_counted():
    def fails(data, weights, omega, start):
        if data[0] > 3:
            raise trustvb.FitFailed
        return half_as_wide(data, weights, omega, start)

    frame = trustvb.study_of(fails, simulate, 3.0, lambda d: d, replications=20, bootstraps=200)
    assert (frame.replications + frame.failed == 20).all() and (frame.failed > 2).all()


def test_a_fitter_of_numpyro_is_one():
    """The mean of Normal numbers with a known variance: VB is exact, and so is everything else."""
    numpyro = pytest.importorskip("numpyro")
    import trustvb.numpyro

    def model(x):
        mean = numpyro.sample("mean", numpyro.distributions.Normal(0, 100))
        with numpyro.plate("rows", len(x)):
            numpyro.sample("x", numpyro.distributions.Normal(mean, 1), obs=x)

    by = trustvb.numpyro.Fitter(model)
    study = trustvb.study_of(by, simulate, {"mean": 3.0}, replications=60, method="jackknife")
    assert list(study.method) == ["jackknife", "vb"] and (study.replications == 60).all()
    assert study.length.to_numpy() == pytest.approx([2 * 1.96 / 10] * 2, rel=0.05)
    assert (study.coverage > 0.85).all()
    data = simulate(np.random.default_rng(1))
    alone = trustvb.calibrate(by, data, "mean", method="vb").intervals()
    assert alone.estimate[0] == pytest.approx(data.mean(), abs=1e-3)


def test_wrong_calls():
    with pytest.raises(ValueError, match="truth has no value for mean"):
        trustvb.study_of(half_as_wide, simulate, {"sd": 1}, {"mean": lambda d: d})
    with pytest.raises(ValueError, match="one number for 2 quantities"):
        trustvb.study_of(half_as_wide, simulate, 1, {"a": lambda d: d, "b": lambda d: d})
    with pytest.raises(ValueError, match="h is missing"):
        trustvb.study_of(half_as_wide, simulate, 1)
