"""The host: pooled NumPy memory, and generated C where there is a compiler.

Buffers are 1-D uint8 arrays, so NumPy can work on them too (``Capabilities.host_callable``); without a compiler that
is the only way.
"""

from __future__ import annotations

import ctypes
import functools
import os
import warnings
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tensorx.devices import cpu_blas, cpu_compiler
from tensorx.devices.base import Backend, Device, Grid, Kernel, PastEvent, Source, alloc_with_retry, code_traits
from tensorx.devices.pool import Buffer, Pool, adopt
from tensorx.errors import CompileError
from tensorx.kernels.capabilities import Capabilities


def _initial_threads() -> int:
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_threads = _initial_threads()
_forked = False
_cells: list[ctypes.c_int] = []  # `int tx_threads` of each loaded library
_pools: weakref.WeakSet[Pool] = weakref.WeakSet()


def get_num_threads() -> int:
    """Threads that one kernel on the cpu may use.

    >>> get_num_threads() >= 1
    True
    """
    return _threads


def set_num_threads(count: int) -> None:
    """Let a kernel on the cpu, and BLAS, use up to ``count`` threads. ValueError unless ``count`` is a positive int.

    In a forked child, where OpenMP hangs, it stays at one, with a RuntimeWarning.

    >>> set_num_threads(get_num_threads())
    """
    if not isinstance(count, int) or count < 1:
        raise ValueError(f"set_num_threads: argument 'count' must be a positive int; got {count!r}")
    if _forked and count > 1:
        warnings.warn(
            f"set_num_threads: argument 'count' must be 1 in a forked process; got {count}. "
            "Hint: use multiprocessing's 'spawn' or 'forkserver' start method",
            RuntimeWarning,
            stacklevel=2,
        )
        count = 1
    _set_threads(count)
    cpu_blas.set_threads(count)


def _set_threads(count: int) -> None:
    global _threads
    _threads = count
    for cell in _cells:
        cell.value = count


def _after_fork() -> None:
    """OpenMP's threads do not exist in a forked child, and waiting for them hangs: the child computes on one thread
    for good.
    """
    global _forked
    _forked = True
    _set_threads(1)
    for pool in _pools:
        pool.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _total_memory() -> int:
    """Physical memory, or the control group's limit where that is lower."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 1 << 36
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        file = Path(path)
        text = file.read_text().strip() if file.exists() else ""
        if text.isdigit():
            total = min(total, int(text))
    return total


class Cpu(Device):
    """The host's processor."""

    kind, index, synchronous = "cpu", 0, True

    def __init__(self) -> None:
        compiler = self._compiler = cpu_compiler.find()
        total = _total_memory()
        caps = Capabilities(
            dialect="c",
            host_callable=True,
            compiler=compiler is not None,
            cpu_like=True,
            fp64=True,
            int64_atomics=True,
            float_atomics=True,
            max_workgroup=1,
            max_alloc=total,
            total_mem=total,
            compute_units=_threads,
            simd_width=compiler.simd_width if compiler else 1,
            fast_fma=compiler is not None and compiler.fast_fma,
            correct_sqrt=True,
        )
        self.capabilities = caps.masked()
        self.name = cpu_compiler.processor()
        if compiler is None:
            self.driver = f"NumPy {np.__version__} alone: {cpu_compiler.missing()}"
            self.fingerprint = f"cpu|none|{code_traits(self.capabilities)}"
        else:
            openmp = "OpenMP" if compiler.openmp else "no OpenMP: one thread"
            self.driver = f"{' '.join(compiler.command)} {compiler.version} ({openmp})"
            self.fingerprint = f"cpu|{compiler.fingerprint}|{code_traits(self.capabilities)}"
        self._pool = Pool(self.capabilities.total_mem, self.capabilities.max_alloc, self._full)
        _pools.add(self._pool)
        self.alloc = self._pool.alloc  # type: ignore[method-assign]  # every op allocates: save a call

    def alloc(self, nbytes: int) -> Buffer | None:
        return self._pool.alloc(nbytes)

    def _full(self, nbytes: int) -> Buffer:
        buffer: Buffer = alloc_with_retry(self, nbytes, lambda: self._pool.reserve(nbytes))
        return buffer

    def copy_in(self, buffer: Buffer, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        buffer[byte_offset : byte_offset + array.nbytes] = array.reshape(-1).view(np.uint8)

    def copy_out(self, buffer: Buffer, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        array.reshape(-1).view(np.uint8)[...] = buffer[byte_offset : byte_offset + array.nbytes]

    def copy(self, dst: Buffer, dst_byte_offset: int, src: Buffer, src_byte_offset: int, nbytes: int) -> None:
        dst[dst_byte_offset : dst_byte_offset + nbytes] = src[src_byte_offset : src_byte_offset + nbytes]

    def build(self, source: Source) -> bytes:
        if self._compiler is None:
            raise CompileError(f"build: a kernel for cpu must have a C compiler; {cpu_compiler.missing()}")
        return self._compiler.build(source)

    def load(self, blob: bytes, source: Source) -> dict[str, Kernel]:
        library = cpu_compiler.load(blob)
        cell = ctypes.c_int.in_dll(library, "tx_threads")
        _cells.append(cell)
        cell.value = _threads
        return cpu_compiler.bind(library, source)

    def launch(self, kernel: Kernel, grid: Grid | None, args: Sequence[Any]) -> None:
        try:
            kernel(*args)  # a ctypes function; a caller in a hurry may call it itself
        except ctypes.ArgumentError:  # ctypes has no address for plain arrays: results that NumPy itself allocated
            kernel(*[adopt(arg) if type(arg) is np.ndarray else arg for arg in args])

    def synchronize(self) -> None:
        """Every call has finished when it returns."""

    def event(self) -> PastEvent:
        return PastEvent()

    def memory_stats(self) -> dict[str, int]:
        return self._pool.stats()

    def empty_cache(self) -> None:
        self._pool.empty()

    def reset_peak(self) -> None:
        self._pool.reset_peak()


class CpuBackend(Backend):
    """Always there."""

    name = "cpu"

    def available(self) -> str:
        return ""

    @functools.cache  # noqa: B019  (one backend object lives as long as the process)
    def devices(self) -> list[Device]:
        return [Cpu()]


BACKEND = CpuBackend()
