"""Fits of rows on a real Dask cluster of two processes: the numbers of one machine, whatever happens to workers."""

from __future__ import annotations

import itertools
import os
import signal

import numpy as np
import pytest
import trustvb
from dask.distributed import Client, LocalCluster
from test_parts import agree, in_parts, rows
from trustvb.distributed import DaskParts, fit


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(scope="module")
def data():
    return rows()


@pytest.fixture(scope="module")
def alone(data):
    return trustvb.GaussianMixture(2, random_state=4).fit(data)


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for number, part in enumerate(in_parts(data, (20_000, 40_000, 70_000))):
        part.to_parquet(folder / f"part-{number}.parquet")
    return folder


def test_a_folder_on_a_cluster_has_the_bits_of_one_process(client, alone, folder):
    found = fit(folder, client=client, random_state=4)
    agree(found, alone)
    here = fit(folder, random_state=4)
    assert (found.posterior_.parameters == here.posterior_.parameters).all()
    ours, theirs = found.intervals("pi[1]", frame="dict"), here.intervals("pi[1]", frame="dict")
    assert list(ours["lower"]) == list(theirs["lower"])
    asked = dict(h="pi[1]", subsets=3, bootstraps=30, frame="dict")
    with pytest.warns(trustvb.CalibrationWarning, match="few-bootstraps"):
        ours, theirs = found.intervals(**asked), here.intervals(**asked)
    assert list(ours["method"]) == ["balanced"]
    assert [list(ours[name]) for name in ("lower", "upper")] == [
        list(theirs[name]) for name in ("lower", "upper")
    ]


def test_frames_and_dask_dataframes(client, data, alone):
    agree(fit(in_parts(data), client=client, random_state=4), alone)
    dataframes = pytest.importorskip("dask.dataframe")
    frame = dataframes.from_pandas(data, npartitions=5, sort=False)
    agree(fit(frame, client=client, random_state=4), alone)


def test_a_lost_worker_costs_its_part_of_a_sweep(client, alone, folder, monkeypatch):
    """After some passes a worker is killed: its parts are loaded again from their files, and nothing else changes."""
    inner, killed, passes = DaskParts.sums, [], itertools.count(1)

    def sums(self, numbers):
        if next(passes) == 6:
            pids = client.run(os.getpid)
            holders = client.has_what()
            worker = max(pids, key=lambda address: len(holders.get(address, ())))
            killed.append(pids[worker])
            os.kill(pids[worker], signal.SIGKILL)
        return inner(self, numbers)

    monkeypatch.setattr(DaskParts, "sums", sums)
    found = fit(folder, client=client, random_state=4)
    assert killed and killed[0] not in client.run(os.getpid).values()
    agree(found, alone)


def test_what_is_wrong_on_a_worker_is_raised_here(client, folder, data, tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        fit([tmp_path / "absent.parquet"], client=client, retries=0)
    (tmp_path / "words.csv").write_text("a,b\n1,2\n3,many\n")
    with pytest.raises(ValueError, match="`many` is not a number"):
        fit([tmp_path / "words.csv"], client=client, retries=0)
    assert np.isfinite(fit(folder, client=client).lower_bound_)
