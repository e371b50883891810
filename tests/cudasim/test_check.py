"""The real nvcc sees what the simulator runs: what it refuses, warns of, or computes in float64 unasked, is named."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from simulated import HERE

sys.path.insert(0, str(HERE))
import compiler

GOOD = "f32 f64".split()
SOURCES = {
    "f32": 'extern "C" __global__ void tx_a(float *y) { y[threadIdx.x] *= 0.1f; }',
    "f64": 'extern "C" __global__ void tx_a(double *y) { y[threadIdx.x] *= 0.1; }',
    "unasked": 'extern "C" __global__ void tx_a(float *y) { y[threadIdx.x] *= 0.1; }',
    "unused": 'extern "C" __global__ void tx_a(float *y) { int never; y[threadIdx.x] = 0.0f; }',
}


@pytest.mark.slow
@pytest.mark.skipif(not compiler.real_nvcc(), reason="nvcc is not installed")
def test_what_nvcc_refuses_is_named(tmp_path):
    for name, text in SOURCES.items():
        (tmp_path / f"{name}.pending.cu").write_text(text)
    command = [sys.executable, HERE / "check.py", "--arch", "sm_75"]
    env = {**os.environ, "CUDASIM_CACHE": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert "4 sources seen now, 2 refused; 2 accepted" in done.stdout, done.stdout + done.stderr
    assert "float64 arithmetic in tx_a_0" in done.stdout and '"never" was declared' in done.stdout
    assert sorted(path.stem for path in tmp_path.glob("*.accepted")) == GOOD
