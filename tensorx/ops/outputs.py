"""Where results go: checks on ``out=`` and in-place targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tensorx.dtypes import dtype
from tensorx.errors import DTypeError, ShapeError
from tensorx.ops import layout
from tensorx.tensor import Tensor, allocate, key_of
from tensorx.warning import warn


def prepare_outputs(op: Any, args: Sequence[Any], outs: Sequence[Tensor], shape: tuple[int, ...], stores: Sequence[dtype],
                    inputs: Sequence[Tensor]) -> Sequence[Tensor]:
    """Check (and for ``out=`` resize) the tensors that an elementwise call writes.

    RuntimeErrors, in PyTorch's words, for a dtype that cannot hold the result, a shape that does not fit, and memory overlap.
    """
    inplace = bool(args) and outs[0] is args[0]
    for out, d in zip(outs, stores, strict=True):
        if not op.promote.fits(d, out.dtype):
            raise DTypeError(f"{op.public}: result type {d.name} can't be cast to the desired output type {out.dtype.name}")
        if out._shape != shape:
            if inplace:
                raise ShapeError(f"{op.public}_: output with shape {list(out._shape)} doesn't match the broadcast shape {list(shape)}")
            resize_output(out, shape)
        check_memory(op.public, out, inputs)
    return outs


def check_memory(name: str, out: Tensor, inputs: Sequence[Tensor]) -> None:
    """A written tensor must not address an element twice, nor overlap an input other than exactly."""
    strides = out._get_strides()
    if layout.overlaps_itself(out._shape, strides):
        raise ShapeError("unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the "
                         f"tensor before performing the operation. ({name})")
    for t in inputs:
        if t is not out and t._storage.buffer is out._storage.buffer and partly_overlap(out, t):
            raise ShapeError("unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. "
                             f"Please clone() the tensor before performing the operation. ({name})")


def partly_overlap(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors on one buffer may share elements without being the same elements in the same order."""
    sa, sb = a._get_strides(), b._get_strides()
    na, nb = layout.span(a._shape, sa) * a.dtype.itemsize, layout.span(b._shape, sb) * b.dtype.itemsize
    start_a, start_b = a._offset * a.dtype.itemsize, b._offset * b.dtype.itemsize
    if not na or not nb or start_a + na <= start_b or start_b + nb <= start_a:
        return False
    if start_a == start_b and a._shape == b._shape and sa == sb and a.dtype.itemsize == b.dtype.itemsize:
        return False
    dense = layout.is_dense(a._shape, sa) and layout.is_dense(b._shape, sb)
    return dense or not interleaved(a, b)


def interleaved(a: Tensor, b: Tensor) -> bool:
    """Whether two strided tensors of one stride pattern provably never meet (every other column, say)."""
    sa, sb = a._get_strides(), b._get_strides()
    steps = [s for s, n in zip((*sa, *sb), (*a._shape, *b._shape), strict=True) if n > 1]
    common = math.gcd(*steps) if steps else 0
    return bool(common) and (a._offset - b._offset) % common != 0 and a.dtype is b.dtype


def resize_output(out: Tensor, shape: tuple[int, ...]) -> None:
    """Give an ``out=`` tensor the result's shape; a warning if it had elements of another shape."""
    if out.numel():
        warn(f"An output with one or more elements was resized since it had shape {list(out._shape)}, which does not match the required output "
                      f"shape {list(shape)}. This behavior is deprecated, and in a future release outputs will not be resized unless they have zero "
                      "elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).")
    resize(out, shape)


def resize(t: Tensor, shape: Sequence[int]) -> Tensor:
    """``resize_``: the new shape, row-major; the storage grows when it must (old elements keep their values)."""
    shape = tuple(shape)
    need = (t._offset + math.prod(shape)) * t.dtype.itemsize
    storage = t._storage
    if need > storage.length:
        new = allocate(need, t.device)
        if storage.length and t.device.type != "meta":
            runtime = t.device.runtime
            assert runtime is not None
            runtime.copy(new.handle(), 0, storage.handle(), 0, storage.length)
        storage.buffer, storage.length = new.buffer, need
    t._shape, t._strides, t._arr = shape, None, None
    t._key = key_of(t.dtype, t.device, not shape, True)
    return t
