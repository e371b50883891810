"""ELEMENTWISE: one output element from the input elements at the same (broadcast) place.

The body is traced once per (dtypes, kinds of numbers, static arguments) into a Program; the gradient rule into one fused backward Program
per set of wanted gradients, with unneeded outputs pruned and casts in the store.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.autograd.modes import state
from tensorx.autograd.node import FREED, Node
from tensorx.dtypes import COMPLEX, dtype
from tensorx.errors import DTypeError, GradError
from tensorx.ops import dispatch, domain, layout, record, table
from tensorx.ops import expr as E
from tensorx.ops.outputs import prepare_outputs
from tensorx.ops.program import Program, use_numpy
from tensorx.ops.rowprogram import RowProgram
from tensorx.ops.schema import REQUIRED
from tensorx.ops.table import Op
from tensorx.tensor import CONTIGUOUS, Tensor, make

TENSOR, SCALAR, FLOAT_ARG, SEED, STATIC = "Tensor", "Scalar", "float", "Seed", "static"
FACTOR = "factor"  # a keyword-only number: it scales an operand, and takes no part in promotion


class Plan:
    """What is known of a call once dtypes and static arguments are: the Program, and how to fill it."""

    __slots__ = ("args", "backwards", "common", "exprs", "guards", "inputs", "leaves", "out_keys", "programs", "scalars", "stores", "used")

    def __init__(self, op: Op, args: Sequence[Any], device: Any) -> None:
        kinds = op.extra
        tensors = [a for a, k in zip(args, kinds, strict=True) if k == TENSOR and isinstance(a, Tensor)]
        self.inputs = tuple(t.dtype for t in tensors)
        self.common = common_dtype(op, args, kinds)
        self.leaves, self.scalars = leaves(op, args, kinds, self.common)
        body = op.body(*self.leaves)
        self.exprs = list(body) if isinstance(body, tuple) else [body]
        self.guards = domain.guards(self.exprs)
        self.stores = tuple(store_dtype(op, x, self.common, args) for x in self.exprs)
        self.programs: dict[tuple[dtype, ...], tuple[Program, tuple[int, ...]]] = {}
        self.backwards: dict[tuple[bool, ...], Backward] = {}

    def program(self, name: str, stores: tuple[dtype, ...]) -> tuple[Program, tuple[int, ...]]:
        """The Program for results of these dtypes, and which tensors it reads."""
        found = self.programs.get(stores)
        if found is None:
            found = self.programs[stores] = pruned(name, self.exprs, self.inputs, stores, self.scalars)
        return found


    def backward(self, op: Op, args: Sequence[Any], mask: tuple[bool, ...], outputs: Sequence[Tensor]) -> Backward:
        """The traced gradient rule for the inputs that ``mask`` wants."""
        found = self.backwards.get(mask)
        if found is None:
            found = self.backwards[mask] = Backward(op, self, args, mask, outputs)
        return found


def pruned(name: str, exprs: Sequence[E.Expr], inputs: Sequence[dtype], stores: Sequence[dtype], scalars: Sequence[dtype]) -> tuple[Program, tuple[int, ...]]:
    """A Program that takes only the inputs it reads, and their numbers."""
    exprs, used = renumber(exprs)
    return Program(name, exprs, [inputs[i] for i in used], stores, scalars), used


def renumber(exprs: Sequence[E.Expr]) -> tuple[list[E.Expr], tuple[int, ...]]:
    """The Exprs over inputs 0, 1, ... and which inputs these were."""
    used = tuple(sorted(E.used(exprs, "arg")))
    place = {old: new for new, old in enumerate(used)}
    return E.substitute(exprs, lambda x: E.arg(place[x.attr], x.dtype) if x.op == "arg" else None), used


def common_dtype(op: Op, args: Sequence[Any], kinds: Sequence[str]) -> dtype:
    """The dtype that operands are promoted to. DTypeError for one that the row does not take."""
    groups: tuple[list[dtype], list[dtype], list[dtype]] = ([], [], [])
    skip = op.promote.skip
    for a, kind in zip(args, kinds, strict=True):
        if kind not in (TENSOR, SCALAR) or a is None:
            continue
        if skip:
            skip -= 1
        elif isinstance(a, Tensor):
            groups[0 if a._shape else 1].append(a.dtype)
        else:
            groups[2].append(dtypes.of_python(a))
    if not any(groups):
        return dtypes.get_default_dtype()
    common = op.promote.common(*groups)
    table.check_dtype(op, common)
    for a, kind, p in zip(args, kinds, op.schema.params, strict=True):
        if kind == FACTOR:
            check_factor(op.schema.name, p.name, a, common)
    return common


def check_factor(name: str, factor: str, value: Any, common: dtype) -> None:
    """DTypeError for a factor that does not fit the dtype of the result, which it does not lift."""
    kind = dtypes.of_python(value).kind
    if factor != "value" and kind == dtypes.BOOL and common.kind != dtypes.BOOL:
        raise DTypeError(f"{name}: Boolean {factor} only supported for Boolean results.")
    if kind == COMPLEX and common.kind < COMPLEX:
        raise DTypeError(f"{name}: For non-complex input tensors, argument {factor} must not be a complex number.")
    if factor != "value" and kind == dtypes.FLOAT and common.kind < dtypes.FLOAT:
        raise DTypeError(f"{name}: For integral input tensors, argument {factor} must not be a floating point number.")


def leaves(op: Op, args: Sequence[Any], kinds: Sequence[str], common: dtype) -> tuple[list[Any], tuple[dtype, ...]]:
    """The body's arguments: typed leaves for tensors and numbers, the rest as it is."""
    out: list[Any] = []
    scalars: list[dtype] = []
    skip, inputs = op.promote.skip, 0
    for a, kind in zip(args, kinds, strict=True):
        if kind == STATIC or a is None:
            out.append(a)
            continue
        d = common.compute
        if kind == SEED:
            d = dtypes.uint64
        elif kind == FLOAT_ARG:
            d = common.compute.real if common.kind >= dtypes.FLOAT else dtypes.float32
        elif skip:
            check_condition(op, a)
            d, skip = a.dtype.compute if isinstance(a, Tensor) else dtypes.bool_, skip - 1
        if isinstance(a, Tensor):
            leaf = E.arg(inputs, a.dtype.compute)
            out.append(E.cast(leaf, d))
            inputs += 1
        elif is_baked(op, a):
            out.append(E.const(a, d))
        else:
            out.append(E.scalar(len(scalars), d))
            scalars.append(d)
    return out, tuple(scalars)


def is_baked(op: Op, a: Any) -> bool:
    """Whether the number is part of the plan."""
    return a.__class__ in (int, float) and a in op.baked


def check_condition(op: Op, t: Any) -> None:
    """DTypeError unless ``t`` can be a condition."""
    if isinstance(t, Tensor) and t.dtype not in (dtypes.bool_, dtypes.uint8):
        raise DTypeError(f"{op.public}: expected condition to be a boolean tensor, but got a tensor with dtype {t.dtype.name}. Hint: use x != 0")


def store_dtype(op: Op, x: E.Expr, common: dtype, args: Sequence[Any]) -> dtype:
    """The dtype of a result: the promoted one where the body computed in it, else the body's own."""
    if op.promote.result == "self":
        return args[0].dtype
    if op.promote.result == "dtype":
        return next(a for a in args if isinstance(a, dtype))
    if op.promote.result != "same":
        return dtypes.FROM_CODE[op.promote.result]
    if x.dtype is common.compute:
        return common
    if common.kind == COMPLEX and x.dtype is common.compute.real:
        return common.real
    return x.dtype


class Elementwise:
    """The kind."""

    name = "ELEMENTWISE"
    inplace = True

    def prepare(self, op: Op) -> None:
        """Sort the parameters into tensors, run-time numbers and static arguments; note rows that are one intrinsic."""
        kind = {"Tensor": TENSOR, "Scalar": SCALAR, "float": FLOAT_ARG, "Seed": SEED}
        op.extra = tuple(FACTOR if p.type == "Scalar" and p.keyword else kind.get(p.type, STATIC) for p in op.schema.params)

    def intrinsics(self, op: Op) -> list[str]:
        """The intrinsics (one a dtype class at most) that the row's body is, with its operands in order and nothing else."""
        n = op.extra.count(TENSOR)
        rest = [p.default for p in op.schema.params[n:]]
        if set(op.extra[:n]) != {TENSOR} or set(op.extra[n:]) - {STATIC} or REQUIRED in rest:
            return []
        found = []
        for d in (dtypes.float32, dtypes.int32, dtypes.bool_, dtypes.complex64):
            if "bifc"[d.kind] in op.dtypes:
                args = [E.arg(i, dtypes.bool_ if i < op.promote.skip else d) for i in range(n)]
                try:
                    body = op.body(*args, *rest)
                except DTypeError:  # a body may refuse operands, such as a mask that is no mask
                    continue
                if isinstance(body, E.Expr) and list(body.args) == args:
                    found.append(body.op)
        return found

    def plan(self, op: Op, args: tuple[Any, ...]) -> tuple[Plan, list[Tensor], list[Any]]:
        """The plan of a call (cached), its tensors and its run-time numbers."""
        key: list[Any] = [dtypes._default]
        tensors: list[Tensor] = []
        values: list[Any] = []
        for a, kind in zip(args, op.extra, strict=True):
            if kind == STATIC or a is None:
                key.append(a)
            elif isinstance(a, Tensor):
                tensors.append(a)
                key.append(a._key & ~CONTIGUOUS)
            elif op.baked and is_baked(op, a):
                key.append((a.__class__, a))
            else:
                values.append(a)
                key.append(a.__class__)
        k = tuple(key)
        plan = op.plans.get(k)
        if plan is None:
            plan = op.plans[k] = Plan(op, args, None)
        return plan, tensors, values

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Compute; a Tensor, or a tuple of them."""
        plan, tensors, values = self.plan(op, args)
        if not tensors:
            raise DTypeError(f"{op.public}: needs at least one tensor; got {args!r}")
        device = tensors[0].device
        if any(t.device is not device for t in tensors):
            tensors, device = same_device(op, tensors)
        shape = layout.broadcast_shapes(op.public, *[t._shape for t in tensors])
        if out is None:
            stores, outs = plan.stores, None
        else:
            outs = prepare_outputs(op, args, out, shape, plan.stores, tensors)
            stores = tuple(t.dtype for t in outs)
        if plan.guards:
            domain.check(op, plan.guards, tensors, values, device)
        if values:
            values = self.numbers(op, plan, args, values)
        program, used = plan.program(op.schema.name, stores)
        results = program.run([tensors[i] for i in used], values, shape, device, outs)
        return results[0] if len(results) == 1 else tuple(results)

    def rounds(self, op: Op, plan: Plan) -> bool:
        """Whether numbers are rounded to the operands' dtype: f16 and bf16 compare as such, though their arithmetic is f32's."""
        return op.promote is table.TO_BOOL and plan.common.compute is not plan.common

    def numbers(self, op: Op, plan: Plan, args: tuple[Any, ...], values: list[Any]) -> list[Any]:
        """The run-time numbers as the operands' dtype has them: in range where they are stored, rounded where they are compared."""
        if op.promote in (table.KEEP, table.COND):
            domain.check_range(op, values, args[0].dtype if op.promote is table.KEEP else plan.common)
        elif FACTOR in op.extra and plan.common.kind < dtypes.FLOAT:
            convert = bool if plan.common.kind == dtypes.BOOL else int
            factors = [k == FACTOR for a, k in zip(args, op.extra, strict=True) if k != STATIC and a is not None and not isinstance(a, Tensor)]
            return [convert(v) if f else v for v, f in zip(values, factors, strict=True)]
        elif self.rounds(op, plan):
            return [float(np.asarray(v, plan.common.np)) for v in values]
        return values

    def node(self, op: Op, args: tuple[Any, ...], outputs: Sequence[Tensor], first: Any) -> Node:
        """Record a call."""
        plan, tensors, values = self.plan(op, args)
        edges = record.edges_of(tensors)
        if first is not None:
            edges = (first, *edges[1:])
        mask = tuple(e is not None for e in edges)
        backward = plan.backward(op, args, mask, outputs)
        return ElementwiseNode(backward, tensors, values, outputs, edges)


def same_device(op: Op, tensors: list[Tensor]) -> tuple[list[Tensor], Any]:
    """Zero-dim cpu tensors join the others' device; anything else on two devices is an error."""
    from tensorx.ops.convert import to_device
    from tensorx.ops.dispatch import device_of
    device = next((t.device for t in tensors if t._shape or t.device.type != "cpu"), tensors[0].device)
    moved = [to_device(t, device) if not t._shape and t.device.type == "cpu" else t for t in tensors]
    return moved, device_of(op, moved)


class Backward:
    """The traced gradient rule for one set of wanted gradients."""

    __slots__ = ("dtypes", "exprs", "keeps", "missing", "needed", "op", "out_dtypes", "parts", "program", "reads", "sources", "wanted")

    def __init__(self, op: Op, plan: Plan, args: Sequence[Any], mask: tuple[bool, ...], outputs: Sequence[Tensor]) -> None:
        self.op = op
        n_in, n_out = len(plan.inputs), len(plan.exprs)
        gs = [E.arg(n_in + i, t.dtype.compute) for i, t in enumerate(outputs)]
        outs = [E.arg(n_in + n_out + i, t.dtype.compute) for i, t in enumerate(outputs)]
        single = n_out == 1
        rules = op.vjp(gs[0] if single else gs, outs[0] if single else outs, *plan.leaves)
        rules = rules if isinstance(rules, tuple) else (rules,)
        operands = [a for a, k in zip(args, op.extra, strict=True) if k == TENSOR]
        cotangents = [r for r, a in zip(rules, operands, strict=True) if isinstance(a, Tensor)]
        self.wanted = tuple(i for i, (m, r) in enumerate(zip(mask, cotangents, strict=True)) if m and r is not None and r is not NotImplemented)
        names = [p.name for p, a in zip(op.schema.params, args, strict=True) if isinstance(a, Tensor)]
        self.missing = [name for name, m, r in zip(names, mask, cotangents, strict=True) if m and r is NotImplemented]
        metas = self.dtypes = [plan.inputs[i] for i in self.wanted]
        self.out_dtypes = [t.dtype for t in outputs]
        self.exprs = [E.cast(cotangents[i], d.compute) for i, d in zip(self.wanted, metas, strict=True)]
        dtypes_of = (*plan.inputs, *(t.dtype for t in outputs), *(t.dtype for t in outputs))
        self.program, self.reads = pruned(op.schema.name + "_backward", self.exprs, dtypes_of, metas, plan.scalars)
        self.sources = dtypes_of
        self.parts: dict[tuple[bool, ...], list[tuple[Any, tuple[int, ...], list[int]]]] = {}
        self.needed = tuple(r for r in self.reads if r < n_in or r >= n_in + n_out)
        numbers = [k for a, k in zip(args, op.extra, strict=True) if k != STATIC and a is not None and not isinstance(a, Tensor)]
        #: whether the rule reads a number given for a tensor: PyTorch saves it as one, so that a second backward raises
        self.keeps = op.extra.count(TENSOR) == 2 and any(numbers[i] == TENSOR for i in E.used(self.exprs, "scalar"))

    def run(self, reads: Sequence[Tensor], values: Sequence[Any], shapes: Sequence[tuple[int, ...]], out_shape: tuple[int, ...], device: Any) -> Any:
        """One cotangent per wanted input. Those of broadcast operands are summed by reduce kernels whose load is the rule, without a temporary."""
        summed = tuple([shapes[i] != out_shape for i in self.wanted])
        if True not in summed or use_numpy(device, math.prod(out_shape), self.program.small):
            return self.program.run(reads, values, out_shape, device)
        parts = self.parts.get(summed)
        if parts is None:
            parts = self.parts[summed] = list(self._split(summed))
        by_number = dict(zip(self.reads, reads, strict=True))
        results: list[Any] = [None] * len(self.wanted)
        for program, numbers, places in parts:
            ins = [by_number[n] for n in numbers]
            if isinstance(program, Program):
                found = program.run(ins, values, out_shape, device)
            else:
                shape = shapes[self.wanted[places[0]]]
                lead = len(out_shape) - len(shape)
                axes = tuple(i for i in range(len(out_shape)) if i < lead or (shape[i - lead] == 1 and out_shape[i] != 1))
                found = [make(r._storage, shape, None, 0, r.dtype) for r in program.run(ins, values, out_shape, axes, device)]
            for place, r in zip(places, found, strict=True):
                results[place] = r
        return results

    def _split(self, summed: tuple[bool, ...]) -> Any:
        """The rule in parts: one Program for the cotangents that keep the shape, one RowProgram for each summed one."""
        name = self.program.name
        keep = [i for i, s in enumerate(summed) if not s]
        if keep:
            yield *pruned(name, [self.exprs[i] for i in keep], self.sources, [self.dtypes[i] for i in keep], self.program.scalars), keep
        for i, s in enumerate(summed):
            if s:
                renumbered, used = renumber([E.row_sum(self.exprs[i])])
                yield RowProgram(name + "_sum", renumbered, [self.sources[n] for n in used], [self.dtypes[i]], self.program.scalars, [False]), used, [i]


class ElementwiseNode(Node):
    """The backward of an elementwise call: one fused kernel, or Tensor ops under create_graph."""

    __slots__ = ("backward", "device", "out_shape", "saved", "shapes", "values")

    def __init__(self, backward: Backward, tensors: Sequence[Tensor], values: Sequence[Any], outputs: Sequence[Tensor], edges: Any) -> None:
        Node.__init__(self, edges, len(outputs))
        self.backward, self.values = backward, values
        self.shapes = tuple(t._shape for t in tensors)
        self.out_shape, self.device = outputs[0]._shape, outputs[0].device
        self.saved: Any = self.save(tensors, outputs, edges) if backward.needed else ()

    def save(self, tensors: Sequence[Tensor], outputs: Sequence[Tensor], edges: Any) -> list[record.Saved]:
        """The values that the rule's body reads."""
        n, name = len(tensors), self.name() if self.backward.needed[-1] >= len(tensors) else ""
        return [record.save_input(tensors[i], edges[i]) if i < n else record.save_output(outputs[i - n - len(outputs)], i - n - len(outputs), name)
                for i in self.backward.needed]

    def name(self) -> str:
        return record.backward_name(self.backward.op)

    def outputs_written(self) -> None:
        """Outputs saved before the write's version bump hold what the write produced."""
        for s in self.saved or ():
            if s.nr >= 0 and s.storage is not None:
                s.version = s.storage.version

    def release(self) -> None:
        if self.saved or self.backward.keeps:
            self.saved = None

    def apply(self, grads: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
        saved, backward = self.saved, self.backward
        if backward.missing:
            raise NotImplementedError(f"the derivative for '{backward.op.public}: {backward.missing[0]}' is not implemented")
        if saved is None:
            raise GradError(FREED)
        n, n_out = len(self.shapes), len(grads)
        if n_out > 1 and any(g is None for g in grads):  # not `in`: tensors compare elementwise
            grads = self.materialize(grads)
        values = iter([s.unpack(self) for s in saved])
        reads = [grads[r - n] if n <= r < n + n_out else next(values) for r in backward.reads]
        if create_graph:
            results: Any = self.differentiable(reads)
        elif state.stack:
            results = dispatch.call(table.OPS["_backward"], (tuple(reads), backward, tuple(self.values), self.shapes, self.out_shape, self.device))
        else:
            results = backward.run(reads, self.values, self.shapes, self.out_shape, self.device)
        out: list[Any] = [None] * len(self.edges)
        for i, d, r in zip(backward.wanted, backward.dtypes, results, strict=True):
            shape = self.shapes[i]
            out[i] = r if r._shape == shape and r.dtype is d else record.fit(r, record.Meta(shape, d, self.device))
        return tuple(out)

    def materialize(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Undefined cotangents as zeros: the fused kernel reads them all."""
        from tensorx.ops import factories
        return tuple(factories.zeros(self.out_shape, dtype=d, device=self.device) if g is None else g
                     for g, d in zip(grads, self.backward.out_dtypes, strict=True))

    def differentiable(self, reads: list[Any]) -> list[Any]:
        """Run the rule as recorded ops."""
        from tensorx.ops import factories
        from tensorx.ops.expr_tensor import evaluate
        backward = self.backward
        full = dict(zip(backward.reads, reads, strict=True))
        tensors = [full.get(i) for i in range(max(full, default=-1) + 1)]
        results = evaluate(backward.exprs, tensors, self.values, backward.program.scalars, self.out_shape, self.device)
        return [r if isinstance(r, Tensor) else factories.full(self.out_shape, r, dtype=d, device=self.device)
                for r, d in zip(results, backward.dtypes, strict=True)]


ELEMENTWISE = Elementwise()
__all__ = ["ELEMENTWISE", "Backward", "ElementwiseNode", "Plan", "state"]
