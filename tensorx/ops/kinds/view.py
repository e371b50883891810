"""VIEW: another look at the same storage. The body maps (tensor, arguments) to geometry; no kernel runs."""

from __future__ import annotations

from typing import Any

from tensorx.ops import record, views
from tensorx.ops.recipes import bare
from tensorx.ops.table import Op
from tensorx.size import is_contiguous
from tensorx.tensor import Tensor, key_of


class Viewing(record.Ruled):
    """The kind. ``op.body(t, *rest)`` gives (shape, strides, offset[, dtype]), or a list of them for several views."""

    name = "VIEW"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """The view (or a tuple of views), noted as such."""
        t = args[0]
        if t._view is not None:
            t._view.refresh(t)
        rest = args[1:]
        key = (t._key, t._shape, t._strides, t._offset, rest)
        geometry = op.layouts.get(key)
        if geometry is None:
            found = op.body(*args)
            several = isinstance(found, list)
            geometry = op.layouts.keep(key, (several, tuple([_canonical(t, g) for g in (found if several else [found])])))
        several, places = geometry
        if several:
            return tuple([_one(t, place, op, rest, i, True) for i, place in enumerate(places)])
        return _one(t, places[0], op, rest, 0, False)


def _canonical(t: Tensor, geometry: tuple[Any, ...]) -> tuple[Any, ...]:
    """What `bare` takes after the storage."""
    shape, strides, offset, d = geometry if len(geometry) > 3 else (*geometry, t.dtype)
    contiguous = strides is None or is_contiguous(shape, strides)
    key = key_of(d, t.device, not shape, contiguous)
    return tuple(shape), None if strides is None else tuple(strides), offset, d, key


def _one(t: Tensor, place: tuple[Any, ...], op: Op, rest: tuple[Any, ...], nr: int, multi: bool) -> Tensor:
    out = bare(t._storage, *place)
    views.connect(t, out, op, rest, nr, multi)
    return out


VIEW = Viewing()
