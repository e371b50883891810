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


def allocate(nbytes: int, device: registry.device) -> Storage:
    """Uninitialised memory on ``device``. Raises OutOfMemory."""
    return Storage(registry.open(device).alloc(nbytes), nbytes, device)
