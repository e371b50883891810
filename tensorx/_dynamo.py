"""``torch._dynamo``: the compiler's settings, which scripts set; functions run as they are (see `tensorx.compile`).

>>> import tensorx
>>> tensorx._dynamo.config.suppress_errors = True
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tensorx.compiler import allow_in_graph, disable, is_compiling, reset


class _Config(SimpleNamespace):
    """Takes any setting."""


config = _Config(suppress_errors=False, cache_size_limit=8, recompile_limit=8, verbose=False)
_torchdynamo_orig_callable = None


class OptimizedModule:
    """What nothing is an instance of: a compiled module is the module."""


def graph_break(msg: str = "") -> None:
    """Nothing: there is no graph."""


def mark_dynamic(t: Any, index: Any, **kwargs: Any) -> None:
    """Nothing: kernels do not depend on sizes."""


mark_static = maybe_mark_dynamic = mark_dynamic

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "config",
    "disable",
    "graph_break",
    "is_compiling",
    "mark_dynamic",
    "mark_static",
    "maybe_mark_dynamic",
    "reset",
]
