"""Reference values for the distributions and gamma functions of `trustvb::special`.

Run from the root of the repository:

    python3 scripts/reference/distributions.py

writes crates/trustvb/tests/fixtures/distributions.json. Needs mpmath. Arguments are doubles taken as
exact; values are computed to 60 digits and rounded once. Incomplete functions are summed as series of
positive terms; `check()` compares a sample of them with quadrature of the density.
"""

import json
import math
import pathlib

import mpmath as mp

mp.mp.dps = 60
COMMAND = "python3 scripts/reference/distributions.py"
OUT = pathlib.Path("crates/trustvb/tests/fixtures/distributions.json")


def positive_series(ratio):
    """1 + r(0) + r(0)r(1) + …, to working precision, for ratios that fall below 1 and keep falling."""
    total = term = mp.mpf(1)
    n = 0
    while True:
        r = ratio(n)
        term *= r
        total += term
        n += 1
        if r < 1 and term < total * mp.eps * (1 - r):
            return total


def tails_by_series(ln_kernel, series):
    """(lower, upper) above the mean, from the lower tail `series()`, with the digits that the complement loses."""
    lost = max(0, int(-ln_kernel / 2.3))
    if lost > 400:
        return mp.mpf(1), mp.mpf(0)
    with mp.workdps(75 + lost):
        p = series()
        return +p, 1 - p


def ln_beta_kernel(a, b, x):
    return a * mp.log(x) + b * mp.log1p(-x) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b)


def beta_tails(a, b, x):
    if x > 0.5:
        # The complement of a double above a half is exact; the series is quick only for small x.
        return beta_tails(b, a, 1 - x)[::-1]
    series = lambda: mp.exp(ln_beta_kernel(a, b, x)) / a * positive_series(lambda n: (a + b + n) / (a + 1 + n) * x)
    if x * (a + b) < a:
        p = series()
        return p, 1 - p
    return tails_by_series(ln_beta_kernel(a, b, x), series)


def beta_ln_pdf(a, b, x):
    return (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b)


def gamma_tails(k, x):
    ln_kernel = lambda: k * mp.log(x) - x - mp.loggamma(k)
    series = lambda: mp.exp(ln_kernel()) / k * positive_series(lambda n: x / (k + 1 + n))
    if x < k:
        p = series()
        return p, 1 - p
    return tails_by_series(ln_kernel(), series)


def gamma_ln_pdf(k, x):
    return (k - 1) * mp.log(x) - x - mp.loggamma(k)


def t_tails(df, t):
    """P(T ≤ −|t|) is half of the upper tail of Beta(1/2, df/2) at t²/(df + t²)."""
    half = mp.mpf(1) / 2
    if t * t < df:
        outer = beta_tails(half, df / 2, t * t / (df + t * t))[1] / 2
    else:
        outer = beta_tails(df / 2, half, df / (df + t * t))[0] / 2
    return (outer, 1 - outer) if t <= 0 else (1 - outer, outer)


def t_ln_pdf(df, t):
    return (
        mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2) - mp.log(df * mp.pi) / 2
        - (df + 1) / 2 * mp.log1p(t * t / df)
    )


def normal_tails(z):
    p = mp.erfc(-z / mp.sqrt(2)) / 2
    return p, mp.erfc(z / mp.sqrt(2)) / 2


BETA = [
    (0.5, 1e4), (1e5, 2e5), (0.001, 5.0), (5.0, 0.001), (0.001, 0.001), (5e5, 1e6), (1.0, 1.0), (0.5, 0.5),
    (2.0, 3.0), (0.3, 7.5), (30.0, 60.0), (120.5, 340.25), (900.0, 5.0), (1499.0, 1501.0), (1600.0, 1700.0),
    (1e7, 1e7), (1e7, 20.0), (0.001, 1e7), (2000.0, 1e7), (1400.0, 1e7), (1.0, 1e3), (12.0, 0.02),
]
GAMMA = [0.001, 0.1, 0.5, 1.0, 2.5, 10.0, 75.5, 400.0, 1450.0, 1600.0, 3e4, 1e6, 1e7]
STUDENT = [0.01, 0.5, 1.0, 2.0, 4.5, 30.0, 350.0, 2999.0, 1e5, 1e7, 1e9]
OFFSETS = [-7.5, -3.0, -1.2, -0.1, 0.7, 2.5, 6.5]
FRACTIONS = [1e-290, 1e-9, 0.02, 0.3, 0.5, 0.77, 0.9999]


def beta_points(a, b):
    points = list(FRACTIONS) if min(a, b) < 20 else []
    if min(a, b) > 0.4:
        sd = math.sqrt(1 / a + 1 / b)
        points += [1 / (1 + b / a * math.exp(-k * sd)) for k in OFFSETS]
    return [x for x in points if 0 < x < 1]


def gamma_points(k):
    points = [1e-290, 1e-6, 0.1, 1.0, 5.0] if k < 5 else []
    if k > 0.4:
        points += [k * math.exp(j / math.sqrt(k)) for j in OFFSETS if j / math.sqrt(k) < 4]
    return points


def numbers(*values):
    return [float(v) for v in values]


def build():
    rows = {"beta": [], "gamma": [], "student": [], "normal": [], "functions": [], "ln_beta": [], "ln_multigamma": []}
    for a, b in BETA:
        for x in beta_points(a, b):
            ma, mb, mx = map(mp.mpf, (a, b, x))
            rows["beta"].append(numbers(a, b, x, *beta_tails(ma, mb, mx), beta_ln_pdf(ma, mb, mx)))
    for k in GAMMA:
        for x in gamma_points(k):
            mk, mx = mp.mpf(k), mp.mpf(x)
            rows["gamma"].append(numbers(k, x, *gamma_tails(mk, mx), gamma_ln_pdf(mk, mx)))
    for df in STUDENT:
        for t in [-1e90, -1e4, -30.0, -2.0, -0.3, -1e-7, 0.8, 1.96, 7.0, 1e150]:
            md, mt = mp.mpf(df), mp.mpf(t)
            if df > 1e4 and abs(t) > 1e3:
                continue
            rows["student"].append(numbers(df, t, *t_tails(md, mt), t_ln_pdf(md, mt)))
    for z in [-37.0, -20.5, -8.0, -3.1, -1.0, -1e-8, 0.0, 0.4, 1.96, 5.0, 12.0]:
        rows["normal"].append(numbers(z, *normal_tails(mp.mpf(z))))
    for x in [1e-6, 1e-3, 0.05, 0.5, 0.999999, 1.0, 1.000001, 1.4616321449683623, 1.999, 2.0, 2.0001, 3.7, 6.0,
              7.999, 8.0, 9.999, 10.0, 25.5, 171.0, 1e4, 1e8, 1e12]:
        m = mp.mpf(x)
        rows["functions"].append(numbers(x, mp.loggamma(m), mp.digamma(m), mp.polygamma(1, m)))
    for a in [1e-6, 0.001, 0.5, 1.0, 7.0, 300.0, 1e6, 1e12]:
        for b in [1e-6, 0.3, 2.0, 50.0, 1e7]:
            ma, mb = mp.mpf(a), mp.mpf(b)
            rows["ln_beta"].append(numbers(a, b, mp.loggamma(ma) + mp.loggamma(mb) - mp.loggamma(ma + mb)))
    for p, x in [(1, 3.5), (2, 0.75), (3, 4.0), (10, 6.0), (20, 1e5)]:
        terms = mp.fsum(mp.loggamma(mp.mpf(x) - mp.mpf(j) / 2) for j in range(p))
        rows["ln_multigamma"].append(numbers(p, x, mp.mpf(p * (p - 1)) / 4 * mp.log(mp.pi) + terms))
    return rows


def check():
    """The series against quadrature of the density in 32 pieces, from where the tail is below 1e-25."""
    worst = 0
    for a, b, k in [(1e5, 2e5, -1.2), (5e5, 1e6, 0.7), (1e7, 1e7, 0.3), (0.5, 1e4, 0.5), (2.0, 3.0, 1.0)]:
        a, b = mp.mpf(a), mp.mpf(b)
        sd = mp.sqrt(1 / a + 1 / b)
        centre = mp.log(a / b)
        log_b = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
        f = lambda u: mp.exp(a * u - (a + b) * mp.log1p(mp.exp(u)) - log_b)
        far = max(16, 70 / (a * sd))
        cuts = [centre + sd * (k - far + mp.mpf(i) * far / 32) for i in range(33)]
        p = beta_tails(a, b, 1 / (1 + mp.exp(-cuts[-1])))[0]
        with mp.workdps(35):
            worst = max(worst, abs(mp.quad(f, cuts) - p))
    for k, j in [(1e6, -1.2), (75.5, 0.7), (1e7, 2.5)]:
        k = mp.mpf(k)
        sd = 1 / mp.sqrt(k)
        f = lambda v: mp.exp(k * v - mp.exp(v) - mp.loggamma(k))
        cuts = [mp.log(k) + sd * (j - 24 + mp.mpf(i) * 24 / 32) for i in range(33)]
        p = gamma_tails(k, mp.exp(cuts[-1]))[0]
        with mp.workdps(35):
            worst = max(worst, abs(mp.quad(f, cuts) - p))
    return float(worst)


def main():
    worst = check()
    assert worst < 1e-20, worst
    rows = build()
    note = {
        "note": f"Written by `{COMMAND}` with mpmath {mp.__version__} at {mp.mp.dps} digits. "
        f"Series and quadrature agree to {worst:.0e} on the sample checked.",
        "columns": {
            "beta": "a b x cdf sf ln_pdf", "gamma": "shape x cdf sf ln_pdf", "student": "df t cdf sf ln_pdf",
            "normal": "z cdf sf", "functions": "x ln_gamma digamma trigamma", "ln_beta": "a b value",
            "ln_multigamma": "p x value",
        },
    }
    lines = [f'"{key}": {json.dumps(value)}' for key, value in note.items()]
    lines += [f'"{key}": [\n' + ",\n".join(json.dumps(r) for r in value) + "\n]" for key, value in rows.items()]
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
