"""From rows to Python callables: functions, methods, in-place forms, ``out=``, operators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tensorx.autograd.modes import state
from tensorx.dtypes import can_cast
from tensorx.errors import DTypeError, ShapeError
from tensorx.ops import describe, fastpath, table
from tensorx.ops import schema as S
from tensorx.ops.dispatch import call, under_modes
from tensorx.ops.recipes import Recipes
from tensorx.ops.record import requires_grad
from tensorx.ops.table import Op
from tensorx.ops.ways import Way, learn
from tensorx.tensor import Tensor

#: Python operator -> stem of its dunder methods.
SYMBOLS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul", "&": "and", "|": "or",
           "^": "xor", "<<": "lshift", ">>": "rshift", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "neg": "neg",
           "abs": "abs", "~": "invert"}
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
UNARY = ("neg", "abs", "~")


def takes_numbers(op: Op) -> bool:
    """Elementwise rows take Python numbers where the schema says Tensor (weakly typed), as PyTorch's Scalar overloads do."""
    return op.kind.name == "ELEMENTWISE"


def resolve(ops: Sequence[Op], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Op, tuple[Any, ...]]:
    """The first overload that the arguments fit, with the bound arguments. TypeError that says why none does."""
    if len(ops) > 1 and _takes_scalars(ops[0].schema.name) and any(isinstance(a, Tensor) for a in (*args[1:], *kwargs.values())):
        # a tensor is a number only where no overload takes it as a tensor
        ops = sorted(ops, key=lambda op: _tensors_as_numbers(op, args, kwargs))
    reasons = []
    unset = {k for k, v in kwargs.items() if v is None} if len(ops) > 1 else ()
    for op in ops:
        try:  # None for what only other overloads know (``rounding_mode=None``) is as good as not given
            own = {k: v for k, v in kwargs.items() if k not in unset or _knows(op, k) or not any(_knows(o, k) for o in ops)} if unset else kwargs
            return op, S.bind(op.schema, args, own, takes_numbers(op))
        except S.Mismatch as e:
            reasons.append(str(e))
    if len(reasons) == 1:
        raise TypeError(reasons[0])
    raise TypeError(f"{ops[0].schema.name}: no overload takes these arguments:\n  " + "\n  ".join(f"{o.schema.text}: {r}" for o, r in zip(ops, reasons, strict=True)))


@functools.cache
def _takes_scalars(name: str) -> bool:
    """Whether an overload has a parameter that is a number (or a zero-dim tensor in its place)."""
    return any(p.type == "Scalar" for op in table.BY_NAME[name] for p in op.schema.params)


def _tensors_as_numbers(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    given = [*zip(op.schema.params, args, strict=False), *((p, kwargs[p.name]) for p in op.schema.params if p.name in kwargs)]
    return sum(p.type == "Scalar" and isinstance(a, Tensor) for p, a in given)


def _knows(op: Op, name: str) -> bool:
    return any(p.name == name for p in op.schema.params)


def run(op: Op, args: tuple[Any, ...], out: Any) -> Any:
    """Run a bound call: composites are plain functions, all else passes the door."""
    if out is not None:
        return _run_into(op, args, out if isinstance(out, tuple) else (out,))
    if op.kind.name == "COMPOSITE":
        result = under_modes(op.schema.name, op.body, args, {}) if state.stack else op.body(*args)
        return named(op, result) if len(op.schema.returns) > 1 else result
    result = call(op, args, out)
    return result if len(op.schema.returns) == 1 else named(op, result)


def _writing(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` writes into given tensors, which some modes leave alone."""
    @functools.wraps(f)
    def write(*args: Any) -> Any:
        stack = state.stack
        if stack:
            state.stack = tuple(m for m in stack if m.sees_writes)
        try:
            return f(*args)
        finally:
            state.stack = stack
    return write


@_writing
def _run_into(op: Op, args: tuple[Any, ...], out: tuple[Tensor, ...]) -> Any:
    """`run` with given tensors to write."""
    if op.kind.name == "COMPOSITE":
        return write_in_place(op, args) if args and out[0] is args[0] else copy_results(op, op.body(*args), out)
    result = call(op, args, out)
    return result if len(op.schema.returns) == 1 else named(op, result)


def copy_results(op: Op, result: Any, out: tuple[Tensor, ...]) -> Any:
    """``out=`` of a composite: the result is copied."""
    from tensorx.ops.outputs import resize_output
    for target, r in zip(out, result if isinstance(result, tuple) else (result,), strict=True):
        if target._shape != r._shape:
            resize_output(target, r._shape)
        target.copy_(r)
    return out[0] if len(out) == 1 else named(op, out)


@_writing
def write_in_place(op: Op, args: tuple[Any, ...]) -> Tensor:
    """The in-place form of a composite: its result, copied. What its ops save must be the old values, so they get a copy if they record."""
    target: Tensor = args[0]
    if state.grad and requires_grad(args):
        old = target.clone()
        args = tuple(old if a is target else a for a in args)
    result = op.body(*args) if op.kind.name == "COMPOSITE" else call(op, args)
    if not can_cast(result.dtype, target.dtype):
        raise DTypeError(f"{op.public}_: result type {result.dtype.name} can't be cast to the desired output type {target.dtype.name}")
    if result._shape != target._shape:
        raise ShapeError(f"{op.public}_: output with shape {list(target._shape)} doesn't match the result's shape {list(result._shape)}")
    return target.copy_(result)


def _named_text(self: Any, start: str = "", separator: str = ", ") -> str:
    """What ``x.__repr__()`` gives in PyTorch, whose name stands here because scripts compare and parse the text."""
    fields = separator.join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"torch.return_types.{type(self).__name__}({start}{fields})"


_tuples: dict[str, type] = {}


def named(op: Op, result: Any) -> Any:
    """Several outputs as the named tuple that PyTorch returns."""
    return named_class(op)(*result)


def named_class(op: Op) -> Any:
    """The class of an op's named tuples, made once."""
    cls = _tuples.get(op.schema.name)
    if cls is None:
        from collections import namedtuple
        cls = _tuples[op.schema.name] = namedtuple(op.schema.name, op.schema.returns)
        cls.__module__ = "tensorx.return_types"
        cls.__repr__ = _named_text  # type: ignore[method-assign]
        cls.__str__ = lambda self: _named_text(self, "\n", ",\n")  # type: ignore[method-assign]  # as print() shows them
    return cls


def binder(ops: Sequence[Op]) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Op, tuple[Any, ...]]]:
    """`resolve` for these overloads, which remembers how arguments of types seen before are bound."""
    ways: Recipes[Way | None] = Recipes()

    def bind(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Op, tuple[Any, ...]]:
        types = tuple([a.__class__ for a in args])
        key: Any = (types, *kwargs, *[v.__class__ for v in kwargs.values()]) if kwargs else types
        way = ways.get(key)
        if way is not None:
            try:
                return way.op, way.bind(args, kwargs)
            except S.Mismatch:
                pass  # a list of something else
        op, bound = resolve(ops, args, kwargs)
        if key not in ways:
            ways[key] = learn(op, args, kwargs, bound, takes_numbers(op))
        return op, bound
    return bind


_binder_of = functools.cache(lambda op: binder([op]))


def _run_row(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return run(op, _binder_of(op)(args, kwargs)[1], None)


Op.runner = staticmethod(_run_row)


def function(name: str) -> Callable[..., Any]:
    """The function (and method) of all rows called ``name``."""
    ops = table.BY_NAME[name]
    short, operands = _short_way(ops[0])
    bind = binder(ops)

    def f(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if short is not None and len(args) == operands and not kwargs and out is None and isinstance(args[0], Tensor):
            result = short(*args)
            if result is not NotImplemented:
                return result
        op, bound = bind(args, kwargs)
        return run(op, bound, out)
    return described(f, name, ops)


def _short_way(op: Op) -> tuple[Callable[..., Any] | None, int]:
    """`fastpath` for elementwise rows of one or two operands (static arguments at their defaults), and how many."""
    kinds = op.extra if op.kind.name == "ELEMENTWISE" and len(op.schema.returns) == 1 else ()
    n = kinds.count("Tensor") if kinds else 0
    if n not in (1, 2) or set(kinds[n:]) - {"static"} or any(p.default is S.REQUIRED for p in op.schema.params[n:]) or op.promote.result == "self":
        return None, 0
    return (fastpath.unary(op), 1) if n == 1 else (fastpath.binary(op, False, operand(op)), 2)


def inplace(name: str) -> Callable[..., Any]:
    """``x.name_(...)``."""
    ops = table.BY_NAME[name]
    bind = binder(ops)

    def f(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        op, bound = bind((self, *args), kwargs)
        return run(op, bound, self)
    return described(f, name + "_", ops)


def described(f: Callable[..., Any], name: str, ops: Sequence[Op]) -> Callable[..., Any]:
    """Name, signature and docstring from the rows."""
    f.__name__ = f.__qualname__ = name
    f.__doc__ = describe.docstring(name, ops)
    if len(ops) == 1:
        kinds = inspect.Parameter
        params = [kinds(p.name, kinds.KEYWORD_ONLY if p.keyword else kinds.POSITIONAL_OR_KEYWORD,
                        default=kinds.empty if p.default is S.REQUIRED else p.default) for p in ops[0].schema.params]
        f.__signature__ = inspect.Signature(params)  # type: ignore[attr-defined]  # read by inspect
    return f


def operand(op: Op) -> Callable[[Any], Any]:
    """What an operator does with an operand that is no tensor: a number if the row takes numbers, an array as a tensor, else NotImplemented."""
    numbers = takes_numbers(op)

    def convert(other: Any) -> Any:
        if not numbers:
            return NotImplemented
        try:
            return S._scalar(other)
        except S.Mismatch:
            if not hasattr(other, "__array__"):
                return NotImplemented
            from tensorx.ops import factories
            return factories.as_tensor(other)
    return convert


def operator(op: Op, reflected: bool = False) -> Callable[..., Any]:
    """A binary operator method."""
    if op.kind.name == "ELEMENTWISE":
        return fastpath.binary(op, reflected, operand(op))
    convert = operand(op)

    def f(self: Tensor, other: Any) -> Any:
        if not isinstance(other, Tensor):
            other = convert(other)
            if other is NotImplemented:
                return NotImplemented
        return run(op, (other, self) if reflected else (self, other), None)
    return f


def augmented(op: Op) -> Callable[..., Any]:
    """``x += y``: in place."""
    rest = tuple(p.default for p in op.schema.params[2:])
    def f(self: Tensor, other: Any) -> Any:
        if not isinstance(other, Tensor):
            try:
                other = S._scalar(other)
            except S.Mismatch:
                return NotImplemented
        return call(op, (self, other, *rest), (self,))
    return f


def install(namespace: dict[str, Any]) -> None:
    """Put every row's function into ``namespace`` and its methods onto Tensor."""
    for name, ops in table.BY_NAME.items():
        f = function(name)
        namespace[name] = f
        head = ops[0]
        if any(o.schema.is_method for o in ops) and name not in Tensor.__dict__:
            setattr(Tensor, name, f)
        if head.kind.inplace and head.schema.is_method and len(head.schema.returns) == 1:
            g = inplace(name)
            setattr(Tensor, name + "_", g)
            namespace.setdefault(name + "_", g)
        for op in ops:
            if op.symbol:
                _install_symbol(op)


def _install_symbol(op: Op) -> None:
    stem = SYMBOLS[op.symbol]
    if op.symbol in UNARY:
        setattr(Tensor, f"__{stem}__", fastpath.unary(op))
        return
    setattr(Tensor, f"__{stem}__", operator(op))
    if op.symbol not in COMPARISONS:
        setattr(Tensor, f"__r{stem}__", operator(op, reflected=True))
        if takes_numbers(op):
            setattr(Tensor, f"__i{stem}__", augmented(op))
