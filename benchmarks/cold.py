"""Cold start, each in a new process: importing, the first op, the first GPT step with an empty and a warm cache."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence

FIRST_OP = """
import time
start = time.perf_counter()
import {0} as T
imported = time.perf_counter()
(T.ones(3, device={1!r}) + 1).tolist()
print(imported - start, time.perf_counter() - imported)
"""
FIRST_STEP = """
import time
from benchmarks import peers
from benchmarks.works import steps
start = time.perf_counter()
build, x, y = steps.STEPS["GPT of 2 layers, 8 x 128"]
print(steps.training_step(peers.make({0!r}, {1!r}), build, x(), y())().item() > 0, time.perf_counter() - start)
"""


def _run(code: str, cache: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TENSORX_CACHE_DIR": cache, "POCL_CACHE_DIR": f"{cache}/pocl"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def main(devices: Sequence[str], names: Sequence[str], rounds: int = 3) -> dict[str, dict[str, float]]:
    """Seconds, medians; a first step with an empty cache is measured once."""
    print("\ncold start, s             import    first op    first GPT step, empty cache    warm cache")
    found = {}
    for package, device in [("tensorx", d) for d in devices] + [(n, "cpu") for n in names if n == "torch"]:
        with tempfile.TemporaryDirectory() as cache:
            os.mkdir(f"{cache}/pocl")
            op = FIRST_OP.format(package, device)
            _run(op, cache)  # the file system's own cache
            imported, first = (
                statistics.median(map(float, column))
                for column in zip(*(_run(op, cache) for _ in range(rounds)), strict=True)
            )
            step = FIRST_STEP.format(package, device)
            empty, *warm = (float(_run(step, cache)[1]) for _ in range(1 + rounds))
        name = device if package == "tensorx" else package
        found[name] = {"import": imported, "first op": first, "empty": empty, "warm": statistics.median(warm)}
        print(f"  {name:20}{imported:10.2f}{first:12.2f}{empty:31.2f}{found[name]['warm']:14.2f}")
    return found
