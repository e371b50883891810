"""``torch.add(a, b, out=c)`` on 16M floats beside the best that the machine shows: our triad, NumPy and torch.

The best of the three is the yardstick: all move 3 x 64 MiB.
"""

from __future__ import annotations

import importlib.util

import numpy as np

from benchmarks import harness

DEVICES = ("cpu", "opencl")
N = 1 << 24

TRIAD = r"""
#include <stdint.h>
void triad(float *c, const float *a, const float *b, int64_t n) {
    #pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) c[i] = a[i] + 3.0f * b[i];
}
"""


def triad_loop(a, b, c):
    """McCalpin's STREAM triad in C, built here so that it owes nothing to the library; None without a compiler."""
    import ctypes
    import shutil
    import subprocess
    import tempfile
    from pathlib import Path

    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "triad.c"), Path(folder, "triad.so")
        source.write_text(TRIAD)
        flags = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
        function = ctypes.CDLL(str(library)).triad
    function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64]
    addresses = c.ctypes.data, a.ctypes.data, b.ctypes.data

    def loop(n: int) -> None:
        for _ in range(n):
            function(*addresses, a.size)

    return loop


def references() -> dict[str, harness.Loop]:
    """What the machine can do: triad, ``numpy.add(out=)``, ``torch.add(out=)``."""
    a, b, c = (np.full(N, value, np.float32) for value in (1, 2, 0))

    def numpy_add(n: int) -> None:
        for _ in range(n):
            np.add(a, b, out=c)

    table = {"numpy out=": numpy_add}
    if triad := triad_loop(a, b, c):
        table["triad"] = triad
    if importlib.util.find_spec("torch"):
        import torch

        ta, tb, tc = map(torch.from_numpy, (a, b, c))

        def torch_add(n: int) -> None:
            for _ in range(n):
                torch.add(ta, tb, out=tc)

        table["torch out="] = torch_add
    return table


def tensorx_loops(device: str) -> dict[str, harness.Loop]:
    import tensorx
    from tensorx.devices import registry

    runtime = registry.resolve(device).runtime
    a, b, c = (tensorx.full((N,), float(value), device=device) for value in (1, 2, 0))

    def with_out(n: int) -> None:
        for _ in range(n):
            tensorx.add(a, b, out=c)
        runtime.synchronize()

    def fresh(n: int) -> None:
        for _ in range(n):
            a + b
        runtime.synchronize()

    return {f"{device} out=": with_out, f"{device} a + b": fresh}


def main(devices) -> None:
    cases = references()
    yardsticks = list(cases)
    for device in devices:
        cases |= tensorx_loops(device)
    timings = harness.interleave(cases, rounds=7, slice_s=0.1)
    best = min(yardsticks, key=lambda name: timings[name].median)
    harness.report(timings, baseline=best, nbytes=3 * 4 * N)
    for name, timing in timings.items():
        if name not in yardsticks:
            print(f"  {name}: {timings[best].median / timing.median:.0%} of {best}")
