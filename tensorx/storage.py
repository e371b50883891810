"""Storage: a block of device memory with its version counter.

On the cpu the buffer is a NumPy array whose memory is pooled (see `devices.cpu`), so that `Tensor.numpy()` shares it
safely.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx.devices import registry
from tensorx.devices.pool import Buffer, adopt


class Storage:
    """Device memory. ``version`` counts in-place writes; tensors that share the storage share it."""

    __slots__ = ("__weakref__", "buffer", "device", "nbytes", "version")

    def __init__(self, buffer: Any, nbytes: int, device: registry.device) -> None:
        self.buffer, self.nbytes, self.device, self.version = buffer, nbytes, device, 0

    def bytes(self) -> np.ndarray[Any, Any]:
        """Host memory as a flat uint8 array (cpu only). A result that NumPy made comes in its own shape and is
        flattened here once."""
        buffer = self.buffer
        if buffer.__class__ is not Buffer or buffer.dtype != np.uint8 or buffer.ndim != 1:
            buffer = self.buffer = adopt(buffer)
        return buffer

    def handle(self) -> Any:
        """The buffer as the device's `launch` and `copy` take it."""
        return self.bytes() if self.device.type == "cpu" else self.buffer

    def data_ptr(self) -> int:
        """The address on the cpu; on other devices a number that is equal for equal buffers."""
        if self.device.type == "cpu":
            return int(self.bytes().ctypes.data)
        return id(self.buffer)

    def __len__(self) -> int:
        return self.nbytes

    def host(self) -> np.ndarray[Any, Any]:
        """The bytes in host memory: the memory itself on the cpu, else a copy."""
        if self.device.type == "cpu":
            return self.bytes()
        out = np.empty(self.nbytes, np.uint8)
        if self.nbytes:
            registry.open(self.device).copy_out(self.buffer, 0, out)
        return out

    def to(self, device: Any) -> Storage:
        """A copy of the bytes on ``device``; this storage if that is where it is."""
        place = registry.device(device)
        return self if place is self.device else from_bytes(self.host(), place)

    def cpu(self) -> Storage:
        """The bytes on the cpu."""
        return self.to("cpu")

    def __reduce__(self) -> tuple[Any, ...]:
        host = None if self.device.type == "meta" else np.asarray(self.host()).view(np.ndarray)
        return from_bytes, (host, self.device, self.nbytes)


def allocate(nbytes: int, device: registry.device) -> Storage:
    """Uninitialised memory on ``device``. Raises OutOfMemory."""
    return Storage(registry.open(device).alloc(nbytes), nbytes, device)


def from_bytes(data: Any, device: registry.device, nbytes: int | None = None) -> Storage:
    """A storage on ``device`` with a copy of these bytes (None on meta)."""
    out = allocate(len(data) if nbytes is None else nbytes, device)
    if out.nbytes and data is not None:
        registry.open(device).copy_in(out.handle(), 0, np.frombuffer(data, np.uint8))
    return out
