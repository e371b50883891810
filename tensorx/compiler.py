"""``torch.compile`` and ``torch.compiler``. Kernels are compiled when an op first runs; recording and fusing whole
programs comes in a later version,
and until then a compiled function is the function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    **other: Any,
) -> Any:
    """Return ``model``, a function or module, as it is; without ``model``, a decorator that does.

    Raises RuntimeError for an unknown ``mode``, or ``mode`` and ``options`` together, as PyTorch does.

    >>> import tensorx
    >>> @tensorx.compile(fullgraph=True)
    ... def f(x):
    ...     return x + 1
    >>> f(tensorx.ones(2))
    tensor([2., 2.])
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(map(str, _MODES[1:]))}")
    if model is None:
        return lambda f: compile(
            f, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
        )
    if not callable(model):
        raise TypeError(f"compile: argument 'model' must be a function or module; got {type(model).__name__}")
    return model


def is_compiling() -> bool:
    """False: functions run as they are.

    >>> is_compiling()
    False
    """
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset() -> None:
    """Nothing is kept that could be dropped."""


def cudagraph_mark_step_begin() -> None:
    """There are no recorded steps to tell apart."""


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """Empty."""
    return []


def allow_in_graph(fn: Any) -> Any:
    """``fn``."""
    return fn


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """``fn``, or a decorator that returns its function.

    >>> disable(len) is len, disable(recursive=False)(len) is len
    (True, True)
    """
    return fn if fn is not None else lambda f: f


def assume_constant_result(fn: Any) -> Any:
    """``fn``."""
    return fn


def set_stance(*args: Any, **kwargs: Any) -> None:
    """There is one way to run."""


__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_stance",
]
