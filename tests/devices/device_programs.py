"""Programs written by hand for the tests of devices: they need no generator."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Arg:
    name: str
    kind: str
    code: str


@dataclass(frozen=True)
class Source:
    text: str
    entries: tuple


@dataclass(frozen=True)
class Grid:
    global_size: tuple
    local_size: tuple = ()


# y = x + s, and y += s: the second shows lost or doubled launches
_LAYOUT = tuple(
    Arg(name, kind, code)
    for name, kind, code in (
        ("y0", "buffer", "f32"),
        ("y0_off", "scalar", "i64"),
        ("x0", "buffer", "f32"),
        ("x0_off", "scalar", "i64"),
        ("s0", "scalar", "f32"),
        ("n0", "scalar", "i64"),
    )
)
_TEXT = {
    "c": """#include <stdint.h>
int tx_threads = 1;
void add(float *y, int64_t yo, const float *x, int64_t xo, float s, int64_t n) {
#pragma omp parallel for simd num_threads(tx_threads) if(tx_threads > 1 && n > 4096)
  for (int64_t i = 0; i < n; i++) y[yo + i] = x[xo + i] + s;
}
""",
    "opencl": """__kernel void add(__global float *y, long yo, __global const float *x, long xo, float s, long n) {
  size_t i = get_global_id(0);
  if (i < n) y[yo + i] = x[xo + i] + s;
}
""",
    "cuda": """extern "C" __global__ void
add(float *y, long long yo, const float *x, long long xo, float s, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[yo + i] = x[xo + i] + s;
}
""",
}


def add_source(dialect: str, salt: str = "") -> Source:
    return Source(f"{_TEXT[dialect]}/* {salt} */\n", (("add", _LAYOUT),))


def add_kernel(dev):
    source = add_source(dev.capabilities.dialect)
    return dev.load(dev.build(source), source)["add"]


def grid(n: int) -> Grid:
    return Grid((-(-n // 64) * 64,), (64,))


def upload(dev, array):
    buffer = dev.alloc(array.nbytes)
    dev.copy_in(buffer, 0, array)
    return buffer


def download(dev, buffer, count, dtype=np.float32, offset=0):
    array = np.empty(count, dtype)
    dev.copy_out(buffer, offset, array)
    return array


def python(code: str, timeout: float = 180, **env: str) -> subprocess.CompletedProcess:
    """Run ``code`` in a fresh interpreter with warnings as errors."""
    full = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{Path(__file__).parent}", **env}
    return subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:The driver of ", "-c", code],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=full,
        cwd=ROOT,
        check=False,
    )
