"""Batches on their way from a worker process: small ones in a pickle, the bytes of large ones in a file in memory.

The file lies in shared memory (where the system has a folder for it) and is mapped by the receiver, who removes its
name at once: the memory goes when the tensors do.
"""

from __future__ import annotations

import contextlib
import io
import mmap
import os
import pickle
import tempfile
from typing import Any

import numpy as np

from tensorx.copying import rebuild
from tensorx.devices import registry
from tensorx.devices.pool import adopt
from tensorx.storage import Storage, from_bytes
from tensorx.tensor import Tensor

#: Bytes from which on they go through a file.
LARGE = 1 << 16
ALIGNMENT = 64
SHARED = "/dev/shm"

Packed = tuple[bytes, str, list[tuple[int, int]]]


def folder() -> str:
    """A private folder for files in memory."""
    return tempfile.mkdtemp(prefix="tensorx-", dir=SHARED if os.access(SHARED, os.W_OK) else None)


class _Packer(pickle.Pickler):
    """Gives the bytes of tensors (and NumPy arrays, which do so themselves) to ``buffer_callback``."""

    def reducer_override(self, obj: Any) -> Any:
        """A tensor as the bytes it looks at, not its whole storage."""
        return _reduced(obj) if isinstance(obj, Tensor) else NotImplemented


def _reduced(t: Tensor) -> Any:
    if t.requires_grad and not t.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries. If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    if t.device.type == "meta":
        return NotImplemented
    plain = t.detach()
    whole = plain.numel() * t.dtype.itemsize == plain._storage.length
    if not whole or plain._offset or 0 in plain._get_strides():
        plain = plain.clone()  # a part of a storage goes alone
    data: Any = np.asarray(plain._storage.host()).view(np.ndarray)
    strides = None if plain.is_contiguous() else plain._get_strides()
    marks = {k: t.__dict__[k] for k in ("_is_param", "_is_buffer", "persistent") if k in t.__dict__}
    made = (type(t), str(t.device), t._shape, strides, t.dtype, t.requires_grad, marks)
    return _rebuilt, (pickle.PickleBuffer(data), *made)


def _rebuilt(
    data: Any, cls: Any, place: str, shape: Any, strides: Any, d: Any, requires_grad: bool, marks: Any
) -> Any:
    device = registry.device(place)
    array = np.frombuffer(data, np.uint8)
    if device.type == "cpu" and array.nbytes >= LARGE and array.flags.writeable:
        storage = Storage(adopt(array), array.nbytes, device)  # mapped memory, as it is
    else:
        storage = from_bytes(array, device)
    return rebuild(cls, storage, shape, strides, 0, d, requires_grad, marks)


def pack(obj: Any, place: str) -> Packed:
    """A pickle of ``obj``, the path of a file in ``place`` with its large parts ('' if none), and where they are."""
    large: list[Any] = []

    def keep(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < LARGE:
            return True  # in the pickle
        large.append(raw)
        return False

    out = io.BytesIO()
    _Packer(out, 5, buffer_callback=keep).dump(obj)
    if not large:
        return out.getvalue(), "", []
    try:
        path, spans = _write(large, place)
    except OSError:  # no room for it (containers often have 64 MB of shared memory), or the receiver is gone
        out = io.BytesIO()
        _Packer(out, 5).dump(obj)
        return out.getvalue(), "", []
    return out.getvalue(), path, spans


def _write(large: list[Any], place: str) -> tuple[str, list[tuple[int, int]]]:
    handle, path = tempfile.mkstemp(dir=place)
    spans, end = [], 0
    try:
        with os.fdopen(handle, "wb", buffering=0) as file:
            for raw in large:
                end += file.write(b"\0" * (-end % ALIGNMENT))
                spans.append((end, raw.nbytes))
                done = 0
                while done < raw.nbytes:
                    done += file.write(raw[done:])
                end += done
    except BaseException:
        os.unlink(path)
        raise
    return path, spans


def unpack(packed: Packed) -> Any:
    """What was packed; the file is gone then."""
    data, path, spans = packed
    if not path:
        return pickle.loads(data)
    with open(path, "r+b") as file:
        view = memoryview(mmap.mmap(file.fileno(), 0))
    with contextlib.suppress(PermissionError):  # Windows keeps the name until the map is gone
        os.unlink(path)
    return pickle.loads(data, buffers=[view[start : start + length] for start, length in spans])
