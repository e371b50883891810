"""The safetensors format (https://github.com/huggingface/safetensors): a JSON header, and the bytes of the tensors.

The names are those of ``safetensors.torch``; the package is not needed.
"""

from __future__ import annotations

import io
import json
import math
import os
import struct
from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np

import tensorx as tx
from tensorx.dtypes import dtype
from tensorx.errors import DTypeError, TensorXError
from tensorx.storage import Storage, from_bytes
from tensorx.tensor import Tensor, check_supported, make

from .serialization import replacing

__all__ = ["SafetensorError", "load", "load_file", "save", "save_file"]

#: The format's words.
DTYPES = {
    "BOOL": tx.bool,
    "U8": tx.uint8,
    "I8": tx.int8,
    "U16": tx.uint16,
    "I16": tx.int16,
    "U32": tx.uint32,
    "I32": tx.int32,
    "U64": tx.uint64,
    "I64": tx.int64,
    "F16": tx.float16,
    "BF16": tx.bfloat16,
    "F32": tx.float32,
    "F64": tx.float64,
    "C64": tx.complex64,
}
_WORDS = {d: word for word, d in DTYPES.items()}
MAX_HEADER = 100_000_000  # bytes, of the format


class SafetensorError(TensorXError, RuntimeError):
    """Bytes that are no safetensors file.

    Example:
        >>> from tensorx.io import safetensors
        >>> safetensors.load(b"x")
        Traceback (most recent call last):
            ...
        tensorx.io.safetensors.SafetensorError: load: the header must have 8 bytes or more; got 1.
    """


def save(tensors: dict[str, Any], metadata: dict[str, str] | None = None) -> bytes:
    """The bytes of a file with these tensors.

    Args:
        tensors: names to tensors, dense and without memory in common.
        metadata: texts to go with them.

    Raises ValueError for a tensor that is not contiguous, RuntimeError for tensors that share memory.

    Example:
        >>> import tensorx as tx
        >>> from tensorx.io import safetensors
        >>> safetensors.load(safetensors.save({"w": tx.ones(2)}))
        {'w': tensor([1., 1.])}
    """
    out = io.BytesIO()
    _write(out, tensors, metadata)
    return out.getvalue()


def save_file(tensors: dict[str, Any], filename: Any, metadata: dict[str, str] | None = None) -> None:
    """Write tensors to a file, as :func:`save`; it is there whole or not at all.

    Example:
        >>> import tempfile, tensorx as tx
        >>> from tensorx.io import safetensors
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     safetensors.save_file({"w": tx.arange(2)}, folder + "/w.safetensors")
        ...     safetensors.load_file(folder + "/w.safetensors")
        {'w': tensor([0, 1])}
    """
    with replacing(os.fspath(filename)) as file:
        _write(file, tensors, metadata)


def load(data: bytes) -> dict[str, Any]:
    """The tensors in the bytes of a file, on the cpu.

    Raises :class:`SafetensorError` for bytes that are no such file.

    Example:
        >>> import tensorx as tx
        >>> from tensorx.io import safetensors
        >>> safetensors.load(safetensors.save({}))
        {}
    """
    return _made(np.frombuffer(data, np.uint8), tx.device("cpu"))


def load_file(filename: Any, device: Any = "cpu") -> dict[str, Any]:
    """The tensors in a file, on ``device``.

    Example:
        >>> from tensorx.io import safetensors
        >>> safetensors.load_file("/nowhere")
        Traceback (most recent call last):
            ...
        FileNotFoundError: [Errno 2] No such file or directory: '/nowhere'
    """
    with open(filename, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            raise SafetensorError(f"load_file: {os.fsdecode(filename)} is empty.")
        return _made(np.memmap(file, np.uint8, "r"), tx.device(device))


def _made(data: Any, place: Any) -> dict[str, Any]:
    entries, start = _header(data)
    body, found, end = data[start:], {}, 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = entry["data_offsets"]
        d, shape = _dtype(name, entry["dtype"]), tuple(entry["shape"])
        if first != end or last > len(body) or last - first != math.prod(shape) * d.itemsize:
            raise SafetensorError(f"load: tensor {name!r} must have its bytes after those before it, and all of them.")
        check_supported(d, place)
        found[name] = make(from_bytes(body[first:last], place), shape, None, 0, d)
        end = last
    if end != len(body):
        raise SafetensorError(f"load: all bytes must belong to a tensor; {len(body) - end} belong to none.")
    return dict(sorted(found.items()))


def _header(data: Any) -> tuple[dict[str, Any], int]:
    """What a file says of its tensors, and where their bytes begin. SafetensorError unless it says it well."""
    if len(data) < 8:
        raise SafetensorError(f"load: the header must have 8 bytes or more; got {len(data)}.")
    (length,) = struct.unpack("<Q", bytes(data[:8]))
    if length > min(MAX_HEADER, len(data) - 8):
        raise SafetensorError(f"load: the header must be shorter than the file; got a length of {length}.")
    try:
        entries = json.loads(bytes(data[8 : 8 + length]), object_pairs_hook=_once)
        texts = entries.pop("__metadata__", {})
        good = all(isinstance(text, str) for text in texts.values()) and all(map(_good, entries.values()))
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError) as error:
        raise SafetensorError(f"load: the header must be JSON of names and places ({error}).") from error
    if not good:
        raise SafetensorError("load: the header must have a dtype, a shape and a place for each name.")
    return entries, 8 + length


def _good(entry: dict[str, Any]) -> bool:
    numbers = [*entry["shape"], *entry["data_offsets"]]
    return len(entry["data_offsets"]) == 2 and all(type(n) is int and n >= 0 for n in numbers)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name stands twice")
    return dict(pairs)


def _dtype(name: str, word: str) -> dtype:
    if word not in DTYPES:
        raise DTypeError(f"load: tensor {name!r} must be of a dtype that is here; got {word}.")
    return DTYPES[word]


def _write(file: Any, tensors: dict[str, Any], metadata: dict[str, str] | None) -> None:
    _check(tensors)
    if metadata and not all(isinstance(x, str) for pair in metadata.items() for x in pair):
        raise TypeError("save: argument 'metadata' must have texts for keys and values.")
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    # Large elements first, so that all are aligned.
    order = sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    end = 0
    for name, t in order:
        header[name] = {"dtype": _WORDS[t.dtype], "shape": list(t._shape), "data_offsets": [end, end + t.nbytes]}
        end += t.nbytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    file.write(struct.pack("<Q", len(text)) + text)
    for _, t in order:
        file.write(np.ascontiguousarray(t.detach()._host()).reshape(-1).view(np.uint8))


def _check(tensors: dict[str, Any]) -> None:
    if not isinstance(tensors, dict):
        raise ValueError(
            f"Expected a dict of [str, tensorx.Tensor] but received {type(tensors)}. Hint: module.state_dict()"
        )
    for name, t in tensors.items():
        if not isinstance(t, Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected tensorx.Tensor but received {type(t)}")
    _check_shared(tensors)
    for name, t in tensors.items():
        if t.dtype not in _WORDS:
            raise DTypeError(f"save: tensor {name!r} must be of a dtype of the format; got {t.dtype.name}.")
        if not t.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. It either means you "
                "are trying to save tensors which are reference of each other in which case it's recommended to save "
                "only the full tensors, and reslice at load time, or simply call `.contiguous()` on your tensor to "
                "pack it before saving."
            )


def _check_shared(tensors: dict[str, Any]) -> None:
    groups: dict[Storage, list[str]] = defaultdict(list)
    for name, t in tensors.items():
        if t.numel():
            groups[t._storage].append(name)
    shared = [set(names) for names in groups.values() if len(names) > 1 and _overlap([tensors[n] for n in names])]
    if shared:
        raise RuntimeError(
            "Some tensors share memory, this will lead to duplicate memory on disk and potential differences when "
            f"loading them again: {shared}. Hint: save one of them, or .clone()"
        )


def _overlap(tensors: list[Tensor]) -> bool:
    spans = sorted(_span(t) for t in tensors)
    return any(end > start for (_, end), (start, _) in pairwise(spans))


def _span(t: Tensor) -> tuple[int, int]:
    reach = 1 + sum((n - 1) * s for n, s in zip(t._shape, t._get_strides()))
    return t._offset * t.dtype.itemsize, (t._offset + reach) * t.dtype.itemsize
