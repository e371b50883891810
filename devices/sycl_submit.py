"""Kernels and copies of the SYCL backend, submitted through dpctl's C interface.

``dpctl.SyclQueue.submit_async`` finds the type of each argument by up to thirteen isinstance tests: half of a launch's
host time. Here the types are known from the layout. Its ``memcpy`` takes a part of a memory object only through an
object of a protocol, which costs twice what the copy does: here an address is an address.

The functions, DPCTLKernelArgType and MDLocalAccessor are documented in the headers under ``dpctl.get_include()``
(dpctl_sycl_queue_interface.h and dpctl_sycl_enum_types.h of syclinterface); they are the same from dpctl 0.18 to 0.22.
Importing this module loads dpctl.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dpctl

from tensorx.devices.base import Grid
from tensorx.devices.driver import PerThread
from tensorx.errors import KernelError

#: DPCTLKernelArgType and struct code of each dtype.
_SCALARS = {
    "i8": (0, "b"),
    "u8": (1, "B"),
    "b8": (1, "B"),
    "i16": (2, "h"),
    "u16": (3, "H"),
    "i32": (4, "i"),
    "u32": (5, "I"),
    "i64": (6, "q"),
    "u64": (7, "Q"),
    "f32": (8, "f"),
    "f64": (9, "d"),
}
_POINTER, _LOCAL = 10, 11
#: MDLocalAccessor of one dimension of bytes: {size_t ndim; type; size_t dim0, dim1, dim2}.
_LOCAL_CODE, _LOCAL_VALUE = "NiNNN", "1, 1, a[{}], 1, 1"
_RANGES = {n: struct.Struct(f"{n}N").pack_into for n in (1, 2, 3)}
_SIZE = ctypes.sizeof(ctypes.c_size_t)


_library = ctypes.PyDLL(str(Path(dpctl.__file__).with_name("libDPCTLSyclInterface.so")))


def _function(name: str, result: Any, *arguments: Any) -> Any:
    found = getattr(_library, name)
    found.argtypes, found.restype = arguments, result
    return found


_ref, _size = ctypes.c_void_p, ctypes.c_size_t
_submit_split = _function("DPCTLQueue_SubmitNDRange", _ref, *[_ref] * 4, _size, _ref, _ref, _size, _ref, _size)
_submit_whole = _function("DPCTLQueue_SubmitRange", _ref, *[_ref] * 4, _size, _ref, _size, _ref, _size)
_copy = _function("DPCTLQueue_Memcpy", _ref, _ref, _ref, _ref, _size)
_release = _function("DPCTLEvent_Delete", None, _ref)
_capsule = ctypes.pythonapi["PyCapsule_New"]
_capsule.argtypes, _capsule.restype = [_ref, ctypes.c_char_p, _ref], ctypes.py_object


def copy(queue: int, target: int, source: int, nbytes: int) -> Any | None:
    """Enqueue a copy between addresses of device or host memory with the queue's reference; the ``dpctl.SyclEvent``,
    or None if SYCL refused.
    """
    event = _copy(queue, target, source, nbytes)
    return dpctl.SyclEvent(_capsule(event, b"SyclEventRef", None)) if event else None


class Kernel:
    """An entry point, and how its arguments are laid out for the queue."""

    def __init__(self, kernel: Any, entry: str, layout: Sequence[Any]) -> None:
        if kernel.num_args != len(layout):
            raise KernelError(f"load: kernel {entry!r} must take {kernel.num_args} arguments; got {len(layout)}")
        self.entry, self._kernel, self._count = entry, kernel, len(layout)
        self._ref = kernel.addressof_ref()
        self._types = (ctypes.c_int * len(layout))(*map(_type_of, layout))
        self._types_at = ctypes.addressof(self._types)
        self._local = PerThread(functools.partial(_Frame, layout))

    def submit(self, queue: int, grid: Grid, args: Sequence[Any]) -> bool:
        """Enqueue with the queue's reference; False if SYCL refused, which gives no reason."""
        local = self._local
        frame = local.spare or local.make()
        local.spare = None  # in use: should the collector run a finalizer that submits this kernel, it makes another
        try:
            frame.fill(args)
            whole, split = grid.global_size, grid.local_size
            dims = len(whole)
            pack = _RANGES[dims]
            pack(frame.ranges, 0, *whole[::-1])
            common = self._ref, queue, frame.pointers_at, self._types_at, self._count, frame.ranges_at
            if split:
                pack(frame.ranges, 3 * _SIZE, *split[::-1])
                event = _submit_split(*common, frame.ranges_at + 3 * _SIZE, dims, None, 0)
            else:
                event = _submit_whole(*common, dims, None, 0)
        finally:
            local.spare = frame
        if event:
            _release(event)
        return bool(event)


class _Frame:
    """Room for the arguments of one submission."""

    def __init__(self, layout: Sequence[Any]) -> None:
        codes, values, offsets = "", [], {}
        for i, arg in enumerate(layout):
            if arg.kind == "buffer":
                continue
            code = _LOCAL_CODE if arg.kind == "local" else _SCALARS[arg.code][1]
            values.append(_LOCAL_VALUE.format(i) if arg.kind == "local" else f"a[{i}]")
            codes += code
            offsets[i] = struct.calcsize(codes) - struct.calcsize(code)
        self._values = ctypes.create_string_buffer(max(struct.calcsize(codes), 1))
        self._pointers = (ctypes.c_void_p * max(len(layout), 1))()
        self.ranges = (ctypes.c_size_t * 6)()
        self.pointers_at, self.ranges_at = ctypes.addressof(self._pointers), ctypes.addressof(self.ranges)
        start = ctypes.addressof(self._values)
        pointers = [str(start + offsets[i]) if i in offsets else f"a[{i}].address" for i in range(len(layout))]
        names = {
            "values": functools.partial(struct.Struct(codes).pack_into, self._values, 0),
            "pointers": functools.partial(struct.Struct(f"{len(layout)}P").pack_into, self._pointers, 0),
        }
        self.fill = eval(f"lambda a: (values({', '.join(values)}), pointers({', '.join(pointers)}))", names)


def _type_of(arg: Any) -> int:
    if arg.kind == "buffer":
        return _POINTER
    return _LOCAL if arg.kind == "local" else _SCALARS[arg.code][0]
