"""Typed stubs of what is installed from the table: functions of the package and methods of Tensor.

Names such as ``float``, ``sum`` and ``bool`` are taken by ops and dtypes here, so annotations use private aliases of the builtins.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

from tensorx import dtypes
from tensorx.ops import bind, describe, table
from tensorx.ops import schema as S
from tensorx.ops.table import Op

HEAD = '''"""{note}"""
# ruff: noqa

import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from tensorx.autograd.hooks import RemovableHandle
from tensorx.devices import registry
from tensorx.dtypes import dtype as DType
from tensorx.ops.random import Generator
from tensorx.tensor import Tensor

_bool = builtins.bool
_int = builtins.int
_float = builtins.float
_complex = builtins.complex
_Number = builtins.complex | builtins.float | builtins.int | builtins.bool
'''
TYPES = {
    "Tensor": "Tensor", "int": "_int", "float": "_float", "bool": "_bool", "Scalar": "_Number", "int[]": "_int | Sequence[_int]",
    "Tensor[]": "Sequence[Tensor]", "ScalarType": "DType | type", "str": "str", "Seed": "_int", "Generator": "Generator", "Device": "Any", "Any": "Any",
}


def annotation(p: S.Param, op: Op) -> str:
    """The type of a parameter."""
    if p.name == "indices" and p.type == "Tensor[]":
        return "Sequence[Tensor | None]"
    text = TYPES[p.type]
    if p.type == "Tensor" and bind.takes_numbers(op) and (p.name != "self" or p is not op.schema.params[0]):
        text += " | _Number"
    return text + (" | None" if p.optional else "")


def parameter(p: S.Param, op: Op) -> str:
    """``dim: _int = -1``."""
    return f"{p.name}: {annotation(p, op)}" + ("" if p.default is S.REQUIRED else f" = {p.default!r}")


def parameters(op: Op, method: bool, inplace: bool = False) -> list[str]:
    """The parameter list, ``self`` bare in methods."""
    out = []
    star = False
    for i, p in enumerate(op.schema.params):
        if p.keyword and not star:
            out.append("*")
            star = True
        out.append("self" if method and i == 0 else parameter(p, op))
    if describe.has_out(op) and not inplace:
        n = len(op.schema.returns)
        target = "Tensor" if n == 1 else f"tuple[{', '.join(['Tensor'] * n)}]"
        out += ([] if star else ["*"]) + [f"out: {target} | None = None"]
    return out


def tuple_name(op: Op) -> str:
    """The class of a row with several results."""
    return f"_{op.schema.name}_results"


def returns(op: Op) -> str:
    """The type of the result."""
    if op.schema.returns_list:
        return "tuple[Tensor, ...]"
    return "Tensor" if len(op.schema.returns) == 1 else tuple_name(op)


def definition(name: str, ops: Sequence[Op], method: bool, inplace: bool = False) -> list[str]:
    """All overloads of a function, with the doc line."""
    forms: list[tuple[list[str], str, str]] = []
    for op in ops:
        result = "Tensor" if inplace else returns(op)
        forms.append((parameters(op, method, inplace), result, op.doc))
        if op.schema.varargs and op.schema.is_method:
            p = op.schema.positional[0]
            first = "self" if method else "self: Tensor"
            forms.append(([first, f"*{p.name}: _int"], result, op.doc))
    decorator = ["@overload"] if len(forms) > 1 else []
    out = []
    for params, result, doc in forms:
        out += [*decorator, f"def {name}({', '.join(params)}) -> {result}:", f'    """{doc}"""']
    return out


def named_tuples() -> list[str]:
    """Classes of the rows with several results."""
    out: list[str] = []
    seen: set[str] = set()
    for op in table.OPS.values():
        if len(op.schema.returns) > 1 and tuple_name(op) not in seen:
            seen.add(tuple_name(op))
            out += ["", f"class {tuple_name(op)}(NamedTuple):", *(f"    {n}: Tensor" for n in op.schema.returns)]
    return out


def functions(note: str) -> str:
    """The stub of the package's functions that come from rows, and of its dtypes."""
    lines = [HEAD.format(note=note), *(f"{d.name}: DType" for d in dtypes.ALL)]
    lines += [f"{name}: DType" for name in dtypes.ALIASES if name not in {d.name for d in dtypes.ALL}]
    lines += named_tuples() + [""]
    for name, ops in sorted(table.BY_NAME.items()):
        if describe.public_name(name) != f"tensorx.{name}":
            continue
        lines += definition(name, ops, method=False)
        if describe.has_inplace(ops[0]):
            lines += definition(name + "_", ops, method=False, inplace=True)
    return "\n".join(lines) + "\n"


def namespace(note: str, name: str) -> str:
    """The stub of a namespace's functions."""
    lines = [HEAD.format(note=note), *named_tuples(), ""]
    for row, ops in sorted(table.BY_NAME.items()):
        if row.startswith(name + "_"):
            lines += definition(row.removeprefix(name + "_"), ops, method=False)
    return "\n".join(lines) + "\n"


def methods(note: str) -> str:
    """The stub of Tensor's methods that come from rows or are installed beside them."""
    from tensorx.ops import METHODS
    from tensorx.tensor import Tensor

    lines = [HEAD.format(note=note), *named_tuples(), "", "class TensorMethods:"]
    body: list[str] = []
    for name, ops in sorted(table.BY_NAME.items()):
        rows = [o for o in ops if o.schema.is_method]
        if rows and name not in METHODS and not _own(Tensor, name) and not name.startswith("_"):
            body += definition(name, rows, method=True)
        if rows and describe.has_inplace(ops[0]) and name + "_" not in METHODS and not name.startswith("_"):
            body += definition(name + "_", rows, method=True, inplace=True)
    for name, f in sorted(METHODS.items()):
        if name.startswith("__") or not name.startswith("_"):
            body += installed(name, f)
    body += operators()
    return "\n".join(lines + ["    " + line for line in body]) + "\n"


def _own(cls: type, name: str) -> bool:
    """Whether the class defines the name in its own source (then the source types it)."""
    found = cls.__dict__.get(name)
    return getattr(found, "__module__", "") == "tensorx.tensor" or isinstance(found, property)


def installed(name: str, f: Any) -> list[str]:
    """A hand-written method or property: its own signature."""
    if isinstance(f, property):
        getter = ["@property", f"def {name}(self) -> Tensor: ..."]
        return getter + ([f"@{name}.setter", f"def {name}(self, value: Tensor) -> None: ..."] if f.fset else [])
    doc = (inspect.getdoc(f) or "").partition("\n")[0]
    return [f"def {name}{_signature(f)}:", f'    """{doc}"""' if doc else "    ..."]


def _signature(f: Callable[..., Any]) -> str:
    """As written, with the builtins' names replaced by their aliases."""
    sig = inspect.signature(f)
    params = list(sig.parameters.values())
    params[0] = params[0].replace(name="self", annotation=inspect.Parameter.empty)
    text = str(sig.replace(parameters=params)).replace("'", "")
    return re.sub(r"\b(bool|int|float|complex)\b", r"_\1", text)


def operators() -> list[str]:
    """The dunder methods."""
    out: list[str] = []
    for op in table.OPS.values():
        if not op.symbol:
            continue
        stem = bind.SYMBOLS[op.symbol]
        if op.symbol in bind.UNARY:
            out.append(f"def __{stem}__(self) -> Tensor: ...")
        elif op.symbol in ("==", "!="):  # object's own give bool
            out.append(f"def __{stem}__(self, other: Any) -> Tensor: ...  # type: ignore[override]")
        elif op.symbol in bind.COMPARISONS:
            out.append(f"def __{stem}__(self, other: Tensor | _Number) -> Tensor: ...")
        else:
            other = "Tensor | _Number" if bind.takes_numbers(op) else "Tensor"
            out += [f"def __{stem}__(self, other: {other}) -> Tensor: ...", f"def __r{stem}__(self, other: {other}) -> Tensor: ..."]
            if bind.takes_numbers(op):
                out.append(f"def __i{stem}__(self, other: {other}) -> Tensor: ...")
    return out
