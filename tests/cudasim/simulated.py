"""Programs on the stand-in driver, each in an interpreter of its own: settings are read once, faults stay."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
DRIVER = Path(sys.prefix) / "lib" / "cudasim" / "libcuda.so.1"
built = pytest.mark.skipif(
    not (DRIVER.exists() and importlib.util.find_spec("pycuda")),
    reason="the stand-in driver is not built: python -m tests.cudasim.build",
)

#: The device's primary context is current, ``module(source)`` compiles, ``ones(n)`` and ``zeros(n)`` are buffers.
START = f"""
import atexit, threading
import numpy as np, pycuda.driver as cuda
from pycuda.compiler import SourceModule
cuda.init()
device = cuda.Device(0)
context = device.retain_primary_context()
context.push()
# PyCUDA's destructor would release the primary context as if it were one of its own.
atexit.register(lambda: (context.pop(), context.detach()))
def module(source):
    return SourceModule(source, nvcc={str(HERE / "bin" / "nvcc")!r}, options=["-fmad=false"], cache_dir=False)
def kernel(source, name="f"):
    return module(source).get_function(name)
def ones(n, dtype=np.float32):
    return cuda.to_device(np.ones(n, dtype))
def zeros(n, dtype=np.float32):
    return cuda.to_device(np.zeros(n, dtype))
def read(buffer, n, dtype=np.float32):
    return cuda.from_device(buffer, (n,), dtype)
"""


def program(code: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` as it is; ``settings`` are environment variables without their CUDASIM_."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("CUDASIM_") or key == "CUDASIM_CACHE"}
    env |= {"CUDASIM_CHECK": "off"} | {f"CUDASIM_{key}": value for key, value in settings.items()}
    env |= {"PYTHONPATH": str(HERE.parents[1]), "TENSORX_NVCC": str(HERE / "bin" / "nvcc")}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=300, check=False
    )


def python(code: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` after `START`."""
    return program(START + code, **settings)


def output(code: str, **settings: str) -> str:
    """What ``code`` printed; it must end with status 0 and nothing on stderr."""
    done = python(code, **settings)
    assert (done.returncode, done.stderr) == (0, ""), f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout.strip()
