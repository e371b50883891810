"""Parameter and Buffer: tensors that a module registers when they are assigned to it, also before they have a shape."""

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


class UninitializedTensorMixin:
    """What has a dtype and a device but no shape yet: ``materialize`` gives it one, nothing else can be computed."""

    _is_uninitialized = True
    cls_to_become: Any
    device: Any
    dtype: Any
    __dict__: dict[str, Any]

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a tensor of ``shape`` with arbitrary values, of the given device and dtype or those from before."""
        made = tx.empty(tuple(shape), device=device or self.device, dtype=dtype or self.dtype)
        self.__class__ = self.cls_to_become
        self.__dict__["_shape"] = ()
        self.data = made

    @property
    def _shape(self) -> Any:
        raise ValueError(
            "Attempted to use an uninitialized parameter. This error happens when you are using a `LazyModule` or "
            "explicitly manipulating `tensorx.nn.parameter.UninitializedParameter` objects. When using LazyModules "
            "call `forward` with a dummy batch to initialize the parameters before calling tensorx functions"
        )

    @_shape.setter
    def _shape(self, shape: Any) -> None:
        self.__dict__["_shape"] = shape

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    @property
    def data(self) -> Any:
        """An empty tensor of the dtype and device."""
        return tx.empty(0, dtype=self.dtype, device=self.device)

    @data.setter
    def data(self, other: Any) -> None:
        self._storage, self.dtype, self.device, self._key = other._storage, other.dtype, other.device, other._key

    def detach(self) -> Any:
        """Itself: there are no values to share."""
        return self

    def copy_(self, other: Any, non_blocking: bool = False) -> Any:
        """Itself, for another without a shape."""
        if not is_lazy(other):
            raise ValueError("copy_: an uninitialized parameter has no shape. Hint: materialize() it first")
        return self

    def share_memory_(self) -> Any:
        """RuntimeError: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)  # type: ignore[attr-defined]  # a Tensor's

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            made, arguments = self.__reduce_ex__(2)
            memo[id(self)] = made(*arguments)
        return memo[id(self)]


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has no shape yet.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.parameter.is_lazy(tx.nn.LazyLinear(3).weight)
        True
    """
    return isinstance(param, UninitializedTensorMixin)


def _without_shape(cls: Any, requires_grad: bool, device: Any, dtype: Any) -> Any:
    data = tx.empty(0, device=device, dtype=dtype)
    made = make(data._storage, (0,), None, 0, data.dtype)
    made.__class__ = cls
    return made.requires_grad_(requires_grad)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A :class:`Parameter` whose shape is not known yet; lazy layers materialise theirs at the first call.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.parameter.UninitializedParameter()
        >>> p.materialize((2, 3))
        >>> p.shape
        tensorx.Size([2, 3])
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return _without_shape(cls, requires_grad, device, dtype)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.parameter.UninitializedBuffer()
        <UninitializedBuffer>
    """

    cls_to_become = Tensor

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None) -> Any:
        return _without_shape(cls, requires_grad, device, dtype)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass
