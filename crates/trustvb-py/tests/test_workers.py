"""Workers that make bootstraps of a user's fitter: whoever they are, the answer is the same."""

from __future__ import annotations

import functools
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
import trustvb
from test_outside import half_as_wide, normal_mean
from trustvb._workers import is_compiled, kind


@pytest.fixture(scope="module")
def data() -> np.ndarray:
    return np.random.default_rng(5).normal(10, 1, 200)


def test_worker_processes_change_nothing(data):
    shift = 3.0
    fitter = lambda d, w, o, s: normal_mean(d, w, o, s) + shift  # noqa: E731
    frames = [
        trustvb.calibrate(
            fitter,
            data,
            lambda d: d,
            n_jobs=n,
            method=["tvb", "anchored"],
            bootstraps=200,
            grid=6,
            omega_min=0.01,
        ).intervals()
        for n in (1, 2)
    ]
    pd.testing.assert_frame_equal(frames[0], frames[1])


def test_without_joblib(tmp_path):
    """Importable fitters need nothing but the standard library's processes; for others the error says what to do."""
    (tmp_path / "own.py").write_text(
        textwrap.dedent("""
        import numpy as np
        Z = np.random.default_rng(1).standard_normal(200)
        def fitter(data, weights, omega, start):
            return weights @ data / weights.sum() + Z / np.sqrt(omega * weights.sum())
        def value(draws):
            return draws
        """)
    )
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import sys
        sys.modules["joblib"] = None
        import numpy as np, own, trustvb
        if __name__ == "__main__":
            data = np.random.default_rng(2).normal(size=50)
            found = [
                trustvb.calibrate(own.fitter, data, own.value, bootstraps=200, grid=4, n_jobs=n).intervals()
                for n in (1, 2)
            ]
            assert found[0].equals(found[1])
            print("same")
            try:
                local = lambda *arguments: own.fitter(*arguments)
                trustvb.calibrate(local, data, own.value, bootstraps=20, n_jobs=2)
            except TypeError as why:
                print("cannot be given to other processes" in str(why), "Install joblib" in str(why))
        """)
    )
    done = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout == "same\nTrue True\n", done.stderr


def test_threads_change_nothing(data):
    asked = dict(h={"mean": lambda d: d}, bootstraps=200)
    frames = [
        trustvb.calibrate(half_as_wide, data, n_jobs=n, workers="threads", **asked).intervals()
        for n in (1, 3)
    ]
    pd.testing.assert_frame_equal(*frames)


class Heavy:
    """Counts how often it is sent to a worker: a jitted function would be compiled as often."""

    def __init__(self, folder):
        self.folder = folder

    def __getstate__(self):
        (self.folder / f"sent-{len(list(self.folder.iterdir()))}").touch()
        return {"folder": self.folder}

    def __call__(self, data, weights, omega, start):
        return half_as_wide(data, weights, omega, start)


def test_workers_are_given_the_task_once(data, tmp_path):
    trustvb.calibrate(Heavy(tmp_path), data, {"mean": lambda d: d}, bootstraps=200, n_jobs=2)
    assert len(list(tmp_path.iterdir())) <= 2


class Holds:
    """A fitter with something in it."""

    def __init__(self, inside):
        self.inside = inside

    def __call__(self, *arguments):
        return self.inside(*arguments)

    def fit(self, *arguments):
        return self(*arguments)


def test_jitted_fitters_are_given_to_threads():
    """They are found wherever they are; whoever only uses JAX's own functions holds Python while it does."""
    jax = pytest.importorskip("jax")
    jitted = jax.jit(lambda x, w: w @ x / w.sum())
    fitters = [
        jitted,
        lambda x, w, o, s: jitted(x, w),
        functools.partial(lambda x, w, o, s: jitted(x, w)),
        Holds(jitted),
        Holds(lambda x, w, o, s: jitted(x, w)).fit,
    ]
    assert [kind(None, f) for f in fitters] == ["threads"] * len(fitters)
    others = [normal_mean, lambda x, w, o, s: jax.numpy.dot(w, x), Holds(normal_mean), Holds]
    assert [kind(None, f) for f in others] == ["processes"] * len(others)
    assert kind("processes", jitted) == "processes"

    def unfinished(*_):
        return later

    assert not is_compiled(unfinished)
    later = 1
    assert unfinished() == 1
