"""Time against size: one curve a family, with odd sizes and primes beside the round ones, where a cliff would show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.timing import interleave
from benchmarks.work import Work, floats, function

ROUNDS = 5
#: A size, its two neighbours and the next prime do about the same work; their times should say so, too.
ROUND = (64, 256, 1024)
NEAR = {64: (63, 65, 67), 256: (255, 257, 263), 1024: (1021, 1023, 1025)}
SIDES = tuple(sorted([128, 512, *ROUND, *(n for near in NEAR.values() for n in near)]))

#: family -> (its work at size n, how much of it there is at that size)
FAMILIES: dict[str, tuple[Callable[[int], Work], Callable[[int], float]]] = {
    "a + b, n x n": (lambda n: _of(n, lambda T, x: x + x, (n, n)), lambda n: n * n),
    "a.t() + a, n x n": (lambda n: _of(n, lambda T, x: T.transpose(x, 0, 1) + x, (n, n)), lambda n: n * n),
    "exp, n x n": (lambda n: _of(n, lambda T, x: T.exp(x), (n, n)), lambda n: n * n),
    "sum(0), n x n": (lambda n: _of(n, lambda T, x: x.sum(0), (n, n)), lambda n: n * n),
    "sum(1), n x n": (lambda n: _of(n, lambda T, x: x.sum(1), (n, n)), lambda n: n * n),
    "softmax(1), n x n": (lambda n: _of(n, lambda T, x: T.softmax(x, 1), (n, n)), lambda n: n * n),
    "cumsum(1), n x n": (lambda n: _of(n, lambda T, x: T.cumsum(x, 1), (n, n)), lambda n: n * n),
    "sort(1), n x n": (lambda n: _of(n, lambda T, x: T.sort(x, 1)[0], (n, n)), lambda n: n * n),
    "matmul, n x n x n": (lambda n: _of(n, lambda T, x: T.matmul(x, x), (n, n)), lambda n: float(n) ** 3),
    "conv2d 3x3, 8 to 16 channels, n x n": (
        lambda n: _of(n, lambda T, x, w: T.nn.functional.conv2d(x, w), (1, 8, n, n), (16, 8, 3, 3)),
        lambda n: n * n,
    ),
    "attention, 4 heads of 32, n tokens": (
        lambda n: _of(n, lambda T, x: T.nn.functional.scaled_dot_product_attention(x, x, x), (1, 4, n, 32)),
        lambda n: n * n,
    ),
}


def _of(n: int, f: Callable[..., Any], *shapes: tuple[int, ...]) -> Work:
    return function("sizes", str(n), f, lambda: [floats(*shape) for shape in shapes])


def cliff(seconds: dict[int, float], amount: Callable[[int], float]) -> tuple[float, int]:
    """The largest ratio of the time for a unit of work at an odd size to that at the round size beside it, and where.

    >>> cliff({63: 2.0, 64: 1.0, 65: 1.1, 67: 1.0}, lambda n: 1.0)
    (2.0, 63)
    """
    pairs = [(n, middle) for middle, near in NEAR.items() for n in near if n in seconds and middle in seconds]
    return max((seconds[n] / amount(n) / (seconds[m] / amount(m)), n) for n, m in pairs)


def main(devices: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, dict[int, float]]]:
    """family -> candidate -> size -> seconds."""
    candidates = [peers.make("tensorx", d) for d in devices] + [peers.make(n) for n in names]
    found: dict[str, dict[str, dict[int, float]]] = {}
    print("\ntime for a unit of work at odd sizes and primes over that at the round size beside them, at the worst")
    for family, (work, amount) in FAMILIES.items():
        curves: dict[str, dict[int, float]] = {p.name: {} for p in candidates}
        for n in SIDES:
            loops = {p.name: p.loop(work(n).make(p)) for p in candidates}
            for name, timing in interleave(loops, ROUNDS, slice_s=0.01).items():
                curves[name][n] = timing.best  # a cliff is in the code; the median has the machine in it, too
        found[family] = curves
        worst = {name: cliff(curve, amount) for name, curve in curves.items()}
        cells = [f"{name}: {ratio:.2f} at {n}" for name, (ratio, n) in worst.items()]
        print(f"  {family:40}" + "".join(f"{cell:>28}" for cell in cells), flush=True)
    return found


def plot(found: dict[str, dict[str, dict[int, float]]], path: Path) -> None:
    """A panel a family: seconds against size, both logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    across = 3
    figure, panels = pyplot.subplots(
        -(-len(found) // across), across, figsize=(11, 0.9 * len(found)), layout="constrained", squeeze=False
    )
    for panel, (family, curves) in zip(panels.flat, found.items(), strict=False):
        for name, curve in curves.items():
            panel.loglog(list(curve), list(curve.values()), marker=".", label=name)
        panel.set_title(family, fontsize=8)
        panel.set_xticks(ROUND, [str(n) for n in ROUND])
        panel.minorticks_off()
    for panel in list(panels.flat)[len(found) :]:
        panel.axis("off")
    panels.flat[0].legend(fontsize=7)
    figure.supxlabel("n")
    figure.supylabel("seconds")
    figure.savefig(path)
    pyplot.close(figure)
