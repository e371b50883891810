"""The tensor types of old: ``tensorx.FloatTensor(2, 3)``, ``isinstance(x, tensorx.LongTensor)``, ``x.type()``.

A type is a dtype and a kind of device. Their names say ``torch``, since scripts compare and store them as text.
"""

from __future__ import annotations

from typing import Any

from tensorx import dtypes
from tensorx.devices import registry
from tensorx.dtypes import dtype as DType
from tensorx.ops import factories
from tensorx.tensor import Tensor

_NAMES = {
    "FloatTensor": dtypes.float32,
    "DoubleTensor": dtypes.float64,
    "HalfTensor": dtypes.float16,
    "BFloat16Tensor": dtypes.bfloat16,
    "ByteTensor": dtypes.uint8,
    "CharTensor": dtypes.int8,
    "ShortTensor": dtypes.int16,
    "IntTensor": dtypes.int32,
    "LongTensor": dtypes.int64,
    "BoolTensor": dtypes.bool_,
    "ComplexFloatTensor": dtypes.complex64,
    "ComplexDoubleTensor": dtypes.complex128,
}
_OF_DTYPE = {d: name for name, d in _NAMES.items()}


_DOC = """Tensors of {dtype}: a shape, or values, makes one; isinstance tells them.

>>> import tensorx
>>> x = tensorx.{name}([1, 0])
>>> x.dtype, isinstance(x, tensorx.{name})
(tensorx.{dtype}, True)
"""


class TensorType(type):
    """The class of the old types: instances are tensors of the dtype on the device."""

    dtype: DType
    device: str

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls.dtype and x.device.type == cls.device

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        where = registry.device(cls.device if device is None else device)
        if len(args) == 1 and not isinstance(args[0], int):
            if isinstance(args[0], tuple) and type(args[0]) is not tuple:  # a Size is a shape
                return factories.empty(args[0], dtype=cls.dtype, device=where)
            return factories.tensor(args[0], dtype=cls.dtype, device=where)
        return factories.empty(args or (0,), dtype=cls.dtype, device=where)

    def __repr__(cls) -> str:
        return f"<class '{_name(cls.dtype, cls.device)}'>"


def tensor_type(name: str, device: str = "cpu") -> TensorType:
    """The type ``name`` (such as "FloatTensor") on a kind of device. AttributeError for another name.

    >>> tensor_type("LongTensor")([1, 2]).dtype
    tensorx.int64
    """
    if name not in _NAMES:
        raise AttributeError(f"there is no tensor type {name!r}; there are {', '.join(_NAMES)}")
    return TensorType(name, (), {"dtype": _NAMES[name], "device": device, "__doc__": _DOC.format(name=name, dtype=_NAMES[name].name)})


def _name(d: DType, device: str) -> str:
    return f"torch.{'' if device == 'cpu' else device + '.'}{_OF_DTYPE[d]}"


def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Without an argument the name of this tensor's type; else the tensor as that dtype, type, or named type.

    >>> import tensorx
    >>> tensorx.ones(2).type()
    'torch.FloatTensor'
    >>> tensorx.ones(2).type("torch.LongTensor").dtype
    tensorx.int64
    """
    if dtype is None:
        return _name(self.dtype, self.device.type)
    if isinstance(dtype, DType):
        return self.to(dtype, non_blocking=non_blocking)
    if isinstance(dtype, TensorType):
        return self.to(dtype.device, dtype.dtype, non_blocking=non_blocking)
    parts = str(dtype).split(".")
    if parts[0] not in ("torch", "tensorx") or len(parts) > 3 or parts[-1] not in _NAMES:
        raise ValueError(f"type: argument 'dtype' must be a dtype or the name of a tensor type; got {dtype!r}. Hint: such as 'torch.FloatTensor'")
    return self.to(parts[1] if len(parts) == 3 else "cpu", _NAMES[parts[-1]], non_blocking=non_blocking)


def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """The tensor on the CUDA device. BackendUnavailable where there is none.

    >>> import tensorx
    >>> x = tensorx.ones(2)
    >>> y = x.cuda() if tensorx.cuda.is_available() else x
    """
    where = "cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device
    return self.to(where, non_blocking=non_blocking, memory_format=memory_format)


#: ``tensorx.FloatTensor`` and its kin.
TYPES = {name: tensor_type(name) for name in _NAMES}
METHODS: dict[str, Any] = {"type": type_, "cuda": cuda}
