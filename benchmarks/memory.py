"""Peak memory of whole training steps beside torch's, each in a new process; and over 10,000 steps it is flat."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.works.steps import STEPS

#: High-water mark of the process over what importing and building took (Linux: VmHWM is reset by writing 5).
PEAK = """
from benchmarks import peers
from benchmarks.works import steps
def status(key):
    return int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith(key))) * 1024
build, x, y = steps.STEPS[{2!r}]
step = steps.training_step(peers.make({0!r}, {1!r}), build, x(), y())
tiny = [step() for _ in range(2)]  # compiled, loaded
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
for _ in range(3): step()
print(status("VmHWM"))
"""
STEPS_OF_GROWTH = 10_000


def peak(package: str, device: str, work: str) -> int:
    """Resident bytes at most during three warm steps."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK.format(package, device, work)], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def resident() -> int:
    """Resident bytes of this process (Linux)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def small_step(device: str) -> Callable[[], Any]:
    """A small network with dropout, cross entropy and AdamW: every kind of node is in its graph."""
    import tensorx
    from tensorx import nn
    from tensorx.nn import functional as F

    tensorx.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4)).to(device)
    optimiser = tensorx.optim.AdamW(model.parameters(), lr=1e-3)
    x = tensorx.randn(32, 16, device=device)
    y = tensorx.arange(32, device=device) % 4

    def step() -> Any:
        optimiser.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimiser.step()
        return loss

    return step


def growth(device: str, steps: int = STEPS_OF_GROWTH) -> tuple[int, int]:
    """Bytes by which the process and the device's used memory grew from 10 % of the steps to their end, gc off."""
    from tensorx.devices import registry

    runtime = registry.resolve(device).runtime
    step = small_step(device)
    gc.collect()
    gc.disable()
    try:
        for _ in range(steps // 10):
            step()
        runtime.synchronize()
        before = resident(), runtime.memory_stats()["used"]
        for _ in range(steps - steps // 10):
            step()
        runtime.synchronize()
        after = resident(), runtime.memory_stats()["used"]
    finally:
        gc.enable()
    return after[0] - before[0], after[1] - before[1]


def main(devices: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    sides = [("tensorx", d) for d in devices] + [(n, "cpu") for n in names if n == "torch"]
    found: dict[str, Any] = {}
    print(
        "\nresident memory at most over warm steps, MiB"
        + "".join(f"{d if p == 'tensorx' else p:>14}" for p, d in sides)
    )
    for work in STEPS:
        found[work] = {d if p == "tensorx" else p: peak(p, d, work) for p, d in sides}
        print(f"  {work:43}" + "".join(f"{bytes_ / 2**20:14.0f}" for bytes_ in found[work].values()))
    for device in devices:
        host, used = growth(device)
        found[f"growth on {device}"] = [host, used]
        print(f"  {device}: {STEPS_OF_GROWTH} steps, gc off: {host / 1024:+.0f} KiB, on the device {used:+d} bytes")
    return found
