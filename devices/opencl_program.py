"""Kernel objects and events of the OpenCL backend. Importing this module loads the OpenCL loader."""

from __future__ import annotations

import functools
import gc
import struct
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl import LocalMemory

from tensorx.devices import opencl_limits
from tensorx.devices.driver import DriverEvent, PerThread
from tensorx.devices.gate import Gate
from tensorx.errors import CompileError, DeviceLost, KernelError

#: struct codes of scalars that pyopencl packs itself; a C long is 64 bits wherever _LONG_IS_64.
_PACK = {"b8": "B", "u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "L", "i64": "l"}
_PACK |= {"f32": "f", "f64": "d"}
_LONG_IS_64 = struct.calcsize("l") == 8

GATE = Gate("opencl")


class _Counted(cl.Buffer):
    """A buffer to which there may be weak references."""


class Unpooled:
    """Buffers that no pool takes, and how many bytes they hold."""

    def __init__(self) -> None:
        self._sizes: dict[Any, int] = {}

    def allocate(self, queue: Any, nbytes: int) -> Any:
        """A buffer for which there is room now, not only when it is first used."""
        flags = cl.mem_flags.READ_WRITE | opencl_limits.flags(queue.device, nbytes)
        buffer = _Counted(queue.context, flags, nbytes)
        cl.enqueue_fill_buffer(queue, buffer, np.uint8(0), 0, 1)
        self._sizes[weakref.ref(buffer, self._sizes.pop)] = nbytes
        return buffer

    def __len__(self) -> int:
        return len(self._sizes)

    def bytes(self) -> int:
        """Bytes in live buffers."""
        return sum(tuple(self._sizes.values()))


def from_binary(context: Any, device: Any, blob: bytes, options: bytes) -> Any:
    """A built program. Raises CompileError for bytes that another driver made."""
    try:
        program = cl._cl._Program(context, [device], [blob])
        program._build(options, [device])
    except cl.Error as error:
        raise CompileError(f"load: {device.platform.name} refused a program binary: {error}") from error
    return program


def optional(device: Any, name: str) -> int:
    """A query that drivers older than OpenCL 2.1 refuse."""
    try:
        return int(getattr(device, name))
    except cl.Error:
        return 0


class Kernel:
    """An entry point with one driver kernel object per thread: arguments are state of the object (a shared one mixes
    them up).
    """

    def __init__(self, program: Any, entry: str, layout: Sequence[Any]) -> None:
        self.entry = entry
        self.set_args = _argument_setter(layout)
        self.local = PerThread(functools.partial(_uncollected, functools.partial(cl.Kernel, program, entry)))
        if self.local.spare.num_args != len(layout):
            raise KernelError(
                f"load: kernel {entry!r} must take {self.local.spare.num_args} arguments; "
                f"got a layout of {len(layout)}"
            )


_making = threading.RLock()


def _uncollected(make: Any) -> Any:
    """``make()`` with the collector off. pyopencl looks each new kernel up in a cache in SQLite: a finalizer that
    computes in the midst of that would start a second transaction inside the first, and both would wait for ever.
    """
    with _making:
        enabled = gc.isenabled()
        gc.disable()
        try:
            return make()
        finally:
            if enabled:
                gc.enable()


def _argument_setter(layout: Sequence[Any]) -> Any:
    """A function of (cl.Kernel, args) that sets all arguments in at most two driver-binding calls (1 us; one call
    each is 4 us).
    """
    objects, numbers = [], []
    for i, arg in enumerate(layout):
        if arg.kind == "buffer":
            objects.append(f"{i}, a[{i}]")
        elif arg.kind == "local":
            objects.append(f"{i}, LocalMemory(a[{i}])")
        elif _LONG_IS_64 or _PACK[arg.code] not in "lL":
            numbers.append(f"{i}, {_PACK[arg.code].encode()!r}, a[{i}]")
        else:
            objects.append(f"{i}, int64(a[{i}])")
    calls = [f"k._set_arg_multi(({', '.join(objects)},))"] if objects else []
    calls += [f"k._set_arg_buf_pack_multi(({', '.join(numbers)},))"] if numbers else []
    return eval(f"lambda k, a: ({', '.join(calls)},)", {"LocalMemory": LocalMemory, "int64": np.int64})


class OpenCLEvent(DriverEvent):
    gate = GATE

    def _complete(self) -> bool:
        status = int(self._event.command_execution_status)
        if status > 0:  # a driver need not begin before a flush: who asks until it is done would ask for ever
            self._event.command_queue.flush()
        elif status < 0:
            raise DeviceLost(f"opencl: a command of a queue failed with status {status}; its results are lost")
        return status == 0  # CL_COMPLETE

    def _nanoseconds(self) -> int:
        return int(self._event.profile.end)
