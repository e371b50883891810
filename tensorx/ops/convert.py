"""Copies and conversions: dtype, device, memory layout, fills."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.devices import registry
from tensorx.dtypes import dtype as DType
from tensorx.ops import expr as E
from tensorx.ops.arithmetic import zero
from tensorx.ops.dispatch import call
from tensorx.ops.families import elementwise, row
from tensorx.ops.kinds.transfer import TRANSFER
from tensorx.ops.table import ASKED, KEEP
from tensorx.tensor import Tensor, make
from tensorx.tensor import empty as _empty

_cast = elementwise("_cast(Tensor self, ScalarType dtype) -> Tensor", lambda x, d: E.cast(x, d.compute), lambda g, out, x, d: g, promote=ASKED,
                    ref=lambda x, dtype=None: x, samples=lambda t: [(t((3, 4)), dtypes.float32)], doc="The values in another dtype.")
clone = elementwise("clone(Tensor self, *, Any memory_format=None) -> Tensor", lambda x, m: x, lambda g, out, x, m: g, ref=np.copy, doc="A copy.")
_move = row("_move(Tensor self, Device device) -> Tensor", TRANSFER, None, lambda g, self_meta: to_device(g, self_meta.device), ref=np.copy,
            samples=lambda t: [(t((3, 4)), registry.device("cpu"))], doc="A copy on another device.")
copy = elementwise("copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", lambda a, b, nb: b, lambda g, out, a, b, nb: (zero(g), g),
                   promote=KEEP, ref=lambda a, b: np.broadcast_to(b, a.shape), samples=lambda t: [(t((3, 4)), t((4,)))],
                   doc="The values of src in the shape and dtype of self.")
fill = elementwise("fill(Tensor self, Tensor value) -> Tensor", lambda x, v: v, lambda g, out, x, v: (zero(g), g), promote=KEEP,
                   ref=lambda x, value: np.full_like(x, value), samples=lambda t: [(t((3, 4)), 2.5), (t((3, 4)), t(()))], doc="Every element replaced by value.")
zero_ = elementwise("zero(Tensor self) -> Tensor", lambda x: E.const(0, x.dtype), lambda g, out, x: zero(g), promote=KEEP, ref=np.zeros_like,
                    doc="Every element replaced by zero.")


def cast(t: Tensor, d: DType) -> Tensor:
    """``t`` in dtype ``d``; itself if it has it."""
    return t if t.dtype is d else call(_cast, (t, d))


def to_device(t: Tensor, device: registry.device) -> Tensor:
    """``t`` on ``device``; itself if it is there."""
    if t.device is device:
        return t
    if device.type == "meta":
        return make(_empty(t._shape, t.dtype, device)._storage, t._shape, t._strides, 0, t.dtype)
    return call(_move, (t, device))


def copy_into(target: Tensor, source: Tensor) -> Tensor:
    """Write ``source`` (same device) into ``target`` without recording: a kind's own temporary."""
    copy.kind.forward(copy, (target, source, False), (target,))
    return target


def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself if its elements lie in row-major order, else a copy that does.

    >>> import tensorx
    >>> tensorx.zeros(2, 3).t().contiguous().stride()
    (2, 1)
    """
    if self.is_contiguous():
        return self
    out = _empty(self._shape, self.dtype, self.device)
    result: Tensor = call(copy, (out, self, False), (out,))
    result._storage.version = 0
    return result


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write ``src``, broadcast and converted, into this tensor.

    >>> import tensorx
    >>> tensorx.zeros(2, 2).copy_(tensorx.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
    """
    if not isinstance(src, Tensor):
        from tensorx.ops import factories
        src = factories.as_tensor(src)
    if src is self:
        return self
    src = to_device(src, self.device)
    if self._storage.buffer is src._storage.buffer and self.device.type != "meta":
        from tensorx.ops.outputs import partly_overlap
        if partly_overlap(self, src):
            src = src.clone()
    return call(copy, (self, src, False), (self,))


def to(self: Tensor, *args: Any, dtype: DType | None = None, device: Any = None, non_blocking: bool = False, copy: bool = False,
       memory_format: Any = None) -> Tensor:
    """Convert: ``to(dtype)``, ``to(device[, dtype])``, ``to(other)``. Returns the tensor itself where nothing changes, unless ``copy=True``.

    >>> import tensorx
    >>> tensorx.ones(2).to(tensorx.int64)
    tensor([1, 1])
    """
    for i, a in enumerate(args):
        if isinstance(a, Tensor):
            device, dtype = a.device, a.dtype
        elif isinstance(a, bool):
            copy = a if i == len(args) - 1 and i > 1 else copy
        elif isinstance(a, DType):
            dtype = a
        elif isinstance(a, str | registry.device) or (isinstance(a, int) and i == 0):
            device = a
        elif a is not None:
            raise TypeError(f"to: argument {i + 1} must be a device, a dtype or a tensor; got {type(a).__name__}")
    out = self
    if device is not None:
        from tensorx.ops.factories import resolve
        target = resolve(device)
        if target is not self.device and dtype is not None and dtype.itemsize < self.dtype.itemsize:
            out = cast(out, dtype)
        out = to_device(out, target)
    if dtype is not None:
        out = cast(out, dtype)
    return out.clone() if copy and out is self else out


def _as(d: DType) -> Any:
    def f(self: Tensor, memory_format: Any = None) -> Tensor:
        return cast(self, d)
    f.__name__ = f.__qualname__ = d.name
    f.__doc__ = f"The tensor in dtype {d.name}."
    return f


def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor on the cpu.

    >>> import tensorx
    >>> tensorx.ones(2).cpu().device
    device(type='cpu')
    """
    return to_device(self, registry.device("cpu"))


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype and on the device of ``other``.

    >>> import tensorx
    >>> tensorx.ones(2).type_as(tensorx.zeros(1, dtype=tensorx.float64)).dtype
    tensorx.float64
    """
    return to(self, other)


METHODS = {"contiguous": contiguous, "copy_": copy_, "to": to, "cpu": cpu, "type_as": type_as,
           **{name: _as(d) for name, d in {"half": dtypes.float16, "float": dtypes.float32, "double": dtypes.float64, "short": dtypes.int16,
                                           "int": dtypes.int32, "long": dtypes.int64, "bool": dtypes.bool_, "bfloat16": dtypes.bfloat16,
                                           "cfloat": dtypes.complex64, "cdouble": dtypes.complex128}.items()}}
