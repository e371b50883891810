"""OpenCL devices that pretend to be weak: a part of the table under one mask, both of which change from day to day.

``.ci/masks`` runs everything under every mask; ``TENSORX_TURN=3`` picks a turn.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

#: What only the kernels of GPUs would notice goes with those.
MASKS = (
    "no_fp64",
    "max_workgroup=64",
    "no_cpu_like,max_workgroup=1",
    "no_cpu_like,local_mem=4K",
    "no_cpu_like,no_fp16,no_subgroups",
    "no_cpu_like,no_int64_atomics,no_float_atomics",
)
PARTS = 24


@pytest.mark.slow
def test_a_part_of_the_table_under_a_mask(device):
    if device.type != "opencl":
        return
    turn = int(os.environ.get("TENSORX_TURN", time.time() // 86400))
    env = os.environ | {"TENSORX_CAPS_MASK": MASKS[turn % len(MASKS)], "TENSORX_EXPECT": ""}
    here = Path(__file__).parent
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=short", "-p", "no:cacheprovider", f"--device={device}"]
    command += [f"--rows={turn % PARTS}/{PARTS}", str(here / "test_values.py"), str(here / "test_forms.py")]
    done = subprocess.run(command, env=env, cwd=here.parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (
        f"TENSORX_CAPS_MASK={env['TENSORX_CAPS_MASK']} TENSORX_TURN={turn}\n{done.stdout[-4000:]}"
    )
