"""The classes of results with several parts, by the name of their op: ``tensorx.return_types.max``.

>>> import tensorx
>>> isinstance(tensorx.ones(2, 3).max(0), tensorx.return_types.max)
True
"""

from __future__ import annotations

from typing import Any

from tensorx.ops import table


def __getattr__(name: str) -> Any:
    for op in table.BY_NAME.get(name, ()):
        if len(op.schema.returns) > 1:
            from tensorx.ops.bind import named_class
            return named_class(op)
    raise AttributeError(f"module 'tensorx.return_types' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(name for name, ops in table.BY_NAME.items() if any(len(op.schema.returns) > 1 for op in ops))
