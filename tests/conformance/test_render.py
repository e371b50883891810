"""Every row rendered in every dialect: kernels take the arguments that launches give, and nvcc takes the CUDA text."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess

import pytest
from checking import building, checks, grind
from checking.layouts import Placed
from checking.sampling import cases, dtypes_of, seed_of

from tensorx.devices import registry
from tensorx.ops.table import OPS

DIALECTS = ("c", "opencl", "cuda")


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


@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not installed")
@pytest.mark.slow
def test_nvcc_takes_every_template_and_access_class(tmp_path):
    device = registry.resolve("null:cuda")
    twin = building.twin_of(device.runtime.capabilities)
    with building.collecting(twin) as specs:
        for _, step in grind.chosen(device):
            checks.quietly(step, twin)
    file = tmp_path / "kernels.cu"
    file.write_text(importlib.import_module("tensorx.kernels.generator").render(specs, twin.runtime.capabilities).text)
    command = ["nvcc", "-ptx", "-arch=sm_75", "-o", os.devnull, file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(specs) > 50
