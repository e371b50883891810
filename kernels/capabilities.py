"""What a device can do: the only thing that kernels may know about it.

A :class:`Capabilities` is found by queries or probe kernels (never by a vendor's name) and frozen.
``TENSORX_CAPS_MASK`` makes a strong device pretend to be a weak one, so that every path for weak devices can be
tested on any machine.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass

from tensorx.errors import DeviceError

#: Storage codes that every layer below tensors uses.
CODES = ("b8", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f32", "f64", "c64", "c128")

#: Codes whose storage needs double precision on the device.
_NEED_FP64 = frozenset(("f64", "c128"))

_FLAGS = {
    "no_fp64": "fp64",
    "no_fp16": "fp16",
    "no_subgroups": "subgroups",
    "no_int64_atomics": "int64_atomics",
    "no_float_atomics": "float_atomics",
    "no_fast_fma": "fast_fma",
    "no_event_times": "event_times",
    "no_long_loops": "long_loops",
    "no_cpu_like": "cpu_like",  # a processor is given the kernels of GPUs: groups, local memory
}
_LIMITS = ("max_workgroup", "local_mem", "max_alloc", "total_mem")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class Capabilities:
    """Facts about one device. Sizes are bytes.

    >>> caps = Capabilities("opencl", fp64=True, max_alloc=1 << 30, total_mem=1 << 32)
    >>> caps.masked("no_fp64,max_alloc=64M").max_alloc
    67108864
    >>> caps.masked("no_fp64").supports("f64")
    False
    """

    dialect: str  # 'c' | 'opencl' | 'cuda'
    host_callable: bool = False  # device memory is NumPy memory: a Python callable over arrays can run on it
    compiler: bool = True  # generated kernels can be built
    cpu_like: bool = False  # no fast local memory, wants wide vectors in registers
    fp64: bool = False
    fp16: bool = False  # half ARITHMETIC; half storage always works
    int64_atomics: bool = False
    float_atomics: bool = False
    subgroups: bool = False
    max_workgroup: int = 256
    local_mem: int = 32 << 10
    max_alloc: int = 1 << 62
    total_mem: int = 1 << 62
    unrestricted_alloc: bool = False  # a buffer above the driver's own limit takes a flag, kernels a build option
    compute_units: int = 1
    simd_width: int = 1  # f32 lanes
    fast_fma: bool = False  # fma() is one instruction, not a call
    correct_sqrt: bool = False  # f32 sqrt and division are correctly rounded
    event_times: bool = True  # events tell when the device reached them
    long_loops: bool = True  # a work-item's loops make as many turns as they should, also beyond 65535

    def supports(self, code: str) -> bool:
        """Whether memory of the device can hold elements of storage ``code``. Raises ValueError for an unknown code."""
        if code not in CODES:
            raise ValueError(f"supports: argument 'code' must be one of {', '.join(CODES)}; got {code!r}")
        return self.fp64 or code not in _NEED_FP64

    def masked(self, text: str | None = None) -> Capabilities:
        """A weaker copy, as ``text`` (default: the variable TENSORX_CAPS_MASK) says; limits are only ever lowered."""
        if text is None:
            text = os.environ.get("TENSORX_CAPS_MASK", "")
        changes: dict[str, bool | int] = {}
        for word in filter(None, (w.strip() for w in text.split(","))):
            key, _, value = word.partition("=")
            if word in _FLAGS:
                changes[_FLAGS[word]] = False
            elif key in _LIMITS and value:
                changes[key] = min(parse_size(value, word), getattr(self, key))
            else:
                known = ", ".join([*_FLAGS, *(f"{k}=N" for k in _LIMITS)])
                raise DeviceError(
                    f"TENSORX_CAPS_MASK: each word must be one of {known}; got {word!r}. Hint: N may end in K, M or G."
                )
        if self.dialect == "c":  # which has no groups
            changes.pop("cpu_like", None)
        total = changes.get("total_mem", self.total_mem)
        changes["max_alloc"] = min(changes.get("max_alloc", self.max_alloc), total)
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]


def parse_size(value: str, word: str) -> int:
    """'64M' -> 67108864; ``word`` is named in the error."""
    number, unit = (value[:-1], value[-1].upper()) if value[-1:].upper() in ("K", "M", "G") else (value, "")
    if not number.isdigit() or int(number) == 0:
        raise DeviceError(
            f"TENSORX_CAPS_MASK: the limit in {word!r} must be a positive whole number, optionally with K, M or G."
        )
    return int(number) * _UNITS[unit]
