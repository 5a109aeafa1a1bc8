"""Bootstraps of users' own fitters on a Dask cluster of two processes: the numbers of one, whatever happens to workers."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import trustvb
from dask.distributed import Client
from test_dask import KillOne, client, cluster  # noqa: F401


@pytest.fixture(scope="module")
def data() -> np.ndarray:
    return np.random.default_rng(5).normal(10, 1, 200)


def mean_by(seconds: float = 0.0):
    """A fitter that cannot be imported by workers; it takes its time."""
    z = np.random.default_rng(11).standard_normal(400)

    def fitter(data, weights, omega, start):
        time.sleep(seconds)
        n = weights.sum()
        return weights @ data / n + 0.5 * z / np.sqrt(omega * n)

    return fitter


H = {"mean": lambda draws: draws}


def alone_and_together(client, fitter, data, h, **options):  # noqa: F811
    return [
        trustvb.calibrate(fitter, data, h, workers=by, **options).compare()
        for by in ("threads", client)
    ]


def test_the_numbers_are_those_of_one_process(client, data):  # noqa: F811
    along = dict(method=["tvb", "anchored"], bootstraps=200, grid=6, omega_min=0.01)
    for options in (dict(bootstraps=200), along):
        pd.testing.assert_frame_equal(*alone_and_together(client, mean_by(), data, H, **options))


def test_fitters_of_numpyro(client):  # noqa: F811
    pytest.importorskip("numpyro")
    import numpyro
    import trustvb.numpyro

    def model(X, y):
        flat = numpyro.distributions.Normal(0, 10).expand([X.shape[1]]).to_event(1)
        beta = numpyro.sample("beta", flat)
        with numpyro.plate("rows", len(X)):
            numpyro.sample("y", numpyro.distributions.Normal(X @ beta, 1), obs=y)

    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    frames = [
        trustvb.numpyro.calibrate(model, None, X, y, workers=by).compare() for by in (None, client)
    ]
    pd.testing.assert_frame_equal(*frames, rtol=1e-9)


class Counted:
    """Leaves a note in a folder whenever it comes to a process."""

    def __init__(self, folder: Path, fitter) -> None:
        self.folder, self.fitter = folder, fitter

    def __setstate__(self, state) -> None:
        self.__dict__.update(state)
        (self.folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()

    def __call__(self, *arguments):
        return self.fitter(*arguments)


def test_each_process_is_given_the_task_once(client, data, tmp_path):  # noqa: F811
    import cloudpickle
    import test_dask_fits

    cloudpickle.register_pickle_by_value(test_dask_fits)
    try:
        counted = Counted(tmp_path, mean_by(0.01))
        trustvb.calibrate(counted, data, H, bootstraps=200, workers=client)
    finally:
        cloudpickle.unregister_pickle_by_value(test_dask_fits)
    came = [int(path.name.split("-")[0]) for path in tmp_path.iterdir()]
    assert sorted(came) == sorted(client.run(os.getpid).values()), "one note for each worker"


def test_nothing_is_left_on_the_cluster(client, data):  # noqa: F811
    trustvb.calibrate(mean_by(), data, H, bootstraps=200, workers=client)
    for _ in range(100):
        held = client.run(lambda dask_worker: [k for k in dask_worker.data if "trustvb" in str(k)])
        if not any(held.values()):
            return
        time.sleep(0.1)
    pytest.fail(f"workers still hold {held}")


def test_a_lost_worker_changes_nothing(client, data):  # noqa: F811
    kill = KillOne(client, after=30)
    options = dict(bootstraps=200, random_state=3)
    together = trustvb.calibrate(mean_by(0.02), data, H, workers=client, progress=kill, **options)
    kill.check()
    alone = trustvb.calibrate(mean_by(), data, H, **options)
    pd.testing.assert_frame_equal(alone.compare(), together.compare())


def test_what_a_fit_raises_is_raised_here(client, data):  # noqa: F811
    inner = mean_by()

    def fails(data, weights, omega, start):
        if weights[0] > 1:
            raise KeyError("the column is gone")
        return inner(data, weights, omega, start)

    with pytest.raises(KeyError, match="the column is gone"):
        trustvb.calibrate(fails, data, H, bootstraps=200, workers=client, check=False)


def test_workers_that_die_of_a_fit_are_told(cluster, client, data):  # noqa: F811
    here, inner = os.getpid(), mean_by()

    def kills(data, weights, omega, start):
        if os.getpid() != here:
            os._exit(1)
        return inner(data, weights, omega, start)

    usual, cluster.scheduler.allowed_failures = cluster.scheduler.allowed_failures, 0
    try:
        with pytest.raises(trustvb.TrustvbError, match="1 worker died while fitting bootstraps"):
            trustvb.calibrate(kills, data, H, bootstraps=200, workers=client)
    finally:
        cluster.scheduler.allowed_failures = usual


def test_asynchronous_clients_are_refused(cluster, data):  # noqa: F811
    import asyncio

    async def call():
        async with Client(cluster.scheduler_address, asynchronous=True) as asynchronous:
            trustvb.calibrate(mean_by(), data, H, workers=asynchronous)

    with pytest.raises(TypeError, match="workers is an asynchronous Client"):
        asyncio.run(call())
