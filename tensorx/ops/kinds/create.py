"""CREATE: elementwise without operands: the body sees run-time numbers and ``E.index()``, the shape comes from ``size``.

Random rows are the same with reserved Philox offsets (see `ops.random`).
"""

from __future__ import annotations

from typing import Any

from tensorx import dtypes
from tensorx.devices import registry
from tensorx.dtypes import dtype
from tensorx.ops import expr as E
from tensorx.ops import record
from tensorx.ops.outputs import resize_output
from tensorx.ops.program import Program
from tensorx.ops.table import Op


class Create(record.Ruled):
    """The kind. Parameters ``size``, ``dtype`` and ``device`` are the result's; every Scalar (and Seed, u64) is a run-time number."""

    name = "CREATE"

    def prepare(self, op: Op) -> None:
        """Find the parameters: where each is, which are run-time numbers, and which only choose the kernel."""
        position = {p.name: i for i, p in enumerate(op.schema.params)}
        free = [p for p in op.schema.params if p.name not in ("size", "dtype", "device")]
        numbers = [position[p.name] for p in free if p.type in ("Scalar", "Seed")]
        op.extra = position, numbers, [position[p.name] for p in free if p.type not in ("Scalar", "Seed")]

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """The new tensor (or ``out``, filled)."""
        position = op.extra[0]
        d: dtype = args[position["dtype"]]
        device = registry.device(args[position["device"]])
        size = tuple(args[position["size"]])
        program, values = self.program(op, args, d)
        if out is not None:
            if out[0]._shape != size:
                resize_output(out[0], size)
            program, values = self.program(op, args, out[0].dtype)
        return program.run([], values, size, device, out)[0]

    def program(self, op: Op, args: tuple[Any, ...], d: dtype) -> tuple[Program, list[Any]]:
        """The Program (cached) and its run-time numbers."""
        _, numbers, choices = op.extra
        values = [args[i] for i in numbers]
        key = (d, *[args[i] for i in choices])
        found = op.plans.get(key)
        if found is None:
            params, number = op.schema.params, d.accumulate if d is not dtypes.bool_ else d
            scalars = [dtypes.uint64 if params[i].type == "Seed" else number for i in numbers]
            leaves = {i: E.scalar(n, scalars[n]) for n, i in enumerate(numbers)} | {i: args[i] for i in choices}
            body = op.body(d, *[leaves[i] for i in sorted(leaves)])
            found = Program(op.schema.name.strip("_"), [E.cast(body, d.compute)], [], [d], scalars)
            op.plans.keep(key, found)
        return found, values


CREATE = Create()
