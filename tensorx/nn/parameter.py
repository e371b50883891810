"""Parameter and Buffer: tensors that a module registers when they are assigned to it."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.tensor import Tensor, TensorMeta, make


class _MarkedType(TensorMeta):
    """Lets a tensor of another class count as a Parameter or Buffer when it carries the mark of that class."""

    _mark = ""

    def __instancecheck__(cls, instance: Any) -> bool:  # noqa: N805  a metaclass names its instances cls
        if super().__instancecheck__(instance):
            return True
        return isinstance(instance, Tensor) and instance.__dict__.get(cls._mark, False)


class Parameter(Tensor, metaclass=_MarkedType):
    """A tensor that is a parameter of a module: a leaf that wants a gradient.

    Args:
        data: tensor whose memory is used; any shape; floating point or complex when ``requires_grad``.
        requires_grad: whether backward accumulates into ``.grad``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Parameter(tx.zeros(2))
        Parameter containing:
        tensor([0., 0.], requires_grad=True)
    """

    _mark = "_is_param"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = tx.empty(0)
        if type(data) is Tensor or type(data) is Parameter:
            made = make(data._storage, data._shape, data._strides, data._offset, data.dtype)
            made.__class__ = cls
            return made.requires_grad_(requires_grad)
        made = data.detach().requires_grad_(requires_grad)
        if type(made) is not type(data):
            raise RuntimeError(
                f"Parameter: argument 'data' must keep its type on detach(); got {type(data).__name__}, "
                f"whose detach() is a {type(made).__name__}."
            )
        made._is_param = True  # type: ignore[attr-defined]  # in __dict__
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor, metaclass=_MarkedType):
    """A tensor that a module registers as a buffer when it is assigned; ``persistent`` says if ``state_dict`` holds
    it.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Buffer(tx.zeros(2), persistent=False).requires_grad
        False
    """

    _mark = "_is_buffer"
    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = tx.empty(0)
        made = data.detach().requires_grad_(data.requires_grad)
        made.persistent = persistent  # type: ignore[attr-defined]  # in __dict__
        made._is_buffer = True  # type: ignore[attr-defined]
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass
