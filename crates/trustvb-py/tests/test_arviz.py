"""Draws for whichever ArviZ is installed."""

from __future__ import annotations

import arviz
import numpy as np
import pytest
import trustvb
from trustvb import _arviz

BEFORE_ONE = _arviz._version(arviz) < (1, 0)


def test_each_quantity_at_its_own_omega(overlap):
    model = trustvb.GaussianMixture(2, random_state=7).fit(overlap)
    options = dict(grid=20, bootstraps=200, omega_min=0.01)
    data = model.to_arviz(draws=1000, chains=4, **options)
    assert type(data).__name__ == ("InferenceData" if BEFORE_ONE else "DataTree")
    posterior = data["posterior"]
    assert posterior["mu"].shape == (4, 1000, 2, 2) and posterior["pi"].shape == (4, 1000, 2)
    assert list(posterior["column"].values) == ["x1", "x2"]
    intervals = model.intervals(method="tempered", **options).set_index("functional")
    found = np.quantile(posterior["mu"].sel(component=1, column="x2").values, [0.025, 0.975])
    lower, upper = intervals.loc["mu[1,x2]", ["lower", "upper"]]
    np.testing.assert_allclose(found, [lower, upper], atol=0.1 * (upper - lower))
    np.testing.assert_array_equal(data["trustvb"]["omega"].values, intervals.omega)
    np.testing.assert_array_equal(data["trustvb"]["lower_bound"].values, model.lower_bounds_)
    assert posterior.attrs["inference_library"] == "trustvb" and posterior.attrs["seed"] == 7
    assert list(data["trustvb"]["quantity"].values) == list(intervals.index)
    assert list(data["trustvb"]["warnings"].values) == list(intervals.warnings)
    summary = arviz.summary(data)
    assert "mu[1, x2]" in summary.index
    assert float(summary.loc["pi[1]", "mean"]) == pytest.approx(model.weights_[0], abs=0.02)


def test_a_joint_posterior_at_one_omega(table, groups):
    data = table.to_arviz(omega=0.5, draws=500, chains=2)
    posterior = data["posterior"]
    assert set(posterior.data_vars) == {"pi", "mu", "sigma"}
    assert posterior["sigma"].shape == (2, 500, 2, 2, 2)
    assert posterior.attrs["omega"] == 0.5
    regression = trustvb.MixtureRegression().fit("y ~ x | who", groups)
    data = regression.to_arviz(omega=0.3, draws=100)
    assert set(data["posterior"].data_vars) == {"pi", "beta", "tau", "noise"}
    assert list(data["posterior"]["term"].values) == ["(Intercept)", "x"]


def test_quantities_of_ones_own(table):
    data = table.to_arviz(
        {"difference": lambda d: d["mu"][:, 0, 0] - d["mu"][:, 1, 0]}, draws=200, method="anchored"
    )
    assert list(data["posterior"].data_vars) == ["difference"]
    with pytest.raises(ValueError, match="balanced has no posterior to draw from"):
        table.to_arviz("pi[1]", method="recommended")
    data = table.to_arviz(["logit(pi[1])", "mu[1,]"], draws=200)
    assert list(data["posterior"].data_vars) == ["logit(pi[1])", "mu[1,] [x1]", "mu[1,] [x2]"]


def test_plots_work(table):
    import matplotlib

    matplotlib.use("Agg")
    data = table.to_arviz(omega=1.0, draws=100)
    (arviz.plot_forest if BEFORE_ONE else arviz.plot_dist)(data, var_names=["mu"])


@pytest.mark.filterwarnings("ignore::trustvb.CalibrationWarning")
def test_warnings_go_along_and_can_be_kept(model, tmp_path):
    small = model.table("tempered", bootstraps=20)
    data = small.to_arviz(draws=50)
    assert set(data["trustvb"]["warnings"].values) >= {"few-bootstraps"}
    data.to_netcdf(tmp_path / "draws.nc")
    if BEFORE_ONE:
        again = arviz.from_netcdf(tmp_path / "draws.nc")
        assert set(again["trustvb"]["warnings"].values) == set(data["trustvb"]["warnings"].values)


def test_columns_with_names_that_are_no_names(faithful):
    frame = faithful.rename(columns={"waiting": "waiting time (min)"})
    model = trustvb.GaussianMixture(2, random_state=1).fit(frame)
    data = model.to_arviz(draws=50, bootstraps=200)
    assert data["trustvb"]["quantity"].values[3] == "mu[1,`waiting time (min)`]"
    posterior = data["posterior"]["mu"].sel(component=1, column="waiting time (min)")
    assert float(posterior.mean()) == pytest.approx(model.means_[0, 1], rel=0.01)
