"""``python tests/data/fit_chebyshev.py`` fits the series of special functions in kernels/chebyshev.py. Needs mpmath."""

from __future__ import annotations

from pathlib import Path

import mpmath as mp

mp.mp.dps = 40
FILE = Path(__file__).parents[2] / "kernels" / "chebyshev.py"
NODES = 48
SMALLEST = mp.mpf("2e-17")  # relative to the largest coefficient

HEAD = '''"""Chebyshev series of special functions: ``tests/data/fit_chebyshev.py`` writes this file.

Each series is of the function named beside it, over the interval that s in [-1, 1] stands for, lowest coefficient
first. float64 takes all coefficients, float32 those above its precision.
"""

from __future__ import annotations

SERIES: dict[str, tuple[float, ...]] = {
'''


def hankel(order, x):
    """(P, Q) of the asymptotic form of the Bessel functions: DLMF 10.17."""
    chi = x - (2 * order + 1) * mp.pi / 4
    scale = mp.sqrt(mp.pi * x / 2)
    j, y = mp.besselj(order, x), mp.bessely(order, x)
    return scale * (j * mp.cos(chi) + y * mp.sin(chi)), scale * (y * mp.cos(chi) - j * mp.sin(chi))


def far(s):
    """x of s = 128 / x^2 - 1."""
    return 8 / mp.sqrt((s + 1) / 2)


def normal_quantile(t):
    """The positive quantile z with upper tail p = exp(-t^2 / 2), divided by t."""
    p = mp.exp(-t * t / 2)
    return mp.findroot(lambda z: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) - mp.log(p), t - mp.log(t) / t) / t


def inverse_erf(w):
    """erfinv(x) / x where w = -log(1 - x^2)."""
    if w == 0:
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    z = mp.findroot(lambda z: mp.log(mp.erfc(z)) - mp.log(1 - x), mp.sqrt(w)) if w > 1 else mp.erfinv(x)
    return z / x


def airy_far(zeta):
    """Ai(x) for x > 0 without its exponential: zeta = 2/3 x^(3/2)."""
    x = (zeta * 3 / 2) ** (mp.mpf(2) / 3)
    return mp.airyai(x) * mp.exp(zeta) * 2 * mp.sqrt(mp.pi) * mp.root(x, 4)


def airy_wave(zeta):
    """(P, Q) of Ai(-x) = (sin(zeta + pi/4) P - cos(zeta + pi/4) Q) / (sqrt(pi) x^(1/4)): DLMF 9.7.9."""
    x = (zeta * 3 / 2) ** (mp.mpf(2) / 3)
    scale = mp.sqrt(mp.pi) * mp.root(x, 4)
    a, b, phase = mp.airyai(-x), mp.airybi(-x), zeta + mp.pi / 4
    return scale * (a * mp.sin(phase) + b * mp.cos(phase)), scale * (b * mp.sin(phase) - a * mp.cos(phase))


def on(low, high):
    """The map from s in [-1, 1] to [low, high]."""
    low, high = mp.mpf(low), mp.mpf(high)
    return lambda s: (high - low) / 2 * s + (high + low) / 2


W, R1, R2 = on(0, "6.25"), on("2.5", 4), on(4, "6.25")
T1, T2, T3 = on("2.125", "4.5"), on("4.5", 13), on(13, 39)
EIGHT, TWO2, EIGHT2 = on(0, 8), on(0, 4), on(0, 64)
AI1, AI2, INVZ, INVZ2 = on(-4, 0), on(0, 2), on(0, "0.53"), on(0, "0.04")
FUNCTIONS = {
    "erfinv_mid": ("erfinv(x) / x, w = -log(1 - x^2) in [0, 6.25]", lambda s: inverse_erf(W(s))),
    "erfinv_far": ("erfinv(x) / x, sqrt(w) in [2.5, 4]", lambda s: inverse_erf(R1(s) ** 2)),
    "erfinv_end": ("erfinv(x) / x, sqrt(w) in [4, 6.25]", lambda s: inverse_erf(R2(s) ** 2)),
    "ndtri_near": ("-ndtri(p) / t, t = sqrt(-2 log p) in [2.125, 4.5]", lambda s: normal_quantile(T1(s))),
    "ndtri_far": ("-ndtri(p) / t, t in [4.5, 13]", lambda s: normal_quantile(T2(s))),
    "ndtri_end": ("-ndtri(p) / t, t in [13, 39]", lambda s: normal_quantile(T3(s))),
    "i0_near": ("exp(-x) I0(x), x in [0, 8]", lambda s: mp.exp(-EIGHT(s)) * mp.besseli(0, EIGHT(s))),
    "i0_far": ("exp(-x) sqrt(x) I0(x), s = 16 / x - 1", lambda s: scaled_i(0, 16 / (s + 1))),
    "i1_near": ("exp(-x) I1(x) / x, x in [0, 8]", lambda s: mp.exp(-EIGHT(s)) * mp.besseli(1, EIGHT(s)) / EIGHT(s)),
    "i1_far": ("exp(-x) sqrt(x) I1(x), s = 16 / x - 1", lambda s: scaled_i(1, 16 / (s + 1))),
    "k0_near": ("K0(x) + log(x / 2) I0(x), x^2 in [0, 4]", lambda s: k_near(0, mp.sqrt(TWO2(s)))),
    "k0_far": ("exp(x) sqrt(x) K0(x), s = 4 / x - 1", lambda s: scaled_k(0, 4 / (s + 1))),
    "k1_near": ("x (K1(x) - log(x / 2) I1(x)), x^2 in [0, 4]", lambda s: k_near(1, mp.sqrt(TWO2(s)))),
    "k1_far": ("exp(x) sqrt(x) K1(x), s = 4 / x - 1", lambda s: scaled_k(1, 4 / (s + 1))),
    "j0_near": ("J0(x), x^2 in [0, 64]", lambda s: mp.besselj(0, mp.sqrt(EIGHT2(s)))),
    "j1_near": ("J1(x) / x, x^2 in [0, 64]", lambda s: mp.besselj(1, mp.sqrt(EIGHT2(s))) / mp.sqrt(EIGHT2(s))),
    "y0_near": ("Y0(x) - 2 / pi log(x) J0(x), x^2 in [0, 64]", lambda s: y_near(0, mp.sqrt(EIGHT2(s)))),
    "y1_near": ("(Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x, x^2 in [0, 64]", lambda s: y_near(1, mp.sqrt(EIGHT2(s)))),
    "p0": ("P of order 0, s = 128 / x^2 - 1", lambda s: hankel(0, far(s))[0]),
    "q0": ("x Q of order 0, s = 128 / x^2 - 1", lambda s: hankel(0, far(s))[1] * far(s)),
    "p1": ("P of order 1, s = 128 / x^2 - 1", lambda s: hankel(1, far(s))[0]),
    "q1": ("x Q of order 1, s = 128 / x^2 - 1", lambda s: hankel(1, far(s))[1] * far(s)),
    "airy_left": ("Ai(x), x in [-4, 0]", lambda s: mp.airyai(AI1(s))),
    "airy_right": ("Ai(x), x in [0, 2]", lambda s: mp.airyai(AI2(s))),
    "airy_far": (
        "2 sqrt(pi) x^(1/4) exp(z) Ai(x), z = 2/3 x^(3/2), 1 / z in [0, 0.53]",
        lambda s: airy_far(1 / INVZ(s)),
    ),
    "airy_p": ("P of Ai(-x), 1 / z^2 in [0, 0.04]", lambda s: airy_wave(1 / mp.sqrt(INVZ2(s)))[0]),
    "airy_q": ("z Q of Ai(-x), 1 / z^2 in [0, 0.04]", lambda s: airy_wave(1 / (z := mp.sqrt(INVZ2(s))))[1] / z),
}


def scaled_i(order, x):
    """exp(-x) sqrt(x) I(x)."""
    return mp.exp(-x) * mp.sqrt(x) * mp.besseli(order, x)


def scaled_k(order, x):
    """exp(x) sqrt(x) K(x)."""
    return mp.exp(x) * mp.sqrt(x) * mp.besselk(order, x)


def k_near(order, x):
    """K without its logarithm."""
    if order == 0:
        return mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x)
    return x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x))


def y_near(order, x):
    """Y without its logarithm."""
    if order == 0:
        return mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x)
    return (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x


def fit(f):
    """Coefficients, from the values at the nodes of the first kind."""
    angles = [mp.pi * (2 * i + 1) / (2 * NODES) for i in range(NODES)]
    values = [f(mp.cos(a)) for a in angles]
    series = [2 * mp.fsum(v * mp.cos(k * a) for v, a in zip(values, angles, strict=True)) / NODES for k in range(NODES)]
    series[0] /= 2
    floor = SMALLEST * max(abs(c) for c in series)
    while abs(series[-1]) < floor:
        series.pop()
    return [float(mp.re(c)) for c in series]


def main():
    lines = [HEAD]
    for name, (text, f) in FUNCTIONS.items():
        series = fit(f)
        print(name, len(series), f"{series[-1]:.1e}", flush=True)
        lines.append(f"    # {text}\n    \"{name}\": (\n")
        row = "       "
        for c in series:
            if len(row) + len(f" {c!r},") > 118:
                lines.append(row + "\n")
                row = "       "
            row += f" {c!r},"
        lines.append(row + "\n    ),\n")
    FILE.write_text("".join(lines) + "}\n")


if __name__ == "__main__":
    main()
