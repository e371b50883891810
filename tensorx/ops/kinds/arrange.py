"""ARRANGE: a copy whose elements lie in a given order in memory."""

from __future__ import annotations

from typing import Any

from tensorx.ops import record
from tensorx.ops.table import Op
from tensorx.tensor import empty


class Arrange(record.Ruled):
    """The kind: ``(tensor, strides)``; None means row-major."""

    name = "ARRANGE"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Allocate and copy."""
        from tensorx.ops.convert import copy_into
        t, strides = args
        return copy_into(empty(t._shape, t.dtype, t.device, strides) if out is None else out[0], t)


ARRANGE = Arrange()
