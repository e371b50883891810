"""JOIN: several tensors side by side in one result: each is copied into its slice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import BadValue, ShapeError
from tensorx.ops import dispatch, record
from tensorx.ops.outputs import resize_output
from tensorx.ops.program import use_numpy
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, empty, make, normalize_dim, wrap


class Join(record.Ruled):
    """The kind: ``(tensors, dim)``."""

    name = "JOIN"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Check shapes, allocate, copy the pieces."""
        from tensorx.ops.convert import copy_into
        tensors, dim = args
        if not tensors:
            raise BadValue(f"{op.public}: expected a non-empty list of Tensors")
        used = [t for t in tensors if t._shape != (0,)] or list(tensors[:1])
        d = normalize_dim(dim, len(used[0]._shape), op.public)
        shape = joined_shape(op.public, used, d)
        common = dtypes.promote([t.dtype for t in tensors], [], [])
        device = dispatch.device_of(op, list(tensors))
        if out is None:
            if use_numpy(device, math.prod(shape)) and all(t.dtype is common for t in used):
                return wrap(np.concatenate([t._array() for t in used], d), common)
            result = empty(shape, common, device)
        else:
            result = out[0]
            if result._shape != shape:
                resize_output(result, shape)
        start, strides = 0, result._get_strides()
        for t in used:
            if t.numel():
                copy_into(make(result._storage, t._shape, strides, result._offset + start * strides[d], result.dtype), t)
            start += t._shape[d]
        return result


def joined_shape(name: str, tensors: Sequence[Tensor], d: int) -> tuple[int, ...]:
    """The result's shape. ShapeError, in PyTorch's words, where others than ``d`` differ."""
    first = tensors[0]._shape
    if not first:
        raise ShapeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    for i, t in enumerate(tensors):
        if len(t._shape) != len(first):
            raise ShapeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(t._shape)}")
        for j, (a, b) in enumerate(zip(first, t._shape, strict=True)):
            if a != b and j != d:
                raise ShapeError(f"Sizes of tensors must match except in dimension {d}. Expected size {a} but got size {b} for tensor number {i} in the list.")
    return (*first[:d], sum(t._shape[d] for t in tensors), *first[d + 1:])


JOIN = Join()
