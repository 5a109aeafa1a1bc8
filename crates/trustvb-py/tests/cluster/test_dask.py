"""Tables and studies on a real Dask cluster of two processes: the bytes of one machine, whatever happens to workers.

``python -m pytest tests/cluster`` runs these; the ordinary run does not.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import time
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import trustvb
from conftest import ROOT
from dask.distributed import Client, LocalCluster
from trustvb.distributed import ShardsFailed, build_table, run_study

SMALL = dict(grid=15, bootstraps=120, omega_min=0.01)  # 14 parts
SHARDS = 7

STUDY = """
title = "small"
replications = 40
bootstraps = 40
grid = 15
methods = ["vb", "anchored"]
quantities = ["pi[1]", "mu[1,1]"]

[[design]]
name = "two"
simulate = { model = "gmm", n = [60, 100], separation = 3.0 }
"""


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
def model(faithful):
    return trustvb.GaussianMixture(2, random_state=5).fit(faithful)


@pytest.fixture(scope="module")
def alone(model, tmp_path_factory) -> dict[str, bytes]:
    """The table as one process builds it."""
    path = tmp_path_factory.mktemp("alone") / "faithful.tvb"
    model.table(**SMALL, path=path)
    return files(path)


@pytest.fixture(scope="module")
def study_alone(command, tmp_path_factory) -> dict[str, bytes]:
    """The study as the command runs it."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "small.toml").write_text(STUDY)
    command("study", folder / "small.toml", "-o", folder / "small.study", "--quiet")
    return files(folder / "small.study")


@pytest.fixture
def study(tmp_path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def wait_until(true) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.1)
    pytest.fail("waited in vain for a minute")


def each_shard_first(client, what: str, before) -> None:
    """Has all workers call ``before(shard)`` when they begin to build one; those that are restarted do not."""

    def patch():
        from trustvb import _shards

        shards = {"table": _shards.TableShards, "study": _shards.StudyShards}[what]
        inner = vars(shards).get("unpatched", shards.build)

        def build(self, folder, shard, threads, watch):
            before(shard)
            return inner(self, folder, shard, threads, watch)

        shards.unpatched, shards.build = inner, build

    client.run(patch)


@pytest.fixture
def unpatched(client):
    yield

    def restore():
        from trustvb import _shards

        for shards in (_shards.TableShards, _shards.StudyShards):
            if "unpatched" in vars(shards):
                shards.build = shards.unpatched

    client.run(restore)


class KillOne:
    """Kills a worker without warning when so many shards are done: one that is at work, if any is at that moment."""

    def __init__(self, client, after: int) -> None:
        self.client, self.after = client, after
        self.killed: int | None = None

    def __call__(self, done: int, total: int) -> None:
        if done < self.after or self.killed is not None:
            return
        pids = self.client.run(os.getpid)
        busy = [worker for worker, keys in self.client.processing().items() if keys]
        worker = next(iter(busy or pids))
        os.kill(pids[worker], signal.SIGKILL)
        self.killed = pids[worker]

    def check(self) -> None:
        assert self.killed is not None
        assert self.killed not in self.client.run(os.getpid).values()


@pytest.mark.parametrize("via", ["client", "folder"])
def test_a_table_is_the_same_to_the_last_byte(client, model, alone, tmp_path, via):
    path = tmp_path / "faithful.tvb"
    table = build_table(client, model, path, **SMALL, shards=SHARDS, via=via)
    assert files(path) == alone
    assert table.to_arrow().equals(model.table(**SMALL).to_arrow())


def test_the_command_builds_the_same_table(alone, command, tmp_path):
    path = tmp_path / "faithful.tvb"
    options = ["--grid", "15", "-B", "120", "--omega-min", "0.01", "--seed", "5", "--quiet"]
    command("table", "build", "-o", path, *options)
    assert files(path) == alone


def test_a_table_needs_no_folder(client, model):
    told = []
    table = build_table(client, model, **SMALL, progress=lambda *now: told.append(now))
    assert table.to_arrow().equals(model.table(**SMALL).to_arrow())
    assert told == [(done, 14) for done in range(15)], "one shard for each part"


def test_regressions_and_own_resamples(client, groups, tmp_path):
    model = trustvb.MixtureRegression(2, random_state=3).fit("y ~ x | who", groups)
    half = " ".join(str(i) for i in range(1, 61, 2))
    others = " ".join(str(i) for i in range(2, 61, 2))
    rows = ["role,replicate,units", f"half,0,{half}"]
    rows += [f"bootstrap,{b},{others}" for b in range(1, 25)]
    own = tmp_path / "own.csv"
    own.write_text("\n".join(rows) + "\n")
    options = dict(method="tvb", grid=5, bootstraps=24, resamples=own)
    model.table(**options, path=tmp_path / "alone.tvb")
    build_table(client, model, tmp_path / "dask.tvb", **options)
    assert files(tmp_path / "dask.tvb") == files(tmp_path / "alone.tvb")


def test_a_killed_worker_changes_nothing(client, model, alone, tmp_path, unpatched):
    each_shard_first(client, "table", lambda shard: __import__("time").sleep(0.4))
    path, kill = tmp_path / "faithful.tvb", KillOne(client, after=SHARDS // 2)
    build_table(client, model, path, **SMALL, shards=SHARDS, progress=kill)
    kill.check()
    assert files(path) == alone


def test_a_study_is_the_same(client, study, study_alone, tmp_path, unpatched):
    each_shard_first(client, "study", lambda shard: __import__("time").sleep(0.4))
    path, kill = tmp_path / "small.study", KillOne(client, after=3)
    summary = run_study(client, study, path, progress=kill)
    kill.check()
    ours = files(path)
    for name in ("manifest.json", "study.toml", "replications.parquet"):
        assert ours[name] == study_alone[name], name
    parts = {name for name in study_alone if name.startswith("parts/")}
    assert {name for name in ours if name.startswith("parts/")} == parts and len(parts) == 8
    # Seconds are those of the machine.
    here = trustvb.run_study(study).drop(columns="seconds")
    assert summary.drop(columns="seconds").equals(here)


def test_the_command_goes_on_with_our_study(client, study, study_alone, command, tmp_path):
    path = tmp_path / "small.study"
    run_study(client, study, path, via="folder", shards=3)
    command("study", path, "--quiet")
    assert set(files(path)) == set(study_alone)


def test_what_fails_for_good_is_told_and_the_rest_is_kept(
    client, model, alone, tmp_path, unpatched
):
    def fail(shard):
        if shard[0] in (3, 5):
            raise OSError("no space left on device")

    each_shard_first(client, "table", fail)
    path = tmp_path / "faithful.tvb"
    told = []
    options = dict(**SMALL, shards=SHARDS, retries=1, progress=lambda *now: told.append(now))
    with pytest.raises(ShardsFailed) as caught:
        build_table(client, model, path, **options)
    message = str(caught.value)
    assert message.startswith(
        "2 of 7 shards of the table failed: shards 3, 5: OSError: no space left on device"
    )
    assert f"what is done is in {path}, and the same call builds only what is missing" in message
    assert caught.value.failed.keys() == {3, 5} and caught.value.shards == 7
    assert told[-1] == (7, 7)
    there = {name: (path / name).stat().st_mtime_ns for name in files(path)}
    assert len(alone) - len(there) == 4, "two parts of each shard"

    # The same call goes on: two shards are left, and nothing that is there is written again.
    each_shard_first(client, "table", lambda shard: None)
    told.clear()
    build_table(client, model, path, **options)
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert files(path) == alone
    assert {name: (path / name).stat().st_mtime_ns for name in there} == there
    told.clear()
    build_table(client, model, path, **options)
    assert told == [], "there is nothing left to do"

    each_shard_first(client, "table", fail)
    with pytest.raises(ShardsFailed, match="nothing is kept, because no path was given"):
        build_table(client, model, **options)


def test_a_shard_that_kills_workers_is_told(cluster, client, model, alone, tmp_path, unpatched):
    each_shard_first(client, "table", lambda shard: __import__("time").sleep(0.4))
    path, kill = tmp_path / "faithful.tvb", KillOne(client, after=2)
    usual, cluster.scheduler.allowed_failures = cluster.scheduler.allowed_failures, 0
    try:
        with pytest.raises(ShardsFailed, match="1 worker died while building it, the last at tcp"):
            build_table(client, model, path, **SMALL, shards=SHARDS, progress=kill)
    finally:
        cluster.scheduler.allowed_failures = usual
    build_table(client, model, path, **SMALL, shards=SHARDS)
    assert files(path) == alone


@pytest.mark.skipif(os.name == "nt", reason="signals are another matter on Windows")
def test_ctrl_c_cancels_what_is_running(client, model, tmp_path):
    def running() -> int:
        return sum(client.run(lambda dask_worker: dask_worker.state.executing_count).values())

    def interrupt() -> None:
        wait_until(running)
        os.kill(os.getpid(), signal.SIGINT)

    path = tmp_path / "long.tvb"
    # A shell may have started the tests with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    hand = threading.Thread(target=interrupt)
    hand.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            build_table(client, model, path, bootstraps=100_000, shards=2)
    finally:
        hand.join()
        signal.signal(signal.SIGINT, before)
    wait_until(lambda: not running())
    assert not any(client.processing().values())
    assert not list(path.glob("parts/*"))


def test_wrong_calls_are_told(client, model, tmp_path):
    with pytest.raises(TypeError, match=r"give a dask\.distributed Client"):
        build_table("tcp://127.0.0.1:8786", model)
    with pytest.raises(TypeError, match="give a fitted GaussianMixture"):
        build_table(client, [[1.0]])
    with pytest.raises(ValueError, match="not fitted yet"):
        build_table(client, trustvb.GaussianMixture())
    with pytest.raises(ValueError, match="via='folder' needs a path"):
        build_table(client, model, via="folder")
    with pytest.raises(ValueError, match="via='post'"):
        build_table(client, model, tmp_path, via="post")
    with pytest.raises(ValueError, match="shards=0"):
        build_table(client, model, shards=0)
    build_table(client, model, tmp_path / "t.tvb", **SMALL)
    with pytest.raises(trustvb.TrustvbError, match="made with other settings"):
        build_table(client, model, tmp_path / "t.tvb", **{**SMALL, "grid": 16})
    with pytest.raises(ValueError, match="there is no study"):
        run_study(client, "nothing")


def test_large_data_are_sent_without_a_word(client):
    rows = np.random.default_rng(0).normal(size=(200_000, 8))  # more than Dask warns of
    model = trustvb.GaussianMixture(1, n_init=1).fit(rows)
    options = dict(method="anchored", grid=2, omega_min=0.5, bootstraps=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = build_table(client, model, **options)
    assert table.to_arrow().equals(model.table(**options).to_arrow())


@pytest.mark.filterwarnings("ignore")
def test_the_examples_of_the_pages_run(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # One cluster is enough.
    monkeypatch.setattr("dask.distributed.LocalCluster", lambda **_: nullcontext(cluster))
    pages = [ROOT / "docs" / "PYTHON.md", ROOT / "docs" / "SCALE.md"]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    blocks = re.findall(r"```python dask\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, "docs", "exec"), {"trustvb": trustvb, "__name__": "__main__"})
