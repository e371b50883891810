"""Tensor methods that are no rows: graph and storage handling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorx.autograd import hooks
from tensorx.devices import registry
from tensorx.dtypes import dtype as DType
from tensorx.ops.arguments import as_shape
from tensorx.ops.outputs import resize
from tensorx.storage import Storage, TypedStorage
from tensorx.tensor import Size, Tensor, key_of, make


def detach(self: Tensor) -> Tensor:
    """The same memory (and version counter) outside of the graph.

    >>> import tensorx
    >>> tensorx.ones(2, requires_grad=True).detach().requires_grad
    False
    """
    out = make(self._storage, self._shape, self._strides, self._offset, self.dtype)
    out._arr, out._inference = self._arr, self._inference
    return out


def detach_(self: Tensor) -> Tensor:
    """Take this tensor out of the graph. RuntimeError for a view.

    >>> import tensorx
    >>> (tensorx.ones(2, requires_grad=True) * 2).detach_().is_leaf
    True
    """
    if self._view is not None and self.grad_fn is not None:
        raise RuntimeError("Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and "
                           "gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these "
                           "gradients.")
    self._node, self._nr, self._rg = None, 0, False
    return self


def _get_data(self: Tensor) -> Tensor:
    """The same memory with a version counter of its own."""
    old = self._storage
    return make(Storage(old.buffer, old.length, old.device), self._shape, self._strides, self._offset, self.dtype)


def _set_data(self: Tensor, other: Tensor) -> None:
    self._storage, self._shape, self._strides, self._offset = other._storage, other._shape, other._strides, other._offset
    self.dtype, self.device, self._key, self._arr, self._view = other.dtype, other.device, other._key, other._arr, None
    if self._acc is not None and self._grad is not None and (self._grad.dtype is not self.dtype or self._grad.device is not self.device):
        self._grad = None


def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Look into another tensor's storage.

    >>> import tensorx
    >>> tensorx.empty(0).set_(tensorx.ones(2))
    tensor([1., 1.])
    """
    if isinstance(source, Tensor):
        _set_data(self, source if size is None else source.as_strided(size, stride or (1,), storage_offset))
    elif isinstance(source, Storage | TypedStorage):
        source = source.untyped()
        _set_data(self, make(source, size if size is not None else (source.length // self.dtype.itemsize,), stride, storage_offset, self.dtype))
    elif source is None:
        resize(self, (0,))
    else:
        raise TypeError(f"set_: argument 'source' must be a tensor or a storage; got {type(source).__name__}")
    return self


def resize_(self: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """Change the shape in place, row-major; new elements are uninitialised. RuntimeError for a tensor that requires grad.

    >>> import tensorx
    >>> tensorx.arange(4).resize_(2).tolist()
    [0, 1]
    """
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    return resize(self, as_shape("resize_", size))


def element_key(self: Tensor) -> int:
    """What plans know of this tensor (see `tensor.key_of`)."""
    return key_of(self.dtype, self.device, not self._shape, self.is_contiguous())


def transpose_property(self: Tensor) -> Tensor:
    """All dimensions reversed."""
    return self.permute(*reversed(range(len(self._shape))))


def matrix_transpose(self: Tensor) -> Tensor:
    """The last two dimensions swapped. RuntimeError for fewer than two."""
    if len(self._shape) < 2:
        raise RuntimeError(f"tensor.mT is only supported on matrices or batches of matrices. Got {len(self._shape)}-D tensor.")
    return self.transpose(-2, -1)


def conj(self: Tensor) -> Tensor:
    """The complex conjugate; a real tensor itself."""
    return self.conj_physical() if self.dtype.is_complex else self


def _new(name: str) -> Any:
    def f(self: Tensor, *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False, **kw: Any) -> Tensor:
        from tensorx.ops import factories
        if name == "tensor":
            kw.pop("layout", None)  # there is one
        place = self.device if device is None else device
        return getattr(factories, name)(*size, dtype=dtype or self.dtype, device=place, requires_grad=requires_grad, **kw)
    f.__name__ = f"new_{name}"
    f.__doc__ = f"`tensorx.{name}` with this tensor's dtype and device."
    return f


def new_empty_strided(self: Tensor, size: Any, stride: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
                      pin_memory: bool = False) -> Tensor:
    """`tensorx.empty_strided` with this tensor's dtype and device."""
    from tensorx.ops import factories
    return factories.empty_strided(size, stride, dtype=dtype or self.dtype, device=self.device if device is None else device,
                                   requires_grad=requires_grad, layout=layout)


def iterate(self: Tensor) -> Iterator[Tensor]:
    """Tensors along the first dimension."""
    if not self._shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def legacy(*args: Any, device: Any = None) -> Tensor:
    """``tensorx.Tensor(2, 3)`` (uninitialised) and ``tensorx.Tensor([1, 2])``, in the default dtype, as ``torch.Tensor``."""
    from tensorx import dtypes
    from tensorx.ops import factories
    d = dtypes.get_default_dtype()
    if len(args) == 1 and isinstance(args[0], Tensor):
        return args[0].detach().to(d)
    if len(args) == 1 and not isinstance(args[0], int | Size):
        return factories.tensor(args[0], dtype=d, device=device)
    return factories.empty(*args, dtype=d, device=device) if args else factories.empty(0, dtype=d, device=device)


METHODS: dict[str, Any] = {
    "_legacy": staticmethod(legacy),
    "detach": detach, "detach_": detach_, "set_": set_, "resize_": resize_, "conj": conj, "data": property(_get_data, _set_data),
    "T": property(transpose_property), "mT": property(matrix_transpose), "register_hook": hooks.register_hook, "retain_grad": hooks.retain_grad,
    "register_post_accumulate_grad_hook": hooks.register_post_accumulate_grad_hook, "__iter__": iterate,
    "new_empty_strided": new_empty_strided, **{f"new_{n}": _new(n) for n in ("zeros", "ones", "full", "empty", "tensor")},
}


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a Tensor.

    >>> import tensorx
    >>> tensorx.is_tensor(tensorx.ones(1)), tensorx.is_tensor(1)
    (True, False)
    """
    return isinstance(obj, Tensor)


def set_default_device(device: Any) -> None:
    """The device of factories that name none; None means cpu.

    >>> import tensorx
    >>> tensorx.set_default_device("cpu")
    """
    registry.set_default(device if device is not None else "cpu")


def get_default_device() -> registry.device:
    """The device of factories that name none.

    >>> import tensorx
    >>> with tensorx.device("meta"):
    ...     tensorx.get_default_device()
    device(type='meta')
    """
    return registry.resolve()
