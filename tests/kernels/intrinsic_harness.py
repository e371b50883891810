"""Evaluates intrinsics over NumPy arrays on a device: many functions as elementwise kernels of one program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tensorx.kernels.generator import render
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec, Operand

TYPES = {
    "b8": np.bool_, "u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "u32": np.uint32, "i32": np.int32,
    "u64": np.uint64, "i64": np.int64, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
BOOLEAN = ("isnan", "isinf", "isfinite", "signbit")


Call = tuple[str, tuple[int, ...], str]


def pack(entry: str, inputs: Sequence[str], calls: Sequence[Call]) -> KernelSpec:
    """An elementwise kernel with one output a call: (function, numbers of its inputs, dtype of its result).

    Few kernels with many outputs: PoCL takes up to a second to build a kernel, however short.
    """
    xs = tuple(Operand(f"x{i}", code, code, "c") for i, code in enumerate(inputs))
    ys = tuple(Operand(f"y{i}", result, result, "c") for i, (_, _, result) in enumerate(calls))
    lines = [f"y{i} = {name}({', '.join(f'x{j}' for j in numbers)});" for i, (name, numbers, _) in enumerate(calls)]
    return KernelSpec("elementwise", f"k_{entry}", ys, xs, body="\n".join(lines))


class Intrinsics:
    """Some kernels, compiled together for one device. ``run(entry, inputs...)`` gives {function: result}."""

    def __init__(self, runtime, kernels: dict[str, tuple[Sequence[str], Sequence[Call]]], mask: str = "") -> None:
        self.runtime, self.caps = runtime, runtime.capabilities.masked(mask)
        self.calls = {entry: calls for entry, (_, calls) in kernels.items()}
        self.specs = {entry: pack(entry, *parts) for entry, parts in kernels.items()}
        source = render(list(self.specs.values()), self.caps)
        self.kernels = runtime.load(runtime.build(source), source)

    def __call__(self, entry: str, *inputs: np.ndarray) -> dict[str, np.ndarray]:
        kernel = self.specs[entry]
        results = [np.empty(inputs[0].shape, TYPES[y.dtype]) for y in kernel.outputs]
        args = []
        for array in (*results, *inputs):
            buffer = self.runtime.alloc(max(array.nbytes, 16))
            self.runtime.copy_in(buffer, 0, np.ascontiguousarray(array))
            args += [buffer, 0]
        n = inputs[0].size
        grid = geometry(kernel, self.caps, n)
        self.runtime.launch(self.kernels[kernel.entry], grid, [*args, n])
        for i, array in enumerate(results):
            self.runtime.copy_out(args[2 * i], 0, array)
        return {name: result for (name, _, _), result in zip(self.calls[entry], results, strict=True)}


def ulps(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Distance in units of the last place of ``got``'s dtype; ``wanted`` has more precision.

    Infinite where only one of the two is finite or NaN, or where a zero has the wrong sign.
    """
    dtype = got.dtype
    with np.errstate(all="ignore"):
        rounded = wanted.astype(dtype)
        unit = np.spacing(np.minimum(np.abs(rounded), np.finfo(dtype).max)).astype(wanted.dtype)
        error = np.abs(got.astype(wanted.dtype) - wanted) / unit
    both_nan = np.isnan(got) & np.isnan(rounded)
    comparable = np.isfinite(got) & np.isfinite(rounded)
    same = both_nan | (got == rounded)
    wrong_zero = (got == 0) & (rounded == 0) & (np.signbit(got) != np.signbit(rounded))
    error = np.where(comparable, error, np.where(same, 0, np.inf))
    return np.where(wrong_zero, np.inf, error)
