"""Ctrl-C, progress, threads and forks."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import trustvb
from trustvb import _progress


def run(script: str, cwd, **more):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


@pytest.mark.skipif(os.name == "nt", reason="signals are another matter on Windows")
@pytest.mark.parametrize("work", ["table", "disk", "callable"])
def test_ctrl_c_ends_it_soon(tmp_path, work):
    lines = {
        "table": "m.table(bootstraps=100_000)",
        "disk": "m.table(bootstraps=100_000, path='t.tvb')",
        "callable": "t.intervals(lambda d: (time.sleep(0.01), d['pi'][:, 0])[1], method='anchored')",
    }
    process = run(
        f"""
        import sys, time, numpy as np, trustvb
        m = trustvb.GaussianMixture(3).fit(np.random.default_rng(0).normal(size=(3000, 3)))
        t = m.table('anchored', grid=20, bootstraps=200, omega_min=0.5) if {work == "callable"} else None
        print("ready", flush=True)
        since = time.time()
        try:
            {lines[work]}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """,
        tmp_path,
    )
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "interrupted\n", err


def test_an_interrupted_table_goes_on(tmp_path, overlap):
    """What Ctrl-C left behind is completed by the same call, to the same numbers."""
    model = trustvb.GaussianMixture(2).fit(overlap)
    options = dict(method="anchored", grid=10, bootstraps=200)
    calls = []

    def stop(done, total):
        calls.append((done, total))
        if done > 30:
            raise KeyboardInterrupt

    path = tmp_path / "t.tvb"
    with pytest.raises(KeyboardInterrupt):
        for _ in range(50):  # a quick machine may finish before it is asked
            model.table(**options, path=path, progress=stop)
            import shutil

            shutil.rmtree(path)
    whole = model.table(**options, path=path)
    assert whole.to_arrow().equals(model.table(**options).to_arrow())


def test_progress_is_told_to_callables(overlap):
    told = []
    model = trustvb.GaussianMixture(2).fit(overlap)
    model.table(grid=100, bootstraps=400, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told) and all(done <= total for done, total in told if total)


def test_progress_is_silent_unless_watched(monkeypatch):
    assert _progress.Progress("fitting").callback is None
    assert _progress.Progress("fitting", False).callback is None

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    with _progress.Progress("fitting") as bar:
        bar.callback(3, 12)
        bar.callback(4, 12)  # too soon to be drawn
    text = sys.stderr.getvalue()
    assert "fitting" in text and "3/12" in text and "4/12" not in text
    assert text.endswith("\r\x1b[K"), "the line is cleared"


def test_progress_in_a_notebook(monkeypatch):
    shown = []

    class Handle:
        def update(self, bundle, raw):
            shown.append(bundle["text/plain"])

    def display(bundle, raw, display_id):
        shown.append(bundle["text/plain"])
        return Handle()

    class ZMQInteractiveShell:
        pass

    ipython = type(sys)("IPython")
    ipython.get_ipython = ZMQInteractiveShell
    ipython.display = type(sys)("IPython.display")
    ipython.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    monkeypatch.setattr(_progress, "_EVERY", 0.0)
    with _progress.Progress("fitting") as bar:
        bar.callback(0, 0)
        bar.callback(6, 12)
    assert shown[0] == "fitting …" and "6/12" in shown[1] and shown[-1] == ""


def test_the_interpreter_is_free_meanwhile(overlap):
    """Another thread runs Python while a table is built."""
    model = trustvb.GaussianMixture(2).fit(overlap)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    model.table(grid=100, bootstraps=300)
    ended = time.monotonic()
    stop.set()
    thread.join()
    assert sum(began < t < ended for t in ticks) >= 3


def test_threads_may_ask_at_once(table):
    expected = table.intervals("pi[1]", method="anchored")
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(table.intervals("pi[1]", method="anchored")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert len(found) == 4 and all(frame.equals(expected) for frame in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(overlap):
    model = trustvb.GaussianMixture(2).fit(overlap)
    model.table(grid=3, bootstraps=4)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            model.table(grid=3, bootstraps=4)
            code = 0
        finally:
            os._exit(code)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert os.waitstatus_to_exitcode(status) == 0


def test_random_states(faithful):
    fit = lambda state: trustvb.GaussianMixture(2, random_state=state).fit(faithful)  # noqa: E731
    assert fit(None)._seed == fit(1)._seed == fit(np.int64(1))._seed == 1
    first = [fit(np.random.RandomState(0))._seed, fit(np.random.default_rng(0))._seed]
    again = [fit(np.random.RandomState(0))._seed, fit(np.random.default_rng(0))._seed]
    assert first == again and first[0] != first[1]
