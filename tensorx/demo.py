"""The demo: a small convolutional network learns the UCI digits on any device.

``python -m tensorx demo [--device D] [--epochs N] [--seed S] [--plot FILE] [--losses FILE]``
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tensorx as tx
from tensorx import nn
from tensorx.data import BatchSampler, DataLoader, RandomSampler, digits
from tensorx.devices import registry
from tensorx.errors import DeviceError, TensorXError

BATCH = 64
EPOCHS = 8
RATE = 1e-2  # the largest learning rate of the schedule


@dataclass
class Result:
    """What one training gave."""

    device: Any
    seed: int
    losses: list[float] = field(default_factory=list)  # one a step
    correct: int = 0
    tested: int = 0
    seconds: float = 0.0
    first_step: float = 0.0  # of ``seconds``: rendering and compiling are in it

    @property
    def accuracy(self) -> float:
        """Share of the test images that were recognised."""
        return self.correct / self.tested


def model(device: Any = None) -> nn.Module:
    """Two convolutions with batch norm on 8x8 images, a pooling, dropout, a linear layer: 6,622 numbers to learn."""

    def convolution(channels: int, out: int) -> tuple[nn.Module, ...]:
        layer = nn.Conv2d(channels, out, 3, padding=1, bias=False, device=device)  # batch norm adds one
        return layer, nn.BatchNorm2d(out, device=device), nn.ReLU()

    head = (nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.3), nn.Linear(24 * 4 * 4, 10, device=device))
    return nn.Sequential(*convolution(1, 12), *convolution(12, 24), *head)


def batches(dataset: Any, seed: int) -> DataLoader:
    """Shuffled batches: the sampler asks the dataset for a whole batch, so that each is one gather on the device.

    Their order comes from a generator of its own, so it does not depend on what the device draws.
    """
    generator = tx.Generator().manual_seed(seed)
    sampler = BatchSampler(RandomSampler(dataset, generator=generator), BATCH, drop_last=False)
    return DataLoader(dataset, batch_size=None, sampler=sampler)


def train(device: Any, epochs: int = EPOCHS, seed: int = 0, progress: Any = None, steps: int | None = None) -> Result:
    """Train from ``seed`` and test; ``progress`` is updated once a step, ``steps`` ends the training early."""
    result = Result(device, seed)
    tx.manual_seed(seed)
    training, held = digits.load(device)
    net = model(device)
    loader = batches(training, seed)
    optimizer = tx.optim.AdamW(net.parameters(), lr=RATE, weight_decay=0.05)
    schedule = tx.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=epochs * len(loader))
    start = time.perf_counter()
    for _ in range(epochs):
        waiting = []
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            waiting.append(loss.detach())  # read once an epoch: reading waits for the device
            if not result.first_step:
                waiting[0].item()
                result.first_step = time.perf_counter() - start
            if progress is not None:
                progress.update()
            if steps is not None and len(result.losses) + len(waiting) >= steps:
                break
        result.losses += [loss.item() for loss in waiting]
        if progress is not None:
            progress.set_postfix(loss=f"{result.losses[-1]:.4f}")
        if steps is not None and len(result.losses) >= steps:
            break
    test(net, held, result)
    result.seconds = time.perf_counter() - start
    return result


def test(net: nn.Module, held: Any, result: Result) -> None:
    """Count the test images that ``net`` recognises."""
    x, y = held.tensors
    net.eval()
    with tx.no_grad():
        result.correct = int((net(x).argmax(1) == y).sum().item())
    result.tested = len(held)
    net.train()


def plot(results: Sequence[Result], path: str) -> None:
    """Draw the losses into ``path`` (PNG, SVG or PDF)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for result in results:
        axes.plot(range(1, len(result.losses) + 1), result.losses, label=str(result.device))
    axes.set(xlabel="step", ylabel="cross entropy", yscale="log", title="tensorx demo: UCI digits")
    axes.legend()
    figure.savefig(path)


def report(result: Result) -> str:
    """What the demo prints at the end."""
    from tensorx.kernels import cache

    runtime = registry.open(result.device)
    made = cache.counters
    lines = (
        ("test accuracy", f"{100 * result.accuracy:.2f} % ({result.correct} of {result.tested} images)"),
        ("time", f"{result.seconds:.2f} s, of which the first step {result.first_step:.2f} s"),
        ("device", f"{result.device} ({runtime.name})"),
        ("kernels", f"{made.compiled} compiled, {made.found} found in the cache"),
    )
    return "\n".join(f"{name:14} {text}" for name, text in lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tensorx demo", description="Train a network on the UCI digits.")
    parser.add_argument("--device", default="auto", help="cpu, opencl, opencl:pocl ... (default: auto)")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--plot", metavar="FILE", help="draw the losses (needs matplotlib)")
    parser.add_argument("--losses", metavar="FILE", help="write the loss of every step as JSON")
    return parser


def _device(text: str) -> registry.device:
    """The opened device of a device string; DeviceError for one on which nothing can be learned."""
    device = registry.resolve(text)
    if device.type in ("meta", "null"):
        raise DeviceError(
            f"demo: argument '--device' must name a device that computes; got {text!r}, where tensors have no values. "
            "Hint: python -m tensorx devices"
        )
    return device


def _check_files(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Refuse, before the training and not after it, what could not be written."""
    for option, path in (("--plot", args.plot), ("--losses", args.losses)):
        if not path:
            continue
        folder = Path(path).parent
        if not folder.is_dir():
            parser.error(f"argument {option}: must be a file in a folder that exists; got {path!r}")
        if Path(path).is_dir() or not os.access(path if Path(path).exists() else folder, os.W_OK):
            parser.error(f"argument {option}: must be a file that can be written; got {path!r}")
    if not args.plot:
        return
    if find_spec("matplotlib") is None:
        parser.error("argument --plot: needs matplotlib. Hint: pip install 'tensorx-gpu[plot]'")
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = FigureCanvasBase.get_supported_filetypes()
    kind = Path(args.plot).suffix[1:].lower()
    if kind and kind not in kinds:
        parser.error(f"argument --plot: must end in one of .{', .'.join(sorted(kinds))}; got {args.plot!r}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo: 0, or 2 with a line on stderr for a device that cannot be used or a file that cannot be written."""
    from tqdm import tqdm

    parser = _parser()
    args = parser.parse_args(argv)
    if args.epochs < 1:
        parser.error(f"argument --epochs: must be at least 1; got {args.epochs}")
    _check_files(parser, args)
    try:
        device = _device(args.device)
    except TensorXError as error:
        print(" ".join(str(error).split("\n")), file=sys.stderr)
        return 2
    total = args.epochs * -(-len(digits.load("cpu")[0]) // BATCH)
    with contextlib.closing(tqdm(total=total, desc=str(device), unit="step", disable=None)) as bar:
        result = train(device, args.epochs, args.seed, bar)
    print(report(result))
    if args.losses:
        with open(args.losses, "w", encoding="utf-8") as file:
            json.dump({"device": str(device), "seed": args.seed, "losses": result.losses}, file)
    if args.plot:
        plot([result], args.plot)
    return 0
