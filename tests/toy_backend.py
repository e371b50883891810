"""A whole backend in one file, for `test_prices.py`: a device whose memory the host cannot see.

Its kernels are the C dialect's, run by the host's compiler, but no buffer is a NumPy array: what works here works
through the contract of `devices/base.py` alone.
"""

from __future__ import annotations

import ctypes
import time

from tensorx.devices import cpu_compiler
from tensorx.devices.base import Backend, Device, alloc_with_retry
from tensorx.kernels.capabilities import Capabilities

LIMIT = 1 << 28


class Memory:
    """A block with an address; the size comes off the books when it dies."""

    def __init__(self, owner: Toy, nbytes: int) -> None:
        self.owner, self.nbytes = owner, nbytes
        self.block = ctypes.create_string_buffer(nbytes + 64)
        self.address = -(-ctypes.addressof(self.block) // 64) * 64
        owner.used += nbytes

    def __del__(self) -> None:
        self.owner.used -= self.nbytes


class Mark:
    done = True

    def __init__(self) -> None:
        self.time = time.perf_counter()

    def wait(self) -> None:
        """Calls finish before they return."""

    def elapsed(self, end: Mark) -> float:
        return (end.time - self.time) * 1e3


class Toy(Device):
    kind, index, name, driver = "toy", 0, "toy", "1.0"

    def __init__(self) -> None:
        self.compiler, self.used = cpu_compiler.find(), 0
        caps = Capabilities("c", fp64=True, cpu_like=True, int64_atomics=True, float_atomics=True, total_mem=LIMIT)
        self.capabilities = caps.masked()
        self.fingerprint = f"toy|{self.compiler.fingerprint}|{self.capabilities}"

    def alloc(self, nbytes):
        return alloc_with_retry(self, nbytes, lambda: Memory(self, nbytes) if self.used + nbytes <= LIMIT else None)

    def copy_in(self, buffer, byte_offset, array):
        ctypes.memmove(buffer.address + byte_offset, array.ctypes.data, array.nbytes)

    def copy_out(self, buffer, byte_offset, array):
        ctypes.memmove(array.ctypes.data, buffer.address + byte_offset, array.nbytes)

    def copy(self, dst, dst_byte_offset, src, src_byte_offset, nbytes):
        ctypes.memmove(dst.address + dst_byte_offset, src.address + src_byte_offset, nbytes)

    def build(self, source):
        return self.compiler.build(source)

    def load(self, blob, source):
        library = cpu_compiler.load(blob)
        ctypes.c_int.in_dll(library, "tx_threads").value = 1
        return cpu_compiler.bind(library, source)

    def launch(self, kernel, grid, args):
        kernel(*(arg.address if isinstance(arg, Memory) else arg for arg in args))

    def synchronize(self):
        """Calls finish before they return."""

    def event(self):
        return Mark()

    def memory_stats(self):
        return {"used": self.used, "cached": 0, "peak": self.used, "limit": LIMIT}

    def empty_cache(self):
        """Nothing is kept."""


class ToyBackend(Backend):
    name = "toy"

    def __init__(self) -> None:
        self.found: list[Device] = []

    def available(self):
        return "" if cpu_compiler.find() else cpu_compiler.missing()

    def devices(self):
        if not self.found:
            self.found.append(Toy())
        return self.found


BACKEND = ToyBackend()
