"""Arguments of functions that are no rows, checked by their annotations: ``int``, ``Tensor`` and ``DType | None``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from tensorx.dtypes import PYTHON
from tensorx.dtypes import dtype as DType
from tensorx.errors import ShapeError
from tensorx.ops import schema as S

F = TypeVar("F", bound=Callable[..., Any])
#: Required parameters with these names are tensors, also where the annotation says Any.
TENSORS = {"input", "input1", "input2", "target", "weight", "query", "key", "value", "anchor", "positive", "negative", "x1", "x2", "grid", "log_probs"}


def as_dtype(op: str, d: Any) -> DType | None:
    """A dtype argument: a dtype, Python's bool, int, float or complex, or None. TypeError for anything else."""
    if d is None or isinstance(d, DType):
        return d
    found = PYTHON.get(d) if isinstance(d, type) else None
    if found is None:
        raise TypeError(f"{op}: argument 'dtype' must be a dtype; got {d!r} ({type(d).__name__}). Hint: such as tensorx.float32, float or int")
    return found


def as_int(op: str, name: str, value: Any) -> int:
    """A whole number. TypeError for floats, even for whole ones, and for all else."""
    try:
        return cast("int", S._int(value))
    except (S.Mismatch, TypeError):
        raise TypeError(f"{op}: argument '{name}' must be an int; got {S.describe(value)}{_hint(value)}") from None


def as_ints(op: str, name: str, values: Any) -> tuple[int, ...]:
    """Whole numbers. TypeError if one is not."""
    out = []
    for n in values:
        try:
            out.append(S._int(n))
        except (S.Mismatch, TypeError):
            raise TypeError(f"{op}: argument '{name}' must be ints; got {S.describe(n)}{_hint(n)}") from None
    return tuple(out)


def _hint(value: Any) -> str:
    return ". Hint: // divides whole numbers, int() converts" if isinstance(value, float) else ""


def as_shape(op: str, size: Any, name: str = "size") -> tuple[int, ...]:
    """``zeros(2, 3)``, ``zeros((2, 3))`` and ``zeros(n)`` alike."""
    if len(size) == 1 and (isinstance(size[0], list | tuple) or (getattr(size[0], "_is_tensor", False) and size[0]._shape)):
        size = tuple(size[0])
    shape = as_ints(op, name, size)
    if any(n < 0 for n in shape):
        raise ShapeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return shape


def size_given(op: str, size: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """Sizes by position or as ``size=``. TypeError for any other name."""
    if "size" in named and not size:
        size = (named.pop("size"),)
    if named:
        raise TypeError(f"{op}: got an unexpected keyword argument '{next(iter(named))}'")
    return size


def _check(op: str, name: str, kind: str) -> Callable[[Any], Any] | None:
    """What an annotation asks of an argument."""
    if kind == "DType | None":
        return lambda x: x if x.__class__ is DType else as_dtype(op, x)
    if kind in ("int", "int | None"):
        optional = kind != "int"
        return lambda x: x if x.__class__ is int or (optional and x is None) else as_int(op, name, x)
    if kind in ("Tensor", "Tensor | None"):
        return functools.partial(_tensor, op, name, kind != "Tensor")
    return None


def _tensor(op: str, name: str, optional: bool, x: Any) -> Any:
    if getattr(x, "_is_tensor", False) or (optional and x is None):
        return x
    raise TypeError(f"{op}: argument '{name}' must be a Tensor; got {S.describe(x)}. Hint: tensorx.tensor(...) makes one")


def _checks(f: Callable[..., Any]) -> dict[str, tuple[int, Callable[[Any], Any]]]:
    """Parameter -> (position, check), for those that have one. Keyword-only ones have position -1."""
    found: dict[str, tuple[int, Callable[[Any], Any]]] = {}
    for i, p in enumerate(inspect.signature(f).parameters.values()):
        kind = "Tensor" if p.annotation == "Any" and p.default is p.empty and p.name in TENSORS else str(p.annotation)
        check = _check(f.__name__, p.name, kind) if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) else None
        if check is not None:
            found[p.name] = (i if p.kind is p.POSITIONAL_OR_KEYWORD else -1, check)
    return found


def checked(f: F) -> F:
    """``f`` with its arguments checked and converted before every call."""
    checks = _checks(f)
    by_position = [(i, check) for i, check in checks.values() if i >= 0]

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        for i, check in by_position:
            if i < len(args):
                value = check(args[i])
                if value is not args[i]:
                    args = (*args[:i], value, *args[i + 1:])
        for name, value in kwargs.items():
            if name in checks:
                kwargs[name] = checks[name][1](value)
        if kwargs.get("pin_memory"):
            return _pinned(f(*args, **kwargs))
        return f(*args, **kwargs)

    return cast("F", call)


def _pinned(made: Any) -> Any:
    """What a factory made, in page-locked memory."""
    return made.detach().pin_memory().requires_grad_(made.requires_grad)


def explained(f: F) -> F:
    """``f`` whose TypeErrors and AttributeErrors name the argument that is no tensor, where that is why. Costs nothing until it fails."""

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except (AttributeError, TypeError):
            explain(f, args, kwargs)
            raise

    return cast("F", call)


def explain(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """After ``f`` failed: TypeError for the first argument that is not of the annotated kind, if there is one."""
    for name, (i, check) in _checks(f).items():
        if name in kwargs:
            check(kwargs[name])
        elif 0 <= i < len(args):
            check(args[i])
