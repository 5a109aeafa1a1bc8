"""What intervals around NumPyro's variational fits cost, and whether their widths are right.

    python benches/outside.py [one-line] [one-fit] [widths] [workers]

A logistic regression with correlated predictors, n = 500, p = 5. It needs `trustvb[numpyro]` and a quiet machine;
docs/OUTSIDE.md has its numbers. Times of a call are medians over processes; the import of `trustvb.numpyro` is not counted.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

import numpy as np

PRIOR = 0.01
REPEATS = 5
SEEDS = 50


def regression():
    """The data."""
    rng = np.random.default_rng(1)
    correlated = 0.7 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    X = rng.normal(size=(500, 5)) @ np.linalg.cholesky(correlated).T
    return X, rng.binomial(1, 1 / (1 + np.exp(-X @ [0.5, -1.0, 0.8, 0.0, 0.3])))


def sandwich(X, y):
    """Standard deviations of the estimates, by Newton's method and White's formula, and by its version for few rows.

    White's (HC0) is known to be too short in small samples, because fitted rows are nearer to their fit than new ones;
    HC3 (MacKinnon and White 1985) divides each row's residual by one minus its leverage.
    """
    beta = np.zeros(X.shape[1])
    for _ in range(30):
        mean = 1 / (1 + np.exp(-X @ beta))
        hessian = (X * (mean * (1 - mean))[:, None]).T @ X + PRIOR * np.eye(X.shape[1])
        beta += np.linalg.solve(hessian, X.T @ (y - mean) - PRIOR * beta)
    scores = X * (y - mean)[:, None]
    inverse = np.linalg.inv(hessian)
    leverage = np.einsum("ni,ij,nj->n", X, inverse, X) * mean * (1 - mean)
    few = scores / (1 - leverage)[:, None]
    return [np.sqrt(np.diag(inverse @ s.T @ s @ inverse)) for s in (scores, few)]


def model(X, y):
    """The model of NumPyro; imported where it is used, so that imports can be told apart."""
    import numpyro
    import numpyro.distributions as dist

    beta = numpyro.sample("beta", dist.Normal(0, PRIOR**-0.5).expand([X.shape[1]]).to_event(1))
    with numpyro.plate("rows", X.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=X @ beta), obs=y)


def widths(answer, true) -> None:
    """Calibrated standard deviations over the sandwich's."""
    frame = answer.compare()
    for method, rows in frame.groupby("method", sort=False):
        for sd, name in zip(true, ("sandwich sd,", "HC3's,"), strict=True):
            ratios = (rows.upper - rows.lower).to_numpy() / (2 * 1.959964) / sd
            listed = " ".join(f"{r:.3f}" for r in ratios)
            print(f"  sd / {name:<12} {method:<10} {listed}   mean {ratios.mean():.3f}")


def call(show: bool, **options) -> None:
    """The line itself, twice: the second model is new to the session, and JAX is awake. Wall and processor seconds."""
    import trustvb.numpyro

    X, y = regression()
    for number in range(2):
        before = time.perf_counter(), time.process_time()
        answer = trustvb.numpyro.calibrate(model, None, X, y, **options)
        answer.intervals()
        after = time.perf_counter(), time.process_time()
        if show and number == 0:
            widths(answer, sandwich(X, y))
        print(*(b - a for a, b in zip(before, after, strict=True)))


def jitted(draws: int, steps: int):
    """A fitter of one's own, as people write them: a jitted loop, one fit at a time, with so many draws behind each step.

    With one draw, as NumPyro's and Pyro's own loops have by default, a step is too little work for JAX to share among cores;
    with many it does so by itself.
    """
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(7)
    noise = jnp.asarray(rng.standard_normal((steps if draws == 1 else 1, draws, 5)))
    reported = jnp.asarray(rng.standard_normal((64, 5)))

    def bound(x, noise, data, weights, omega):
        X, y = data
        mean, scale = x[:5], jnp.exp(x[5:])
        beta = mean + scale * noise
        logits = beta @ X.T
        fit = (y * logits - jax.nn.softplus(logits)).mean(axis=0)
        return -(omega * weights @ fit - PRIOR / 2 * (beta**2).sum(axis=1).mean() + x[5:].sum())

    @jax.jit
    def fit(data, weights, omega):
        slope = jax.grad(bound)

        def step(t, state):
            x, first, second = state
            g = slope(x, noise[t % len(noise)], data, weights, omega)
            first, second = 0.9 * first + 0.1 * g, 0.99 * second + 0.01 * g * g
            move = first / (1 - 0.9 ** (t + 1)) / (jnp.sqrt(second / (1 - 0.99 ** (t + 1))) + 1e-8)
            return x - 0.1 * 0.99 ** (300 * t / steps) * move, first, second

        zero = jnp.zeros(10)
        x, *_ = jax.lax.fori_loop(0, steps, step, (zero, zero, zero))
        return x[:5] + jnp.exp(x[5:]) * reported

    def fitter(data, weights, omega, start):
        return np.asarray(fit(data, weights, omega), dtype=np.float64)

    return fitter


def seeds_of_bootstraps() -> None:
    """What chance does to widths: other seeds of the resamples, with and without derivatives."""
    import trustvb
    import trustvb.numpyro

    X, y = regression()
    true, _ = sandwich(X, y)
    fitter, names = trustvb.numpyro.Fitter(model), [f"beta[{i}]" for i in range(5)]
    for bootstraps, seeds in ((200, SEEDS), (5_000, 1)):
        ratios = np.empty((2, seeds, 5))
        for seed in range(seeds):
            options = {"bootstraps": bootstraps, "n_jobs": 2, "random_state": seed, "check": False}
            answer = trustvb.calibrate(fitter, (X, y), names, **options)
            for steady in (0, 1):
                # The same fits twice: what `steady` says is asked after they are made.
                answer._steady, answer._parts = bool(steady), None
                frame = answer.compare(method="balanced")
                ratios[steady, seed] = (frame.upper - frame.lower) / (2 * 1.959964) / true
        for found, how in zip(ratios, ("plain", "steadied"), strict=True):
            listed = " ".join(f"{r:.3f}" for r in found.mean(axis=0))
            print(f"  {bootstraps} bootstraps, {how:<8} {listed}   mean {found.mean():.3f}", end="")
            if seeds > 1:
                near = (np.abs(found - 1) < 0.05).mean()
                print(f", by chance ± {found.std(axis=0).mean():.3f}, {near:.0%} within 5%", end="")
            print(flush=True)


#: What workers do: a fitter of one's own with so many draws and steps, or NumPyro's in batches; and how many bootstraps.
WORKERS = {
    "own jitted fitter, a draw for each of 2000 steps": (1, 2000, 200),
    "own jitted fitter, 64 draws for each of 300 steps": (64, 300, 200),
    "trustvb.numpyro": (0, 0, 1000),
}


def stopwatch(what: str):
    """How long a calibration takes."""
    import trustvb
    import trustvb.numpyro

    X, y = regression()
    coefficients = {f"beta[{i}]": (lambda draws, i=i: draws[:, i]) for i in range(5)}
    draws, steps, count = WORKERS[what]
    fitter = jitted(draws, steps) if draws else trustvb.numpyro.Fitter(model)
    h = coefficients if draws else list(coefficients)

    def timed(n_jobs, kind=None):
        before = time.perf_counter()
        trustvb.calibrate(fitter, (X, y), h, bootstraps=count, n_jobs=n_jobs, workers=kind)
        return time.perf_counter() - before

    return timed


def one_core(what: str) -> float:
    """Seconds of one worker in a process that has one core: JAX alone spreads a fit over all that it finds."""
    words = [sys.executable, __file__, "--one-core", what]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def on_one_core(what: str) -> None:
    """What `one_core` starts."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    timed = stopwatch(what)
    timed(1)
    print(statistics.median(timed(1) for _ in range(REPEATS)))


def workers() -> None:
    """One worker against two."""
    for what, (draws, _, count) in WORKERS.items():
        timed = stopwatch(what)
        timed(1)  # compiled, and the machine awake
        # One after the other, so that both see the same machine.
        pairs = [(timed(1), timed(2)) for _ in range(REPEATS)]
        one, two = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
        print(f"  {what}, {count} bootstraps")
        print(f"    n_jobs=1 {one:.2f} s, n_jobs=2 {two:.2f} s, {one / two:.2f} times faster")
        alone = one_core(what)
        print(f"    n_jobs=1 kept to one core {alone:.2f} s, {alone / two:.2f} times as long as n_jobs=2")
        if draws:
            seconds = timed(2, "processes")
            print(f"    workers='processes', their start and compilation included: {seconds:.2f} s")


def measured(name: str) -> None:
    """Several fresh processes; the first shows what it found."""
    times = []
    for number in range(REPEATS):
        words = [sys.executable, __file__, f"--{name}", *(["show"] if number == 0 else [])]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        *shown, first, second = done.stdout.splitlines()
        print(*shown, sep="\n", end="\n" if shown else "")
        times.append([float(x) for x in (*first.split(), *second.split())])
    wall, cpu, again, cpu_again = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"  first call of a session {wall:.2f} s (of processor time {cpu:.2f} s)")
    print(f"  a later one {again:.2f} s (of processor time {cpu_again:.2f} s)", flush=True)


#: Options of the line, by section.
LINES = {
    "one-line": dict(bootstraps=200, n_jobs=2),
    "one-fit": dict(method=["jackknife", "lrvb", "vb"]),
}

SECTIONS = {
    "one-line": "one line: calibrate(model, None, X, y), 200 bootstraps, n_jobs=2",
    "one-fit": "one-fit methods: jackknife, lrvb and vb",
    "widths": f"sd / sandwich sd by `balanced`, {SEEDS} seeds of 200 bootstraps, and one of 5,000",
    "workers": f"two workers, {os.cpu_count()} cores: medians of {REPEATS}",
}


def main() -> None:
    if sys.argv[1:2] == ["--one-core"]:
        return on_one_core(sys.argv[2])
    if sys.argv[1:2] and sys.argv[1][2:] in LINES:
        return call("show" in sys.argv, **LINES[sys.argv[1][2:]])
    for name in sys.argv[1:] or SECTIONS:
        print(SECTIONS[name], flush=True)
        if name in LINES:
            measured(name)
        else:
            {"workers": workers, "widths": seeds_of_bootstraps}[name]()
    return None


if __name__ == "__main__":
    main()
