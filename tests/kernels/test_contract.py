"""The contract family on every lane: products, layouts, dtypes, epilogues and convolutions in three directions."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace

import contract_cases as cases
import numpy as np
import pytest
from oclgrind import simulate
from runner import GPU, LANES, C, Program, available

from tensorx.kernels import check
from tensorx.kernels.capabilities import Capabilities
from tensorx.kernels.contract import geometry
from tensorx.kernels.contraction import Axes, View, contraction, matmul
from tensorx.kernels.generator import render
from tensorx.kernels.tiles import LocalTile, VectorTile, spread, tile

WIDE = {"c": replace(C, simd_width=8), "c-16": replace(C, simd_width=16), "c-slow": replace(C, fast_fma=False)}


@pytest.fixture(params=[*LANES, "c-16", "c-slow"])
def lane(request):
    if not available(request.param.split("-")[0] if request.param.startswith("c-") else request.param):
        pytest.skip(f"capability: {request.param} is not here")
    return request.param


def test_cases(lane):
    """All in one program: a compiler's start costs more than a kernel."""
    caps = WIDE[lane] if lane in WIDE else replace(LANES[lane][1], simd_width=8)
    found = cases.small_cases(caps)
    found += cases.more_cases(caps) if lane in ("c", "pocl", "intel", "intel-gpu") else []
    found += cases.rare_cases(caps) if lane == "c" else []
    built = cases.program("c" if lane in WIDE else lane, caps, found)
    for case in found:
        cases.run(built, case)


@pytest.mark.skipif(not available("c"), reason="gcc is not installed")
def test_several_tiles_and_threads():
    """More than one tile in each direction, more than one block of k, and a last block that is odd."""
    caps = replace(C, simd_width=8, fast_fma=True)
    found = [
        cases.product(caps, "f32", 530, 540, 261),
        cases.product(caps, "c64", 40, 300, 261),
        cases.product(caps, "f32", 8, 64, 64, "nn", (70,)),
    ]
    built = cases.program("c", caps, found)
    for case in found:
        cases.run(built, case)


@pytest.mark.skipif(not available("c"), reason="gcc is not installed")
def test_a_sum_is_not_reordered_by_the_epilogue():
    """Contraction stays inside the microkernel: acc * s0 - x2 rounds twice, as NumPy does."""
    a, b = np.full((1, 1), 1 + 2**-12, np.float32), np.ones((1, 1), np.float32)
    x2, y = (a * a).astype(np.float32), np.zeros((1, 1), np.float32)
    caps = replace(C, simd_width=8, fast_fma=True)
    call = matmul(caps, *map(cases.view, (y, a, b)), (cases.view(x2),), "y0 = acc * acc - x2;")
    cases.run(Program("c", [call.spec], caps), cases.Case((call,), (y, a, b, x2), np.zeros((1, 1))))


@pytest.mark.parametrize("m, n, k", [(2, 21, 45), (21, 2, 45), (9, 21, 45)])
@pytest.mark.parametrize("kind", ["c", "pocl-gpu"])
def test_infinities_meet_no_padding(kind, m, n, k):
    """An inf in the last row or column stays there: rests are not filled up with zero times something."""
    if not available(kind):
        pytest.skip(f"capability: {kind} is not here")
    caps = replace(LANES[kind][1], simd_width=8)
    case = cases.product(caps, "f32", m, n, k)
    y, a, b = case.arrays
    a[:], b[:] = np.abs(a) + 1, np.abs(b) + 1
    a[-1], b[-1] = np.inf, np.inf
    cases.program(kind, caps, [case])(case.calls[0].spec.entry, *_values(case), sizes=_sizes(case))
    assert np.isposinf(y).all()


def _values(case):
    return case.calls[0].arguments([(array.reshape(-1), 0) for array in case.arrays])


def _sizes(case):
    call = case.calls[0]
    return call.numbers[: sum(call.spec.param("axes")) + 2 * isinstance(call.spec.param("tile"), VectorTile)]


def test_tiles_respect_the_masks():
    strong = replace(GPU, max_workgroup=1024, local_mem=48 << 10, compute_units=4)
    assert tile("f32", strong, 1024, 1024) == LocalTile(128, 128, 16, 8, 8)
    for mask in ("max_workgroup=64,local_mem=4K", "max_workgroup=1", "local_mem=1K", "max_workgroup=32"):
        caps = strong.masked(mask)
        for acc, size in (("f32", 4), ("f64", 8), ("i64", 8)):
            for m, n in ((1, 1), (1, 5000), (40, 40), (4096, 4096)):
                found = tile(acc, caps, m, n)
                assert found.items <= caps.max_workgroup and found.words * size <= caps.local_mem, (mask, found)
                assert found.m % found.rows == 0 and found.n % found.cols == 0 and found.k % 2 == 0


def test_spread_covers_and_balances():
    kind = VectorTile(8, 2, 6, 256, 516, 512)
    for units, batch, m, n in (
        (2, 1, 1024, 1024),
        (64, 1, 1024, 1024),
        (8, 3, 7, 9),
        (2, 1, 5, 100000),
        (2, 1, 100000, 5),
        (16, 1, 1, 1),
    ):
        tile_m, tile_n = spread(kind, units, batch, m, n)
        assert (
            0 < tile_m <= kind.max_m
            and 0 < tile_n <= kind.max_n
            and tile_m % kind.rows == 0
            and tile_n % kind.width == 0
        )
        assert batch * -(-m // tile_m) * -(-n // tile_n) >= min(units, batch * -(-m // 6) * -(-n // 16))
    assert spread(kind, 2, 1, 1024, 1024) == (516, 512)


def test_orientation_and_merging():
    caps = replace(C, simd_width=8)
    tall = matmul(
        caps,
        View("f32", (4, 900, 2), (1800, 2, 1)),
        View("f32", (4, 900, 8), (7200, 8, 1)),
        View("f32", (4, 8, 2), (0, 2, 1)),
    )
    assert tall.order == (0, 2, 1)  # n = 2 fills no vector: the transposed problem
    dense = matmul(
        caps,
        View("f32", (2, 3, 4, 5), (60, 20, 5, 1)),
        View("f32", (2, 3, 4, 6), (72, 24, 6, 1)),
        View("f32", (2, 3, 6, 5), (90, 30, 5, 1)),
    )
    assert dense.spec.param("axes") == (1, 1, 1, 1)
    huge = matmul(
        caps,
        View("f32", (70000, 70000), (70000, 1)),
        View("f32", (70000, 1), (1, 1)),
        View("f32", (1, 70000), (70000, 1)),
    )
    assert dense.spec.index == "i32" and huge.spec.index == "i64"


def test_refusals():
    real, pair = Axes("f32", (0,), (1,), (1,)), Axes("c64", (0,), (1,), (1,))
    with pytest.raises(ValueError, match="must be all complex or all real; got f32, c64, f32"):
        contraction(C, ((1,), (1,), (1,), (1,)), real, pair, real)
    with pytest.raises(ValueError, match=r"matmul: views must have shapes .*got \(2, 2\), \(2, 3\), \(4, 2\)"):
        matmul(C, View("f32", (2, 2), (2, 1)), View("f32", (2, 3), (3, 1)), View("f32", (4, 2), (2, 1)))


@pytest.mark.parametrize("dialect", ["c", "opencl", "cuda"])
def test_texts(dialect, tmp_path):
    for cpu_like in (False, True):
        caps = Capabilities(
            dialect, cpu_like=cpu_like, simd_width=8, fp64=True, fast_fma=True, local_mem=48 << 10, max_workgroup=1024
        )
        found = cases.small_cases(caps) + cases.more_cases(caps) + cases.rare_cases(caps)
        specs = list({call.spec.entry: call.spec for case in found for call in case.calls}.values())
        source = render(specs, caps)
        assert check.check_source(source, specs) == []
        for call in (call for case in found for call in case.calls):
            assert call.grid is None or (
                max(call.grid.local_size) <= caps.max_workgroup and min(call.grid.global_size) > 0
            )
    narrow = [s for s in specs if s.param("acc") == "f32"]
    assert "double" not in render(narrow, replace(caps, fp64=False, cpu_like=False)).text
    if dialect == "cuda" and shutil.which("nvcc"):
        flat = replace(caps, cpu_like=False)
        specs = {
            call.spec.entry: call.spec
            for case in cases.small_cases(flat) + cases.more_cases(flat)
            for call in case.calls
        }
        (tmp_path / "kernels.cu").write_text(render(list(specs.values()), flat).text)
        command = ["nvcc", "-ptx", "-arch=sm_75", "-o", os.devnull, tmp_path / "kernels.cu"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_geometry_counts_tiles():
    caps = replace(GPU, max_workgroup=64, local_mem=4096)
    call = matmul(
        caps,
        View("f32", (3, 65, 70), (4550, 70, 1)),
        View("f32", (3, 65, 9), (585, 9, 1)),
        View("f32", (3, 9, 70), (630, 70, 1)),
    )
    kind = call.spec.param("tile")
    assert call.grid.global_size == (
        3 * -(-65 // kind.m) * -(-70 // kind.n) * kind.items,
    ) and call.grid.local_size == (kind.items,)
    assert geometry(call.spec, caps, call.numbers) == call.grid


@pytest.mark.oclgrind
def test_simulator_finds_nothing(tmp_path):
    assert simulate(tmp_path, cases.__file__, "oclgrind") == ""
