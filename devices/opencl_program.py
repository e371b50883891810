"""Kernel objects, events and probe kernels of the OpenCL backend. Importing this module loads the OpenCL loader."""

from __future__ import annotations

import functools
import gc
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl import LocalMemory

from tensorx.devices.base import raise_forked
from tensorx.errors import KernelError

#: struct codes of scalars that pyopencl packs itself; a C long is 64 bits wherever _LONG_IS_64.
_PACK = {"b8": "B", "u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "L", "i64": "l"}
_PACK |= {"f32": "f", "f64": "d"}
_LONG_IS_64 = struct.calcsize("l") == 8

#: fma against multiply and add, six independent chains each: neither FP_FAST_FMAF nor CL_FP_FMA tells an instruction
#: from a call (PoCL answers yes and calls, Intel's CPU runtime answers no and has the instruction).
PROBE = r"""
#pragma OPENCL FP_CONTRACT OFF
#define MULADD(a, b, c) ((a) * (b) + (c))
#define PROBE(NAME, OP) __kernel void NAME(__global float8 *y, int n) { \
  float8 p = y[0], q = y[1], r = y[2], s = y[3], t = y[4], u = y[5], k = (float8)(0.5f); \
  for (int i = 0; i < n; i++) { p = OP(p, k, k); q = OP(q, k, k); r = OP(r, k, k); \
    s = OP(s, k, k); t = OP(t, k, k); u = OP(u, k, k); } \
  y[0] = p + q + r + s + t + u; }
PROBE(with_fma, fma)
PROBE(with_muladd, MULADD)
"""
PROBE_BYTES = 6 * 32


class Gate:
    """Who may enter the driver: nobody in a forked child, and at exit only the thread that ends the process.

    A thread that waits inside the driver has let go of the interpreter. Should the interpreter end meanwhile, it
    would end the thread at its return, in the middle of C++ frames, and C++ then aborts the process. So blocking
    calls pass here, and :meth:`close` waits for them.
    """

    def __init__(self) -> None:
        self.forked = False  # the parent had enumerated the platforms: a driver's threads do not exist in the child
        self._inside: set[int] = set()
        self._closer: int | None = None

    def check(self) -> None:
        if self.forked:
            raise_forked("opencl")

    def __enter__(self) -> None:
        me = threading.get_ident()
        self._inside.add(me)  # before looking, so that close() sees this thread or this thread sees close()
        if self.forked or self._closer not in (None, me):
            self._inside.discard(me)
            self.check()
            raise SystemExit  # in a thread: ends it without a word

    def __exit__(self, *exc: object) -> None:
        self._inside.discard(threading.get_ident())

    def close(self) -> None:
        """Keep other threads out; wait up to ten seconds for those inside."""
        self._closer = threading.get_ident()
        for _ in range(10_000):
            if not self._inside - {self._closer}:
                break
            time.sleep(0.001)


GATE = Gate()


class Kernel:
    """An entry point with one driver kernel object per thread: arguments are state of the object (a shared one mixes
    them up).
    """

    def __init__(self, program: Any, entry: str, layout: Sequence[Any]) -> None:
        self.entry = entry
        self.set_args = _argument_setter(layout)
        self.local = _PerThread(functools.partial(cl.Kernel, program, entry))
        if self.local.kernel.num_args != len(layout):
            raise KernelError(
                f"load: kernel {entry!r} must take {self.local.kernel.num_args} arguments; "
                f"got a layout of {len(layout)}"
            )


class _PerThread(threading.local):
    """Python calls __init__ again in each thread that touches the object."""

    def __init__(self, make: Any) -> None:
        self.make = make
        self.kernel = _uncollected(make)


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


class OpenCLEvent:
    """A marker in the queue."""

    def __init__(self, event: Any) -> None:
        self._event = event

    def wait(self) -> None:
        with GATE:
            self._event.wait()

    @property
    def done(self) -> bool:
        GATE.check()
        return int(self._event.command_execution_status) == 0  # CL_COMPLETE

    def elapsed(self, end: OpenCLEvent) -> float:
        """Milliseconds of device time from this event to ``end``."""
        end.wait()
        return float(end._event.profile.end - self._event.profile.end) * 1e-6


def has_fast_fma(program: Any, queue: Any, memory: Any) -> bool:
    """Whether fma costs no more than a multiplication and an addition; ``program`` is PROBE, ``memory`` PROBE_BYTES."""
    cl.enqueue_fill_buffer(queue, memory, np.float32(1), 0, PROBE_BYTES)
    best = {}
    for entry in ("with_fma", "with_muladd"):
        kernel = cl.Kernel(program, entry)
        kernel.set_arg(0, memory)
        kernel.set_arg(1, np.int32(40000))
        times = []
        for _ in range(5):
            start = time.perf_counter()
            cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,)).wait()
            times.append(time.perf_counter() - start)
        best[entry] = min(times)
    return best["with_fma"] < 1.5 * best["with_muladd"]
