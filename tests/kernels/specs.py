"""Specs that the tests of texts, golden sources and the simulator share: one of every access class and form."""

from __future__ import annotations

from dataclasses import replace

from tensorx.kernels import reduce
from tensorx.kernels.attention import Blocks
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.kernels.tiles import VectorTile


def op(name, dtype="f32", access="c", compute=""):
    return Operand(name, dtype, compute or {"f16": "f32", "bf16": "f32"}.get(dtype, dtype), access)


def flat(entry, outputs, inputs, body, **fields):
    return KernelSpec("elementwise", entry, tuple(outputs), tuple(inputs), body=body, **fields)


def reduction(entry, kind, access, kept=1, reduced=1, dtype="f32", acc="", finish="", index="i32"):
    value = op("y0", dtype, "s")
    outputs = {"maxi": (value, op("y1", "i64", "s")), "argmin": (op("y0", "i64", "s"),)}.get(kind, (value,))
    params = (("kept", kept), ("reduced", reduced), ("combine", kind), ("acc", acc or op("x0", dtype).compute))
    params += (("finish", finish),) if finish else ()
    body = "v0r = x0r; v0i = x0i;" if dtype == "c64" else "v0 = x0;"
    return KernelSpec("reduce", entry, outputs, (op("x0", dtype, access),), body=body, index=index, params=params)


ELEMENTWISE = [
    flat("tx_add", [op("y0")], [op("x0"), op("x1")], "y0 = x0 + x1;"),
    flat(
        "tx_scale_f16",
        [op("y0", "f16")],
        [op("x0", "f16"), op("x1", "f16", "b")],
        "y0 = x0 * x1 + s0;",
        scalars=(("s0", "f32"),),
    ),
    flat("tx_bf16_to_i16", [op("y0", "i16", compute="f32")], [op("x0", "bf16")], "y0 = x0;"),
    flat(
        "tx_conj_mul",
        [op("y0", "c64")],
        [op("x0", "c64"), op("x1", "c64")],
        "y0r = x0r * x1r + x0i * x1i; y0i = x0r * x1i - x0i * x1r;",
    ),
    flat(
        "tx_less",
        [op("y0", "b8"), op("y1")],
        [op("x0"), op("x1", "f32", "b")],
        "b8 t1 = x0 < x1; y0 = t1; y1 = tx_where_f32(t1, x0, x1);",
    ),
    flat("tx_add_2s", [op("y0")], [op("x0"), op("x1", "f32", "s")], "y0 = x0 + x1;", rank=2, index="i32"),
    flat("tx_add_2r", [op("y0")], [op("x0"), op("x1", "f32", "r")], "y0 = x0 + x1;", rank=2, index="i32"),
    flat(
        "tx_index_3c", [op("y0", "i64")], [op("x0", "i32")], "y0 = (i64)idx + x0;", rank=3, index="i32", uses_index=True
    ),
    flat("tx_fill_s", [op("y0", "f64", "s")], [], "y0 = s0;", scalars=(("s0", "f64"),)),
]
MEAN = reduction("tx_mean", "sum", "r", finish="y0 = a0 / (f32)count;")
COLUMNS = reduction("tx_sum_k", "sum", "k", kept=2, reduced=2)
LARGEST = reduction("tx_maxi", "maxi", "r")
REDUCE = [
    MEAN,
    reduce.partial(MEAN),
    reduce.final(MEAN),
    COLUMNS,
    reduce.partial(COLUMNS),
    LARGEST,
    reduce.partial(LARGEST),
    reduce.final(LARGEST),
    reduction("tx_maxi_k", "maxi", "k", index="i64"),
    reduction("tx_sum_c64", "sum", "s", dtype="c64"),
    reduction("tx_sum_f16", "sum", "r", dtype="f16"),
    reduction("tx_argmin_0", "argmin", "r", kept=0),
    reduction("tx_any", "any", "b", dtype="b8"),
    reduction("tx_prod", "prod", "r", dtype="f64"),
]
ROWWISE = [
    KernelSpec(
        "rowwise",
        "tx_softmax",
        (op("y0"),),
        (op("x0"),),
        body="y0 = tx_exp_f32(x0 - a0) / a1;",
        index="i32",
        params=(
            ("kept", 1),
            ("stages", (("max", "a0", "v0 = x0;", "f32"), ("sum", "a1", "v0 = tx_exp_f32(x0 - a0);", "f32"))),
            ("row_body", ""),
        ),
    ),
    KernelSpec(
        "rowwise",
        "tx_center",
        (op("y0", "f16", "s"), op("y1", "f32", "row")),
        (op("x0", "f16", "s"), op("x1", "f32", "row"), op("x2", "f32", "b")),
        body="y0 = (x0 - a0 / (f32)count) * x1 + x2;",
        params=(("kept", 2), ("stages", (("sum", "a0", "v0 = x0;", "f32"),)), ("row_body", "y1 = a0;")),
    ),
]
_SOFTMAX = ROWWISE[0]
ROWWISE.append(replace(_SOFTMAX, entry="tx_softmax_k", outputs=(op("y0", access="k"),), inputs=(op("x0", access="k"),)))
SPECS = ELEMENTWISE + REDUCE + ROWWISE
CODE = (("code", "i32"),)
#: Golden sources only: test_index_texts.py has more of them, and their nvcc and simulator runs.
INDEX = [
    KernelSpec(
        "scan",
        "tx_cummax_apply",
        (op("y0", access="s"), op("y1", "i64", "s")),
        (op("x0", access="k"), op("x1", access="p"), op("x2", "i64", "p")),
        params=(("kept", 2), ("op", "max"), ("acc", "f32"), ("stage", "apply")),
        index="i32",
    ),
    KernelSpec(
        "scan", "tx_cumsum", (op("y0", "f16"),), (op("x0", "f16"),), params=(("kept", 1), ("op", "sum"), ("acc", "f32"))
    ),
    KernelSpec(
        "gather",
        "tx_embedding",
        (op("y0"),),
        (op("x0"), op("i0", "i64", "k")),
        CODE,
        index="i32",
        rank=2,
        params=(("n_index", 1),),
    ),
    KernelSpec(
        "put",
        "tx_index_add",
        (op("y0"),),
        (op("x0"), op("i0", "i32", "s")),
        CODE,
        rank=2,
        params=(("n_index", 1), ("accumulate", "add"), ("deterministic", True)),
    ),
    KernelSpec(
        "sort",
        "tx_sort_merge",
        (op("y0"), op("y1", "i64")),
        (op("x0"), op("x1", "i64")),
        index="i32",
        params=(("kept", 1), ("stage", "merge"), ("descending", True)),
    ),
    KernelSpec(
        "radix",
        "tx_sort_radix",
        (op("y0"), op("y1", "i64"), *(op(f"y{i}", "u32" if i < 4 else "i32", "p") for i in range(2, 6))),
        (op("x0"),),
        index="i32",
        params=(("kept", 1), ("descending", False)),
    ),
    KernelSpec("nonzero", "tx_nonzero", (op("y0", "i64", "p"),), (op("x0", "i64", "p"),), rank=2),
]


def windows(entry, outputs, inputs, family="pool", lead=1, space=2, acc="f32", **params):
    """A kernel of windows: pooling, columns, resampling."""
    params = {"lead": lead, "space": space, "acc": acc, **params}
    return KernelSpec(family, entry, tuple(outputs), tuple(inputs), index="i32", params=tuple(params.items()))


def pooled(entry, outputs, inputs, how, back, law, divisor="inside", **params):
    return windows(entry, outputs, inputs, how=how, back=back, law=law, divisor=divisor, **params)


TABLES = [op("i0", "i32", "p"), op("i1", "i32", "p"), op("x1", access="p"), op("x2", access="p")]
#: Golden sources only: conformance runs them.
WINDOWS = [
    pooled("tx_max_pool", [op("y0"), op("y1", "i64")], [op("x0")], "max", False, "windows"),
    pooled("tx_max_pool_back", [op("y0")], [op("x0"), op("i0", "i64")], "max", True, "windows"),
    pooled("tx_avg_pool", [op("y0", "f16")], [op("x0", "f16", "s")], "avg", False, "windows", "padded"),
    pooled("tx_even_pool_back", [op("y0", "f64")], [op("x0", "f64")], "avg", True, "even", space=1, acc="f64"),
    pooled(
        "tx_listed_pool",
        [op("y0", "i32"), op("y1", "i64")],
        [op("x0", "i32"), op("i1", "i64", "s")],
        "max",
        False,
        "listed",
        space=1,
        acc="i32",
    ),
    pooled("tx_listed_pool_back", [op("y0")], [op("x0"), op("i0", "i64")], "max", True, "listed", space=1),
    windows("tx_columns", [op("y0")], [op("x0")], "columns", back=False, law="windows"),
    windows("tx_columns_back", [op("y0", "c64")], [op("x0", "c64")], "columns", acc="c64", back=True, law="windows"),
    windows("tx_resample", [op("y0")], [op("x0"), *TABLES], "resample", plain=False),
    windows("tx_nearest", [op("y0", "u8")], [op("x0", "u8"), *TABLES[:2]], "resample", acc="i64", plain=True),
]
#: Those whose sources are kept.
_WIDTHS = (("acc", "f32"), ("tile", VectorTile(8, 2, 4, 256, 516, 512)))
ATTENTION = [
    KernelSpec(
        "attention",
        "attention_causal",
        (op("y0", "f16"), op("y1", access="p")),
        (op("x0", "f16"), op("x1", "f16"), op("x2", "f16")),
        (("scale", "f32"),),
        index="i32",
        params=(("back", False), ("causal", True), *_WIDTHS, ("shape", Blocks(32, 16, 16, 32))),
    ),
    KernelSpec(
        "attention",
        "attention_backward",
        (op("y0", access="p"), op("y1"), op("y2")),
        (*(op(f"x{i}") for i in range(4)), *(op(f"x{i}", access="p") for i in (4, 5)), op("x6", "b8"), op("x7")),
        (("scale", "f32"), ("s1", "f32")),
        "y0 = x0 * s1; y1 = x1 * s1;",
        params=(("back", True), ("causal", False), *_WIDTHS, ("shape", Blocks(16, 32, 16, 32))),
    ),
]
GOLDEN = [
    *ELEMENTWISE[:8],
    *ATTENTION,
    MEAN,
    reduce.partial(MEAN),
    COLUMNS,
    LARGEST,
    ROWWISE[1],
    *INDEX,
    *WINDOWS,
]
