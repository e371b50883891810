"""A device that runs nothing: every kernel is rendered for it in a dialect of its choice, and its memory stays zero.

``null:c``, ``null:opencl`` and ``null:cuda`` are indices 0, 1 and 2. It needs no compiler, driver or hardware, and
shows what generated source a program would run elsewhere; TENSORX_CAPS_MASK applies.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx.devices.base import Backend, Device, Grid, Kernel, Source, alloc_with_retry, code_traits
from tensorx.kernels.capabilities import Capabilities

DIALECTS = ("c", "opencl", "cuda")


class NullEvent:
    """Always done."""

    done = True

    def wait(self) -> None:
        """Nothing to wait for."""

    def elapsed(self, end: NullEvent) -> float:
        """Nothing takes no time."""
        return 0.0


class Null(Device):
    """Holds memory, copies it, and skips kernels."""

    kind = "null"

    def __init__(self, index: int, dialect: str) -> None:
        self.index, self.name, self.driver = index, f"renders {dialect}", "none"
        strong = dialect != "c"
        self.capabilities = Capabilities(
            dialect=dialect,
            cpu_like=not strong,
            fp64=True,
            fp16=strong,
            int64_atomics=True,
            float_atomics=True,
            subgroups=strong,
            max_workgroup=1024 if strong else 1,
            simd_width=1 if strong else 8,
            fast_fma=True,
            max_alloc=1 << 40,
            total_mem=1 << 40,
        ).masked()
        self.fingerprint = f"null|{code_traits(self.capabilities)}"

    def alloc(self, nbytes: int) -> np.ndarray[Any, Any]:
        room = nbytes <= self.capabilities.total_mem
        buffer: np.ndarray[Any, Any] = alloc_with_retry(
            self, nbytes, lambda: np.zeros(nbytes, np.uint8) if room else None
        )
        return buffer

    def copy_in(self, buffer: Any, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        buffer[byte_offset : byte_offset + array.nbytes] = array.reshape(-1).view(np.uint8)

    def copy_out(self, buffer: Any, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        array.reshape(-1).view(np.uint8)[...] = buffer[byte_offset : byte_offset + array.nbytes]

    def copy(self, dst: Any, dst_byte_offset: int, src: Any, src_byte_offset: int, nbytes: int) -> None:
        dst[dst_byte_offset : dst_byte_offset + nbytes] = src[src_byte_offset : src_byte_offset + nbytes]

    def build(self, source: Source) -> bytes:
        return source.text.encode()

    def load(self, blob: bytes, source: Source) -> dict[str, Kernel]:
        return {entry: (entry, len(layout)) for entry, layout in source.entries}

    def launch(self, kernel: Kernel, grid: Grid | None, args: Sequence[Any]) -> None:
        entry, count = kernel
        assert len(args) == count, f"{entry}: {len(args)} arguments for a layout of {count}"

    def synchronize(self) -> None:
        """Nothing runs."""

    def event(self) -> NullEvent:
        return NullEvent()

    def memory_stats(self) -> dict[str, int]:
        return {"used": 0, "cached": 0, "peak": 0, "limit": self.capabilities.total_mem}

    def empty_cache(self) -> None:
        """Nothing is cached."""


class NullBackend(Backend):
    """Always there."""

    name = "null"
    aliases = DIALECTS

    def available(self) -> str:
        return ""

    @functools.cache  # noqa: B019  (one backend object lives as long as the process)
    def devices(self) -> list[Device]:
        return [Null(index, dialect) for index, dialect in enumerate(DIALECTS)]

    def match(self, alias: str) -> int | None:
        return DIALECTS.index(alias) if alias in DIALECTS else None


BACKEND = NullBackend()
