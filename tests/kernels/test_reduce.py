"""The reduce family on every lane: combines, access classes, splits, corners."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from runner import LANES, Program, available

from tensorx.kernels import reduce
from tensorx.kernels.spec import KernelSpec, Operand

NUMPY = {
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "i64": np.int64,
    "b8": np.uint8,
    "u8": np.uint8,
    "c64": np.complex64,
}


def make(kind, dtype, acc, kept, reduced, access, finish="", index="i32"):
    name = f"tx_{kind}_{dtype}_{kept}{reduced}{access}{'_f' if finish else ''}"
    value = Operand("y0", acc if kind in ("sum", "prod") else dtype, acc if kind in ("sum", "prod") else dtype, "s")
    place = Operand("y1", "i64", "i64", "s")
    outputs = (value, place) if kind in ("maxi", "mini") else (value,)
    if kind in ("argmax", "argmin"):
        outputs = (Operand("y0", "i64", "i64", "s"),)
    body = "v0r = x0r; v0i = x0i;" if dtype == "c64" else f"v0 = ({acc})x0;"
    params = (("kept", kept), ("reduced", reduced), ("combine", kind), ("acc", acc))
    if finish:
        params += (("finish", finish),)
    return KernelSpec("reduce", name, outputs, (Operand("x0", dtype, dtype, access),), (), body, index, params=params)


ROW, COLUMN = (1, 1, "r"), (1, 1, "k")
#: (combine, storage, accumulate) and (kept, reduced, access): each once, sums and indexed ones more.
CASES = [
    *itertools.product([("sum", "f32", "f32")], [ROW, COLUMN, (2, 1, "k"), (1, 2, "r"), (2, 2, "s"), (0, 1, "r")]),
    *itertools.product([("maxi", "f32", "f32")], [ROW, COLUMN, (2, 2, "s")]),
    (("max", "f32", "f32"), ROW),
    (("argmin", "f32", "f32"), (0, 1, "r")),
]
MORE = [
    (("prod", "f64", "f64"), ROW),
    (("sum", "i32", "i64"), COLUMN),
    (("any", "b8", "b8"), ROW),
    (("all", "b8", "b8"), COLUMN),
    (("mini", "i32", "i32"), ROW),
    (("sum", "c64", "c64"), ROW),
    (("prod", "c64", "c64"), COLUMN),
    (("max", "u8", "u8"), COLUMN),
]


#: Cases that are also tried in two launches.
SPLIT = [case for case in CASES if case[1] in (ROW, COLUMN, (0, 1, "r"))] + [MORE[2], MORE[5]]


def all_stages(spec):
    return [spec, reduce.partial(spec), reduce.final(spec)]


@functools.cache
def program(lane):
    specs = [make(*kind, *form) for kind, form in CASES + MORE if (kind, form) not in SPLIT]
    split = [make(*kind, *form) for kind, form in SPLIT] + [make("sum", "f32", "f32", *ROW, "y0 = a0 / (f32)count;")]
    return Program(lane, specs + [stage for spec in split for stage in all_stages(spec)])


def elements(strides, itemsize):
    return [s // itemsize for s in strides]


def launch(run, spec, x, kept_axes, reduced_axes, splits=0):
    """The reduction of array ``x`` (any strides) over ``reduced_axes``, in one launch or, with ``splits``, in two."""
    base = x if x.base is None else x.base
    offset = (x.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // x.itemsize
    ns, ms = [x.shape[a] for a in kept_axes], [x.shape[a] for a in reduced_axes]
    st = elements(x.strides, x.itemsize)
    xs = [st[a] for a in (*kept_axes, *reduced_axes)]
    outs = [np.full(ns, 77, NUMPY[o.dtype]) for o in spec.outputs]
    flat = [v.reshape(-1) for v in outs]
    out_strides = [s for v in outs for s in elements(v.strides, v.itemsize)]
    base = base.reshape(-1)
    if not splits:
        ends = [v for o in flat for v in (o, 0)]
        run(spec.entry, *ends, base, offset, *ns, *ms, *out_strides, *xs, sizes=[*ns, *ms])
        return outs
    first, second = reduce.partial(spec), reduce.final(spec)
    scratch = [np.zeros([*ns, splits], NUMPY[o.dtype]) for o in first.outputs]
    ss = [elements(v.strides, v.itemsize) for v in scratch]
    ends = [v for o in scratch for v in (o.reshape(-1), 0)]
    run(
        first.entry,
        *ends,
        base,
        offset,
        *ns,
        *ms,
        splits,
        *[s for v in ss for s in v[:-1]],
        *xs,
        sizes=[*ns, *ms, splits],
    )
    ins = [v for o in scratch for v in (o.reshape(-1), 0)]
    heads = [v for o in flat for v in (o, 0)]
    total = int(np.prod(ms))
    run(
        second.entry,
        *heads,
        *ins,
        *ns,
        splits,
        total,
        *out_strides,
        *[s for v in ss for s in v],
        sizes=[*ns, splits, total],
    )
    return outs


def lay_out(form, long, rng):
    """(array, kept axes, reduced axes) for a form; ``long`` lengthens the reduced axes."""
    kept, reduced, access = form
    m = [3, long] if reduced == 2 else [long]
    n = [2, 300][-kept:] if access == "k" else [2, 3][-kept:]
    n = n if kept else []
    values = rng.standard_normal((*n, *m)).astype(np.float32)
    axes = list(range(kept)), list(range(kept, kept + reduced))
    if access == "k":  # the last kept axis innermost in memory
        values = np.moveaxis(np.ascontiguousarray(np.moveaxis(values, kept - 1, -1)), -1, kept - 1)
    if access == "s":
        values = np.repeat(values, 2, axis=-1)[..., ::2]
    return values, *axes


def expect(kind, x, axes):
    flat = np.moveaxis(x, axes, range(-len(axes), 0))
    flat = flat.reshape(*flat.shape[: flat.ndim - len(axes)], -1)
    if kind in ("maxi", "mini", "argmax", "argmin"):
        places = (np.argmax if "max" in kind else np.argmin)(flat, -1)
        values = np.take_along_axis(flat, places[..., None], -1)[..., 0]
        return [places] if "arg" in kind else [values, places]
    if kind == "sum" and x.dtype in (np.float32, np.complex64):
        return [flat.astype(np.complex128 if x.dtype == np.complex64 else np.float64).sum(-1)]
    reducers = {
        "sum": np.sum,
        "prod": np.prod,
        "max": np.max,
        "min": np.min,
        "any": np.bitwise_or.reduce,
        "all": np.bitwise_and.reduce,
    }
    return [reducers[kind](flat, axis=-1)]


@pytest.fixture(params=list(LANES))
def lane(request):
    if not available(request.param):
        pytest.skip(f"capability: {request.param} is not here")
    return request.param


@pytest.mark.parametrize("splits", [0, 3])
def test_every_form(lane, splits):
    run, rng = program(lane), np.random.default_rng(1)
    for (kind, form), long in itertools.product([c for c in CASES if not splits or c in SPLIT], (1, 7, 5000)):
        spec = make(*kind, *form)
        x, kept, reduced = lay_out(form, long, rng)
        if long == 7:
            x[..., long // 2] = np.nan  # NaN is sticky and first
        for got, want in zip(launch(run, spec, x, kept, reduced, splits), expect(kind[0], x, reduced), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4, err_msg=f"{spec.entry} {long}")


@pytest.mark.parametrize("splits", [0, 5])
def test_every_dtype(lane, splits):
    run, rng = program(lane), np.random.default_rng(2)
    for (kind, dtype, acc), form in [c for c in MORE if not splits or c in SPLIT]:
        x = (rng.standard_normal((4, 200)) * (1 if kind == "prod" else 9)).astype(
            NUMPY[dtype] if dtype != "c64" else np.float32
        )
        if dtype == "b8":
            x = (rng.random((4, 200)) < (0.004 if kind == "any" else 0.996)).astype(np.uint8)
        if dtype == "c64":
            x = np.exp(1j * x).astype(np.complex64)
        x = np.ascontiguousarray(x.T).T if form[2] == "k" else x
        spec = make(kind, dtype, acc, *form)
        for got, want in zip(launch(run, spec, x, [0], [1], splits), expect(kind, x, [1]), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=spec.entry)


def test_corners(lane):
    """First tie over splits; all -inf gives index 0; empty sums are the identity, an empty mean NaN."""
    run = program(lane)
    ties = np.zeros((2, 900), np.float32)
    ties[:, [100, 500, 899]] = 3
    low = np.full((2, 900), -np.inf, np.float32)
    nan = ties.copy()
    nan[:, [333, 700]] = np.nan
    spec = make("maxi", "f32", "f32", 1, 1, "r")
    for splits in (0, 4):
        for x, place in ((ties, 100), (low, 0), (nan, 333)):
            assert launch(run, spec, x, [0], [1], splits)[1].tolist() == [place, place]
    x = np.zeros((2, 0), np.float32)
    assert launch(run, make("sum", "f32", "f32", 1, 1, "k"), x.copy(), [0], [1])[0].tolist() == [0, 0]
    mean = make("sum", "f32", "f32", 1, 1, "r", "y0 = a0 / (f32)count;")
    assert np.isnan(launch(run, mean, x.copy(), [0], [1])[0]).all()
    assert launch(run, mean, np.ones((2, 700), np.float32), [0], [1], 3)[0].tolist() == [1, 1]


def test_several_inputs(lane):
    """A fused load: the sum of a product of a row-major, a stepped and a broadcast operand, with a scalar."""
    x = [Operand("x0", "f32", "f32", "r"), Operand("x1", "f16", "f32", "s"), Operand("x2", "f32", "f32", "b")]
    y, params = Operand("y0", "f16", "f32", "s"), (("kept", 1), ("reduced", 1), ("combine", "sum"), ("acc", "f32"))
    body = "v0 = x0 * x1 + x2 * s0;"
    spec = KernelSpec("reduce", "tx_dot", (y,), tuple(x), (("s0", "f32"),), body, "i64", params=params)
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((3, 200)).astype(np.float32), rng.standard_normal(400).astype(np.float16)
    out = np.zeros(3, np.uint16)
    arrays = [out, 0, a.ravel(), 0, b.view(np.uint16).copy(), 0, np.float32([0.5]), 0]
    Program(lane, [spec])("tx_dot", *arrays, 2.0, 3, 200, 1, 200, 1, 0, 2, sizes=(3, 200))
    want = a.astype(np.float64) @ b[::2].astype(np.float64) + 200
    np.testing.assert_allclose(out.view(np.float16), want, rtol=1e-3)
