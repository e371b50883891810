"""The names that PyTorch's files use for what is in them, and what they are here.

A file names functions and classes of ``torch``. They are written without importing it, as a :class:`Name`, and read as
the functions below.
"""

from __future__ import annotations

import functools
from collections import Counter, OrderedDict
from typing import Any

from tensorx import dtypes
from tensorx.devices import registry
from tensorx.dtypes import dtype
from tensorx.nn.parameter import Buffer, Parameter
from tensorx.size import contiguous_strides
from tensorx.storage import Storage, allocate
from tensorx.tensor import Size, Tensor, make

#: Storage classes of one dtype. The others' storages are bytes, and the dtype stands beside.
STORAGES = {
    "BoolStorage": dtypes.bool_,
    "ByteStorage": dtypes.uint8,
    "CharStorage": dtypes.int8,
    "ShortStorage": dtypes.int16,
    "IntStorage": dtypes.int32,
    "LongStorage": dtypes.int64,
    "HalfStorage": dtypes.float16,
    "BFloat16Storage": dtypes.bfloat16,
    "FloatStorage": dtypes.float32,
    "DoubleStorage": dtypes.float64,
    "ComplexFloatStorage": dtypes.complex64,
    "ComplexDoubleStorage": dtypes.complex128,
}
STORAGE_OF = {d: name for name, d in STORAGES.items()}
#: Attributes of a tensor object that make it count as a parameter or buffer; all others with a _ are its insides.
MARKS = ("_is_param", "_is_buffer")


class Name:
    """A global that only files know: ``module.name``. Interned, so that a pickle refers back to it."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, *args: Any) -> Any:
        raise AssertionError(f"{self.module}.{self.name} is a name in files")


@functools.cache
def named(full: str) -> Name:
    """The Name of ``"torch._utils._rebuild_parameter"`` and the like."""
    module, _, name = full.rpartition(".")
    return Name(module, name)


class StorageType:
    """What a file calls the class of a storage; ``dtype`` is None for plain bytes."""

    def __init__(self, d: dtype | None) -> None:
        self.dtype = d


class Typed:
    """A storage as a file refers to it: with the dtype of its elements, or None."""

    __slots__ = ("dtype", "storage")

    def __init__(self, storage: Storage, d: dtype | None) -> None:
        self.storage, self.dtype = storage, d


def attributes(t: Tensor) -> dict[str, Any]:
    """What a user has put on a tensor object."""
    own = {k: v for k, v in t.__dict__.items() if not k.startswith("_") and k not in ("dtype", "device")}
    return own | {k: t.__dict__[k] for k in MARKS if k in t.__dict__}


# Reading: what the names stand for -----------------------------------------------------------------------------------


def rebuild_tensor(
    storage: Typed, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, metadata: Any = None
) -> Tensor:
    """A tensor on a storage with elements of a known dtype."""
    if storage.dtype is None:
        raise RuntimeError("load: a storage must have a dtype. The file is damaged.")
    return rebuild_tensor_of(storage, offset, size, stride, requires_grad, hooks, storage.dtype, metadata)


def rebuild_plain(storage: Typed, offset: int, size: Any, stride: Any) -> Tensor:
    """The oldest form: no requires_grad, no hooks."""
    return rebuild_tensor(storage, offset, size, stride, False, None)


def rebuild_tensor_of(
    storage: Typed,
    offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    hooks: Any,
    d: dtype,
    metadata: Any = None,
) -> Tensor:
    """A tensor of dtype ``d`` on a storage. RuntimeError where it would reach beyond."""
    size, stride = tuple(size), tuple(stride)
    numbers = (offset, *size, *stride)
    if len(size) != len(stride) or not all(type(n) is int and n >= 0 for n in numbers):
        raise RuntimeError(f"load: offset, size and stride must be numbers >= 0; got {offset}, {size}, {stride}.")
    end = offset + 1 + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else 0
    if end * d.itemsize > storage.storage.length:
        raise RuntimeError(
            f"load: a tensor of size {size}, stride {stride} and offset {offset} must lie in its storage; it has "
            f"{storage.storage.length} bytes. The file is damaged."
        )
    out = make(storage.storage, size, None if stride == contiguous_strides(size) else stride, offset, d)
    for flag, undo in (("conj", Tensor.conj), ("neg", Tensor.neg)):
        if metadata and metadata.get(flag):  # lazy in PyTorch, done here
            out = undo(out)
    return out.requires_grad_(bool(requires_grad)) if requires_grad else out


def rebuild_parameter(data: Tensor, requires_grad: bool, hooks: Any) -> Any:
    """A Parameter on a tensor's memory."""
    return Parameter(data, bool(requires_grad))


def rebuild_parameter_with_state(data: Tensor, requires_grad: bool, hooks: Any, state: Any) -> Any:
    """A Parameter with attributes that a user put on it."""
    return with_attributes(Parameter(data, bool(requires_grad)), state)


def rebuild_meta(d: dtype, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    """A tensor without data."""
    size, stride = tuple(size), tuple(stride)
    end = 1 + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else 0
    out = make(allocate(end * d.itemsize, registry.device("meta")), size, stride, 0, d)
    return out.requires_grad_(bool(requires_grad))


def rebuild_from_type(function: Any, kind: Any, args: Any, state: Any) -> Any:
    """A tensor with attributes that a user put on it, or of a class."""
    if function not in TENSORS:
        raise RuntimeError("load: a tensor must be made by a function that makes tensors. The file is damaged.")
    out = function(*args)
    if kind is Buffer or (isinstance(state, dict) and state.get("_is_buffer")):
        return Buffer(out, persistent=bool(state.get("persistent", True)) if isinstance(state, dict) else True)
    return with_attributes(out, state)


def with_attributes(t: Tensor, state: Any) -> Tensor:
    """Put a user's attributes on a tensor, and nothing that is its own."""
    state = state[0] if isinstance(state, tuple) else state
    for key, value in (state or {}).items():
        if key not in ("dtype", "device") and (not key.startswith("_") or key in MARKS):
            t.__dict__[key] = value
    return t


def encode(text: str, encoding: str = "latin1") -> bytes:
    """How protocol 2 writes bytes."""
    if encoding != "latin1":
        raise RuntimeError(f"load: bytes must be written in latin1; got {encoding!r}. The file is damaged.")
    return text.encode("latin1")


def place(kind: Any, index: Any = None) -> Any:
    """A device; the name of one that is not here stays a name."""
    try:
        return registry.device(kind, index)
    except RuntimeError:
        return kind if index is None else f"{kind}:{index}"


def layout(name: str) -> str:
    """A layout; there are only strided tensors."""
    return str(name).removeprefix("torch.")


TENSORS = (rebuild_tensor, rebuild_plain, rebuild_tensor_of, rebuild_parameter, rebuild_meta)
#: What any file may name.
KNOWN: dict[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "builtins.set": set,
    "builtins.complex": complex,
    "builtins.bytearray": bytearray,
    "_codecs.encode": encode,
    "torch.Tensor": Tensor,
    "torch.Size": Size,
    "torch.device": place,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.nn.parameter.Buffer": Buffer,
    "torch.serialization._get_layout": layout,
    "torch._utils._rebuild_tensor": rebuild_plain,
    "torch._utils._rebuild_tensor_v2": rebuild_tensor,
    "torch._utils._rebuild_tensor_v3": rebuild_tensor_of,
    "torch._utils._rebuild_parameter": rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": rebuild_parameter_with_state,
    "torch._utils._rebuild_meta_tensor_no_storage": rebuild_meta,
    "torch._tensor._rebuild_from_type_v2": rebuild_from_type,
    "torch.storage.UntypedStorage": StorageType(None),
    **{f"torch.{name}": StorageType(d) for name, d in STORAGES.items()},
    **{f"torch.cuda.{name}": StorageType(d) for name, d in STORAGES.items()},
    **{f"torch.{d.name}": d for d in dtypes.ALL},
}
#: Kinds of tensors that are not here.
ABSENT = {
    "torch._utils._rebuild_sparse_tensor": "sparse tensors",
    "torch._utils._rebuild_sparse_csr_tensor": "sparse tensors",
    "torch._utils._rebuild_nested_tensor": "nested tensors",
    "torch._utils._rebuild_qtensor": "quantised tensors",
    "torch._utils._rebuild_wrapper_subclass": "tensor subclasses without storage",
}
