"""Evaluates intrinsics over NumPy arrays on a device: many functions as elementwise kernels of one program."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tensorx.kernels.generator import render
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec, Operand

TYPES = {
    "b8": np.bool_, "u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "u32": np.uint32, "i32": np.int32,
    "u64": np.uint64, "i64": np.int64, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
BOOLEAN = ("isnan", "isinf", "isfinite", "signbit")


def spec(name: str, inputs: str, result: str) -> KernelSpec:
    """An elementwise kernel ``y0 = tx_name(x0, ...)``; ``inputs`` are dtype codes separated by blanks."""
    xs = tuple(Operand(f"x{i}", code, code, "c") for i, code in enumerate(inputs.split()))
    body = f"y0 = {name}({', '.join(x.name for x in xs)});"
    return KernelSpec("elementwise", f"k_{name}", (Operand("y0", result, result, "c"),), xs, body=body)


def math_spec(name: str, code: str, arity: int = 1) -> KernelSpec:
    return spec(f"tx_{name}_{code}", " ".join([code] * arity), "b8" if name in BOOLEAN else code)


class Intrinsics:
    """Some kernels, compiled together for one device."""

    def __init__(self, runtime, specs: Iterable[KernelSpec]) -> None:
        self.runtime, self.specs = runtime, {s.entry: s for s in specs}
        source = render(list(self.specs.values()), runtime.capabilities)
        self.kernels = runtime.load(runtime.build(source), source)

    def __call__(self, name: str, *inputs: np.ndarray) -> np.ndarray:
        entry = f"k_{name}"
        kernel = self.specs[entry]
        result = np.empty(inputs[0].shape, TYPES[kernel.outputs[0].dtype])
        args = []
        for array in (result, *inputs):
            buffer = self.runtime.alloc(max(array.nbytes, 16))
            self.runtime.copy_in(buffer, 0, np.ascontiguousarray(array))
            args += [buffer, 0]
        n = result.size
        self.runtime.launch(self.kernels[entry], geometry(kernel, self.runtime.capabilities, n), [*args, n])
        self.runtime.copy_out(args[0], 0, result)
        return result


def ulps(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Distance in units of the last place of ``got``'s dtype; infinite where only one of the two is finite, NaN, or a zero of
    the other sign. ``wanted`` has more precision."""
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
