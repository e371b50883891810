"""Tensors with given values in a given layout, made without running an op."""

from __future__ import annotations

from typing import Any

import numpy as np

from checking.sampling import MATRICES
from tensorx.ops import schema as S
from tensorx.tensor import Tensor, from_host, make

INPUTS = ("contiguous", "transposed", "stepped", "expanded", "offset")
OUTPUTS = ("contiguous", "transposed", "stepped", "offset")
SENTINEL = 77  # what fills the memory between and before the elements


def strides_of(array: Any) -> tuple[int, ...]:
    """Strides in elements."""
    return tuple(s // array.itemsize for s in array.strides)


def _filler(shape: tuple[int, ...], dtype: Any) -> Any:
    return np.full(shape, 1 if np.dtype(dtype).kind == "b" else SENTINEL).astype(dtype)


def laid_out(array: Any, d: Any, layout: str, device: Any) -> Tensor:
    """``array`` as a tensor on ``device`` in ``layout``. For "expanded" the values must repeat: see `repeated`."""
    array = np.asarray(array)
    shape = array.shape
    if layout == "transposed" and array.ndim > 1:
        base = from_host(np.ascontiguousarray(array.T), d, device)
        return make(base._storage, shape, tuple(reversed(base._get_strides())), 0, d)
    if layout == "stepped" and array.ndim:
        wide = _filler((*shape[:-1], 2 * shape[-1]), array.dtype)
        wide[..., ::2] = array
        base = from_host(wide, d, device)
        return make(base._storage, shape, (*base._get_strides()[:-1], 2), 0, d)
    if layout == "expanded":
        axis = expandable(shape)
        if axis is not None:
            base = from_host(np.take(array, [0], axis), d, device)
            strides = tuple(0 if i == axis else s for i, s in enumerate(base._get_strides()))
            return make(base._storage, shape, strides, 0, d)
    if layout == "offset":
        base = from_host(np.concatenate([_filler((3,), array.dtype), array.reshape(-1)]), d, device)
        return make(base._storage, shape, None, 3, d)
    return from_host(array, d, device)


def expandable(shape: tuple[int, ...]) -> int | None:
    """The first axis that repetition can fill."""
    return next((i for i, n in enumerate(shape) if n > 1), None)


def repeated(array: Any) -> Any:
    """The values that an expanded tensor of this shape can hold."""
    axis = expandable(np.shape(array))
    return array if axis is None else np.broadcast_to(np.take(array, [0], axis), np.shape(array)).copy()


def gaps(t: Tensor) -> Any:
    """A copy of the storage's elements that ``t`` does not address."""
    n = t._storage.length // t.dtype.itemsize
    everything = np.array(make(t._storage, (n,), None, 0, t.dtype)._host())
    mask = np.ones(n, bool)
    if t.numel():
        index = np.full(t._shape, t._offset)
        for axis, s in enumerate(t._get_strides()):
            index = index + (np.arange(t._shape[axis]) * s).reshape(
                [-1 if i == axis else 1 for i in range(len(t._shape))]
            )
        mask[index.reshape(-1)] = False
    return everything[mask]


class Placed:
    """A case on a device in a layout: ``args`` and ``kwargs`` for the row, and the same for its oracle."""

    def __init__(self, op: Any, case: Any, device: Any, layout: str) -> None:
        self.op, self.device, self.layout = op, device, layout
        self.oracle: dict[int, Any] = {}
        self.args = tuple(self._place(a) for a in case.args)
        self.kwargs = {k: self._place(v) for k, v in case.kwargs.items()}

    def _place(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            array = np.array(value._host())
            layout = self.layout
            if layout == "expanded" and (
                self.op.kind.name == "HOST"
                or value._storage in MATRICES
                or (value.dtype.code == "i64" and self.op.kind.name == "INDEX")
            ):
                layout = "offset"  # indices that repeat would make writes race, rows that repeat a matrix singular
            if layout == "expanded":
                array = repeated(array)
            t = laid_out(array, value.dtype, layout, self.device)
            self.oracle[id(t)] = array
            return t
        if isinstance(value, tuple):
            return tuple(self._place(v) for v in value)
        if value.__class__.__name__ == "device":
            return self.device
        return value

    def bound(self) -> tuple[Any, ...]:
        """The arguments in schema order."""
        return S.bind(self.op.schema, self.args, self.kwargs, self.op.kind.name == "ELEMENTWISE")

    def map(self, f: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments with every tensor replaced by ``f(tensor)``."""

        def walk(v: Any) -> Any:
            if isinstance(v, Tensor):
                return f(v)
            return tuple(map(walk, v)) if isinstance(v, tuple) else v

        return tuple(map(walk, self.args)), {k: walk(v) for k, v in self.kwargs.items()}

    def tensors(self) -> list[Tensor]:
        """All tensors among the arguments."""
        found: list[Tensor] = []
        self.map(lambda t: found.append(t) or t)
        return found
