"""Examples of rows, made by running their small calls: the text of a doctest.

Outputs must be the same on every lane, so a sample whose printed result would change within a few units of the last place of f32 is not
used; where none is left, or operands are large, the shape is shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx.dtypes import FLOAT, INT, float64, int64
from tensorx.ops import describe, samples
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, from_host

LIMIT = samples.SMALL  # elements of an operand that are written out; a larger one is all ones
SHOWN = 20  # elements of a result that are printed; of a larger one the shape
SHIFTS = 12  # samples tried
SUMS = ("REDUCE", "ROWWISE", "SCAN", "CONTRACT", "COMPOSITE")  # kinds whose terms may cancel
SLACK = 2e-6  # relative; a few units in the last place of f32


def literal(x: Any) -> str:
    """An argument as source text."""
    if isinstance(x, Tensor):
        if x.numel() > LIMIT:
            return f"tensorx.ones{tuple(x.shape)}" if x.dtype.kind >= FLOAT else f"tensorx.zeros({tuple(x.shape)}, dtype={x.dtype})"
        other = f", dtype={x.dtype}" if x.dtype is float64 or (x.dtype.kind == INT and x.dtype is not int64) else ""
        return f"tensorx.tensor({_numbers(x.tolist())}{other})"
    if isinstance(x, list | tuple):
        inside = ", ".join(literal(i) for i in x)
        return f"({inside},)" if len(x) == 1 else f"({inside})"
    return repr(x)


def _numbers(x: Any) -> str:
    if isinstance(x, list):
        return "[" + ", ".join(_numbers(i) for i in x) + "]"
    if isinstance(x, float):
        return f"{x:.6g}" + ("" if x % 1 else ".") if math.isfinite(x) else f"tensorx.{x}".replace("tensorx.-", "-tensorx.")
    return repr(x).strip("()")


def _short(x: Any) -> Any:
    """The numbers that `_numbers` writes."""
    if isinstance(x, list):
        return [_short(i) for i in x]
    return float(f"{x:.6g}") if isinstance(x, float) else x


def plain(x: Any) -> Any:
    """The argument that `literal` writes."""
    if isinstance(x, Tensor):
        if x.numel() > LIMIT:
            return from_host(np.full(x.shape, x.dtype.kind >= FLOAT), x.dtype, samples.CPU)
        if x.dtype.kind >= FLOAT:
            return from_host(np.array(_short(x.tolist())), x.dtype, samples.CPU)
        return x
    return tuple(plain(i) for i in x) if isinstance(x, list | tuple) else x


def _nudged(x: Any, by: float, summed: bool) -> Any:
    """Results with every fraction changed a little; whole numbers are exact on every lane, unless they are sums."""
    if isinstance(x, Tensor):
        if x.dtype.kind < FLOAT:
            return x
        values = x.detach()._host()
        with np.errstate(invalid="ignore"):
            exact = (values == np.round(values)) & ((values != 0) | (not summed))
            return from_host(np.where(exact, values, values * (1 + by) + by * summed), x.dtype, samples.CPU)
    return tuple(_nudged(i, by, summed) for i in x)


def _steady(result: Any, summed: bool) -> bool:
    return len({repr(_nudged(result, by, summed)) for by in (-SLACK, 0.0, SLACK)}) == 1


def _tensors(x: Any) -> list[Tensor]:
    return [x] if isinstance(x, Tensor) else [t for i in x for t in _tensors(i)] if isinstance(x, list | tuple) else []


def _call(op: Op, name: str, args: Sequence[Any], kwargs: dict[str, Any], method: bool) -> list[str]:
    """The call as doctest lines; a long first operand gets a line and a name."""
    words = [literal(a) for a in args] + [f"{k}={literal(v)}" for k, v in kwargs.items()]
    if not method:
        path = describe.public_name(name)
        line = f"{path}({', '.join(words)})"
        if len(line) <= 90 or not args or not isinstance(args[0], Tensor):
            return [line]
        return [f"x = {words[0]}", f"{path}({', '.join(['x', *words[1:]])})"]
    return [f"x = {words[0]}", f"x.{name}({', '.join(words[1:])})"]


def _run(op: Op, args: Sequence[Any], kwargs: dict[str, Any], inplace: bool) -> Any:
    from tensorx.ops import bind

    if inplace:
        return bind.inplace(op.schema.name)(*args, **kwargs)
    return bind.function(op.schema.name)(*args, **kwargs)


def example(op: Op, inplace: bool = False) -> list[str]:
    """Doctest lines of one row."""
    name = op.schema.name + ("_" if inplace else "")
    method = inplace or (op.kind.name == "VIEW" and not isinstance(getattr(Tensor, name, None), property))  # x.real is none
    for shift in range(SHIFTS):
        args, kwargs = samples.call_of(op, shift=shift)
        args, kwargs = plain(args), {k: plain(v) for k, v in kwargs.items()}
        if inplace and op.promote.lift >= FLOAT:  # such a row writes its own precision only
            args = (args[0].to(op.promote.common([args[0].dtype], [], [])), *args[1:])
        lines = _call(op, name, args, kwargs, method)
        result = _run(op, args, kwargs, inplace)
        small = all(t.numel() <= SHOWN for t in _tensors(result))
        if small and _steady(result, op.kind.name in SUMS):
            return [f">>> {line}" for line in lines] + repr(result).replace("\n\n", "\n<BLANKLINE>\n").splitlines()
        if not small:
            break
    shown = f"{lines[-1]}.shape" if isinstance(result, Tensor) else f"[y.shape for y in {lines[-1]}]"
    value = result.shape if isinstance(result, Tensor) else [y.shape for y in result]
    return [f">>> {line}" for line in [*lines[:-1], shown]] + [repr(value)]


def _without_repeats(lines: list[str]) -> list[str]:
    """Overloads often share their operand: it is assigned once."""
    kept: list[str] = []
    held = ""
    for line in lines:
        if line.startswith(">>> x = "):
            if line == held:
                continue
            held = line
        kept.append(line)
    return kept


def all_examples(by_name: dict[str, list[Op]]) -> dict[str, str]:
    """Name -> doctest text, for every public function and in-place form."""
    out: dict[str, str] = {}
    for name, ops in sorted(by_name.items()):
        if not describe.public_name(name):
            continue
        try:
            lines = _without_repeats([line for op in ops for line in example(op)])
            more = example(ops[0], inplace=True) if describe.has_inplace(ops[0]) else []
        except Exception as error:
            error.add_note(f"while running the documented example of '{name}': the row's first sample, or its domain")
            raise
        out[name] = "\n".join([">>> import tensorx", *lines])
        if more:
            out[name + "_"] = "\n".join([">>> import tensorx", *more])
    return out
