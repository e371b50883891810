"""``python -m tensorx tune``: find the fastest tiles of a device for usual products and convolutions, and keep them.

Each piece of work below meets a few size classes; :mod:`tensorx.ops.tuning` tries every candidate of each.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tensorx
from tensorx.devices import registry
from tensorx.errors import DeviceError, TensorXError
from tensorx.ops import tuning
from tensorx.ops.show import dtype_of

#: Shapes of both operands; LINEARS: m, k, n, with the second operand transposed.
PRODUCTS = (
    *(((n, n), (n, n)) for n in (64, 256, 512, 1024, 2048)),
    *(((m, 4096), (4096, 4096)) for m in (1, 2, 4, 8, 32)),
    ((4096, 4096), (4096, 1)),
    ((64, 65536), (65536, 64)),
    ((16384, 64), (64, 64)),
)
LINEARS = ((1, 4096, 4096), (8, 4096, 4096), (32, 256, 256), (512, 1024, 4096))
BATCHES = (((64, 128, 128), (64, 128, 128)), ((4096, 16, 16), (4096, 16, 16)), ((64, 512, 64), (64, 64, 512)))
#: input, weight, stride: layers of ResNet-50.
CONVOLUTIONS = (
    ((8, 3, 224, 224), (64, 3, 7, 7), 2),
    ((8, 64, 56, 56), (64, 64, 3, 3), 1),
    ((8, 256, 56, 56), (64, 256, 1, 1), 1),
    ((8, 256, 14, 14), (256, 256, 3, 3), 1),
)


def _matmul(make: Callable[..., Any], a: tuple[int, ...], b: tuple[int, ...]) -> None:
    tensorx.matmul(make(a), make(b))


def _linear(make: Callable[..., Any], m: int, k: int, n: int) -> None:
    tensorx.nn.functional.linear(make((m, k)), make((n, k)))


def _convolution(make: Callable[..., Any], x: tuple[int, ...], w: tuple[int, ...], stride: int) -> None:
    y = tensorx.nn.functional.conv2d(make(x).requires_grad_(), make(w).requires_grad_(), None, stride, w[-1] // 2)
    y.sum().backward()


#: Family -> (what runs, its arguments).
WORKS: dict[str, list[tuple[Callable[..., None], tuple[Any, ...]]]] = {
    "matmul": [(_matmul, shapes) for shapes in PRODUCTS],
    "linear": [(_linear, sizes) for sizes in LINEARS],
    "batched": [(_matmul, shapes) for shapes in BATCHES],
    "convolution": [(_convolution, layer) for layer in CONVOLUTIONS],
}


def run(device: registry.device, families: Sequence[str], dtypes: Sequence[Any], bar: Any) -> list[tuning.Outcome]:
    """Tune ``device`` for these families and dtypes; ``bar`` is told of every piece of work and every candidate."""

    def step(name: str) -> None:
        bar.set_postfix_str(f"{family} {name}"[:60])

    with tuning.tuning(step) as found:
        for family in families:
            for work, arguments in WORKS[family]:
                for d in dtypes:
                    work(lambda shape, d=d: tensorx.zeros(shape, dtype=d, device=device), *arguments)
                    bar.update()
    return found


def report(found: Sequence[tuning.Outcome]) -> str:
    """A line for each size class, and one for each candidate that was rejected."""
    lines = []
    for o in found:
        if o.tile:
            us = o.seconds[o.winner] * 1e6
            kept = "" if o.kept else "  (not kept: no cache folder)"
            lines.append(
                f"{o.place:40} {us:10.0f} us  x{o.gain:4.2f}  {'default' if o.winner == o.default else o.winner}{kept}"
            )
        lines += [f"{o.place:40} REJECTED {name}: {why}" for name, why in o.rejected.items()]
    return "\n".join(lines)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m tensorx tune",
        description="Try the tiles of matrix products and convolutions on a device: each is checked against the "
        "reference, the fastest is kept.",
    )
    parser.add_argument("--device", help="the device to tune (default: the default device)")
    parser.add_argument("--family", action="append", choices=sorted(WORKS), help="may be repeated (default: all)")
    parser.add_argument("--dtype", action="append", help="dtype of the operands; may be repeated (default: float32)")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    """The command: 0, or 2 with a line on stderr for a device or a dtype that there is not."""
    from tqdm import tqdm

    options = parse(argv)
    families = options.family or list(WORKS)
    try:
        device = registry.resolve(options.device)
        caps = registry.open(device).capabilities
        if device.type in ("meta", "null") or not caps.compiler:
            raise DeviceError(
                f"tune: argument '--device' must name a device that runs generated kernels; got {device}. "
                "Hint: python -m tensorx devices"
            )
        dtypes = [dtype_of(name) for name in options.dtype or ["float32"]]
        with tqdm(
            total=len(dtypes) * sum(len(WORKS[f]) for f in families), desc=str(device), unit="work", disable=None
        ) as bar:
            found = run(device, families, dtypes, bar)
    except (LookupError, TensorXError) as error:
        print(error.args[0] if error.args else error, file=sys.stderr)
        return 2
    print(report(found))
    return 0
