"""Contractions for the tests: cases and their float64 reference; ``python contract_cases.py oclgrind`` runs some."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from runner import CL, GPU, Program

from tensorx.kernels.contraction import View, matmul
from tensorx.kernels.convolution import Window, convolution_data, convolution_forward, convolution_weight

NUMPY = {
    "i8": np.int8, "i32": np.int32, "i64": np.int64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
    "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
}  # fmt: skip
#: Largest error allowed, relative to the largest result.
TOLERANCE = {
    "i8": 0,
    "i32": 0,
    "i64": 0,
    "f16": 1e-3,
    "bf16": 8e-3,
    "f32": 2e-6,
    "f64": 1e-14,
    "c64": 2e-6,
    "c128": 1e-14,
}


@dataclass(frozen=True)
class Case:
    """One call: ``arrays`` are result, a, b, extras (any strides), ``want`` the result in wide arithmetic."""

    calls: tuple
    arrays: tuple
    want: np.ndarray
    scalars: tuple = ()


def root(array):
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def view(array):
    code = next(code for code, kind in NUMPY.items() if array.dtype == kind)
    return View(code, array.shape, tuple(s // array.itemsize for s in array.strides))


def random(code, *shape, seed=0):
    rng = np.random.default_rng(seed)
    if code[0] == "i":
        return rng.integers(-9, 9, shape).astype(NUMPY[code])
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if code[0] == "c" else values).astype(NUMPY[code])


def wide(array):
    return array.astype({"i": np.int64, "c": np.complex128}.get(array.dtype.kind, np.float64))


def product(caps, code, m, n, k, form="nn", batch=()):
    """A matmul. ``form``: a and b as they are (n), transposed (t), every second element of a larger array (s)."""

    def matrix(kind, rows, cols, seed):
        if kind == "t":
            return random(code, *batch, cols, rows, seed=seed).swapaxes(-1, -2)
        return (
            random(code, *batch, 2 * rows, 2 * cols, seed=seed)[..., 1::2, ::2]
            if kind == "s"
            else random(code, *batch, rows, cols, seed=seed)
        )

    a, b = matrix(form[0], m, k, 1), matrix(form[1], k, n, 2)
    y = random(code, *batch, n, m).swapaxes(-1, -2) if form[2:] == "t" else random(code, *batch, m, n)
    return Case((matmul(caps, view(y), view(a), view(b)),), (y, a, b), wide(a) @ wide(b))


def addmm(caps, code, m, n, k):
    """relu(0.5 * (a @ b) + bias per n - column per m)."""
    a, b, y = random(code, m, k), random(code, k, n, seed=1), random(code, m, n)
    bias, column = np.broadcast_to(random(code, n), (m, n)), np.broadcast_to(random(code, m, 1), (m, n))
    body = "f32 t1 = s0 * acc + x2 - x3; y0 = tx_max_f32(t1, 0.0f);"
    call = matmul(caps, view(y), view(a), view(b), (view(bias), view(column)), body, (("s0", "f32"),))
    return Case((call,), (y, a, b, bias, column), np.maximum(0.5 * (wide(a) @ wide(b)) + bias - column, 0), (0.5,))


def windows(x, shape, window):
    """x (n, c, *in) as windows (n, c, *out, *kernel), by padding and plain indexing."""
    pad = [(0, 0), (0, 0)] + [
        (p, p + d * k + s) for p, k, s, d in zip(window.padding, shape, window.stride, window.dilation)
    ]
    x = np.pad(x, pad)
    out = [
        (n - d * (k - 1) - s - d * k - 1) // s + 1
        for n, k, s, d in zip(x.shape[2:], shape, window.stride, window.dilation)
    ]
    index = [
        np.arange(o)[:, None] * s + np.arange(k)[None] * d
        for o, k, s, d in zip(out, shape, window.stride, window.dilation)
    ]
    rank = len(shape)
    grids = [
        i.reshape([i.shape[j // rank] if j % rank == at else 1 for j in range(2 * rank)]) for at, i in enumerate(index)
    ]
    return x[(slice(None), slice(None), *grids)]


def convolve(x, w, window):
    """The forward convolution, by definition."""
    rank, groups = len(window.stride), window.groups
    parts = []
    for xs, ws in zip(np.split(x, groups, 1), np.split(w, groups, 0)):
        axes = list(range(2 + rank, 2 + 2 * rank))
        parts.append(np.tensordot(windows(xs, w.shape[2:], window), ws, ([1, *axes], list(range(1, 2 + rank)))))
    return np.moveaxis(np.concatenate(parts, -1), -1, 1)


def gradients(x, w, gy, window):
    """dx and dw of ``sum(gy * convolve(x, w))``: it is linear in each, so one output position at a time."""
    dx, dw, rank = np.zeros_like(x), np.zeros_like(w), len(window.stride)
    share, width = w.shape[0] // window.groups, w.shape[1]
    for at in itertools.product(*(range(n) for n in gy.shape[2:]), *(range(n) for n in w.shape[2:])):
        out, tap = at[:rank], at[rank:]
        place = tuple(
            o * s - p + i * d for o, i, s, p, d in zip(out, tap, window.stride, window.padding, window.dilation)
        )
        if any(not 0 <= c < n for c, n in zip(place, x.shape[2:])):
            continue
        for g in range(window.groups):
            ins, outs = slice(g * width, (g + 1) * width), slice(g * share, (g + 1) * share)
            cotangent = gy[(slice(None), outs, *out)]
            dx[(slice(None), ins, *place)] += cotangent @ w[(outs, slice(None), *tap)]
            dw[(outs, slice(None), *tap)] += cotangent.T @ x[(slice(None), ins, *place)]
    return dx, dw


def convolutions(caps, code, shape, weight, window, last=False):
    """Forward with bias, data gradient and weight gradient; ``last``: channels last in memory."""

    def laid(array):
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1) if last else array

    x, w = laid(random(code, *shape)), random(code, *weight, seed=1)
    want = convolve(wide(x), wide(w), window)
    y, gy = laid(np.zeros(want.shape, x.dtype)), laid(random(code, *want.shape, seed=2))
    bias = random(code, weight[0], seed=3)
    spread = np.broadcast_to(bias.reshape(-1, *(1,) * len(window.stride)), y.shape)
    body = "y0r = accr + x2r; y0i = acci + x2i;" if code[0] == "c" else "y0 = acc + x2;"
    forward = convolution_forward(caps, view(y), view(x), view(w), window, (view(spread),), body)
    dx, dw = laid(np.zeros(x.shape, x.dtype)), np.zeros_like(w)
    want_dx, want_dw = gradients(wide(x), wide(w), wide(gy), window)
    data = convolution_data(caps, view(dx), view(gy), view(w), window)
    slope = convolution_weight(caps, view(dw), view(x), view(gy), window)
    return [
        Case(forward, (y, x, w, spread), want + spread),
        Case(data, (dx, gy, w), want_dx),
        Case(slope, (dw, x, gy), want_dw),
    ]


def small_cases(caps):
    """Products and convolutions that a simulator can afford."""
    return [
        product(caps, "f32", 5, 7, 3),
        product(caps, "f32", 3, 19, 9, "nt"),
        product(caps, "f32", 7, 18, 11, "tt"),
        product(caps, "f32", 4, 6, 0),
        product(caps, "c64", 5, 6, 7),
        addmm(caps, "f32", 9, 18, 5),
        *convolutions(caps, "f32", (2, 2, 5, 4), (4, 1, 3, 2), Window((2, 1), (1, 1), (1, 1), 2)),
    ]


def more_cases(caps):
    """Every access class, two tiles or blocks of k and odd rests, several dtypes, runs of columns inside a patch."""
    found = [
        product(caps, "f32", 13, 34, 20, "nn", (2,)),
        product(caps, "f32", 70, 90, 300),
        product(caps, "f32", 70, 90, 300, "tt"),
        product(caps, "f32", 20, 30, 300, "ss"),
        product(caps, "f16", 7, 20, 270),
        product(caps, "i32", 33, 50, 40, "nt"),
        product(caps, "c64", 7, 20, 270, "tt"),
        product(caps, "f32", 1, 1030, 45),
        product(caps, "f32", 1030, 1, 1100),
        product(caps, "bf16", 4, 33, 45),
    ]
    found += convolutions(caps, "f32", (2, 4, 6, 21), (6, 2, 3, 3), Window((1, 1), (1, 1), (1, 1), 2))
    return found


def rare_cases(caps):
    """What depends on the host's index maps and on casts alone."""
    return [
        product(caps, "f64", 33, 50, 40),
        product(caps, "f64", 7, 20, 270, "tt"),
        product(caps, "i8", 33, 50, 40),
        product(caps, "bf16", 7, 20, 270, "nt"),
        product(caps, "c128", 7, 20, 270, "tt"),
        product(caps, "f32", 20, 30, 40, "nnt"),
        product(caps, "f32", 6, 5, 4, "nt", (3, 2)),
        product(caps, "i64", 3, 9, 45, "nt"),
        product(caps, "f64", 2, 21, 45),
        *convolutions(caps, "f32", (2, 3, 9), (4, 3, 3), Window((2,), (1,), (1,))),
        *convolutions(caps, "f32", (1, 3, 7, 6), (5, 3, 3, 2), Window((2, 3), (2, 1), (2, 1)), last=True),
        *convolutions(caps, "f32", (2, 8, 6, 5), (4, 8, 1, 1), Window((2, 2), (0, 0), (1, 1))),
        *convolutions(caps, "f32", (1, 2, 4, 5, 4), (3, 2, 2, 3, 2), Window((2, 1, 2), (0, 1, 1), (1, 2, 1))),
        *convolutions(caps, "c64", (1, 4, 6, 5), (4, 2, 3, 2), Window((1, 2), (1, 1), (1, 1), 2)),
    ]


def program(lane, caps, found):
    """One program for all cases."""
    return Program(lane, list({call.spec.entry: call.spec for case in found for call in case.calls}.values()), caps)


def run(built, case):
    """Launch a case's calls into a fresh result and compare."""
    result = case.arrays[0]
    root(result)[...] = 77
    pairs = []
    for array in case.arrays:
        start = (array.__array_interface__["data"][0] - root(array).__array_interface__["data"][0]) // array.itemsize
        whole = root(array).view()
        whole.shape = (-1,)  # a view, or an error
        pairs.append((whole, start if array.size else 0))
    for call in case.calls:
        count = sum(call.spec.param("axes")) + 2 * hasattr(call.spec.param("tile"), "max_m")
        built(call.spec.entry, *call.arguments(pairs, case.scalars), sizes=call.numbers[:count])
    code = view(result).code
    most = max(1.0, float(np.abs(case.want).max(initial=0)))
    if code[0] == "i":
        np.testing.assert_array_equal(result, case.want.astype(result.dtype))  # narrow results wrap
    else:
        assert np.abs(wide(result) - case.want).max(initial=0) <= TOLERANCE[code] * most, case.calls[0].spec


def main(lane):
    for caps in (CL, GPU):
        found = small_cases(caps)
        built = program(lane, caps, found)
        for case in found:
            run(built, case)


if __name__ == "__main__":
    main(sys.argv[1])
