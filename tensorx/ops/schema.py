"""Operator signatures in PyTorch's own notation, and binding Python arguments to them.

``max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)``

From a schema come the binder, overload choice, ``axis=`` for ``dim=``, varargs sizes, error text, docs and stubs.
"""

from __future__ import annotations

import functools
import numbers
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

REQUIRED = object()
ALIASES = {"axis": "dim", "keepdims": "keepdim", "x": "self", "a": "self", "x1": "self", "x2": "other", "input": "self"}

_SIGNATURE = re.compile(r"^(?P<name>\w+)(?:\.(?P<overload>\w+))?\((?P<params>.*)\)\s*->\s*(?P<returns>.+)$")
_PARAM = re.compile(r"^(?P<type>[A-Za-z]+(?:\[\d*\])?\??(?:\(\w!?\))?)\s+(?P<name>\w+)(?:=(?P<default>.+))?$")


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter: its type without ``?``, whether None is allowed, its default (REQUIRED if none), whether keyword only."""

    name: str
    type: str
    optional: bool
    default: Any
    keyword: bool
    length: int  # int[2]: a lone int is repeated

    def __str__(self) -> str:
        text = f"{self.type}{'?' if self.optional else ''} {self.name}"
        return text if self.default is REQUIRED else f"{text}={self.default}"


@dataclass(frozen=True)
class Schema:
    """A parsed signature. ``returns`` are the result names (empty string where unnamed)."""

    text: str
    name: str
    overload: str
    params: tuple[Param, ...]
    returns: tuple[str, ...]
    returns_list: bool

    @functools.cached_property
    def shown(self) -> str:
        """The name in error texts."""
        return self.name.lstrip("_")

    @functools.cached_property
    def tensors(self) -> tuple[int, ...]:
        """Positions of the parameters that hold one tensor."""
        return tuple(i for i, p in enumerate(self.params) if p.type == "Tensor")

    @functools.cached_property
    def is_method(self) -> bool:
        """A first parameter called self makes a method."""
        return bool(self.params) and self.params[0].name == "self"

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """Parameter names."""
        return frozenset(p.name for p in self.params)

    @functools.cached_property
    def most(self) -> int:
        """How many arguments may be given by position."""
        return sum(not p.keyword for p in self.params)

    @functools.cached_property
    def least(self) -> int:
        """How many arguments have no default (they come first, unless keyword only: then no positional call can do)."""
        required = [i for i, p in enumerate(self.params) if p.default is REQUIRED]
        return required[-1] + 1 if required else 0

    @functools.cached_property
    def defaults(self) -> tuple[Any, ...]:
        """Default values, by position."""
        return tuple(p.default for p in self.params)

    @functools.cached_property
    def varargs(self) -> bool:
        """Whether sizes may be given as separate arguments (PyTorch's rule: the list is the only positional parameter)."""
        rest = self.positional
        return len(rest) == 1 and rest[0].type == "int[]"

    @functools.cached_property
    def positional(self) -> tuple[Param, ...]:
        """Parameters after self that may be given by position."""
        return tuple(p for p in self.params[self.is_method:] if not p.keyword)


def _default(text: str | None, kind: str) -> Any:
    if text is None:
        return REQUIRED
    words = {"None": None, "True": True, "False": False}
    if text in words:
        return words[text]
    if text.startswith("["):
        return tuple(int(w) for w in text[1:-1].split(",") if w.strip())
    if kind == "str" or text[0] in "'\"":
        return text.strip("'\"")
    return float(text) if "." in text or "e" in text else int(text)


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "[(") - (c in "])")
        if c == "," and not depth:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in [*parts, text[start:]] if p.strip()]


def parse(text: str) -> Schema:
    """Parse one signature.

    >>> s = parse("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
    >>> s.name, s.overload, [p.name for p in s.params], s.returns
    ('max', 'dim', ['self', 'dim', 'keepdim'], ('values', 'indices'))
    """
    m = _SIGNATURE.match(text)
    if m is None:
        raise ValueError(f"parse: argument 'text' must be 'name(Type param, ...) -> Type'; got {text!r}")
    params, keyword = [], False
    for part in _split(m["params"]):
        if part == "*":
            keyword = True
            continue
        p = _PARAM.match(part)
        if p is None:
            raise ValueError(f"parse: a parameter must be 'Type name[=default]'; got {part!r} in {text!r}")
        kind = re.sub(r"\(\w!?\)", "", p["type"])
        optional = kind.endswith("?")
        kind = kind.rstrip("?")
        length = re.search(r"\[(\d+)\]", kind)
        kind = re.sub(r"\[\d*\]", "[]", kind)
        params.append(Param(p["name"], kind, optional, _default(p["default"], kind), keyword, int(length[1]) if length else 0))
    returns = m["returns"].strip()
    items = _split(returns[1:-1]) if returns.startswith("(") else [returns]
    names = tuple(i.split()[-1] if " " in i else "" for i in items)
    return Schema(text, m["name"], m["overload"] or "", tuple(params), names, returns == "Tensor[]")


class Mismatch(TypeError):
    """Arguments do not fit a schema; the text says which and why."""


def _number(x: Any) -> Any:
    """A Python number for NumPy scalars and zero-dim tensors; else ``x``."""
    if isinstance(x, np.generic):
        return x.item()
    if getattr(x, "_is_tensor", False) and not x._shape:
        return x.item()
    return x


def _int(x: Any) -> Any:
    if x.__class__ is int:
        return x
    value = _number(x)
    if isinstance(value, bool):
        raise Mismatch
    if isinstance(value, numbers.Integral) or hasattr(value, "__index__"):
        return value.__index__()
    raise Mismatch


def _ints(x: Any, length: int) -> tuple[int, ...]:
    if x.__class__ is tuple:
        for i in x:
            if i.__class__ is not int:
                break
        else:
            return x  # type: ignore[no-any-return]
    if isinstance(x, list | tuple):
        return tuple([_int(i) for i in x])
    if getattr(x, "_is_tensor", False) and x._shape:
        return tuple(_int(i) for i in x.tolist())
    return (_int(x),) * max(length, 1)


def _scalar(x: Any) -> Any:
    value = _number(x)
    if isinstance(value, bool | int | float | complex):
        return value
    raise Mismatch


def _float(x: Any) -> float:
    value = _number(x)
    if isinstance(value, int | float):
        return float(value)
    raise Mismatch


def _tensor(x: Any) -> Any:
    if getattr(x, "_is_tensor", False):
        return x
    raise Mismatch


def _tensors(x: Any) -> tuple[Any, ...]:
    if isinstance(x, list | tuple) and all(i is None or getattr(i, "_is_tensor", False) for i in x):
        return tuple(x)
    raise Mismatch


def _bool(x: Any) -> bool:
    value = _number(x)
    if isinstance(value, bool):
        return value
    raise Mismatch


def _dtype(x: Any) -> Any:
    from tensorx.dtypes import PYTHON, dtype
    if isinstance(x, dtype):
        return x
    if isinstance(x, type) and x in PYTHON:
        return PYTHON[x]
    raise Mismatch


def _str(x: Any) -> str:
    if isinstance(x, str):
        return x
    raise Mismatch


CONVERT: dict[str, Callable[[Any], Any]] = {
    "int": _int, "float": _float, "bool": _bool, "Scalar": _scalar, "Tensor": _tensor, "Tensor[]": _tensors, "ScalarType": _dtype, "str": _str,
    "Seed": _int, "Generator": lambda x: x, "Device": lambda x: x, "Any": lambda x: x,
}


def describe(x: Any) -> str:
    """What came, for an error: dtype, shape and device of a tensor, else value and type."""
    if getattr(x, "_is_tensor", False):
        return f"{x.dtype.name} of shape {tuple(x._shape)} on {x.device}"
    text = repr(x)
    return f"{text if len(text) < 60 else text[:57] + '...'} ({type(x).__name__})"


def convert(schema: Schema, p: Param, x: Any, numbers_for_tensors: bool) -> Any:
    """``x`` as the parameter wants it, or Mismatch with the error text."""
    if p.type == "Tensor" and getattr(x, "_is_tensor", False):
        return x
    if x is None and p.optional:
        return None
    try:
        if p.type == "Tensor" and numbers_for_tensors and not getattr(x, "_is_tensor", False):
            return _scalar(x)
        return _ints(x, p.length) if p.type == "int[]" else CONVERT[p.type](x)
    except (Mismatch, TypeError):
        kind = p.type.replace("ScalarType", "dtype").replace("Scalar", "number").replace("int[]", "int or sequence of ints")
        raise Mismatch(f"{schema.shown}: argument '{p.name}' must be {kind}{' or None' if p.optional else ''}; got {describe(x)}") from None


def bind(schema: Schema, args: Sequence[Any], kwargs: dict[str, Any], numbers_for_tensors: bool = False) -> tuple[Any, ...]:
    """Arguments in schema order, converted, defaults filled in. Raises Mismatch (a TypeError)."""
    params, method = schema.params, schema.is_method
    if schema.varargs and len(args) > method and not (len(args) == 1 + method and not _is_int(args[-1])):
        args = (*args[:method], args[method:])
    if len(args) > schema.most:
        raise Mismatch(f"{schema.shown}: takes at most {schema.most} positional arguments; got {len(args)}. Hint: {schema.text}")
    out = [convert(schema, p, value, numbers_for_tensors) for p, value in zip(params, args, strict=False)]
    if not kwargs and len(out) >= schema.least:
        return (*out, *schema.defaults[len(out):])
    names = schema.names
    kwargs = {(k if k in names else ALIASES.get(k, k)): v for k, v in kwargs.items()}
    for p in params[: len(out)]:
        if p.name in kwargs:
            raise Mismatch(f"{schema.shown}: argument '{p.name}' was given twice")
    for p in params[len(out):]:
        if p.name in kwargs:
            out.append(convert(schema, p, kwargs[p.name], numbers_for_tensors))
        elif p.default is not REQUIRED:
            out.append(p.default)
        else:
            raise Mismatch(f"{schema.shown}: argument '{p.name}' is missing. Hint: {schema.text}")
    unknown = kwargs.keys() - names
    if unknown:
        raise Mismatch(f"{schema.shown}: got an unexpected keyword argument '{sorted(unknown)[0]}'. Hint: {schema.text}")
    return tuple(out)


def _is_int(x: Any) -> bool:
    return isinstance(x, int | np.integer) or (getattr(x, "_is_tensor", False) and not x._shape)
