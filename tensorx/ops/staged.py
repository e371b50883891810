"""A RowProgram as a chain of launches: one reduction for each of its sums, then one map.

The rowwise family walks a row that is one axis in memory and belongs to one work group. Channel statistics have rows over several axes
(batch and space), and few rows of great length would idle most of a device: there every reduction is a REDUCE kernel (in two launches where
rows are few), and the results of each element one ELEMENTWISE kernel that reads the rows' values broadcast. What later steps use of a sum is
computed at the end of its reduction: a mean, not a sum, is what lies in between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tensorx.ops import expr as E
from tensorx.ops import layout
from tensorx.ops.kinds.elementwise import pruned, renumber
from tensorx.ops.program import Program
from tensorx.ops.rowprogram import RowProgram, few_and_long, is_row
from tensorx.tensor import Tensor, empty, make

Ints = tuple[int, ...]


class Staged:
    """The chain of one RowProgram. Slots are its inputs, then the value of each of ``between`` (one a row)."""

    def __init__(self, program: RowProgram) -> None:
        self.inputs = list(program.inputs)
        self.elements, self.scalars = program.elements, list(program.scalars)
        order = E.topological(program.outputs)
        self.counts = sorted({x.dtype for x in order if x.op == "count"}, key=lambda d: d.id)
        self.scalars += self.counts
        varies = _varies(order)
        between = self._between(program, order, varies)
        slots = {x: E.arg(len(self.inputs) + i, x.dtype) for i, x in enumerate(between)}
        self.steps: list[tuple[RowProgram, Ints, list[int], list[int]]] = []
        for node in program.nodes:
            mine = [i for i, x in enumerate(between) if _sums(x) == {node}]
            direct = [i for i, x in enumerate(program.outputs) if not self.elements[i] and _sums(x) == {node}]
            self.steps.append((*self._reduction(program, node, between, slots, mine, direct), mine, direct))
        self.direct = {i for _, _, _, direct in self.steps for i in direct}
        self.between = [x.dtype for x in between]
        alone = [i for i, e in enumerate(self.elements) if not e]
        values, self.row_reads = renumber([*between, *(program.outputs[i] for i in alone)])
        stores = [*self.between, *(program.stores[i] for i in alone)]
        self.rows = RowProgram(program.name, values, [program.inputs[i] for i in self.row_reads], stores, program.scalars, [False] * len(values))
        self.maps = [self._map(program, slots, [i for i, e in enumerate(self.elements) if e is wanted and i not in self.direct]) for wanted in (True, False)]

    def _between(self, program: RowProgram, order: Sequence[E.Expr], varies: dict[E.Expr, bool]) -> list[E.Expr]:
        """The values of a row that something of each element, a later load or a result of several sums reads."""
        found: dict[E.Expr, None] = {}
        used = [a for x in order if varies[x] or is_row(x) for a in x.args if not varies[a]]
        for x in used + [x for x, e in zip(program.outputs, self.elements, strict=True) if e or len(_sums(x)) > 1]:
            if varies[x] or not _sums(x):
                continue
            for value in [x] if len(_sums(x)) == 1 else sorted(_sums(x), key=order.index):
                found[value] = None
        return list(found)

    def _reduction(self, program: RowProgram, node: E.Expr, between: Sequence[E.Expr], slots: dict[E.Expr, E.Expr], mine: Sequence[int],
                   direct: Sequence[int]) -> tuple[RowProgram, Ints]:
        """The REDUCE program of one sum: its load reads slots, its results are what others use of it."""
        load, = self._read([node.args[0]], slots)
        (load,), used = renumber([load])
        types = [*program.inputs, *(x.dtype for x in between)]
        inside = E._make(node.op, (load,), node.dtype, node.attr)
        results = E.substitute([between[i] for i in mine] + [program.outputs[i] for i in direct], lambda x: inside if x is node else None)
        stores = [between[i].dtype for i in mine] + [program.stores[i] for i in direct]
        return RowProgram(program.name, results, [types[i] for i in used], stores, self.scalars, [False] * len(results)), used

    def _read(self, exprs: Sequence[E.Expr], slots: dict[E.Expr, E.Expr]) -> list[E.Expr]:
        """The exprs with rows' values read from slots, and counts from scalars."""
        first = len(self.scalars) - len(self.counts)
        counts = {d: E.scalar(first + i, d) for i, d in enumerate(self.counts)}
        return E.substitute(exprs, lambda x: counts[x.dtype] if x.op == "count" else slots.get(x))

    def _map(self, program: RowProgram, slots: dict[E.Expr, E.Expr], places: list[int]) -> tuple[Program, Ints, list[int]] | None:
        """The ELEMENTWISE program of some results."""
        if not places:
            return None
        types = [*program.inputs, *self.between]
        made, used = pruned(program.name, self._read([program.outputs[i] for i in places], slots), types, [program.stores[i] for i in places], self.scalars)
        return made, used, places

    def run(self, ins: Sequence[Tensor], values: Sequence[Any], shape: Ints, reduced: Ints, device: Any, outs: Sequence[Tensor]) -> None:
        """Fill ``outs``."""
        small = tuple(n for i, n in enumerate(shape) if i not in reduced)
        thin = tuple(1 if i in reduced else n for i, n in enumerate(shape))
        made = [empty(small, d, device) for d in self.between]
        slots = [*ins, *(make(t._storage, thin, None, 0, t.dtype) for t in made)]
        at_once = self._one_axis(ins, shape, reduced, device)
        if at_once:
            alone = [o for o, e in zip(outs, self.elements, strict=True) if not e]
            self.rows.run([ins[i] for i in self.row_reads], values, shape, reduced, device, [*made, *alone])
        values = [*values, *[math.prod(shape[i] for i in reduced)] * len(self.counts)]
        for program, used, mine, direct in self.steps if not at_once else ():
            program.run([slots[i] for i in used], values, shape, reduced, device, [*(made[i] for i in mine), *(outs[i] for i in direct)])
        for found, over in zip(self.maps, (shape, small), strict=True):
            if found is None or (at_once and over is small):
                continue
            step, used, places = found
            operands = [slots[i] for i in used]
            if over is small:
                operands = [make(t._storage, small, None, 0, t.dtype) for t in operands]
            step.run(operands, values, over, device, [outs[i] for i in places])


    def _one_axis(self, ins: Sequence[Tensor], shape: Ints, reduced: Ints, device: Any) -> bool:
        """Whether one row kernel can find all that is in between: enough rows, each of which is one axis of what they read."""
        reads = [ins[i] for i in self.row_reads]
        if len(self.rows.nodes) < 2 or not reads or few_and_long(shape, reduced, device.runtime.capabilities):
            return False
        strides = [layout.expanded_strides(t._shape, t._get_strides(), shape) for t in reads]
        sizes, _ = layout.merge_axes(tuple(shape[i] for i in reduced), tuple(tuple(s[i] for i in reduced) for s in strides), False)
        return len(sizes) == 1


def _varies(order: Sequence[E.Expr]) -> dict[E.Expr, bool]:
    """Whether a value differs along the row."""
    varies: dict[E.Expr, bool] = {}
    for node in order:
        varies[node] = not is_row(node) and (node.op in ("arg", "index") or any(varies[a] for a in node.args))
    return varies


def _sums(x: E.Expr) -> set[E.Expr]:
    """The reductions that a row's value is computed from, not those within them."""
    found: set[E.Expr] = set()
    stack = [x]
    while stack:
        node = stack.pop()
        if is_row(node):
            found.add(node)
        else:
            stack.extend(node.args)
    return found

