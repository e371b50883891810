"""Storage: a block of device memory with its version counter.

On the cpu the buffer is a NumPy array whose memory is pooled (see `devices.cpu`), so that `Tensor.numpy()` shares it
safely.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx.devices import registry
from tensorx.devices.pool import Buffer, adopt
from tensorx.dtypes import dtype as DType
from tensorx.errors import ShapeError


class Storage:
    """Device memory of ``length`` bytes. ``version`` counts in-place writes; tensors that share the storage share it.

    >>> import tensorx
    >>> storage = tensorx.ones(3).untyped_storage()
    >>> storage.nbytes(), storage.size(), storage.device
    (12, 12, device(type='cpu'))
    """

    __slots__ = ("__weakref__", "buffer", "device", "length", "version")

    def __init__(self, buffer: Any, nbytes: int, device: registry.device) -> None:
        self.buffer, self.length, self.device, self.version = buffer, nbytes, device, 0

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
        return self.length

    def nbytes(self) -> int:
        """The number of bytes."""
        return self.length

    def size(self) -> int:
        """The number of elements, which are bytes."""
        return self.length

    def element_size(self) -> int:
        """Bytes of one element."""
        return 1

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the memory is page-locked (see `Tensor.pin_memory`)."""
        return self.buffer.__class__ is Buffer and self.buffer.pinned

    def pin_memory(self, device: Any = None) -> Storage:
        """The bytes in page-locked memory (see `Tensor.pin_memory`), or this storage. TypeError unless on cpu."""
        if self.device.type != "cpu":
            raise TypeError("cannot pin 'torch.storage.UntypedStorage' only CPU memory can be pinned")
        found = None if self.is_pinned() else pinned(self.length, device)
        if found is None:
            return self
        found.bytes()[...] = self.bytes()[: self.length]
        return found

    def is_shared(self) -> bool:
        """Whether other processes may see the memory: see `tensorx.multiprocessing`, which copies."""
        return False

    def untyped(self) -> Storage:
        """This storage."""
        return self

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        return np.asarray(self.host())[: self.length].tolist()

    def __getitem__(self, i: Any) -> Any:
        found = np.asarray(self.host())[: self.length][i]
        return from_bytes(found.tobytes(), self.device) if isinstance(i, slice) else int(found)

    def __setitem__(self, i: Any, value: Any) -> None:
        host = np.array(self.host()[: self.length])
        host[i] = value
        self._write(host)

    def _write(self, host: np.ndarray[Any, Any]) -> None:
        if self.length:
            registry.open(self.device).staging.send(self.handle(), 0, host, lent=True)  # no caller keeps it
        self.version += 1

    def fill_(self, value: int) -> Storage:
        """Every byte replaced by ``value``."""
        self._write(np.full(self.length, value, np.uint8))
        return self

    def clone(self) -> Storage:
        """A copy on the same device."""
        return from_bytes(self.host()[: self.length], self.device)

    def copy_(self, source: Storage, non_blocking: bool = False) -> Storage:
        """The bytes of another storage of the same length. RuntimeError for another length."""
        if source.length != self.length:
            raise ShapeError(
                f"copy_: argument 'source' must hold {self.length} bytes; got {source.length}. Hint: resize_() first"
            )
        self._write(np.array(source.host()[: self.length]))
        return self

    def host(self) -> np.ndarray[Any, Any]:
        """The bytes in host memory: the memory itself on the cpu, else a copy."""
        if self.device.type == "cpu":
            return self.bytes()
        out = np.empty(self.length, np.uint8)
        if self.length:
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
        return from_bytes, (host, self.device, self.length)


def allocate(nbytes: int, device: registry.device) -> Storage:
    """Uninitialised memory on ``device``. Raises OutOfMemory."""
    return Storage(registry.open(device).alloc(nbytes), nbytes, device)


def from_bytes(data: Any, device: registry.device, nbytes: int | None = None) -> Storage:
    """A storage on ``device`` with a copy of these bytes (None on meta)."""
    out = allocate(len(data) if nbytes is None else nbytes, device)
    if out.length and data is not None:
        array = np.frombuffer(data, np.uint8)
        registry.open(device).staging.send(out.handle(), 0, array, lent=isinstance(data, bytes))
    return out


def pinned(nbytes: int, device: Any = None) -> Storage | None:
    """Uninitialised cpu memory, page-locked for ``device`` (default: the accelerator). None without an accelerator, and
    where the device's driver has no such memory. Raises OutOfMemory."""
    if device is None:
        from tensorx import accelerator

        device = accelerator.found()
        if device is None:
            return None
    buffer = registry.open(registry.device(device)).staging.pinned(nbytes)
    return None if buffer is None else Storage(buffer, nbytes, registry.device("cpu"))


class TypedStorage:
    """A storage seen as elements of one dtype (``Tensor.storage()``): older code counts in elements.

    >>> import tensorx
    >>> x = tensorx.ones(3).storage()
    >>> x.size(), x.nbytes(), x[1], x.tolist()
    (3, 12, 1.0, [1.0, 1.0, 1.0])
    """

    def __init__(self, storage: Storage, dtype: DType) -> None:
        self._storage, self.dtype = storage, dtype

    @property
    def device(self) -> registry.device:
        """Where the memory is."""
        return self._storage.device

    def __getattr__(self, name: str) -> Any:
        if name in ("nbytes", "data_ptr", "is_pinned", "is_shared"):
            return getattr(self._storage, name)
        raise AttributeError(f"'TypedStorage' object has no attribute '{name}'")

    def untyped(self) -> Storage:
        """The storage as bytes."""
        return self._storage

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def size(self) -> int:
        """The number of elements."""
        return self._storage.length // self.dtype.itemsize

    __len__ = size

    def _values(self) -> np.ndarray[Any, Any]:
        return np.asarray(self._storage.host())[: self.size() * self.dtype.itemsize].view(self.dtype.np)

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return self._values().tolist()

    def __getitem__(self, i: int) -> Any:
        return self._values()[i].item()

    def __setitem__(self, i: Any, value: Any) -> None:
        values = self._values().copy()
        values[i] = value
        host = np.array(self._storage.host())
        host[: values.nbytes] = values.view(np.uint8)
        self._storage._write(host)
