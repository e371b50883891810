"""A contraction on trial: operands like the call's, what the result must be, and how long a launch takes.

Operands are small whole numbers, so that every sum is exact in every order: a tile's result must equal the reference
in all of the result's memory, and what lies between its elements must not have been written.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.kernels import contract
from tensorx.kernels.contraction import Call
from tensorx.kernels.spec import KernelSpec, Operand

Array = np.ndarray[Any, Any]
#: Elements of a block of the reference's operands.
_BLOCK = 1 << 22
_UNTOUCHED = 77


class Trial:
    """A plain call's operands, in host memory, and its reference."""

    def __init__(self, call: Call) -> None:
        self.call, spec = call, call.spec
        names = [a.name for a in contract.layout(spec) if a.kind == "scalar" and not a.name.endswith("_o")]
        self.values = dict(zip(names, call.numbers, strict=True))
        self.sizes = {letter: [self.values[n] for n in contract.size_names(spec, letter)] for letter in "bmnk"}
        self.maps = [_Map(spec, o, self.values, self.sizes) for o in spec.operands]
        random = np.random.default_rng(0)
        self.memory = [np.full(self.maps[0].length, _UNTOUCHED).astype(self._dtype(0))]
        for which in (1, 2):
            low = 0 if spec.operands[which].dtype[0] == "u" else -3
            numbers = random.integers(low, 4, (2, self.maps[which].length))
            pairs = spec.operands[which].dtype[0] == "c"
            self.memory.append((numbers[0] + 1j * numbers[1] if pairs else numbers[0]).astype(self._dtype(which)))

    def _dtype(self, which: int) -> Any:
        return dtypes.FROM_CODE[self.call.spec.operands[which].dtype].np

    @property
    def nbytes(self) -> int:
        """Of all three operands."""
        return sum(memory.nbytes for memory in self.memory)

    def reference(self) -> Array:
        """The result's memory, as it must be. BLAS in the compute dtype, double precision for whole numbers."""
        image, (out, a, b), whole = self.memory[0].copy(), self.maps, self.call.spec.param("acc") == "i64"
        work = np.result_type(
            np.float32 if self.call.spec.param("acc") == "f32" else np.float64,
            image.dtype if image.dtype.kind == "c" else np.float32,
        )
        m, n, k = (math.prod(self.sizes[letter]) for letter in "mnk")
        rows, cols = (max(1, min(extent, _BLOCK // max(1, k))) for extent in (m, n))
        for batch in range(math.prod(self.sizes["b"])):
            for j in range(0, n, cols):
                right = b.take(self.memory[2], batch, slice(None), slice(j, j + cols)).astype(work)
                for i in range(0, m, rows):
                    sums = a.take(self.memory[1], batch, slice(i, i + rows), slice(None)).astype(work) @ right
                    place = out.places(batch, slice(i, i + rows), slice(j, j + cols))[0]
                    image[place] = (sums.astype(np.int64) if whole else sums).astype(image.dtype)
        return image

    def strided(self) -> tuple[Array, Array, Array]:
        """Result, first and second operand as NumPy arrays (*batch, rows, columns) in these memories, as the caller of a product has them."""
        views = [m.strided(memory) for m, memory in zip(self.maps, self.memory, strict=True)]
        if self.call.order[1] == 2:  # the transposed problem
            views = [v.swapaxes(-1, -2) for v in (views[0], views[2], views[1])]
        return views[0], views[1], views[2]


class _Map:
    """The index map of an operand: where its elements lie in a memory of ``length``."""

    def __init__(self, spec: KernelSpec, operand: Operand, values: dict[str, int], sizes: dict[str, list[int]]) -> None:
        name, self.letters = operand.name, contract.axes_of(operand)
        dims = int(spec.param("patch")[int(name[1:])]) if name in ("x0", "x1") else 0
        self.sizes = sizes
        self.steps = {
            letter: [values.get(f"{name}_{letter}{i}", 0) for i in range(len(sizes[letter]))] for letter in self.letters
        }
        self.patch = [[values[f"{name}_{c}{d}"] for c in "teuvw"] for d in range(dims)]
        ends = [(n - 1) * s for letter in self.letters for n, s in zip(sizes[letter], self.steps[letter], strict=True)]
        ends += [(e - 1) * t for t, e, *_ in self.patch]
        self.base = -sum(min(0, end) for end in ends)
        self.length = self.base + sum(max(0, end) for end in ends) + 1

    def _along(self, letter: str, part: slice) -> tuple[Array, list[Array]]:
        """Offsets along an axis, and the coordinates that its spatial sub-axes contribute."""
        grid = np.unravel_index(np.arange(math.prod(self.sizes[letter]))[part], self.sizes[letter])
        offset = sum((c * s for c, s in zip(grid, self.steps[letter], strict=True)), np.zeros(1, np.int64))
        spatial = grid[len(grid) - len(self.patch) :] if letter != "b" and self.patch else ()
        factors = [u if letter == self.letters[1] else v for _, _, u, v, _ in self.patch]
        return offset, [c * f for c, f in zip(spatial, factors, strict=False)]

    def places(self, batch: int, first: slice, second: slice) -> tuple[Array, Array | None]:
        """Where the elements of a block lie, and which of them lie inside the source (None: all)."""
        start = self._along("b", slice(batch, batch + 1))[0]
        (down, rows), (across, cols) = self._along(self.letters[1], first), self._along(self.letters[2], second)
        place, inside = self.base + start + down[:, None] + across[None], None
        for (t, e, _, _, w), r, c in zip(self.patch, rows, cols, strict=True):
            at = r[:, None] + c[None] + w
            good = (at >= 0) & (at < e)
            place, inside = place + np.where(good, at, 0) * t, good if inside is None else inside & good
        return place, inside

    def take(self, memory: Array, batch: int, first: slice, second: slice) -> Array:
        """A block of the operand; zeros outside the source."""
        place, inside = self.places(batch, first, second)
        return memory[place] if inside is None else np.where(inside, memory[place], np.zeros((), memory.dtype))

    def strided(self, memory: Array) -> Array:
        """The operand as (*batch, first, second); ValueError where an axis has several sub-axes that are none together."""
        shape, strides = list(self.sizes["b"]), list(self.steps["b"])
        for letter in self.letters[1:]:
            if len(self.sizes[letter]) != 1 or self.patch:
                raise ValueError("strided: an operand must be a batch of matrices")
            shape, strides = [*shape, *self.sizes[letter]], [*strides, *self.steps[letter]]
        return np.lib.stride_tricks.as_strided(memory[self.base :], shape, [s * memory.itemsize for s in strides])


def race(runs: dict[Any, Callable[[], None]], wait: Callable[[], None], rounds: int = 9) -> dict[Any, float]:
    """Seconds of each run: the least of some rounds, in turns. What is twice as slow after three leaves early."""
    best: dict[Any, float] = {}
    for turn in range(rounds):
        for key, run in _turns(runs, turn):
            if turn >= 3 and best[key] > 2 * min(best.values()):
                continue
            count = 1 if turn == 0 else max(1, min(100, int(1e-3 / max(best[key], 1e-7))))
            wait()
            start = time.perf_counter()
            for _ in range(count):
                run()
            wait()
            best[key] = min(best.get(key, math.inf), (time.perf_counter() - start) / count)
    return best


def _turns(runs: dict[Any, Any], turn: int) -> Iterator[tuple[Any, Any]]:
    """Every other round runs backwards: a slow spell of the machine then hits all alike."""
    ordered: Sequence[Any] = list(runs.items())
    return itertools.chain(reversed(ordered) if turn % 2 else ordered)
