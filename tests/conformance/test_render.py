"""Every row rendered in every dialect: kernels take the arguments that launches give, and nvcc takes the CUDA text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from checking import building, checks, nvcc
from checking.layouts import Placed
from checking.sampling import cases, dtypes_of, seed_of

import tensorx
from tensorx.devices import registry
from tensorx.kernels.dialect import CUDA, DIALECTS
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.ops.table import OPS


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_row_renders(dialect):
    """On the null device, which renders, counts arguments and runs nothing."""
    device = registry.resolve(f"null:{dialect}")
    for op in OPS.values():
        found = dtypes_of(op, device.runtime.capabilities)
        turn = seed_of(op)
        layout = "contiguous" if checks.depends_on_storage(op) else checks.INPUTS[turn % len(checks.INPUTS)]
        for case in cases(op, found[turn % len(found)])[:2]:
            try:
                checks.call(op, Placed(op, case, device, layout))
            except RuntimeError:  # values are zero: singular matrices, indices out of range; views of this layout
                if op.kind.name not in ("HOST", "VIEW", "COMPOSITE"):
                    raise


@pytest.mark.parametrize("mask", ["max_workgroup=1", "max_workgroup=64,local_mem=4K,no_fp64"])
def test_every_row_fits_a_weak_device(mask):
    """Groups, local memory and dtypes of what is launched; running it on a strong device would not show."""
    caps = registry.open(registry.resolve("null:opencl")).capabilities.masked(mask)
    twin = building.twin_of(caps)
    launched = 0
    for op in OPS.values():
        with building.collecting(twin) as specs:
            found = dtypes_of(op, caps)
            for case in cases(op, found[seed_of(op) % len(found)])[:2]:
                checks.quietly(lambda d, op=op, case=case: checks.call(op, Placed(op, case, d, "contiguous")), twin)
        launched += len(specs)
    assert not twin.runtime.misfits
    assert launched > len(OPS) // 2


def test_what_does_not_fit_is_found(monkeypatch):
    monkeypatch.setattr("tensorx.kernels.reduce.group", lambda spec, caps: 256)
    device = registry.resolve("null:opencl")
    caps = registry.open(device).capabilities.masked("max_workgroup=128,local_mem=1000")
    with pytest.raises(
        AssertionError, match=r"1024 bytes of local memory where there are 1000\n.*a group of 256 where 128"
    ):
        building.prime(device, [lambda d: tensorx.ones(9, device=d).sum()], caps)


@pytest.mark.skipif(not nvcc.real(), reason="nvcc is not installed")
@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100"])
def test_nvcc_takes_the_text(arch, full):
    """Without a warning: a kernel for each template and access class; with --full all that the rows' checks launch."""
    if not full and arch != "sm_75":
        pytest.skip("with --full")
    card = nvcc.card()
    specs = nvcc.everything(card) if full else nvcc.sample(card)
    assert len(specs) > (3000 if full else 50)
    problems = nvcc.refused(specs, card.runtime.capabilities, arch)
    assert not problems, f"{len(problems)} problems\n" + "\n".join(problems)[:4000]


@pytest.mark.skipif(not nvcc.real(), reason="nvcc is not installed")
def test_what_nvcc_refuses_is_shown():
    """A wrong word in the CUDA prelude, and a warning."""
    caps = nvcc.card().runtime.capabilities
    spec = KernelSpec("elementwise", "k", (Operand("y0", "f32", "f32"),), (), body="y0 = 1.0f;")
    assert nvcc.refused([spec], caps, "sm_75") == []
    spoilt = replace(spec, entry="spoilt")  # rendered anew
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(DIALECTS, "cuda", replace(CUDA, words={**CUDA.words, "TX_GLOBAL": "__globl__"}))
        assert "__globl__" in nvcc.refused([spoilt], caps, "sm_75")[0]
    assert "#68-D" in nvcc.refused([replace(spec, body="u32 q = -1; y0 = q;")], caps, "sm_75")[0]
