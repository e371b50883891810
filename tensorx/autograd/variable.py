"""``Variable``: the old name of a tensor that takes part in autograd."""

from __future__ import annotations

from typing import Any

from .hooks import is_tensor


class _VariableMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return is_tensor(instance)


class Variable(metaclass=_VariableMeta):
    """``Variable(data, requires_grad=False)`` is a tensor that shares the memory of ``data``; every tensor is an
    instance.

    >>> import tensorx as tx
    >>> isinstance(Variable(tx.ones(2), requires_grad=True), tx.Tensor)
    True
    """

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        if not is_tensor(data):
            raise TypeError(f"Variable: argument 'data' must be a tensor; got {type(data).__name__}.")
        return data.detach().requires_grad_(requires_grad)
