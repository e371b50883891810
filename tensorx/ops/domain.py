"""Operand values that integer arithmetic is not defined for: division by zero, negative powers.

A kernel cannot raise. Numbers are looked at before the call; tensors in host memory too. On other devices a mask of the zeros goes through an
index kernel, which notes the first one in the device's error cell: the next call that waits raises, as for a bad index.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes, faults
from tensorx.dtypes import INT
from tensorx.errors import BadValue, ZeroDivision
from tensorx.ops import expr as E
from tensorx.tensor import Tensor, empty

DIVISIONS = ("floordiv", "remainder", "fmod", "truncdiv")
Guard = tuple[str, str, int]  # (intrinsic, 'arg' or 'scalar', its number), or ('pow', 'const', the exponent)


def guards(exprs: Sequence[E.Expr]) -> tuple[Guard, ...]:
    """The operands that a traced body divides integers by, or raises integers to."""
    found: dict[Guard, None] = {}
    for node in E.topological(exprs):
        if node.dtype.kind == INT and (node.op in DIVISIONS or node.op == "pow"):
            leaf = node.args[1]
            while leaf.op == "cast":
                leaf, = leaf.args
            if leaf.op == "scalar" or (leaf.op == "arg" and node.op != "pow") or (leaf.op == "const" and node.op == "pow"):
                found[node.op, leaf.op, leaf.attr] = None
    return tuple(found)


def check(op: Any, found: Sequence[Guard], tensors: Sequence[Tensor], values: Sequence[Any], device: Any) -> None:
    """Raise for a divisor of zero (RuntimeError and ZeroDivisionError) or a negative integer power (RuntimeError)."""
    for intrinsic, kind, i in found:
        if kind == "arg":
            _check_tensor(op, tensors[i], device)
        elif intrinsic == "pow" and (i if kind == "const" else values[i]) < 0:
            raise BadValue(f"{op.public}: Integers to negative integer powers are not allowed. Hint: convert to a floating-point dtype first")
        elif intrinsic != "pow" and not int(values[i]):
            raise ZeroDivision(message(op.public))


def check_range(op: Any, values: Sequence[Any], d: Any) -> None:
    """BadValue for a number that ``d`` cannot hold. Negative ones wrap around in unsigned dtypes, as in PyTorch."""
    for v in values:
        if isinstance(v, complex):
            if v.imag and d.kind < dtypes.COMPLEX:
                raise BadValue(f"{op.public}: value {v} cannot be converted to type {d.name} without overflow")
            continue
        if d.kind == INT:
            info = np.iinfo(d.np)
            fits = math.isfinite(v) and (info.min if d.is_signed else -info.max) <= int(v) <= info.max
        else:
            fits = d is not dtypes.float32 or not math.isfinite(v) or abs(v) <= np.finfo(np.float32).max
        if not fits:
            raise BadValue(f"{op.public}: value {v} cannot be converted to type {d.name} without overflow")


def message(name: str) -> str:
    """The text for an integer divisor of zero."""
    return f"{name}: ZeroDivisionError: integer division by zero. Hint: floating-point division gives inf or nan"


def _check_tensor(op: Any, t: Tensor, device: Any) -> None:
    if device.type == "meta" or not t.numel():
        return
    if device.type == "cpu":
        if not np.all(t._array()):
            raise ZeroDivision(message(op.public))
        return
    from tensorx.ops import convert
    report(op, convert.cast(t.detach() == 0, dtypes.int32), message(op.public))


def report(op: Any, mask: Tensor, text: str) -> None:
    """Raise what ``text`` says if ``mask`` (int32, zeros and ones) has a one: now on the cpu, at the next call that waits elsewhere."""
    if mask.device.type == "cpu":
        if mask._array().any():
            raise faults.of_text(text)
        return
    from tensorx.ops.kinds.index import Index
    walk(op, Index(mask, mask._get_strides(), 1, 0, meaning=faults.Fault(text)))


def walk(op: Any, index: Any) -> None:
    """Look at every entry of an index operand as a kernel would: a bad one goes to the device's error cell."""
    from tensorx.ops import factories
    from tensorx.ops.kinds.index import Take, take
    shape, device = index.tensor._shape, index.tensor.device
    source = factories.zeros(1, dtype=dtypes.uint8, device=device)
    take(op, Take(source, shape, (0,) * len(shape), [index]), empty(shape, dtypes.uint8, device))
