"""Tensor: a mutable handle on storage, shape, strides, offset, dtype and device.

Operations are installed from the op table (`tensorx.ops`); what lives here needs no kernel. Hot attributes are plain
instance attributes with class-level defaults: a small op creates a Tensor in about 0.3 us.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorx import dtypes, faults, formats
from tensorx.autograd.modes import state
from tensorx.devices import registry
from tensorx.dtypes import dtype as DType
from tensorx.errors import BadValue, DTypeError
from tensorx.locks import Lock
from tensorx.size import Size, contiguous_strides, is_contiguous, normalize_dim
from tensorx.storage import Storage, TypedStorage, allocate
from tensorx.warning import NO_GRAD, warn

if TYPE_CHECKING:
    from tensorx._methods import TensorMethods  # generated from the op table
else:
    TensorMethods = object

Array = np.ndarray[Any, Any]
ZERO_DIM, CONTIGUOUS = 1 << 5, 1 << 6
_device_ids: dict[registry.device, int] = {}
_lock = Lock()


def key_of(d: DType, device: registry.device, zero_dim: bool, contiguous: bool) -> int:
    """A small number for what a plan depends on: dtype, device, zero-dim or not, contiguous or not."""
    ident = _device_ids.get(device)
    if ident is None:
        with _lock.mutex:
            ident = _device_ids.setdefault(device, len(_device_ids))
    return d.id | (zero_dim and ZERO_DIM) | (contiguous and CONTIGUOUS) | ident << 8


class TensorMeta(type):
    """Lets ``isinstance(x, Parameter)`` checks live in subclasses; `Tensor(...)` builds as ``torch.Tensor`` does."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Tensor:
            return Tensor._legacy(*args, **kwargs)
        return super().__call__(*args, **kwargs)


class Tensor(TensorMethods, metaclass=TensorMeta):
    """An n-dimensional array on one device, with gradients. Made by `tensorx.tensor`, factories and ops.

    >>> import tensorx
    >>> x = tensorx.tensor([[1., 2.], [3., 4.]], requires_grad=True)
    >>> (x * x).sum().backward(); x.grad
    tensor([[2., 4.],
            [6., 8.]])
    """

    _is_tensor = True
    __array_priority__ = 1000  # NumPy arrays leave binary operators to tensors
    _legacy: Callable[..., Any]

    dtype: DType
    device: registry.device
    _storage: Storage
    _shape: tuple[int, ...]
    _key: int
    _strides: tuple[int, ...] | None = None  # None: contiguous, computed when asked for
    _offset = 0
    _arr: Array | None = None  # the NumPy view of cpu memory, made when first needed
    _rg = False  # requires grad, for leaves and results alike
    _node: Any = None
    _nr = 0
    _view: Any = None
    _acc: Any = None
    _hooks: Any = None
    _grad: Any = None
    _post_hooks: Any = None
    _retains = False
    _inference = False

    # shape and memory

    @property
    def shape(self) -> Size:
        """The extents, as a `Size`."""
        return Size(self._shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the extent of one dimension (IndexError if there is none such)."""
        if dim is None:
            return Size(self._shape)
        return self._shape[normalize_dim(dim, len(self._shape), "size")]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    def dim(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    ndimension = dim

    def numel(self) -> int:
        """Number of elements."""
        return math.prod(self._shape)

    nelement = numel

    def _get_strides(self) -> tuple[int, ...]:
        strides = self._strides
        if strides is None:
            strides = self._strides = contiguous_strides(self._shape)
        return strides

    def stride(self, dim: int | None = None) -> Any:
        """Strides in elements, or that of one dimension."""
        strides = self._get_strides()
        return strides if dim is None else strides[normalize_dim(dim, len(strides), "stride")]

    def storage_offset(self) -> int:
        """Offset of the first element in the storage, in elements."""
        return self._offset

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether elements lie in row-major order (or in that of ``memory_format``) without gaps."""
        if memory_format is None:
            return bool(self._key & CONTIGUOUS)
        return formats.has_format(self._shape, self._get_strides(), memory_format)

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.numel() * self.dtype.itemsize

    def untyped_storage(self) -> Storage:
        """The storage that this tensor looks into."""
        return self._storage

    def storage(self) -> TypedStorage:
        """The storage that this tensor looks into, as elements of its dtype."""
        return TypedStorage(self._storage, self.dtype)

    def data_ptr(self) -> int:
        """The address of the first element (cpu); elsewhere a number that tells buffers apart."""
        return self._storage.data_ptr() + self._offset * self.dtype.itemsize

    @property
    def _version(self) -> int:
        """In-place writes so far. Inference tensors do not count them."""
        if self._inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._storage.version

    def _array(self) -> Array:
        """cpu memory as a NumPy array of this tensor's shape; writes go to the tensor."""
        arr = self._arr
        if arr is None:
            d = self.dtype
            flat = self._storage.bytes()
            if math.prod(self._shape) == 0:
                arr = np.empty(self._shape, d.np)
            elif self._strides is None:
                arr = np.ndarray(self._shape, d.np, flat, self._offset * d.itemsize)
            else:
                strides = tuple(s * d.itemsize for s in self._strides)
                arr = np.ndarray(self._shape, d.np, flat, self._offset * d.itemsize, strides)
            self._arr = arr
        return arr

    def _host(self) -> Array:
        """The values as a NumPy array: the memory itself on cpu, else a copy."""
        if self.device.type == "cpu":
            return self._array()
        if self.device.type == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        strides, size = self._get_strides(), self.dtype.itemsize
        span = 1 + sum((n - 1) * s for n, s in zip(self._shape, strides, strict=True))
        out = np.empty(0 if 0 in self._shape else span, self.dtype.np)
        if out.size:
            registry.open(self.device).copy_out(self._storage.buffer, self._offset * size, out.view(np.uint8))
        faults.check(self.device)
        if 0 in self._shape:
            return np.empty(self._shape, self.dtype.np)
        return np.ndarray(self._shape, self.dtype.np, out, 0, tuple(s * size for s in strides))

    def item(self) -> Any:
        """The one element as a Python number. Waits for the device; RuntimeError unless there is one element."""
        if math.prod(self._shape) != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        for mode in state.stack:
            mode.on_break(self)
        value = self._host().reshape(())[()]
        return value.item() if self.dtype is not dtypes.bfloat16 else float(value)

    def tolist(self) -> Any:
        """The values as nested Python lists (a number for a zero-dim tensor)."""
        host = self._host()
        return (host.astype(np.float32) if self.dtype is dtypes.bfloat16 else host).tolist()

    def numpy(self, *, force: bool = False) -> Array:
        """The values as a NumPy array that shares memory with a cpu tensor.

        Raises RuntimeError if the tensor requires grad and TypeError if it is not on cpu, unless ``force=True`` (which
        detaches and copies).
        """
        if not force:
            if self.requires_grad:
                raise RuntimeError(
                    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
                )
            if self.device.type != "cpu":
                raise TypeError(
                    f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
                    "host memory first."
                )
        return self._host()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        host = self.numpy()
        host = host if dtype is None else host.astype(dtype, copy=False)
        return host.copy() if copy else host

    # autograd

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded. Assignable on leaves."""
        if self._view is not None:
            self._view.refresh(self)
        return self._rg

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set whether this leaf requires grad. RuntimeError for a non-leaf (False) or a dtype that cannot (neither
        float nor complex)."""
        if self.grad_fn is not None:
            if not requires_grad:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                    "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
                )
            return self
        if requires_grad and self.dtype.kind < dtypes.FLOAT:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if requires_grad and self._inference and not state.inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        self._rg = bool(requires_grad)
        return self

    @property
    def grad_fn(self) -> Any:
        """The node that made this tensor; None for a leaf."""
        if self._view is not None:
            self._view.refresh(self)
        return self._node

    @property
    def is_leaf(self) -> bool:
        """Whether the user made this tensor (or it does not require grad)."""
        return self.grad_fn is None

    @property
    def output_nr(self) -> int:
        """Which output of ``grad_fn`` this is."""
        return self._nr

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward accumulated, or None. UserWarning for a non-leaf, whose gradient is not kept."""
        node = self._node is not None or self._view is not None  # a view may have got one since
        if node and self._grad is None and not self._retains and self.grad_fn is not None:
            warn(NO_GRAD)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
                )
            if value._shape != self._shape:
                want, got = tuple(self._shape), tuple(value._shape)
                raise RuntimeError(f"assigned grad has data of a different size; expected {want}, got {got}")
            if value.dtype is not self.dtype or value.device is not self.device:
                got_there = f"{value.dtype.name} on {value.device}"
                raise RuntimeError(f"assigned grad must be {self.dtype.name} on {self.device}; got {got_there}")
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def retains_grad(self) -> bool:
        """Whether this non-leaf keeps its gradient."""
        return self._retains

    def is_inference(self) -> bool:
        """Whether this tensor was made in inference mode."""
        return self._inference

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Accumulate gradients of this tensor into the leaves' ``grad`` (see `tensorx.autograd.backward`)."""
        from tensorx.autograd import backward
        backward((self,), (gradient,), retain_graph, create_graph, inputs=inputs)

    def is_floating_point(self) -> bool:
        """Whether the dtype is a real floating-point one."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        """Whether the dtype has negative values."""
        return self.dtype.is_signed

    is_sparse = is_quantized = is_nested = is_mkldnn = False
    layout = formats.strided

    @property
    def is_cuda(self) -> bool:
        """Whether the tensor is on a CUDA device."""
        return self.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        """Whether the tensor is on the cpu."""
        return self.device.type == "cpu"

    @property
    def is_meta(self) -> bool:
        """Whether the tensor has no data."""
        return self.device.type == "meta"

    def get_device(self) -> int:
        """The device index, -1 on cpu."""
        return -1 if self.device.type == "cpu" else self.device.index or 0

    # Python protocols

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def __bool__(self) -> bool:
        if math.prod(self._shape) != 1:
            many = "no values" if self.numel() == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
        return bool(self.item())

    def _number(self, kind: type) -> Any:
        if math.prod(self._shape) != 1:
            raise BadValue(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return kind(self.item())

    def __float__(self) -> float:
        return self._number(float)

    def __int__(self) -> int:
        return self._number(int)

    def __complex__(self) -> complex:
        return self._number(complex)

    def __index__(self) -> int:
        if self.dtype.kind > dtypes.INT or math.prod(self._shape) != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __hash__(self) -> int:
        return id(self)

    def __contains__(self, value: Any) -> bool:
        if not isinstance(value, Tensor | bool | int | float | complex | np.generic):
            raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar; got a {type(value).__name__}")
        return bool((self == value).any())

    def __repr__(self) -> str:
        from tensorx.formatting import tensor_repr
        return tensor_repr(self)

    def __format__(self, spec: str) -> str:
        number = not self._shape and self.device.type != "meta" and type(self) is Tensor
        return self.item().__format__(spec) if number else object.__format__(self, spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if self.grad_fn is not None:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment"
            )
        if id(self) in memo:
            return memo[id(self)]
        from tensorx.copying import deepcopy
        out = deepcopy(self, memo)
        memo[id(self)] = out
        return out

    def __reduce_ex__(self, protocol: Any) -> Any:
        from tensorx.copying import reduce
        return reduce(self)


def make(
    storage: Storage,
    shape: Sequence[int],
    strides: tuple[int, ...] | None,
    offset: int,
    d: DType,
    cls: type[Tensor] = Tensor,
) -> Tensor:
    """A tensor on existing storage. ``strides`` None means contiguous."""
    out: Tensor = cls.__new__(cls)
    out._storage, out._shape, out.dtype, out.device = storage, tuple(shape), d, storage.device
    contiguous = strides is None or is_contiguous(shape, strides)
    if strides is not None:
        out._strides = tuple(strides)
    if offset:
        out._offset = offset
    out._key = key_of(d, storage.device, not out._shape, contiguous)
    if state.inference:
        out._inference = True
    return out


def check_supported(d: DType, device: registry.device, name: str = "empty") -> None:
    """DTypeError unless ``device`` can hold elements of ``d``."""
    caps = (device.runtime or registry.open(device)).capabilities
    if not caps.supports(d.code):
        have = ", ".join(x.name for x in dtypes.ALL if caps.supports(x.code))
        raise DTypeError(
            f"{name}: argument 'dtype' must be one that {device} can hold: {have}; got {d.name}. "
            f"Hint: use {'complex64' if d.is_complex else 'float32'}, or .to('cpu')"
        )


def empty(shape: Sequence[int], d: DType, device: registry.device, strides: tuple[int, ...] | None = None) -> Tensor:
    """Uninitialised memory of ``shape`` (dense, in the order of ``strides`` if given)."""
    check_supported(d, device)
    return make(allocate(math.prod(shape) * d.itemsize, device), shape, strides, 0, d)


def wrap(arr: Array, d: DType) -> Tensor:
    """A cpu tensor that takes over an array made by the NumPy lane (dense, any order)."""
    out: Tensor = Tensor.__new__(Tensor)
    cpu = CPU
    out._storage = Storage(arr, arr.nbytes, cpu)
    out._shape, out.dtype, out.device, out._arr = arr.shape, d, cpu, arr
    contiguous = arr.flags.c_contiguous
    if not contiguous:
        size = d.itemsize
        out._strides = tuple(s // size for s in arr.strides)
    out._key = key_of(d, cpu, not arr.shape, contiguous)
    if state.inference:
        out._inference = True
    return out


def from_host(arr: Array, d: DType, device: registry.device, lent: bool = False, early: bool = False) -> Tensor:
    """A new tensor with a copy of host values. ``lent``: nobody changes them until the copy is done; ``early``: return
    before it is, whatever the size."""
    flat = np.ascontiguousarray(arr, d.np).reshape(-1)
    out = empty(arr.shape, d, device)
    if flat.size:
        lent = lent or not np.may_share_memory(flat, arr)
        registry.open(device).staging.send(out._storage.handle(), 0, flat.view(np.uint8), lent, early)
    return out


CPU = registry.device("cpu")
