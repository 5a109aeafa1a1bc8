"""What a fitter promises is tried before the work."""

from __future__ import annotations

import numpy as np
import pytest
import trustvb
from test_outside import Z, normal_mean


@pytest.fixture(scope="module")
def data() -> np.ndarray:
    return np.random.default_rng(5).normal(10, 1, 200)


def ignores_weights(data, weights, omega, start):
    return normal_mean(data, np.ones_like(weights), omega, start)


def ignores_omega(data, weights, omega, start):
    return normal_mean(data, weights, 1.0, start)


def is_random(data, weights, omega, start):
    n = weights.sum()
    return weights @ data / n + np.random.default_rng().standard_normal(400) / np.sqrt(omega * n)


def squares_weights(data, weights, omega, start):
    return normal_mean(data, weights**2, omega, start)


def as_interval(fitter):
    def by_limits(*arguments):
        draws = fitter(*arguments)
        return draws.mean(), lambda name, level: np.quantile(
            draws, [(1 - level) / 2, (1 + level) / 2]
        )

    return by_limits


@pytest.mark.parametrize(
    ("fitter", "method", "promise"),
    [
        (ignores_weights, None, "it ignores `weights`"),
        (ignores_weights, "tvb", "it ignores `weights`"),
        (ignores_omega, "anchored", "it ignores `omega`. ω = 1 and ω = 0.01"),
        (is_random, None, "gave two different answers"),
        (squares_weights, None, "rows of weight 2 are not as rows that are there twice"),
    ],
)
@pytest.mark.parametrize("by", ["draws", "interval"])
def test_broken_promises_are_told_before_the_work(data, fitter, method, promise, by):
    fits = []

    def counted(*arguments):
        fits.append(1)
        return (as_interval(fitter) if by == "interval" else fitter)(*arguments)

    h = "mean" if by == "interval" else {"mean": lambda d: d}
    with pytest.raises(ValueError, match=f"the fitter breaks a promise: .*{promise}"):
        trustvb.calibrate(counted, data, h, method=method, bootstraps=10_000, grid=5)
    assert len(fits) <= 5 + 3
    # Nobody has to ask.
    unchecked = trustvb.calibrate(
        counted, data, h, method=method, bootstraps=200, grid=5, check=False
    )
    assert unchecked.names == ["mean"]


@pytest.mark.parametrize(
    ("fitter", "promise"),
    [
        (ignores_weights, "it ignores `weights`"),
        (is_random, "gave two different answers"),
        (squares_weights, "rows of weight 2 are not as rows that are there twice"),
    ],
)
def test_threads_try_promises_together(data, fitter, promise):
    with pytest.raises(ValueError, match=f"the fitter breaks a promise: .*{promise}"):
        trustvb.calibrate(fitter, data, lambda d: d, bootstraps=10_000, n_jobs=2, workers="threads")


def test_a_failure_while_promises_are_tried_is_told(data):
    calls = iter(range(10))

    def fails_at_once(*arguments):
        if next(calls) > 0:
            raise OSError("no disk")
        return normal_mean(*arguments)

    with pytest.raises(OSError, match="no disk"):
        trustvb.calibrate(fails_at_once, data, lambda d: d, n_jobs=2, workers="threads")


def test_promises_that_are_kept(data):
    """What looks like a broken promise and is none."""
    # Of a dict of draws one is the same whatever the weights are; the quantity is a constant.
    result = trustvb.calibrate(
        lambda *a: {"fixed": Z, "mean": normal_mean(*a)}, data, lambda d: 0 * d["mean"] + 2
    )
    assert result.intervals().lower[0] == 2
    # Rounding that differs from call to call.
    noise = iter(range(10_000))
    trustvb.calibrate(
        lambda *a: normal_mean(*a) * (1 + 1e-15 * next(noise)), data, lambda d: d, bootstraps=200
    )
    # ω is not looked at, and need not be.
    trustvb.calibrate(ignores_omega, data, lambda d: d, method=["recommended", "tempered"])
    # Data that cannot be repeated, and a fitter that knows them by heart.
    trustvb.calibrate(lambda d, *a: normal_mean(data, *a), list(data), lambda d: d, bootstraps=200)

    def by_heart(given, weights, omega, start):
        if given is not data:
            raise KeyError("never seen")
        return normal_mean(given, weights, omega, start)

    trustvb.calibrate(by_heart, data, lambda d: d, bootstraps=200)
    # One unit has one bootstrap, which is itself.
    trustvb.calibrate(normal_mean, data[:1], lambda d: d, bootstraps=2)
