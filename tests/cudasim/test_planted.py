"""Faults planted in tensorx itself, each found on the simulator: what guards the cuda backend guards it really."""

from __future__ import annotations

import pytest
from simulated import built, program

pytestmark = built

#: ``plant(old, new)`` changes the text of every kernel; ``check()`` runs some and compares with the cpu.
START = """
import dataclasses, os, sys
import numpy as np
from tests.cudasim import exact
if os.environ.get("CUDASIM_MODE") != "lazy":
    exact.pytest_configure(None)
import tensorx as tx
from tensorx.devices.cuda_device import Cuda
build = Cuda.build
def plant(old, new):
    def planted(self, source):
        assert not old or old in source.text or not must, source.text
        return build(self, dataclasses.replace(source, text=source.text.replace(old, new)))
    Cuda.build = planted
must = True
def check():
    x = np.linspace(-2, 2, 6 * 256, dtype=np.float32).reshape(6, 256)
    for run in runs:
        got, want = (run(tx.tensor(x, device=device)).cpu().numpy() for device in ("cuda:0", "cpu"))
        if not np.allclose(got, want, 1e-5, 1e-5):
            print("wrong"); sys.exit()
    print("right")
"""
RUNS = {
    "elementwise": "runs = [lambda x: x * 2 + 1]\n",
    "softmax": "runs = [lambda x: tx.softmax(x, 1)]\n",
    "matmul": "runs = [lambda x: x @ x.T]\n",
    "half": "runs = [lambda x: x.half() * x.half()]\n",
}


@pytest.fixture(autouse=True)
def no_kernels_of_others(tmp_path, monkeypatch):
    """A kernel that is kept on disk is compiled from nothing."""
    monkeypatch.setenv("TENSORX_CACHE_DIR", str(tmp_path))


def verdict(code: str, run: str, **settings: str) -> str:
    """What a program says: right, wrong, or the fault that ended it."""
    done = program(START + RUNS[run] + code + "\ncheck()\n", **settings)
    if done.returncode == 0:
        return done.stdout.strip()
    return next((word for word in ("illegal memory access", "launch failure") if word in done.stderr), done.stderr)


@pytest.mark.parametrize("run", RUNS)
def test_nothing_planted(run):
    assert verdict("", run, RACES="1") == "right"


WORDS = {
    "a wrong axis": ("elementwise", "#define TX_GROUP_0 blockIdx.x", "#define TX_GROUP_0 blockIdx.y", "wrong"),
    "a wrong index": ("softmax", "#define TX_LID_0 threadIdx.x", "#define TX_LID_0 threadIdx.y", "wrong"),
    "a missing barrier": ("softmax", "#define TX_BARRIER __syncthreads()", "#define TX_BARRIER", "wrong"),
    "a missing barrier of a tile": ("matmul", "#define TX_BARRIER __syncthreads()", "#define TX_BARRIER", "wrong"),
    "a store one too far": ("elementwise", "((p)[i] = (v))", "((p)[(i) + 1] = (v))", "illegal memory access"),
    "a load one too far": ("matmul", "((p)[i])", "((p)[(i) + 1])", "illegal memory access"),
    "a shared store too far": ("softmax", "sh_f32[lid] = a0_acc", "sh_f32[lid + 1] = a0_acc", "illegal memory access"),
    "a half's store too far": ("half", "((p)[i] = ", "((p)[(i) + 1] = ", "illegal memory access"),
}


@pytest.mark.parametrize("fault", WORDS)
def test_a_wrong_word(fault):
    run, old, new, found = WORDS[fault]
    must = "must = False\n" if run in ("matmul", "half") else ""  # of several kernels not each has the word
    assert verdict(f"{must}plant({old!r}, {new!r})", run) == found


def test_a_missing_barrier_is_a_race():
    code = "plant('#define TX_BARRIER __syncthreads()', '#define TX_BARRIER')"
    assert verdict(code, "softmax", RACES="1") == "launch failure"


def test_a_missing_wait():
    """Host memory used again before its copy (tests/devices/test_cuda.py has more of this kind)."""
    code = "runs = [lambda x: tx.stack([row.to(x.device) * 2 for row in x.cpu()])]\n"
    fault = "from tensorx.devices.staging import Staging\nStaging._keep = lambda self, event, source: None\n"
    assert verdict(code, "elementwise", MODE="lazy") == "right"
    assert verdict(fault + code, "elementwise", MODE="lazy") == "wrong"


def test_a_context_left_current():
    code = """
x = tx.ones(4, device="cuda:0")
from tensorx.devices.cuda_program import Context
Context.leave_all = lambda self: None
import pycuda.driver as drv
tx.device("cuda:0").runtime._context._push()
"""
    done = program(START + code)
    assert done.returncode == -6 and "context stack was not empty" in done.stderr


def test_a_pooled_block_without_a_context():
    code = """
import pycuda.driver as drv
context = drv.Device(0).retain_primary_context()
context.push()
keep = drv.DeviceMemoryPool().allocate(64)
context.pop()
"""
    done = program("import pycuda.driver as drv\ndrv.init()\n" + code)
    assert done.returncode == -6, done.stderr
