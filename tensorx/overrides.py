"""``torch.overrides``: what code asks that checks for tensor-like classes. The protocol itself (``__torch_function__``)
is not in this version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tensorx.tensor import Tensor


def is_tensor_like(inp: Any) -> bool:
    """Whether ``inp`` is a tensor, or says by ``__torch_function__`` that it stands for one.

    >>> import tensorx
    >>> is_tensor_like(tensorx.ones(1)), is_tensor_like(1.0)
    (True, False)
    """
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments overrides functions: one that is no Tensor and has ``__torch_function__``."""
    return any(not isinstance(a, Tensor) and hasattr(type(a), "__torch_function__") for a in relevant_args)


def has_torch_function_unary(arg: Any) -> bool:
    """`has_torch_function` of one argument."""
    return has_torch_function((arg,))


def has_torch_function_variadic(*args: Any) -> bool:
    """`has_torch_function` of several arguments."""
    return has_torch_function(args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Ask the arguments that override functions, in turn. TypeError if none answers."""
    overriding = [a for a in relevant_args if has_torch_function((a,))]
    for a in overriding:
        result = type(a).__torch_function__(public_api, tuple({type(x) for x in overriding}), args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"no implementation found for '{public_api.__module__}.{public_api.__name__}' on types that implement "
        "__torch_function__: "
        f"{[type(a) for a in overriding]}"
    )


__all__ = [
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
]
