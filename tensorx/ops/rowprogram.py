"""RowProgram: traced Exprs that reduce along rows, ready to run on any device.

A body uses ``E.row_sum`` and its kin. If every output is one value a row and there is one such node, the reduce family runs it (in two
launches where rows are few and long); otherwise the rowwise family runs its stages one after the other over each row. Sums to a
broadcast operand's shape in the backward of elementwise rows are RowPrograms too: their load is the fused Expr.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tensorx.devices import registry
from tensorx.dtypes import COMPLEX, FROM_CODE, dtype
from tensorx.kernels import reduce as family
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.ops import build, expr_kernel, expr_numpy, layout
from tensorx.ops import expr as E
from tensorx.ops.program import NUMPY_LIMIT, named, scalar_args, scalar_names, use_numpy
from tensorx.ops.program import Program as _Program
from tensorx.ops.recipes import Launch, Layouts, Result, layouts
from tensorx.tensor import Tensor, empty, wrap

Ints = tuple[int, ...]
#: Runs on (inputs, numbers, outputs) of the layouts that it was made for.
Steps = Callable[[Sequence[Tensor], Sequence[Any], Sequence[Tensor]], None]
PREFIX = "row_"
LONG = 1 << 15  # elements of a row that are worth a launch a reduction, where one work group a row would idle a device


def few_and_long(shape: Ints, reduced: Ints, caps: Any) -> bool:
    """Whether one work group a row would idle most of a device."""
    length = math.prod(shape[i] for i in reduced)
    return length >= LONG and math.prod(shape) < length * caps.compute_units


def is_row(x: E.Expr) -> bool:
    """Whether a node reduces along the row."""
    return x.op.startswith(PREFIX)


def per_element(outputs: Sequence[E.Expr]) -> list[bool]:
    """For each output, whether it varies along the row (it reads an input outside of any reduction)."""
    varies: dict[E.Expr, bool] = {}
    for node in E.topological(outputs):
        varies[node] = not is_row(node) and (node.op in ("arg", "index", "place") or any(varies[a] for a in node.args))
    return [varies[x] for x in outputs]


def read_per_row(outputs: Iterable[E.Expr]) -> set[int]:
    """The inputs that results of one value a row read outside of any reduction: they are one value a row too, whatever their strides say."""
    stack = list(outputs)
    seen: set[E.Expr] = set()
    while stack:
        node = stack.pop()
        if node not in seen and not is_row(node):
            seen.add(node)
            stack.extend(node.args)
    return {node.attr for node in seen if node.op == "arg"}


class RowProgram:
    """``outputs`` over ``arg`` leaves; ``elements`` says which of them have one value an element (the others: one a row)."""

    __slots__ = ("__dict__", "elements", "inputs", "kernels", "name", "nodes", "outputs", "pair", "per_row", "placed", "recipes", "scalars", "small", "stores")

    def __init__(self, name: str, outputs: Sequence[E.Expr], inputs: Sequence[dtype], stores: Sequence[dtype], scalars: Sequence[dtype] = (),
                 elements: Sequence[bool] | None = None) -> None:
        self.name, self.inputs, self.stores, self.scalars = name, tuple(inputs), tuple(stores), tuple(scalars)
        self.outputs = [E.cast(x, d.compute) for x, d in zip(outputs, stores, strict=True)]
        self.elements = list(elements) if elements is not None else per_element(self.outputs)
        order = E.topological(self.outputs)
        self.nodes = [x for x in order if is_row(x)]
        self.per_row = read_per_row(x for x, e in zip(self.outputs, self.elements, strict=True) if not e)
        self.placed = any(x.op == "place" for x in order)
        self.pair = len(self.nodes) == 2 and {x.op for x in self.nodes} in ({"row_max", "row_argmax"}, {"row_min", "row_argmin"})
        self.small = NUMPY_LIMIT // max(sum(x.op not in E.LEAVES for x in order), 2)
        self.kernels: dict[Any, Any] = {}
        self.recipes: Layouts[tuple[Steps | None, list[Result]]] = Layouts()

    @functools.cached_property
    def function(self) -> Callable[..., Any]:
        """The NumPy lane, compiled when it is first used."""
        return expr_numpy.compile(self.outputs, self.inputs, self.stores, len(self.scalars))

    @functools.cached_property
    def staged(self) -> Any:
        """The same as a chain of reductions and a map."""
        from tensorx.ops.staged import Staged
        return Staged(self)

    @functools.cached_property
    def stageable(self) -> bool:
        """Whether each reduction is one that a kernel's end can go on computing with; indices along the row are not."""
        return not any("arg" in x.op[3:] or x.op == "index" for x in E.topological(self.outputs))

    @property
    def single(self) -> bool:
        """Whether the reduce family can run it."""
        return not any(self.elements) and (len(self.nodes) == 1 or self.pair) and not self.placed

    def run(self, ins: Sequence[Tensor], values: Sequence[Any], shape: Ints, reduced: Ints, device: registry.device,
            outs: Sequence[Tensor] | None = None) -> Sequence[Tensor]:
        """Run over ``shape`` with rows along the axes ``reduced``. Row results have the kept axes' shape, element results ``shape``."""
        runtime = device.runtime or registry.open(device)
        if use_numpy(device, math.prod(shape), self.small):
            return self._run_numpy(ins, values, shape, reduced, outs)
        key = (device, shape, reduced, layouts(ins), outs and layouts(outs))
        recipe = self.recipes.get(key)
        if recipe is None:
            recipe = self.recipes.keep(key, self._recipe(runtime, device, ins, shape, reduced, outs))
        steps, results = recipe
        if outs is None:
            outs = [r.make(runtime, device) for r in results]
        if steps is not None:
            steps(ins, values, outs)
        return outs

    def _recipe(self, runtime: Any, device: registry.device, ins: Sequence[Tensor], shape: Ints, reduced: Ints,
                outs: Sequence[Tensor] | None) -> tuple[Steps | None, list[Result]]:
        """What to do with tensors of these layouts (None: nothing) and, unless they are given, the results to be made."""
        kept = tuple(i for i in range(len(shape)) if i not in reduced)
        small = tuple(shape[i] for i in kept)
        results = [Result(shape if e else small, d, device) for e, d in zip(self.elements, self.stores, strict=True)] if outs is None else []
        if device.type == "meta" or (all(0 in o._shape for o in outs or ()) and all(0 in r.shape for r in results)):
            return None, results
        steps = [r.strides or layout.contiguous_strides(r.shape) for r in results] or [o._get_strides() for o in outs or ()]
        return self._steps(runtime, device, ins, steps, shape, kept, reduced), results

    def _run_numpy(self, ins: Sequence[Tensor], values: Sequence[Any], shape: Ints, reduced: Ints, outs: Sequence[Tensor] | None) -> Sequence[Tensor]:
        lead = len(shape) - len(reduced)
        if outs is None and reduced == tuple(range(lead, len(shape))) and all(t._shape == shape for t in ins):
            return self._run_rows(ins, values, shape, lead)
        kept = tuple(i for i in range(len(shape)) if i not in reduced)
        order = kept + reduced
        count = math.prod(shape[i] for i in reduced)
        small = tuple(shape[i] for i in kept)
        args = [_rows(np.broadcast_to(t._array(), shape).transpose(order), (*small, count)) for t in ins]
        result = expr_numpy.quietly(self.function, *args, *_Program.arrays(self, values), None, count)  # type: ignore[arg-type]  # same attributes
        results = result if isinstance(result, tuple) else (result,)
        inverse = np.argsort(order)
        final = []
        for r, element, d in zip(results, self.elements, self.stores, strict=True):
            if element:
                r = np.broadcast_to(r, (*small, count)).reshape([shape[i] for i in order]).transpose(inverse)
            else:
                r = np.broadcast_to(r[..., :1] if r.ndim else r, (*small, 1)).reshape(small)  # an operand that is one value a row comes along it
            final.append(np.asarray(r, d.np))
        if outs is None:
            return [wrap(np.array(r, order="C"), d) for r, d in zip(final, self.stores, strict=True)]
        for out, r in zip(outs, final, strict=True):
            np.copyto(out._array(), r, casting="unsafe")
        return outs

    def _run_rows(self, ins: Sequence[Tensor], values: Sequence[Any], shape: Ints, lead: int) -> Sequence[Tensor]:
        """`_run_numpy` where the rows are the last axes of every operand."""
        small = shape[:lead]
        count = math.prod(shape[lead:])
        rows = (*small, count)
        args = [t._array().reshape(rows) for t in ins]
        result = expr_numpy.quietly(self.function, *args, *_Program.arrays(self, values), None, count)  # type: ignore[arg-type]  # same attributes
        found = []
        for r, element, d in zip(result if isinstance(result, tuple) else (result,), self.elements, self.stores, strict=True):
            r = np.asarray(r, d.np)
            if not element:
                r = r[..., 0] if r.shape == (*small, 1) else np.broadcast_to(r[..., :1] if r.ndim else r, (*small, 1)).reshape(small)
            elif r.shape != rows:
                r = np.broadcast_to(r, rows)
            found.append(wrap(np.array(r.reshape(shape if element else small), order="C"), d))
        return found

    def _steps(self, runtime: Any, device: registry.device, ins: Sequence[Tensor], steps: Sequence[Ints], shape: Ints, kept: Ints, reduced: Ints) -> Steps:
        """The launches for inputs of these layouts and outputs with the strides ``steps``."""
        full = [layout.expanded_strides(t._shape, t._get_strides(), shape) for t in ins]
        out_strides = [tuple(s[i] for i in kept) if e else s for s, e in zip(steps, self.elements, strict=True)]
        n = len(steps)
        sizes_k, k = layout.merge_axes(tuple(shape[i] for i in kept), (*out_strides, *(tuple(s[i] for i in kept) for s in full)))
        row_strides = [tuple(s[i] for i in reduced) for s, e in zip(steps, self.elements, strict=True) if e]
        sizes_r, r = layout.merge_axes(tuple(shape[i] for i in reduced), (*(tuple(s[i] for i in reduced) for s in full), *row_strides),
                                      self.single and not any("arg" in x.op for x in self.nodes))
        if self.single:
            return self._reduce(runtime, device, sizes_k, sizes_r, k[:n], [(a, b) for a, b in zip(k[n:], r, strict=True)])
        if self.stageable and (len(sizes_r) > 1 or few_and_long(shape, reduced, runtime.capabilities)):
            return lambda ins, values, outs: self.staged.run(ins, values, shape, reduced, device, outs)
        if len(sizes_r) > 1:  # the row is not one axis in memory: gather it into one first
            return lambda ins, values, outs: self._run_dense(ins, values, shape, kept, reduced, device, outs)
        return self._rowwise(runtime, device, sizes_k, sizes_r, k, r)

    def _run_dense(self, ins: Sequence[Tensor], values: Sequence[Any], shape: Ints, kept: Ints, reduced: Ints, device: registry.device,
                   outs: Sequence[Tensor]) -> None:
        """Through dense temporaries, whose rows are one axis."""
        from tensorx.ops.convert import copy_into
        order = kept + reduced
        inverse = np.argsort(order).tolist()
        dense = [t.expand(shape).permute(*order).contiguous().permute(*inverse) if t.numel() > 1 else t for t in ins]
        temporary = [empty([shape[i] for i in order], o.dtype, device).permute(*inverse) if e else o for o, e in zip(outs, self.elements, strict=True)]
        self.run(dense, values, shape, reduced, device, temporary)
        for t, o, e in zip(temporary, outs, self.elements, strict=True):
            if e:
                copy_into(o, t)

    # the reduce family

    def _reduce(self, runtime: Any, device: registry.device, kept: Ints, reduced: Ints, out_strides: Sequence[Ints],
                in_strides: Sequence[tuple[Ints, Ints]]) -> Steps:
        width = layout.index_width((*kept, *reduced), [(*a, *b) for a, b in in_strides])
        access = reduce_access(in_strides)
        key = (device, len(kept), len(reduced), access, width)
        if key not in self.kernels:
            spec = self._reduce_spec(access, len(kept), len(reduced), width)
            self.kernels[key] = (spec, named(family.partial(spec)), named(family.final(spec)))
        spec, partial, final = self.kernels[key]
        caps = runtime.capabilities
        splits = family.splits(spec, caps, *kept, *reduced)
        in_steps = [s for (a, b), c in zip(in_strides, access, strict=True) if c != "b" for s in (*a, *b)]
        out_steps = [s for o in out_strides for s in o]
        if splits == 1:
            whole = Launch(build.kernel(device, spec), geometry(spec, caps, *kept, *reduced), (*kept, *reduced, *out_steps, *in_steps))
            return lambda ins, values, outs: whole(runtime, outs, ins, scalar_args(self.scalars, values))
        scratch = [Result((*kept, splits), FROM_CODE[o.dtype], device) for o in partial.outputs]
        steps = layout.contiguous_strides((*kept, splits))
        total = math.prod(reduced)
        first = Launch(build.kernel(device, partial), geometry(partial, caps, *kept, *reduced, splits),
                       (*kept, *reduced, splits, *steps[:-1] * len(scratch), *in_steps))
        second = Launch(build.kernel(device, final), geometry(final, caps, *kept, splits, total),
                        (*kept, splits, total, *out_steps, *steps * len(scratch)))

        def both(ins: Sequence[Tensor], values: Sequence[Any], outs: Sequence[Tensor]) -> None:
            between, numbers = [r.make(runtime, device) for r in scratch], scalar_args(self.scalars, values)
            first(runtime, between, ins, numbers)
            second(runtime, outs, between, numbers)

        return both

    def _reduce_spec(self, access: Sequence[str], kept: int, reduced: int, width: str) -> KernelSpec:
        node = self.nodes[0] if not self.pair else next(x for x in self.nodes if not x.op.startswith("row_arg"))
        load = node.args[0]
        combine = node.op.removeprefix(PREFIX) + ("i" if self.pair else "")
        outs = tuple(Operand(f"y{i}", d.code, d.compute.code, "s") for i, d in enumerate(self.stores))
        ins = tuple(Operand(f"x{i}", d.code, d.compute.code, a) for i, (d, a) in enumerate(zip(self.inputs, access, strict=True)))
        params: list[tuple[str, Any]] = [("kept", kept), ("reduced", reduced), ("combine", combine), ("acc", load.dtype.code)]
        if not combine.startswith("arg") and not self.pair:
            acc = E._make("acc", (), load.dtype, None)
            finish = E.substitute(self.outputs, lambda x: acc if x is node else None)
            params.append(("finish", expr_kernel.emit(finish, [o.name for o in outs], "f")))
        body = expr_kernel.emit([load], ["v0"])
        return named(KernelSpec("reduce", self.name, outs, ins, scalar_names(self.scalars), body, width, params=tuple(params)))

    # the rowwise family

    def _rowwise(self, runtime: Any, device: registry.device, kept: Ints, row: Ints, k: Sequence[Ints], r: Sequence[Ints]) -> Steps:
        n, m = len(self.stores), len(self.inputs)
        elements = iter(r[m:])
        steps = [next(elements) if e else None for e in self.elements]
        reads = [None if i in self.per_row else s for i, s in enumerate(r[:m])]
        operands: list[tuple[Ints, Ints | None]] = [*zip(k[:n], steps, strict=True), *zip(k[n:], reads, strict=True)]
        width = layout.index_width((*kept, *row), [(*a, *(b or (0,) * len(row))) for a, b in operands])
        access = tuple(row_access(a, b, i < n) for i, (a, b) in enumerate(operands))
        if "k" in access:  # a row that all share (weights) must not keep the others from running side by side
            access = tuple("s" if c == "c" and not any(a) else c for c, (a, _) in zip(access, operands, strict=True))
        key = (device, len(kept), access, width)
        if key not in self.kernels:
            self.kernels[key] = self._rowwise_spec(access, len(kept), width)
        spec = self.kernels[key]
        tail = [*kept, *row]
        for (a, b), c in zip(operands, access, strict=True):
            if c != "b":
                tail += a if b is None or c in ("c", "row") else (*a, *b)
        launch = Launch(build.kernel(device, spec), geometry(spec, runtime.capabilities, *kept, *row), tail)
        return lambda ins, values, outs: launch(runtime, outs, ins, scalar_args(self.scalars, values))

    def _rowwise_spec(self, access: Sequence[str], kept: int, width: str) -> KernelSpec:
        n = len(self.stores)
        outs = tuple(Operand(f"y{i}", d.code, d.compute.code, a) for i, (d, a) in enumerate(zip(self.stores, access[:n], strict=True)))
        ins = tuple(Operand(f"x{i}", d.code, d.compute.code, a) for i, (d, a) in enumerate(zip(self.inputs, access[n:], strict=True)))
        leaves: dict[E.Expr, E.Expr] = {}
        stages = []
        for i, node in enumerate(self.nodes):
            load, = E.substitute([node.args[0]], leaves.get)
            stages.append((node.op.removeprefix(PREFIX), f"a{i}", expr_kernel.emit([load], ["v0"], f"v{i}_"), load.dtype.code))
            leaves[node] = E._make("acc", (), node.dtype, i)
        finals, keeps = self._kept(leaves)
        finals, shared = self._shared(finals)
        pick = [[(x, f"y{i}") for i, (x, e) in enumerate(zip(finals, self.elements, strict=True)) if e is want] for want in (True, False)]
        body, row_body = (expr_kernel.emit([x for x, _ in p], [t for _, t in p], "e") if p else "" for p in pick)
        params = (("kept", kept), ("stages", tuple(stages)), ("row_body", row_body), ("keeps", keeps), ("row_values", shared))
        return named(KernelSpec("rowwise", self.name, outs, ins, scalar_names(self.scalars), body, width, params=params))


    def _kept(self, leaves: dict[E.Expr, E.Expr]) -> tuple[list[E.Expr], bool]:
        """The outputs over the results of stages; and whether the last stage leaves its elements (softmax: exponentials) in the output, for a body that
        needs no other: they are not computed twice."""
        finals = E.substitute(self.outputs, leaves.get)
        load = self.nodes[-1].args[0]
        if self.elements.count(True) != 1 or load.op in E.LEAVES or load.dtype.kind == COMPLEX:
            return finals, False
        at = self.elements.index(True)
        if self.stores[at] is not load.dtype:
            return finals, False
        kept = E._make("acc", (), load.dtype, "k")
        final, = E.substitute([self.outputs[at]], lambda x: leaves.get(x, kept if x is load else None))
        ops = {x.op for x in E.topological([final])}
        if kept not in E.topological([final]) or ops & {"arg", "index", "place"}:
            return finals, False
        return [*finals[:at], final, *finals[at + 1:]], True


    def _shared(self, finals: list[E.Expr]) -> tuple[list[E.Expr], tuple[tuple[tuple[str, str], ...], str]]:
        """The outputs over what is computed once a row (a logarithm of a sum, a reciprocal), and that: variables with their dtypes, and the text."""
        elements = [x for x, e in zip(finals, self.elements, strict=True) if e]
        order = E.topological(elements)
        varies: dict[E.Expr, bool] = {}
        for x in order:
            moves = x.op in ("arg", "index", "place") or (x.op == "acc" and x.attr == "k")
            varies[x] = moves or x.dtype.kind == COMPLEX or any(varies[a] for a in x.args)
        once = [x for x in dict.fromkeys(a for x in order if varies[x] for a in x.args) if not varies[x] and x.op not in E.LEAVES]
        leaves = {x: E._make("acc", (), x.dtype, f"u{i}") for i, x in enumerate(once)}
        names = [f"au{i}" for i in range(len(once))]
        replaced = iter(E.substitute(elements, leaves.get))
        declared = tuple((n, x.dtype.code) for n, x in zip(names, once, strict=True))
        return [next(replaced) if e else x for x, e in zip(finals, self.elements, strict=True)], (declared, expr_kernel.emit(once, names, "u") if once else "")


def _rows(a: np.ndarray[Any, Any], shape: Ints) -> np.ndarray[Any, Any]:
    """``a`` as rows along its last axis; one value a row stays a view."""
    return a if a.shape == shape and not a.strides[-1] else np.ascontiguousarray(a).reshape(shape)


def reduce_access(strides: Sequence[tuple[Ints, Ints]]) -> tuple[str, ...]:
    """Access classes of a reduce kernel's operands: 'r' dense along the row, 'k' across rows, 'e' even across rows, 's' strided, 'b' one for all.

    An operand that is the same for all rows does not say which way to walk, where another one is dense across them.
    """
    across = any(a[-1:] == (1,) and b[-1] != 1 for a, b in strides)
    return tuple("b" if not any((*a, *b)) else "r" if b[-1] == 1 and (any(a) or not across) else "k" if a[-1:] == (1,)
                 else "e" if across and a[-1:] == (0,) else "s" for a, b in strides)


def row_access(kept: Ints, row: Ints | None, is_output: bool) -> str:
    """Access class of a rowwise operand: 'row' one value a row, 'c' dense along the row, 'k' across rows, 's' strided, 'b' one for all."""
    if row is None or (not is_output and not any(row)):
        return "row" if any(kept) or is_output else "b"
    return "c" if row[-1] == 1 else "k" if kept and kept[-1] == 1 else "s"


__all__ = ["COMPLEX", "RowProgram", "per_element"]
