"""What this machine can do: memory bandwidth by McCalpin's STREAM triad, arithmetic by independent chains of FMAs.

Both are C of their own, built here, so that they owe nothing to the library. https://www.cs.virginia.edu/stream/ref.html
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.timing import interleave

SOURCE = r"""
#include <stdint.h>
void triad(float *c, const float *a, const float *b, int64_t n) {
    #pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) c[i] = a[i] + 3.0f * b[i];
}
enum { CHAINS = 12, LANES = 16 };
typedef float vec __attribute__((vector_size(4 * LANES)));
/* Every thread keeps CHAINS vectors in registers: more than the latency of an FMA times its throughput. */
void fma_chains(float *y, int64_t n) {
    #pragma omp parallel
    {
        vec s[CHAINS], k = {0}, m = {0}, sum = {0};
        for (int j = 0; j < LANES; j++) k[j] = y[0], m[j] = y[1];
        for (int i = 0; i < CHAINS; i++) s[i] = k * (float)i;
        for (int64_t r = 0; r < n; r++)
            #pragma GCC unroll 12
            for (int i = 0; i < CHAINS; i++) s[i] = s[i] * k + m;
        for (int i = 0; i < CHAINS; i++) sum += s[i];
        #pragma omp critical
        for (int j = 0; j < LANES; j++) y[2] += sum[j];
    }
}
int threads(void) { int n = 0;
    #pragma omp parallel
    {
        #pragma omp atomic
        n++;
    }
    return n; }
"""
FLAGS = ["-O3", "-march=native", "-mprefer-vector-width=512", "-ffp-contract=fast", "-fopenmp", "-shared", "-fPIC"]
N = 1 << 24
CHAINS, LANES, ROUNDS = 12, 16, 1_000_000


class Peak(NamedTuple):
    """Bytes and floating-point operations a second; zero where there is no C compiler to find out."""

    bandwidth: float
    flops: float

    def __str__(self) -> str:
        return f"triad {self.bandwidth / 1e9:.1f} GB/s, FMA {self.flops / 1e9:.0f} GFLOP/s in float32"


def measure() -> Peak:
    """The machine's peaks, now. In a process of its own: OpenMP reads its settings when the first library that needs it
    is loaded, and the library's own wish (``cpu_compiler``) must be heard.
    """
    command = [sys.executable, "-m", "benchmarks.peak"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    return Peak(*map(float, done.stdout.split()))


def _measure() -> Peak:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return Peak(0.0, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "peak.c"), Path(folder, "peak.so")
        source.write_text(SOURCE)
        subprocess.run([compiler, *FLAGS, str(source), "-o", str(library)], check=True)
        native = ctypes.CDLL(str(library))
    native.triad.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64]
    native.fma_chains.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    a, b, c = (np.full(N, value, np.float32) for value in (1, 2, 0))
    small = np.array([0.5, 0.25, 0], np.float32)

    def triad(n: int) -> None:
        for _ in range(n):
            native.triad(c.ctypes.data, a.ctypes.data, b.ctypes.data, N)

    def chains(n: int) -> None:
        for _ in range(n):
            native.fma_chains(small.ctypes.data, ROUNDS)

    times = interleave({"triad": triad, "fma": chains}, rounds=7, slice_s=0.05)
    operations = 2 * CHAINS * LANES * ROUNDS * native.threads()
    return Peak(3 * 4 * N / times["triad"].median, operations / times["fma"].median)


if __name__ == "__main__":
    print(*_measure())
