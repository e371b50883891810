"""Fair timing on a machine that others use too: candidates take turns, in both orders, and medians are compared.

A slow spell of the machine then hits all candidates alike. The minimum is shown beside the median; far apart, they say
that the machine was busy.
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

#: Runs its work ``n`` times and waits for the last; a loop inside keeps the cost of the call out of the figure.
Loop = Callable[[int], None]


@dataclass(frozen=True)
class Timing:
    """Seconds for one iteration."""

    median: float
    best: float


def calibrate(loop: Loop, slice_s: float) -> int:
    """How many iterations take about ``slice_s`` seconds, once warm."""
    loop(1)  # the first call compiles, imports and allocates
    n = 1
    while True:
        start = time.perf_counter()
        loop(n)
        spent = time.perf_counter() - start
        if spent >= slice_s / 2:
            return max(1, round(n * slice_s / spent))
        n *= 2 if spent <= 0 else max(2, min(10, int(slice_s / spent)))


def interleave(cases: Mapping[str, Loop], rounds: int = 9, slice_s: float = 0.03) -> dict[str, Timing]:
    """Time the cases in turns, ``rounds`` times each, in slices of about ``slice_s`` seconds; every other round runs
    backwards.
    """
    counts = {name: calibrate(loop, slice_s) for name, loop in cases.items()}
    samples: dict[str, list[float]] = {name: [] for name in cases}
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            for name in sorted(cases, key=list(cases).index, reverse=turn % 2 == 1):
                start = time.perf_counter()
                cases[name](counts[name])
                samples[name].append((time.perf_counter() - start) / counts[name])
            gc.collect(0)
    finally:
        if enabled:
            gc.enable()
    return {name: Timing(statistics.median(times), min(times)) for name, times in samples.items()}


def machine() -> str:
    """The machine in one line."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            model = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), model)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return f"{model}, {cores} cores, load {load:.1f}, Python {platform.python_version()}"
