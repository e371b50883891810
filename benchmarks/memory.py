"""Memory over 10,000 training steps with the garbage collector off: it must be flat, on the host and on the device."""

from __future__ import annotations

import gc
import os

DEVICES = ("cpu",)
STEPS = 10_000


def resident() -> int:
    """Resident bytes of this process (Linux)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def training_step(device: str):
    """A small network with dropout, cross entropy and AdamW: every kind of node is in its graph."""
    import tensorx
    from tensorx import nn
    from tensorx.nn import functional as F

    tensorx.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4)).to(device)
    optimiser = tensorx.optim.AdamW(model.parameters(), lr=1e-3)
    x = tensorx.randn(32, 16, device=device)
    y = tensorx.arange(32, device=device) % 4

    def step() -> float:
        optimiser.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimiser.step()
        return loss

    return step


def growth(device: str, steps: int = STEPS) -> tuple[int, int]:
    """Bytes by which the process and the device's used memory grew from 10 % of the steps to their end."""
    from tensorx.devices import registry

    runtime = registry.resolve(device).runtime
    step = training_step(device)
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


def main(devices) -> None:
    for device in devices:
        host, used = growth(device)
        print(f"  {device}: {STEPS} steps, gc off: process {host / 1024:+.0f} KiB, device memory {used:+d} bytes")
