"""The index kernels' text: accepted by nvcc, clean under the OpenCL simulator, the same on every call."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from oclgrind import simulate

from tensorx.errors import RenderError
from tensorx.kernels.capabilities import Capabilities
from tensorx.kernels.generator import render
from tensorx.kernels.spec import KernelSpec, Operand

CASES = Path(__file__).with_name("index_cases.py")
HALVES = {"f16": "f32", "bf16": "f32"}
CODE = (("code", "i32"),)


def op(name, dtype, access="s"):
    return Operand(name, dtype, HALVES.get(dtype, dtype), access)


def specs(deterministic):
    """A spec for every family, stage and kind of atomic; ``deterministic`` decides the puts."""
    found = []

    def add(family, outputs, inputs, scalars=(), rank=1, **params):
        fixed = {"index": "i32", "rank": rank, "params": tuple(params.items())}
        found.append(KernelSpec(family, f"k{len(found)}", outputs, inputs, scalars, **fixed))

    for stage in ("full", "partial", "apply"):
        packed = () if stage != "apply" else (op("x1", "f32", "p"), op("x2", "i64", "p"))
        access = "p" if stage == "partial" else "s"
        outs = (op("y0", "f32", access), op("y1", "i64", access))
        add("scan", outs, (op("x0", "f16", "k"), *packed), op="max", acc="f32", kept=2, stage=stage)
        add("scan", outs[:1], (op("x0", "bf16", "c"), *packed[:1]), op="sum", acc="f32", kept=1, stage=stage)
    add("scan", (op("y0", "c128"),), (op("x0", "c128"),), op="prod", acc="c128", kept=1, reverse=True)
    for dtype in ("b8", "f16", "f32", "c64"):
        ins = (op("x0", dtype), op("i0", "i64", "k"), op("i1", "i32", "b"))
        add("gather", (op("y0", dtype, "c"),), ins, CODE, 3, n_index=2)
    for dtype in ("b8", "i8", "i16", "i32", "i64", "u64", "f16", "bf16", "f32", "f64", "c64"):
        for accumulate in ("none", "add"):
            ins = (op("x0", dtype, "c"), op("i0", "i64", "k"))
            add("put", (op("y0", dtype),), ins, CODE, 2, n_index=1, accumulate=accumulate, deterministic=deterministic)
    for dtype in ("bf16", "u8", "f64"):
        keys = (op("y0", dtype), op("y1", "i32"))
        add("sort", keys, (op("x0", dtype),), kept=1, stage="block", descending=True)
        add("sort", keys, (op("x0", dtype), op("x1", "i32")), kept=1, stage="merge")
        code = "u64" if dtype == "f64" else "u32"
        packed = [op(f"y{i}", c, "p") for i, c in enumerate((code, code, "i32", "i32"), 2)]
        add("radix", (*keys, *packed), (op("x0", dtype),), kept=1, descending=True)
    for sorter, index in ((False, "i64"), (True, "i32")):
        ins = (op("x0", "f16", "b"), op("x1", "f16", "c"), *([op("x2", "i64", "b")] if sorter else []))
        add("search", (op("y0", index, "c"),), ins, rank=2, right=not sorter, sorter=sorter)
    add("nonzero", (op("y0", "i64", "p"),), (op("x0", "i64", "p"),), rank=3)
    return found


def test_renders_in_every_dialect():
    for name in ("c", "opencl", "cuda"):
        caps = Capabilities(name, fp64=True, int64_atomics=True, float_atomics=True)
        source = render(specs(deterministic=True), caps)
        assert len(source.entries) == len(specs(True))
        if name != "c":
            render(specs(deterministic=False), caps)


def test_no_double_in_half_and_single_kernels():
    wide = {"f64", "c128"}
    narrow = [s for s in specs(False) if not wide & {o.dtype for o in s.operands}]
    text = render(narrow, Capabilities("opencl", int64_atomics=True)).text
    assert "double" not in text and "f64" not in text


def test_refusals():
    weak, at = Capabilities("opencl", fp64=True), op("i0", "i64")
    with pytest.raises(RenderError, match="needs param deterministic=True"):
        params = (("n_index", 1), ("accumulate", "add"))
        render([KernelSpec("put", "k", (op("y0", "f64"),), (op("x0", "f64"), at), CODE, params=params)], weak)
    with pytest.raises(RenderError, match="no order for complex"):
        params = (("n_index", 1), ("accumulate", "max"), ("deterministic", True))
        render([KernelSpec("put", "k", (op("y0", "c64"),), (op("x0", "c64"), at), CODE, params=params)], weak)
    with pytest.raises(RenderError, match="first scalar"):
        render([KernelSpec("gather", "k", (op("y0", "f32"),), (op("x0", "f32"), at), params=(("n_index", 1),))], weak)


@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not installed")
@pytest.mark.parametrize("deterministic", [False, True])
def test_nvcc_accepts_the_text(tmp_path, deterministic):
    caps = Capabilities("cuda", fp64=True, int64_atomics=True, float_atomics=True, max_workgroup=1024)
    file = tmp_path / "kernels.cu"
    file.write_text(render(specs(deterministic), caps).text)
    command = ["nvcc", "-ptx", "-arch=sm_75", "-o", os.devnull, file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, done.stderr


@pytest.mark.oclgrind
def test_simulator_finds_nothing(tmp_path):
    assert simulate(tmp_path, CASES, "oclgrind") == ""


@pytest.mark.oclgrind
def test_simulator_would_find_a_stray_write(tmp_path):
    assert "Invalid write" in simulate(tmp_path, CASES, "oclgrind", "broken")
