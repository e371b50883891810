"""One small eager op, ``y = y + 1`` on 64 floats, without and with grad, beside torch where it is installed.

What is timed is the path from Python to the kernel. On a device with a queue that is host time, the calling thread's
processor time: where the device is this very processor, its work would otherwise be part of the figure.
"""

from __future__ import annotations

import importlib.util
import time

from benchmarks import harness

DEVICES = ("cpu", "opencl")
CHAIN = 1000  # with grad, start a new graph after so many ops: its memory, not its length, is no subject here


def loops(framework, make, synchronize) -> dict[str, harness.Loop]:
    """``y = y + 1`` for a module with PyTorch's API."""
    plain, leaf = make(), make().requires_grad_()

    def without_grad(n: int) -> None:
        y = plain
        for _ in range(n):
            y = y + 1
        synchronize()

    def with_grad(n: int) -> None:
        for start in range(0, n, CHAIN):
            y = leaf
            for _ in range(min(CHAIN, n - start)):
                y = y + 1
        synchronize()

    def add_tensors(n: int) -> None:
        y = plain
        for _ in range(n):
            y = y + plain
        synchronize()

    return {"y + 1": without_grad, "y + 1, grad": with_grad, "y + x": add_tensors}


def main(devices) -> None:
    import tensorx
    from tensorx.devices import registry

    for name in devices:
        runtime = registry.resolve(name).runtime
        sides = {"tensorx": loops(tensorx, lambda name=name: tensorx.zeros(64, device=name), runtime.synchronize)}
        if name == "cpu" and importlib.util.find_spec("torch"):
            import torch

            torch.set_num_threads(1)
            sides["torch"] = loops(torch, lambda: torch.zeros(64), lambda: None)
        print(f" {name}: {runtime.name}")
        for case in sides["tensorx"]:
            candidates = {f"{side} {case}": table[case] for side, table in sides.items()}
            clock = time.perf_counter if name == "cpu" else time.thread_time
            harness.report(harness.interleave(candidates, clock=clock), baseline=f"torch {case}")
