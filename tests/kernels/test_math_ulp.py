"""Errors of the mathematical intrinsics in units of the last place, against references of higher precision.

The C dialect's own functions are held to the figures that they reach, those of OpenCL's libraries to what the
specification allows. References: NumPy and SciPy in float64 for f32, extended precision for f64.
"""

import os
import shutil
import subprocess

import numpy as np
import pytest
from intrinsic_harness import TYPES, Intrinsics, ulps

special = pytest.importorskip("scipy.special")

# name: (reference, bound in C, bound elsewhere). The second is OpenCL's table of errors where a library goes near it;
# libclc's erfc (Mesa 22.3) goes beyond its 16.
UNARY = {
    "exp": (np.exp, 1.2, 3), "exp2": (np.exp2, 1.3, 3), "expm1": (np.expm1, 1.5, 3), "log": (np.log, 0.9, 3),
    "log2": (np.log2, 0.9, 3), "log10": (np.log10, 0.8, 3), "log1p": (np.log1p, 0.9, 2), "sin": (np.sin, 1.6, 4),
    "cos": (np.cos, 1.6, 4), "tan": (np.tan, 1.5, 5), "sinh": (np.sinh, 1.7, 4), "cosh": (np.cosh, 1.6, 4),
    "tanh": (np.tanh, 1.4, 5), "asin": (np.arcsin, 1.8, 4), "acos": (np.arccos, 1.4, 4), "atan": (np.arctan, 1.8, 5),
    "asinh": (np.arcsinh, 1.8, 4), "acosh": (np.arccosh, 2, 4), "atanh": (np.arctanh, 2, 5),
    "erf": (special.erf, 1.5, 16), "erfc": (special.erfc, 2.1, 64), "sigmoid": (special.expit, 2.4, 4),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1.5, 2.5), "sqrt": (np.sqrt, 0.5, 3),
}  # fmt: skip
BINARY = {"pow": (np.power, 1.4, 16), "atan2": (np.arctan2, 1.8, 6), "hypot": (np.hypot, 1.3, 4)}
# In f64, C takes these from libm: they need no check of ours.
LIBM = {"sin", "cos", "tan", "asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2", "sqrt", "rsqrt", "sigmoid"}
SPECIAL = [0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1.5, -7, 16777217, 1e30, -1e30, np.inf, -np.inf, np.nan]


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def calls(code: str) -> dict:
    """The kernels: four functions in each."""
    out = {}
    for arity, names in ((1, list(UNARY)), (2, list(BINARY))):
        kept = [name for name in names if code == "f32" or name not in LIBM]
        for i in range(0, len(kept), 4):
            parts = [(f"tx_{name}_{code}", tuple(range(arity)), code) for name in kept[i : i + 4]]
            out[f"{arity}_{i}_{code}"] = ((code,) * arity, parts)
    return out


def samples(code: str) -> np.ndarray:
    """All exponents, and densely where the functions have their bends."""
    rng = np.random.default_rng(0)
    bits = np.arange(19, 1 << 32, (1 << 14) + 5, dtype=np.uint64).astype(np.uint32).view(np.float32)
    parts = [bits, rng.uniform(-1.2, 1.2, 40000), rng.uniform(-10, 10, 40000), rng.uniform(-110, 110, 20000), SPECIAL]
    if code == "f64":
        edges = [1e-310, -1e-310, 1e308, 5e-324]
        parts = [bits[np.isfinite(bits)][::8] * (1 + 1e-9), rng.uniform(-750, 750, 20000), edges, *parts[1:]]
    return np.concatenate([np.asarray(part, np.float64) for part in parts]).astype(TYPES[code])


def pairs(code: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    a, b = (column.ravel() for column in np.meshgrid(SPECIAL, SPECIAL))
    wide = 1 if code == "f32" else 7
    x = [a, np.exp(rng.uniform(-80, 80, 20000)), rng.uniform(0.5, 2, 20000), rng.uniform(-10, 10, 20000)]
    y = [b, rng.uniform(-3, 3, 20000), rng.uniform(-150, 150, 20000) * wide, np.rint(rng.uniform(-8, 8, 20000) * 2) / 2]
    return np.concatenate(x).astype(TYPES[code]), np.concatenate(y).astype(TYPES[code])


def error_function(x: np.ndarray, complement: bool) -> np.ndarray:
    """erf or erfc in extended precision: the series of DLMF 7.6.2, then the continued fraction of 7.9.3."""
    root_pi = np.sqrt(np.longdouble(np.pi) + np.longdouble("1.2246467991473531772e-16"))
    a = np.abs(x)
    a_series, a_fraction = np.minimum(a, 1.5), np.clip(a, 1.5, 200)
    term = a_series * 2 / root_pi
    total = term.copy()
    for n in range(1, 40):
        term = term * (2 * a_series * a_series / (2 * n + 1))
        total += term
    erf = total * np.exp(-a_series * a_series)
    fraction = a_fraction.copy()
    for n in range(160, 0, -1):
        fraction = a_fraction + np.longdouble(n) / 2 / fraction
    erfc = np.exp(-a_fraction * a_fraction) / fraction / root_pi
    erf, erfc = np.where(a < 1.5, erf, 1 - erfc), np.where(a < 1.5, 1 - erf, erfc)
    result = np.where(x < 0, 2 - erfc, erfc) if complement else np.copysign(erf, x)
    return np.where(np.isnan(x), x, result)


def reference(name: str, inputs: tuple[np.ndarray, ...], code: str) -> np.ndarray:
    function = (UNARY | BINARY)[name][0]
    wide = [x.astype(np.float64 if code == "f32" else np.longdouble) for x in inputs]
    if code == "f64" and name in ("erf", "erfc"):
        return error_function(wide[0], name == "erfc")
    return function(*wide)


@pytest.mark.parametrize("code, mask", [("f32", ""), ("f64", ""), ("f32", "no_fast_fma")])
def test_errors(device, need, code, mask):
    """Also zeros and their signs, infinities, NaN, denormal numbers and arguments of any size."""
    need(code, compiler=True)
    own = device.runtime.capabilities.dialect == "c"
    if mask:
        need(fast_fma=True, dialect="c")  # elsewhere the functions are the library's
    kernels = calls(code)
    run = Intrinsics(device.runtime, kernels, mask)
    inputs = {1: (samples(code),), 2: pairs(code)}
    tiny = np.finfo(TYPES[code]).tiny
    table = []
    for entry, (types, _) in kernels.items():
        x = inputs[len(types)]
        for word, got in run(entry, *x).items():
            name = word.split("_")[1]
            _, bound, loose = (UNARY | BINARY)[name]
            wanted = reference(name, x, code)
            error = ulps(got, wanted)
            if not own:  # a device may take denormal numbers, in and out, for 0
                flushed = np.any([np.abs(v) < tiny for v in x], axis=0) | (np.abs(wanted) < 1.01 * tiny)
                error = np.where(flushed & ~(np.abs(got - wanted) > 1.1 * tiny), 0, error)
            worst = int(np.argmax(error))
            if not error[worst] <= (bound if own else loose):
                at = ", ".join(repr(v[worst]) for v in x)
                table.append(f"{word}({at}) = {got[worst]!r}, not {wanted[worst]!r}: {error[worst]:.3g} ulp")
    assert not table, "\n".join(table)


def test_gamma_functions(device, need):
    """Relative to 1 near their zeros."""
    need(compiler=True)
    rng = np.random.default_rng(2)
    names = {"lgamma": special.gammaln, "digamma": special.digamma}
    run = Intrinsics(device.runtime, {"gamma": (("f32",), [(f"tx_{name}_f32", (0,), "f32") for name in names])})
    x = np.concatenate([rng.uniform(1e-3, 60, 20000), rng.uniform(-4, 0, 2000), [np.inf, np.nan, -1.0, 0.0, 1e30]])
    x = x.astype(np.float32)
    results = run("gamma", x)
    for name, function in names.items():
        wanted = function(x.astype(np.float64))
        got = results[f"tx_{name}_f32"]
        near = np.abs(got - wanted) <= 2e-5 * np.maximum(1, np.abs(wanted))
        pole = np.abs(x - np.rint(x)) < 1e-2 * (x < 0.5)  # the distance to a pole has few bits
        assert (near | (got == wanted) | (np.isnan(got) & np.isnan(wanted)) | pole).all(), name
    assert np.isinf(results["tx_lgamma_f32"][-2:-1]).all()


def test_c_vectorises():
    """gcc turns a loop of each of our own functions into SIMD code, with the flags that the library compiles with."""
    from tensorx.devices import cpu_compiler
    from tensorx.kernels.dialect import dialect
    from tensorx.kernels.intrinsics import define

    compiler = cpu_compiler.find()
    if compiler is None or "__clang__" in compiler.features or "__AVX2__" not in compiler.features:
        pytest.skip("needs gcc and AVX2: others report vectorised loops in other words")
    caps = cpu_caps(compiler)
    functions = [f"{name}_{code}" for code in ("f32", "f64") for name in UNARY if code == "f32" or name not in LIBM]
    mixed = [f"{name}_f32" for name in BINARY]
    lines = ["#include <stdint.h>"] + [f"typedef {word} {code};" for code, word in dialect("c").types.items()]
    lines += define({f"tx_{name}" for name in functions + mixed}, "c", caps).splitlines()
    first = len(lines) + 1
    for f in functions:
        arguments = f"const {f[-3:]} *x, {f[-3:]} *y, long n"
        lines.append(f"void k_{f}({arguments}) {{ for (long i = 0; i < n; i++) y[i] = tx_{f}(x[i]); }}")
    # With one operand the same for the whole loop gcc simplifies, and may lose the loop in doing so.
    for f in mixed:
        arguments = "const f32 *x, f32 *y, long n, f32 s"
        lines.append(f"void k_{f}({arguments}) {{ for (long i = 0; i < n; i++) y[i] = tx_{f}(x[i], s); }}")
    functions += mixed
    flags = [flag for flag in compiler.flags if flag not in ("-shared", "-fopenmp")]
    flags += ["-S", "-o", os.devnull, "-fopt-info-vec-optimized=/dev/stdout"]
    command = [*compiler.command, *flags, "-x", "c", "-"]
    log = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True).stdout
    scalar = [f for i, f in enumerate(functions) if f":{first + i}:" not in log]
    assert not scalar, f"not vectorised: {', '.join(scalar)}"


def cpu_caps(compiler):
    from tensorx.kernels.capabilities import Capabilities

    return Capabilities("c", fp64=True, fast_fma=compiler.fast_fma)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("fast", [True, False])
def test_cuda_text_is_accepted(tmp_path, fast):
    """nvcc takes every intrinsic: one file, one call."""
    from tensorx.kernels.capabilities import Capabilities
    from tensorx.kernels.dialect import dialect
    from tensorx.kernels.intrinsics import define, table

    types = "\n".join(f"typedef {word} {code};" for code, word in dialect("cuda").types.items())
    text = define(table("cuda"), "cuda", Capabilities("cuda", fp64=True, fast_fma=fast))
    (tmp_path / "all.cu").write_text(f"{types}\n{text}\n")
    command = ["nvcc", "-arch=sm_75", "-diag-suppress=177", "-c", "-o", "all.o", "all.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_define_gives_what_is_needed_once():
    from tensorx.errors import RenderError
    from tensorx.kernels.capabilities import Capabilities
    from tensorx.kernels.intrinsics import DIALECTS, define, table, used

    weak = Capabilities("c", fp64=False)
    for name in DIALECTS:
        assert define((), name, weak) == ""
        text = define(["tx_sigmoid_f32", "tx_exp_f32"], name, weak)
        assert text.count(" tx_exp_f32(f32 x)") == 1 and text.index(" tx_exp_f32(") < text.index(" tx_sigmoid_f32(")
        assert "tx_log_f32" not in text
        narrow = {function for function in table(name) if "64" not in function and "u32" not in function}
        assert used(define(narrow, name, weak), name) >= narrow
        for entry in ("tx_exp_f64", "tx_cast_f32_f64"):
            with pytest.raises(RenderError, match="float64"):
                define([entry], name, weak)
    with pytest.raises(RenderError, match="tx_no_such"):
        define(["tx_no_such"], "c", weak)


def test_no_single_precision_function_mentions_double():
    from tensorx.kernels.intrinsics import DIALECTS, table

    for name in DIALECTS:
        for function, text in table(name).items():
            if "f64" not in function:
                assert "f64" not in text and "double" not in text, function
