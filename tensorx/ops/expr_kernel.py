"""The kernel interpreter of Expr: straight-line, dialect-neutral C text (see `kernels.spec`).

Complex nodes never reach the text: `split` turns each into a real and an imaginary Expr first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tensorx.dtypes import BOOL, COMPLEX, FLOAT, dtype
from tensorx.ops import expr as E
from tensorx.ops.expr_complex import split

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
         "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}
NARROW = ("i8", "u8", "i16", "u16")  # C computes these as int: the result is cast back


def literal(value: object, d: dtype) -> str:
    """The one place that spells constants: exact, with the type's suffix, never a double in a float kernel."""
    if d.kind == BOOL:
        return "1" if value else "0"
    if d.kind == FLOAT:
        x = d.np.type(value)
        if not np.isfinite(x):
            word = {"f32": "0x7f800000u", "f64": "0x7ff0000000000000ul"}[d.code]
            if math.isnan(x):
                word = {"f32": "0x7fc00000u", "f64": "0x7ff8000000000000ul"}[d.code]
            bits = f"tx_bits_{'u32_f32' if d.code == 'f32' else 'u64_f64'}({word})"
            return f"(-{bits})" if x < 0 else bits
        text = str(x) if "." in str(x) or "e" in str(x) else f"{x}.0"
        return f"({text}{'f' if d.code == 'f32' else ''})"
    text = str(int(value))  # type: ignore[call-overload]
    if d.code == "i64" and int(text) == -(2**63):
        return "(-9223372036854775807l - 1)"
    if d.code == "i32" and int(text) == -(2**31):
        return "(-2147483647 - 1)"
    suffix = {"i64": "l", "u64": "ul", "u32": "u"}.get(d.code, "")
    return f"(({d.code}){text}{suffix})"


def emit(outputs: Sequence[E.Expr], targets: Sequence[str], prefix: str = "t") -> str:
    """Statements that assign each output to its target name; a complex output ``y0`` is assigned to ``y0r`` and ``y0i``."""
    reals: list[E.Expr] = []
    names: list[str] = []
    for x, target in zip(outputs, targets, strict=True):
        parts = split(x)
        reals += parts
        names += [target] if len(parts) == 1 else [target + "r", target + "i"]
    known: dict[E.Expr, str] = {}
    lines: list[str] = []
    for node in E.topological(reals):
        text, simple = _text(node, known)
        if simple:
            known[node] = text
        else:
            name = f"{prefix}{len(lines)}"
            lines.append(f"const {node.dtype.code} {name} = {text};")
            known[node] = name
    return "\n".join([*lines, *(f"{name} = {known[x]};" for name, x in zip(names, reals, strict=True))])


def _text(node: E.Expr, known: dict[E.Expr, str]) -> tuple[str, bool]:
    """The node as C, and whether it is so simple that it needs no variable."""
    if node.op == "const":
        return literal(node.attr, node.dtype), True
    if node.op in ("arg", "scalar"):
        stem = "x" if node.op == "arg" else "s"
        return stem + (f"{node.attr[0]}{node.attr[1]}" if isinstance(node.attr, tuple) else str(node.attr)), True
    if node.op == "index":
        return "idx", True
    if node.op == "place":
        return "place", True
    if node.op == "count":
        return f"(({node.dtype.code})count)", True
    if node.op == "acc":
        return f"a{node.attr or 0}" if not isinstance(node.attr, tuple) else f"a{node.attr[0] or 0}{node.attr[1]}", True
    if node.op.startswith("row_"):
        raise TypeError(f"emit: {node.op} must be lowered to a stage by the ROWWISE kind")
    operands = [known[a] for a in node.args]
    code = node.args[0].dtype.code
    if node.op == "cast":
        return f"tx_cast_{code}_{node.dtype.code}({operands[0]})", False
    if node.op == "bits":
        return f"tx_bits_{code}_{node.dtype.code}({operands[0]})", False
    if node.op == "logical_not":
        return f"(b8)(!{operands[0]})", False
    if code == "b8" and node.op in ("add", "mul", "max", "min"):
        return f"(b8)({operands[0]} {'|' if node.op in ('add', 'max') else '&'} {operands[1]})", False
    if node.op == "bitwise_not":
        return (f"(b8)(!{operands[0]})" if code == "b8" else f"({code})(~{operands[0]})"), False
    if node.op == "neg":
        return f"({code})(-{operands[0]})", False
    if node.op in INFIX:
        text = f"{operands[0]} {INFIX[node.op]} {operands[1]}"
        return (f"({node.dtype.code})({text})" if node.dtype.kind == BOOL or code in NARROW else text), False
    return f"tx_{node.op}_{node.args[-1].dtype.code}({', '.join(operands)})", False


__all__ = ["COMPLEX", "emit", "literal"]
