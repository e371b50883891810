"""Copies and conversions: dtype, device, memory layout, fills."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx import dtypes, formats
from tensorx.devices import registry
from tensorx.dtypes import dtype as DType
from tensorx.ops import expr as E
from tensorx.ops import fastpath
from tensorx.ops.arguments import as_dtype
from tensorx.ops.arithmetic import zero
from tensorx.ops.dispatch import call
from tensorx.ops.families import composite, elementwise, row
from tensorx.ops.kinds.arrange import ARRANGE
from tensorx.ops.kinds.transfer import TRANSFER
from tensorx.ops.program import Program
from tensorx.ops.table import ASKED, KEEP
from tensorx.tensor import Tensor, make
from tensorx.tensor import empty as _empty

_cast = elementwise("_cast(Tensor self, ScalarType dtype) -> Tensor", lambda x, d: E.cast(x, d.compute), lambda g, out, x, d: g, promote=ASKED,
                    ref=lambda x, dtype=None: x, samples=lambda t: [(t((3, 4)), dtypes.float32)], public="to", doc="The values in another dtype.")
_clone = elementwise("_clone(Tensor self) -> Tensor", lambda x: x, lambda g, out, x: g, ref=np.copy, doc="A copy.")
_arrange = row("_clone.arranged(Tensor self, int[]? strides) -> Tensor", ARRANGE, None, lambda g: g, ref=lambda x, strides: np.copy(x),
               samples=lambda t: [(t((3, 4)), None), (t((3, 4)), (1, 3))], doc="A copy whose elements lie in memory as these strides say.")
_move = row("_move(Tensor self, Device device, bool non_blocking=False) -> Tensor", TRANSFER, None, lambda g, self_meta: to_device(g, self_meta.device), ref=np.copy,
            samples=lambda t: [(t((3, 4)), registry.device("cpu"))], public="to", doc="A copy on another device.")
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


def to_device(t: Tensor, device: registry.device, non_blocking: bool = False) -> Tensor:
    """``t`` on ``device``; itself if it is there."""
    if t.device is device:
        return t
    if device.type == "meta":
        return make(_empty(t._shape, t.dtype, device)._storage, t._shape, t._strides, 0, t.dtype)
    return call(_move, (t, device, non_blocking))


def moved(t: Tensor, device: registry.device, d: DType, non_blocking: bool = False) -> Tensor:
    """``t`` on ``device``, on the way to dtype ``d``: converted before if that makes it smaller, or if the device cannot hold what it is."""
    if t.device is not device and (d.itemsize < t.dtype.itemsize or not registry.open(device).capabilities.supports(t.dtype.code)):
        t = cast(t, d)
    return to_device(t, device, non_blocking)


def copy_into(target: Tensor, source: Tensor) -> Tensor:
    """Write ``source`` (same device, no memory shared), broadcast and converted, into ``target`` without recording: a kind's own temporary."""
    _copying(source.dtype, target.dtype).run((source,), (), target._shape, target.device, (target,))
    return target


def _copying(source: DType, target: DType) -> Program:
    found: Program | None = _arrange.plans.get((source, target))
    return found or _arrange.plans.keep((source, target), Program("copy", [E.arg(0, source.compute)], [source], [target]))


_quick = fastpath.unary(_clone)


def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself if its elements lie in row-major order (or in that of ``memory_format``), else a copy that does.

    >>> import tensorx
    >>> tensorx.zeros(2, 3).t().contiguous().stride()
    (2, 1)
    """
    if self.is_contiguous(memory_format):
        return self
    if memory_format is formats.preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return _arranged(self, None if memory_format is None else formats.format_strides(self._shape, memory_format))


def _arranged(t: Tensor, strides: tuple[int, ...] | None) -> Tensor:
    """A copy with these strides (None: row-major)."""
    return call(_arrange, (t, strides))  # type: ignore[no-any-return]


def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy, its elements in the same order in memory or in that of ``memory_format``. Differentiable.

    >>> import tensorx
    >>> tensorx.zeros(2, 3).t().clone(memory_format=tensorx.contiguous_format).stride()
    (2, 1)
    """
    if memory_format is None or memory_format is formats.preserve_format:
        return _quick(self)  # type: ignore[no-any-return]
    if not isinstance(memory_format, formats.memory_format):
        raise TypeError(f"clone: argument 'memory_format' must be a memory format; got {memory_format!r}")
    return _arranged(self, formats.format_strides(self._shape, memory_format))


composite("clone(Tensor self, *, Any memory_format=None) -> Tensor", ref=np.copy, samples=lambda t: [(t((3, 4)),)], doc="A copy.")(
    lambda x, memory_format: clone(x, memory_format=memory_format))


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
    src = moved(src, self.device, self.dtype, non_blocking)
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
    flags = []
    for i, a in enumerate(args):
        if isinstance(a, Tensor):
            device, dtype = a.device, a.dtype
        elif isinstance(a, bool):
            flags.append(a)
        elif isinstance(a, DType | type):
            dtype = as_dtype("to", a)
        elif isinstance(a, str | registry.device) or (isinstance(a, int) and i == 0):
            device = a
        elif a is not None:
            raise TypeError(f"to: argument {i + 1} must be a device, a dtype or a tensor; got {type(a).__name__}")
    if flags:
        non_blocking, copy = flags if len(flags) > 1 else (flags[0], copy)
    if dtype is not None and dtype.__class__ is not DType:
        dtype = as_dtype("to", dtype)
    if memory_format not in (None, formats.preserve_format) and formats.suggested(self._shape, self._get_strides()) is not memory_format:
        self, copy = _arranged(self, formats.format_strides(self._shape, memory_format)), False
    out = self
    if device is not None:
        from tensorx.ops.factories import resolve
        target = resolve(device)
        out = to_device(out, target, non_blocking) if dtype is None else moved(out, target, dtype, non_blocking)
    if dtype is not None:
        out = cast(out, dtype)
    return out.clone() if copy and out is self else out


def _as(d: DType) -> Any:
    def f(self: Tensor, memory_format: Any = None) -> Tensor:
        return cast(self, d) if memory_format is None else to(self, d, memory_format=memory_format)
    f.__name__ = f.__qualname__ = d.name
    f.__doc__ = f"The tensor in dtype {d.name}."
    return f


def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor on the cpu.

    >>> import tensorx
    >>> tensorx.ones(2).cpu().device
    device(type='cpu')
    """
    return to(self, registry.device("cpu"), memory_format=memory_format)


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype and on the device of ``other``.

    >>> import tensorx
    >>> tensorx.ones(2).type_as(tensorx.zeros(1, dtype=tensorx.float64)).dtype
    tensorx.float64
    """
    return to(self, other)


METHODS = {"clone": clone, "contiguous": contiguous, "copy_": copy_, "to": to, "cpu": cpu, "type_as": type_as,
           **{name: _as(d) for name, d in {"half": dtypes.float16, "float": dtypes.float32, "double": dtypes.float64, "short": dtypes.int16, "byte": dtypes.uint8, "char": dtypes.int8,
                                           "int": dtypes.int32, "long": dtypes.int64, "bool": dtypes.bool_, "bfloat16": dtypes.bfloat16,
                                           "cfloat": dtypes.complex64, "cdouble": dtypes.complex128}.items()}}
