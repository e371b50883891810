"""Tensors without data: shapes and dtypes of any size, nothing stored, nothing run."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from tensorx.devices.base import Backend, Device, Grid, Kernel, Source
from tensorx.devices.null import NullEvent
from tensorx.errors import DeviceError
from tensorx.kernels.capabilities import Capabilities


class MetaBuffer:
    """The memory that would be there."""

    __slots__ = ("nbytes",)

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes


def _no_data(what: str) -> NoReturn:
    raise DeviceError(
        f"{what}: a tensor on meta must not be read or computed with; it has a shape and a dtype but no data. "
        "Hint: make a tensor with empty_like(t, device='cpu') and fill it."
    )


class Meta(Device):
    """Knows every dtype and has no memory."""

    kind, index, name, driver = "meta", 0, "shapes and dtypes only", "none"
    capabilities = Capabilities("c", compiler=False, fp64=True)
    fingerprint = "meta"

    def alloc(self, nbytes: int) -> MetaBuffer:
        return MetaBuffer(nbytes)

    def copy_in(self, buffer: MetaBuffer, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        """Data that goes to meta is gone: that is what meta is for."""

    def copy_out(self, buffer: MetaBuffer, byte_offset: int, array: np.ndarray[Any, Any]) -> None:
        _no_data("copy")

    def copy(self, dst: MetaBuffer, dst_byte_offset: int, src: MetaBuffer, src_byte_offset: int, nbytes: int) -> None:
        """Nothing to move."""

    def build(self, source: Source) -> bytes:
        _no_data("build")

    def load(self, blob: bytes, source: Source) -> dict[str, Kernel]:
        _no_data("load")

    def launch(self, kernel: Kernel, grid: Grid | None, args: Sequence[Any]) -> None:
        _no_data("launch")

    def synchronize(self) -> None:
        """Nothing runs."""

    def event(self) -> NullEvent:
        return NullEvent()

    def memory_stats(self) -> dict[str, int]:
        return {"used": 0, "cached": 0, "peak": 0, "limit": 0}

    def empty_cache(self) -> None:
        """Nothing is cached."""


class MetaBackend(Backend):
    """Always there."""

    name = "meta"

    def available(self) -> str:
        return ""

    @functools.cache  # noqa: B019  (one backend object lives as long as the process)
    def devices(self) -> list[Device]:
        return [Meta()]


BACKEND = MetaBackend()
