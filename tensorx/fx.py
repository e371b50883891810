"""``torch.fx``: recording programs as graphs comes in a later version."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")
_LATER = "recording programs as graphs comes in a later version. Hint: use the module as it is"


def wrap(fn_or_name: T) -> T:
    """``fn_or_name``: functions are not recorded, so there is nothing to keep whole.

    >>> wrap(len) is len
    True
    """
    return fn_or_name


def symbolic_trace(root: Any, concrete_args: Any = None) -> Any:
    """Not in this version: NotImplementedError."""
    raise NotImplementedError(f"fx.symbolic_trace: {_LATER}")


class GraphModule:
    """Not in this version: making one raises NotImplementedError, and nothing is an instance of it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"fx.{type(self).__name__}: {_LATER}")


class Graph(GraphModule):
    """As `GraphModule`."""


class Node(GraphModule):
    """As `GraphModule`."""


class Proxy(GraphModule):
    """As `GraphModule`."""


class Tracer(GraphModule):
    """As `GraphModule`."""


class Interpreter(GraphModule):
    """As `GraphModule`."""


__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "symbolic_trace", "wrap"]
