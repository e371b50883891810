"""What older PyTorch code uses (Tensor.new, map_, apply_, asarray, frombuffer), and what only other layouts have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorx import dtypes, formats
from tensorx.dtypes import dtype as DType
from tensorx.ops import bind, convert, factories
from tensorx.storage import pinned
from tensorx.tensor import Size, Tensor, make


def _built(args: tuple[Any, ...], d: DType, device: Any) -> Tensor:
    """A tensor of sizes (uninitialised), or of data."""
    if len(args) == 1 and isinstance(args[0], Tensor):
        return args[0].detach().to(d)
    if len(args) == 1 and not isinstance(args[0], int | Size):
        return factories.tensor(args[0], dtype=d, device=device)
    return factories.empty(*(args or (0,)), dtype=d, device=device)


def new(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """A tensor of sizes (uninitialised) or of data, in this one's dtype and on its device."""
    return _built(args, self.dtype, device or self.device)


def resize_as_(self: Tensor, the_template: Tensor, memory_format: Any = None) -> Tensor:
    """`resize_` to the shape of another tensor."""
    if not isinstance(the_template, Tensor):
        raise TypeError(f"resize_as_: argument 'the_template' must be a tensor; got {type(the_template).__name__}")
    return self.resize_(the_template._shape, memory_format=memory_format)


def _cpu_alone(name: str, t: Tensor) -> None:
    if t.device.type != "cpu":
        raise TypeError(f"{name}: only implemented on CPU tensors; got {t.device}")


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace every element by what a Python function makes of it. TypeError for tensors on other devices than cpu.

    >>> import tensorx
    >>> tensorx.tensor([1, 2]).apply_(lambda x: x * 10)
    tensor([10, 20])
    """
    _cpu_alone("apply_", self)
    if self.requires_grad:
        raise TypeError("Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead.")
    values = [callable(v) for v in self.reshape(-1).tolist()]
    return self.copy_(factories.tensor(values, dtype=self.dtype).reshape(self._shape)) if values else self


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace every element by what a Python function makes of it and of another tensor's. TypeError for tensors on other devices than cpu.

    >>> import tensorx
    >>> tensorx.tensor([1, 2]).map_(tensorx.tensor([3, 4]), lambda a, b: a * b)
    tensor([3, 8])
    """
    _cpu_alone("map_", self)
    if self.requires_grad or tensor.requires_grad:
        raise TypeError("Can't call map_() on Variable that requires grad. Use var.detach().map_() instead.")
    values = [callable(a, b) for a, b in zip(self.reshape(-1).tolist(), tensor.expand(self._shape).reshape(-1).tolist(), strict=True)]
    return self.copy_(factories.tensor(values, dtype=self.dtype).reshape(self._shape)) if values else self


def as_subclass(self: Tensor, cls: type) -> Any:
    """The same data, shape and graph as an instance of a subclass of Tensor."""
    if not issubclass(cls, Tensor):
        raise TypeError(f"as_subclass: argument 'cls' must be a subclass of Tensor; got {cls.__name__}")
    out = self.view(self._shape)
    out.__class__ = cls
    return out


def _of_sparse(name: str) -> Any:
    def f(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{name} expected sparse tensor layout but got Strided. Hint: tensorx has no sparse tensors")
    f.__name__, f.__doc__ = name, f"RuntimeError: only sparse tensors have {name}, and there are none."
    return f


def _to_sparse(name: str) -> Any:
    def f(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name}: sparse tensors are not supported. Hint: keep the tensor dense")
    f.__name__, f.__doc__ = name, "NotImplementedError: sparse tensors are not supported."
    return f


def to_dense(self: Tensor, dtype: DType | None = None, *, masked_grad: bool | None = None) -> Tensor:
    """The tensor itself, as all are dense; in another dtype if asked for."""
    return self if dtype is None else self.to(dtype)


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """A copy in page-locked memory, from which ``.to(device, non_blocking=True)`` copies without staging: leave it alone until the copy is done.
    The tensor itself if it is pinned, without an accelerator (``device`` names one), and where the driver has no such memory.
    RuntimeError for a tensor that is not on the cpu; OutOfMemory.

    >>> import tensorx
    >>> tensorx.ones(2).pin_memory("null").is_pinned()
    False
    """
    if self.device.type != "cpu":
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
    storage = None if self.is_pinned() else pinned(self.numel() * self.dtype.itemsize, device)
    if storage is None:
        return self
    out = make(storage, self._shape, formats.dense_strides(self._shape, self._get_strides()), 0, self.dtype)
    convert.copy_(out, self)
    storage.version = 0
    return out


def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the memory is page-locked (see `Tensor.pin_memory`).

    >>> import tensorx
    >>> tensorx.ones(2).is_pinned()
    False
    """
    return self._storage.is_pinned()


def record_stream(self: Tensor, s: Any) -> None:
    """Nothing: memory is reused in the order of the device's one queue.

    >>> import tensorx
    >>> tensorx.ones(2).record_stream(tensorx.Stream("cpu"))
    """


def detach(input: Tensor) -> Tensor:
    """The same memory outside of the graph (see `Tensor.detach`).

    >>> import tensorx
    >>> tensorx.detach(tensorx.ones(1, requires_grad=True)).requires_grad
    False
    """
    return input.detach()


def to_dlpack(tensor: Tensor) -> Any:
    """The DLPack capsule of a cpu tensor. BufferError for one that requires grad or lives elsewhere.

    >>> import tensorx
    >>> type(tensorx.to_dlpack(tensorx.ones(1))).__name__
    'PyCapsule'
    """
    return tensor.__dlpack__()


def is_shared(self: Tensor) -> bool:
    """Whether the memory is shared with other processes: never."""
    return False


def share_memory_(self: Tensor) -> Tensor:
    """NotImplementedError: storages are not moved into memory shared with other processes."""
    raise NotImplementedError("share_memory_: memory shared between processes is not supported. Hint: send tensors by a queue or a file")


def dequantize(self: Tensor, *args: Any) -> Tensor:
    """RuntimeError: there are no quantised tensors. A float tensor comes back as float32, as in PyTorch."""
    if not self.dtype.is_floating_point:
        raise RuntimeError("dequantize: expected a quantized or floating-point tensor. Hint: tensorx has no quantised tensors")
    return self.to(dtypes.float32)


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape.

    >>> import tensorx
    >>> tensorx.is_same_size(tensorx.ones(2), tensorx.ones(3))
    False
    """
    if not isinstance(other, Tensor):
        raise TypeError(f"is_same_size: argument 'other' must be a tensor; got {type(other).__name__}")
    return self._shape == other._shape


def asarray(obj: Any, *, dtype: DType | None = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False) -> Tensor:
    """``obj`` (tensor, array, numbers) as a tensor; with ``copy=True`` always new memory, with ``copy=False`` never. ValueError where that cannot be.

    >>> import tensorx
    >>> tensorx.asarray([1, 2])
    tensor([1, 2])
    """
    shares = isinstance(obj, Tensor | np.ndarray)
    made = factories.as_tensor(obj, dtype, device)
    kept = shares and (made._storage is obj._storage if isinstance(obj, Tensor) else made.device.type == "cpu" and np.shares_memory(made.detach().numpy(), obj))
    if copy is False and not kept:
        raise ValueError("can't alias tensor: its dtype or device differs, or it has no memory to share" if shares else f"can't alias a {type(obj).__name__}")
    made = made.detach().clone() if copy and kept else made.detach() if made.requires_grad and not requires_grad else made
    return made.requires_grad_() if requires_grad else made


def _in_place(name: str) -> Any:
    def f(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        op, bound = bind.resolve(bind.table.BY_NAME[name], (self, *args), kwargs)
        return bind.write_in_place(op, bound)
    f.__name__, f.__doc__ = name + "_", f"`{name}`, in place."
    return f


def frombuffer(buffer: Any, *, dtype: DType, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A cpu tensor on the memory of an object with Python's buffer interface. ValueError where it does not hold as many elements.

    >>> import tensorx
    >>> tensorx.frombuffer(bytearray(b"ab"), dtype=tensorx.uint8)
    tensor([97, 98], dtype=tensorx.uint8)
    """
    size = memoryview(buffer).nbytes
    if not size or not count:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} bytes) minus 1")
    if count < 0 and (size - offset) % dtype.itemsize:
        raise ValueError(f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({dtype.itemsize})")
    if count > 0 and offset + count * dtype.itemsize > size:
        raise ValueError(f"requested buffer length ({count} * {dtype.itemsize} bytes) after offset ({offset} bytes) must not be greater than actual buffer length "
                         f"({size} bytes)")
    made = factories.from_numpy(np.frombuffer(buffer, dtype.np, count, offset))
    return made.requires_grad_() if requires_grad else made


METHODS: dict[str, Any] = {
    "new": new, "resize_as_": resize_as_, "apply_": apply_, "map_": map_, "as_subclass": as_subclass, "to_dense": to_dense, "pin_memory": pin_memory, "record_stream": record_stream,
    "is_pinned": is_pinned, "is_same_size": is_same_size, "is_shared": is_shared, "share_memory_": share_memory_, "dequantize": dequantize,
    "__div__": lambda self, other: self / other, "__rdiv__": lambda self, other: other / self,  # Python 2's names, which PyTorch kept
    "is_mps": property(lambda self: False), "is_xpu": property(lambda self: False),
    **{n: _of_sparse(n) for n in ("values", "indices", "crow_indices", "col_indices", "ccol_indices", "row_indices", "coalesce", "is_coalesced", "sparse_dim",
                                  "dense_dim", "sparse_resize_")},
    **{n: _to_sparse(n) for n in ("to_sparse", "to_sparse_coo", "to_sparse_csr", "to_sparse_csc", "to_sparse_bsr", "to_sparse_bsc", "sparse_mask")},
    **{n + "_": _in_place(n) for n in ("addmm", "baddbmm", "cumsum", "cumprod")},
}  # fmt: skip
