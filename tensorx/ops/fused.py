"""Fused in-place steps: a pure update rule over Expr becomes one kernel (optimisers).

The step is one primitive: it passes the door with its tensors, its rule and its run-time scalars, so a recorded training step replays it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.autograd.modes import state
from tensorx.ops import dispatch, layout, record
from tensorx.ops import expr as E
from tensorx.ops.dispatch import call
from tensorx.ops.expr_tensor import evaluate
from tensorx.ops.families import row
from tensorx.ops.kinds.elementwise import pruned
from tensorx.ops.table import NONDIFF, Op
from tensorx.tensor import Tensor


class Step(record.Ruled):
    """The kind: ``(tensors, rule, names, values)``; results go into ``out``."""

    name = "STEP"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Trace the rule once per dtypes and scalar names; run it."""
        tensors, rule, names, values = args
        device = dispatch.device_of(op, list(tensors))
        shape = tensors[0]._shape
        stores = None if out is None else tuple(t.dtype for t in out)
        key = (rule, names, tuple(t.dtype for t in tensors), stores)
        found = op.plans.get(key)
        if found is None:
            found = op.plans[key] = self.trace(rule, names, tensors, stores)
        program, used = found
        layout.broadcast_shapes(op.public, *[t._shape for t in tensors])
        return tuple(program.run([tensors[i] for i in used], values, shape, device, out))

    def trace(self, rule: Callable[..., Any], names: tuple[str, ...], tensors: Sequence[Tensor], stores: Sequence[Any] | None) -> Any:
        """The rule as a Program in the first tensor's compute dtype."""
        results, scalar = traced(rule, names, tensors)
        stores = stores or [t.dtype for t in tensors[: len(results)]]
        name = getattr(rule, "__name__", "") or getattr(getattr(rule, "func", None), "__name__", "")
        name = name if name.isidentifier() else "step"
        return pruned(name, results, [t.dtype for t in tensors], stores, [scalar] * len(names))


def traced(rule: Callable[..., Any], names: Sequence[str], tensors: Sequence[Tensor]) -> tuple[tuple[Any, ...], Any]:
    """The rule's Exprs in the first tensor's compute dtype, and the dtype of its scalars."""
    d = tensors[0].dtype.compute
    leaves = [E.cast(E.arg(i, t.dtype.compute), d) for i, t in enumerate(tensors)]
    scalar = d.real if d.kind >= dtypes.FLOAT else d
    results = rule(*leaves, **{n: E.scalar(i, scalar) for i, n in enumerate(names)})
    return results if isinstance(results, tuple) else (results,), scalar


def _descend(p: Any, g: Any, *, lr: Any) -> tuple[Any, ...]:
    return (p - lr * g,)


step_row = row("_step(Tensor[] tensors, Any rule, Any names, Any values) -> Tensor[]", Step(), None, NONDIFF,
               ref=lambda tensors, rule, names, values: [np.asarray(tensors[0]) - values[0] * np.asarray(tensors[1])], dtypes="f",
               samples=lambda t: [((t((3, 4)), t((3, 4))), _descend, ("lr",), (0.5,))], doc="An elementwise update rule applied in one kernel.")


def step(rule: Callable[..., Any], tensors: Sequence[Tensor], scalars: Mapping[str, Any], outs: Sequence[Tensor]) -> None:
    """Write ``rule(*tensors, **scalars)`` into ``outs`` (which may be among ``tensors``), in one kernel.

    All tensors have one shape and device. ``rule`` is pure, over Expr, and is traced once: keep one object for one rule.
    Where gradients are recorded (a differentiable optimiser), the rule runs as ops instead, on copies: what is written is read by backward.
    """
    if state.grad and record.requires_grad(list(tensors)):
        names, device = tuple(scalars), dispatch.device_of(step_row, list(tensors))
        exprs, scalar = traced(rule, names, tensors)
        copies = [t.clone() for t in tensors]
        results = evaluate(exprs, copies, list(scalars.values()), [scalar] * len(names), tensors[0]._shape, device)
        for out, result in zip(outs, results, strict=True):
            out.copy_(result)
        return
    call(step_row, (tuple(tensors), rule, tuple(scalars), tuple(scalars.values())), tuple(outs))


class FusedBackward(record.Ruled):
    """The kind of `_backward`: ``(reads, backward, values, shape)``, a traced gradient rule as a call that modes see."""

    name = "BACKWARD"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Run the rule's Program."""
        reads, backward, values, shapes, shape, device = args
        return tuple(backward.run(reads, values, shapes, shape, device))


class _Product:
    """A fused gradient rule to sample `_backward` with: that of x * y in x."""

    @staticmethod
    def run(reads: Sequence[Tensor], values: Any, shapes: Any, shape: Any, device: Any) -> Any:
        """The rule's Program."""
        d = reads[0].dtype
        program, _ = pruned("mul_backward", [E.arg(0, d.compute) * E.arg(1, d.compute)], [d] * 2, [d], ())
        return program.run(reads, values, shape, device)


def _sample(reads: tuple[Any, ...]) -> tuple[Any, ...]:
    return reads, _Product, (), (), reads[0]._shape, reads[0].device


backward_row = row("_backward(Tensor[] reads, Any backward, Any values, Any shapes, Any shape, Any device) -> Tensor[]", FusedBackward(), None, NONDIFF,
                   ref=lambda reads, *rest: [np.asarray(reads[0]) * np.asarray(reads[1])], dtypes="f",
                   samples=lambda t: [_sample((t((3, 4)), t((3, 4))))], doc="A traced gradient rule, run as one kernel.")
