"""Ways: how calls with arguments of these types are bound, learned from the first one.

Which overload takes a call, and what becomes of its arguments, depends on their types alone wherever every conversion is one of those
below. Such a call is bound by a lookup; any other one, and every error, goes through `schema.bind`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorx.dtypes import dtype
from tensorx.ops import schema as S
from tensorx.ops.table import Op
from tensorx.tensor import Tensor

Convert = Callable[[Any], Any]
NUMBERS = (bool, int, float, complex)
#: Types of arguments that a parameter takes as they are.
AS_THEY_ARE: dict[str, tuple[type, ...]] = {
    "int": (int,), "Seed": (int,), "float": (float,), "bool": (bool,), "str": (str,), "Scalar": NUMBERS, "ScalarType": (dtype,)}
LISTS = (tuple, list)


class Way:
    """The overload, and what makes bound arguments of those given: ``places`` and conversions, or nothing but the defaults that follow."""

    __slots__ = ("converts", "op", "packs", "places", "tail", "template")

    def __init__(self, op: Op, packs: bool, places: list[int], converts: list[Convert | None], bound: tuple[Any, ...]) -> None:
        self.op, self.packs, self.places, self.converts = op, packs, places, converts
        self.template = list(op.schema.defaults)
        plain = not packs and places == list(range(len(places))) and not any(converts)
        self.tail = bound[len(places):] if plain else None

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Bound arguments. Mismatch where a list holds something else than the one that was learned from."""
        if self.tail is not None and not kwargs:
            return args + self.tail
        given = [*args, *kwargs.values()]
        if self.packs:
            given = [args[0], args[1:], *kwargs.values()] if self.op.schema.is_method else [args, *kwargs.values()]
        out = list(self.template)
        for place, convert, value in zip(self.places, self.converts, given, strict=True):
            out[place] = value if convert is None else convert(value)
        return tuple(out)


def learn(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], bound: tuple[Any, ...], numbers_for_tensors: bool) -> Way | None:
    """The way of a call that ``schema.bind`` bound to ``bound``; None where it depends on more than types."""
    schema = op.schema
    method = schema.is_method
    packs = schema.varargs and len(args) > method and not (len(args) == 1 + method and not S._is_int(args[-1]))
    given = (*args[:method], args[method:]) if packs else args
    where = {p.name: i for i, p in enumerate(schema.params)}
    names = [k if k in where else S.ALIASES.get(k, k) for k in kwargs]
    if not where.keys() >= set(names):
        return None  # None for what another overload knows: `bind.resolve` drops it
    places = [*range(len(given)), *(where[name] for name in names)]
    converts = []
    for place, value in zip(places, (*given, *kwargs.values()), strict=True):
        known, convert = _conversion(schema.params[place], value, numbers_for_tensors)
        if not known:
            return None
        converts.append(convert)
    return Way(op, packs, places, converts, bound)


def _conversion(p: S.Param, value: Any, numbers_for_tensors: bool) -> tuple[bool, Convert | None]:
    """Whether the type alone decides what becomes of ``value``, and what that is (None: nothing)."""
    cls = value.__class__
    if value is None:
        return p.optional, None
    if p.type == "Tensor":
        return isinstance(value, Tensor) or (numbers_for_tensors and cls in NUMBERS), None
    if cls in AS_THEY_ARE.get(p.type, ()):
        return True, None
    if p.type == "int[]" and (cls is int or isinstance(value, LISTS)):
        return True, lambda x: S._ints(x, p.length)
    if p.type == "Tensor[]" and cls in LISTS:
        return True, S._tensors
    if p.type == "float" and cls is int:
        return True, float
    return False, None
