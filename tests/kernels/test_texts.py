"""What can be said of generated text without running it: golden files, the linter, nvcc's verdict, all dialects and
masks."""

from __future__ import annotations

import os
import shutil
import subprocess

import golden
import pytest
import sources
from specs import ELEMENTWISE, SPECS, flat, op

from tensorx.errors import RenderError
from tensorx.kernels import check
from tensorx.kernels.capabilities import Capabilities
from tensorx.kernels.generator import render
from tensorx.kernels.geometry import geometry

MASKS = [
    "",
    "no_fp16,no_subgroups",
    "max_workgroup=64,local_mem=4K",
    "max_workgroup=1",
    "no_int64_atomics,no_float_atomics",
]


def test_golden_sources_are_up_to_date():
    assert golden.stale() == [], "run: python tests/kernels/golden.py --update"


def test_templates_are_clean():
    assert check.check_templates() == []


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dialect", ["c", "opencl", "cuda"])
def test_everything_renders_and_is_clean(dialect, mask):
    for cpu_like in (False, True):
        caps = Capabilities(dialect, cpu_like=cpu_like, fp64=True, max_workgroup=1024, local_mem=48 << 10).masked(mask)
        source = render(SPECS, caps)
        assert [name for name, _ in source.entries] == [spec.entry for spec in SPECS]
        assert check.check_source(source, SPECS) == []
        for spec in SPECS:
            sizes = [
                5
                for arg in source.arguments(spec.entry)
                if arg.name.strip("0123456789") in ("n", "m", "splits", "total")
            ]
            grid = geometry(spec, caps, *sizes)
            assert grid is None or (max(grid.local_size) <= caps.max_workgroup and min(grid.global_size) > 0)


@pytest.mark.parametrize("dialect", ["c", "opencl", "cuda"])
def test_no_double_without_f64(dialect):
    narrow = [s for s in SPECS if not {"f64", "c128"} & {o.dtype for o in s.operands}]
    source = render(narrow, Capabilities(dialect))
    assert "double" not in source.text
    assert check.check_source(source, narrow) == []


PLANTED = {"y0 = 1.5;": "double precision", "y0 = (double)2;": "double precision", "y0 = inf;": "a Python literal"}


@pytest.mark.parametrize("body", PLANTED)
@pytest.mark.parametrize("dialect", ["c", "opencl", "cuda"])
def test_checks_find_something_wherever_it_is_rendered(dialect, body):
    """Also beside an f64 kernel, whose program may say ``double``; computing in f64 is no excuse."""
    wrong = flat("tx_k", [op("y0")], [], body)
    wide = flat("tx_wide", [op("y0", "f64", compute="f64")], [], "y0 = 2.5;")
    assert check.check_source(render.__wrapped__([wrong], Capabilities(dialect)), [wrong])
    assert not sources.take()
    render([wide, wrong], Capabilities(dialect, fp64=True))
    found = sources.take()
    assert PLANTED[body] in found and "kernel tx_k" in found and "tx_wide" not in found
    render([wide, wrong], Capabilities(dialect, fp64=True))
    assert not sources.take(), "a kernel is linted once"


def test_refusals():
    caps = Capabilities("c")
    with pytest.raises(RenderError, match="'family' must be one of elementwise"):
        render([op_spec := flat("tx_k", [op("y0")], [], "y0 = 1.0f;"), replace_family(op_spec)], caps)
    with pytest.raises(RenderError, match="distinct entry names"):
        render([ELEMENTWISE[0], ELEMENTWISE[0]], caps)
    with pytest.raises(RenderError, match="tx_nothing_f32"):
        render([flat("tx_k", [op("y0")], [], "y0 = tx_nothing_f32(1.0f);")], caps)
    with pytest.raises(ValueError, match="'compute' must not be a 16-bit float"):
        op("x0", "f16", compute="f16")


def replace_family(spec):
    from dataclasses import replace

    return replace(spec, family="knitting", entry="tx_other")


@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not installed")
def test_nvcc_accepts_the_text(tmp_path):
    file = tmp_path / "kernels.cu"
    file.write_text(render(SPECS, Capabilities("cuda", fp64=True, max_workgroup=1024, local_mem=48 << 10)).text)
    done = subprocess.run(
        ["nvcc", "-ptx", "-arch=sm_75", "-o", os.devnull, file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
