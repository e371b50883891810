"""How soon ``.to(device)`` returns while the device is busy, and a training loop that moves every batch."""

from __future__ import annotations

import statistics
import time

SIZES = (1 << 12, 1 << 16, 1 << 20, 1 << 24)
BATCHES, BATCH, FEATURES = 60, 256, 784
ARRIVES = 0.01  # seconds until the next batch is there, as from a disk


def sources(nbytes: int, device: str):
    """Host tensors of ``nbytes``, and how ``.to`` is asked to move them."""
    import tensorx

    plain = tensorx.ones(nbytes // 4)
    return {
        "to(device)": (plain, False),
        "non_blocking": (plain, True),
        "pinned, non_blocking": (plain.pin_memory(device), True),
    }


def returning(device: str) -> None:
    """Time of the call with 20 kernels of 16 MB in the queue, and with none."""
    import tensorx

    x = tensorx.ones(1 << 22, device=device)

    def work():
        y = x
        for _ in range(20):
            y = y * 1.0001
        return y

    work()
    for nbytes in SIZES:
        line = f"  {device} {nbytes >> 10:6d} KB:"
        for name, (source, early) in sources(nbytes, device).items():
            times: dict[bool, list[float]] = {True: [], False: []}
            for i in range(14):
                busy = bool(i % 2)
                kept = work() if busy else None
                start = time.perf_counter()
                moved = source.to(device, non_blocking=early)
                times[busy].append(time.perf_counter() - start)
                tensorx.synchronize(device)
                del kept, moved
            idle, busy_time = (statistics.median(times[b]) * 1e3 for b in (False, True))
            line += f"  {name} {idle:.3f} ms idle, {busy_time:.3f} ms busy;"
        print(line)


def training(device: str) -> None:
    """Milliseconds a step of a small network over batches that arrive and are prepared; no value is read back."""
    import tensorx
    from tensorx import nn
    from tensorx.nn import functional as F

    tensorx.manual_seed(0)
    model = nn.Sequential(nn.Linear(FEATURES, 256), nn.ReLU(), nn.Linear(256, 10)).to(device)
    optimiser = tensorx.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    data = tensorx.randint(0, 256, (BATCHES, BATCH, FEATURES), dtype=tensorx.uint8)
    labels = tensorx.randint(0, 10, (BATCHES, BATCH))
    loader = tensorx.data.DataLoader(tensorx.data.TensorDataset(data, labels), batch_size=None)

    def epoch(early: bool) -> float:
        tensorx.synchronize(device)
        start = time.perf_counter()
        for x, y in loader:
            time.sleep(ARRIVES)
            x = (x.float() - 33.3) / 78.6
            x, y = x.to(device, non_blocking=early), y.to(device, non_blocking=early)
            optimiser.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimiser.step()
        tensorx.synchronize(device)
        return (time.perf_counter() - start) / BATCHES * 1e3

    epoch(False)
    found = {early: statistics.median(epoch(early) for _ in range(5)) for early in (False, True)}
    print(f"  {device} training: {found[False]:.2f} ms a step, {found[True]:.2f} with non_blocking=True")


def main(devices, names) -> None:
    """Only where there is a queue: memory of the cpu is there already."""
    for device in (d for d in devices if not d.startswith("cpu")):
        returning(device)
        training(device)
