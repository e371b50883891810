"""Making tensors: from values, filled, ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorx import dtypes, formats
from tensorx.devices import registry
from tensorx.dtypes import dtype as DType
from tensorx.errors import BadValue, DTypeError
from tensorx.ops import domain
from tensorx.ops import expr as E
from tensorx.ops.arguments import as_ints, as_shape, checked, size_given
from tensorx.ops.dispatch import call
from tensorx.ops.families import row
from tensorx.ops.kinds.create import CREATE
from tensorx.ops.layout import is_dense, span
from tensorx.ops.outputs import resize
from tensorx.ops.table import NONDIFF
from tensorx.tensor import CONTIGUOUS, Tensor, from_host, make, wrap
from tensorx.tensor import empty as _empty

_full = row("_full(int[] size, Scalar value, *, ScalarType dtype, Device device) -> Tensor", CREATE, lambda d, value: value, NONDIFF,
            ref=lambda size, value: np.full(size, value), samples=lambda t: [((2, 3), 1.5)], doc="A constant.")
_range = row("_range(int[] size, Scalar start, Scalar step, *, ScalarType dtype, Device device) -> Tensor", CREATE,
             lambda d, start, step: start + E.cast(E.index(), start.dtype) * step, NONDIFF,
             ref=lambda size, start, step: start + step * np.arange(size[0]), dtypes="if", samples=lambda t: [((7,), 2, 3)], public="arange", doc="start + step * index.")
_fixed_range = row("_fixed_range(int[] size, Seed start, Seed step, Seed fine, Scalar unit, Scalar scale, *, ScalarType dtype, Device device) -> Tensor", CREATE,
                   lambda d, start, step, fine, unit, scale: _in_fixed_point(d, start, step, fine) * unit * scale, NONDIFF,
                   ref=lambda size, start, step, fine, unit, scale: (start + step * np.arange(size[0])) * unit * scale, dtypes="f",
                   samples=lambda t: [((7,), 2, 3, 0, 0.5, 0.25)],
                   doc="start + (step + fine / 2**20) * index, counted in units of unit * scale: integers, so that every device rounds once, and alike.")
_linspace = row("_linspace(int[] size, Scalar start, Scalar end, Scalar step, Scalar half, *, ScalarType dtype, Device device) -> Tensor", CREATE,
                lambda d, start, end, step, half: _from_both_ends(start, end, step, half), NONDIFF,
                ref=lambda size, start, end, step, half: np.linspace(start, end, size[0]), samples=lambda t: [((5,), 0.0, 1.0, 0.25, 2.5)], dtypes="f",
                doc="Evenly spaced values, counted from the nearer end so that both ends are exact.")

def _in_fixed_point(d: DType, start: E.Expr, step: E.Expr, fine: E.Expr) -> E.Expr:
    i = E.cast(E.index(), dtypes.uint64)
    whole = start + step * i + ((fine * i) >> E.const(_FINE, dtypes.uint64))  # negative numbers wrap around
    return E.cast(E.cast(whole, dtypes.int64), d.compute)


_FINE = 20  # bits of the step below the unit: an index of up to 2**44 leaves room


def _ranged(n: int, start: float, step: float, d: DType, device: registry.device) -> Tensor:
    """start + step * index. PyTorch computes it in float64 and rounds once; devices without float64 have integers of 62 bits instead."""
    reach = max(abs(start), abs(step) * n, abs(start + step * n)) if math.isfinite(step) else math.inf
    small = reach < 2**24 and float(start).is_integer() and float(step).is_integer()  # exact in float32
    exponent = math.frexp(reach)[1] - 62 if math.isfinite(reach) else 0
    if d.kind != dtypes.FLOAT or d is dtypes.float64 or small or not -188 <= exponent <= 65:
        return _range((n,), start, step, dtype=d, device=device)
    # a unit may be less than float32 holds: it comes in two factors
    first, by = round(math.ldexp(start, -exponent)), round(math.ldexp(step, _FINE - exponent))
    return _fixed_range((n,), first % 2**64, (by >> _FINE) % 2**64, by % 2**_FINE, 2.0 ** (exponent // 2), 2.0 ** (exponent - exponent // 2), dtype=d, device=device)


def _from_both_ends(start: E.Expr, end: E.Expr, step: E.Expr, half: E.Expr) -> E.Expr:
    i = E.cast(E.index(), start.dtype)
    last = half * 2 - 1  # half = steps / 2, so this is steps - 1
    return E.where(i < half, start + step * i, end - step * (last - i))


def default_device() -> registry.device:
    """The device of factories that name none."""
    return registry.default()


def resolve(device: Any) -> registry.device:
    """A device argument (None: the default one)."""
    if device is None:
        return registry.default()
    d = registry.device(device)
    if d.index is None and d.type not in ("cpu", "meta", "null"):
        d = registry.device(d.type, registry.open(d).index)
    return d


def _made(t: Tensor, requires_grad: bool) -> Tensor:
    return t.requires_grad_() if requires_grad else t


@checked
def full(size: Any, fill_value: Any, *, out: Tensor | None = None, dtype: DType | None = None, layout: Any = None, device: Any = None,
         requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A tensor of ``size`` filled with ``fill_value``; its dtype follows the value unless given.

    >>> import tensorx
    >>> tensorx.full((2, 2), 7)
    tensor([[7, 7],
            [7, 7]])
    """
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    if not isinstance(value, int | float | complex | np.number | np.bool_):
        raise TypeError(f"full: argument 'fill_value' must be a number; got {value!r} ({type(value).__name__})")
    d = dtype or (out.dtype if out is not None else dtypes.of_python(value))
    shape = as_shape("full", (size,))
    formats.check_strided("full", layout)
    domain.check_range(_full, (value,), d)
    return _constant(shape, value, d, device, requires_grad, out)


def _constant(shape: tuple[int, ...], value: Any, d: DType, device: Any, requires_grad: bool, out: Tensor | None) -> Tensor:
    if out is not None:
        return call(_full, (shape, value, d, out.device), (out,))  # type: ignore[no-any-return]
    return _made(call(_full, (shape, value, d, resolve(device))), requires_grad)


def _filled(name: str, value: int) -> Callable[..., Tensor]:
    def f(*size: Any, out: Tensor | None = None, dtype: DType | None = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
          pin_memory: bool = False, memory_format: Any = None, **kw: Any) -> Tensor:
        shape = as_shape(name, size_given(name, size, kw))
        d = dtype or (out.dtype if out is not None else dtypes.get_default_dtype())
        formats.check_strided(name, layout)
        return _constant(shape, value, d, device, requires_grad, out)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"A tensor of the given size filled with {value}.\n\n    >>> import tensorx\n    >>> tensorx.{name}(2).tolist()\n    [{float(value)}, {float(value)}]\n    "
    return checked(f)


zeros = _filled("zeros", 0)
ones = _filled("ones", 1)


@checked
def empty(*size: Any, out: Tensor | None = None, dtype: DType | None = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
          pin_memory: bool = False, memory_format: Any = None, **kw: Any) -> Tensor:
    """Uninitialised memory.

    >>> import tensorx
    >>> tensorx.empty(2, 3).shape
    tensorx.Size([2, 3])
    """
    formats.check_strided("empty", layout)
    shape = as_shape("empty", size_given("empty", size, kw))
    strides = None if memory_format in (None, formats.contiguous_format) else formats.format_strides(shape, memory_format)
    if out is not None:
        return resize(out, shape)
    return _made(_empty(shape, dtype or dtypes.get_default_dtype(), resolve(device), strides), requires_grad)


@checked
def empty_like(input: Tensor, *, dtype: DType | None = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
               pin_memory: bool = False, memory_format: Any = None) -> Tensor:
    """Uninitialised memory with the shape of ``input``.

    >>> import tensorx
    >>> tensorx.empty_like(tensorx.zeros(2)).shape
    tensorx.Size([2])
    """
    formats.check_strided("empty_like", layout)
    found = _empty(input._shape, dtype or input.dtype, resolve(device) if device is not None else input.device, _like_strides(input, memory_format))
    return _made(found, requires_grad)


def _like_strides(t: Tensor, memory_format: Any) -> tuple[int, ...] | None:
    """Strides of a new tensor like ``t``: None means row-major."""
    if memory_format is None or memory_format is formats.preserve_format:
        own = t._get_strides()
        return None if t._key & CONTIGUOUS else own if is_dense(t._shape, own) else formats.dense_strides(t._shape, own)
    return None if memory_format is formats.contiguous_format else formats.format_strides(t._shape, memory_format)


@checked
def full_like(input: Tensor, fill_value: Any, *, dtype: DType | None = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
              pin_memory: bool = False, memory_format: Any = None) -> Tensor:
    """``fill_value`` in the shape, dtype and device of ``input``.

    >>> import tensorx
    >>> tensorx.full_like(tensorx.zeros(2), 3.0)
    tensor([3., 3.])
    """
    if input._key & CONTIGUOUS and memory_format in (None, formats.preserve_format, formats.contiguous_format):
        return full(input._shape, fill_value, dtype=dtype or input.dtype, device=input.device if device is None else device, requires_grad=requires_grad, layout=layout)
    made = empty_like(input, dtype=dtype, layout=layout, device=device, memory_format=memory_format)
    return _made(full(made._shape, fill_value, out=made), requires_grad)


@checked
def zeros_like(input: Tensor, **kw: Any) -> Tensor:
    """Zeros in the shape, dtype and device of ``input``.

    >>> import tensorx
    >>> tensorx.zeros_like(tensorx.ones(2))
    tensor([0., 0.])
    """
    return full_like(input, 0, **kw)


@checked
def ones_like(input: Tensor, **kw: Any) -> Tensor:
    """Ones in the shape, dtype and device of ``input``.

    >>> import tensorx
    >>> tensorx.ones_like(tensorx.zeros(2))
    tensor([1., 1.])
    """
    return full_like(input, 1, **kw)


@checked
def arange(*args: Any, out: Tensor | None = None, dtype: DType | None = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
           pin_memory: bool = False, start: Any = None, end: Any = None, step: Any = None) -> Tensor:
    """``arange(end)``, ``arange(start, end[, step])``: values from start (inclusive) to end (exclusive).

    >>> import tensorx
    >>> tensorx.arange(5), tensorx.arange(1, 2, 0.5)
    (tensor([0, 1, 2, 3, 4]), tensor([1.0000, 1.5000]))
    """
    args = tuple(a.item() if isinstance(a, Tensor) else a for a in args)
    named = [start, end, step]
    if len(args) == 1:
        named[1] = args[0]
    else:
        named[: len(args)] = args
    first, last, by = named[0] if named[0] is not None else 0, named[1], named[2] if named[2] is not None else 1
    if last is None:
        raise TypeError("arange: argument 'end' is missing")
    for name, value in (("start", first), ("end", last), ("step", by)):
        if not isinstance(value, int | float | np.number | np.bool_):
            raise TypeError(f"arange: argument '{name}' must be a number; got {value!r} ({type(value).__name__})")
    if by == 0:
        raise RuntimeError("step must be nonzero")
    if not all(map(math.isfinite, (first, last))):
        raise RuntimeError(f"unsupported range: {first} -> {last}")
    if (last - first) * by < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(x, int | np.integer) for x in (first, last, by))
    d = dtype or (out.dtype if out is not None else dtypes.int64 if whole else dtypes.get_default_dtype())
    if d.kind == dtypes.BOOL:
        raise DTypeError("\"arange\" not implemented for 'bool'")
    if d is dtypes.int64:  # its arguments are integers before they are counted, as in PyTorch
        first, last, by = int(first), int(last), int(by)
        if by == 0:
            raise BadValue("arange: step must be nonzero")
    integers = all(isinstance(x, int) for x in (first, last, by))
    n = max(0, -((first - last) // by) if integers else math.ceil((last - first) / by))
    result = _ranged(n, first, by, d, resolve(device) if out is None else out.device)
    return _made(result, requires_grad) if out is None else out.resize_(n).copy_(result)


@checked
def linspace(start: Any, end: Any, steps: int, *, out: Tensor | None = None, dtype: DType | None = None, layout: Any = None, device: Any = None,
             requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """``steps`` evenly spaced values from start to end, both included.

    >>> import tensorx
    >>> tensorx.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = (v.item() if isinstance(v, Tensor) else v for v in (start, end))
    for name, value in (("start", start), ("end", end)):
        if not isinstance(value, int | float | complex | np.number):
            raise TypeError(f"linspace: argument '{name}' must be a number; got {value!r} ({type(value).__name__})")
    if out is not None:
        dtype, device = out.dtype, out.device
    d = dtype or dtypes.get_default_dtype()
    work = d if d.kind >= dtypes.FLOAT else dtypes.get_default_dtype()
    step = (end - start) / (steps - 1) if steps > 1 else 0
    result = _linspace((steps,), start, end if steps > 1 else start, step, steps / 2, dtype=work, device=resolve(device))
    return _made(result.to(d), requires_grad) if out is None else out.resize_(steps).copy_(result)


@checked
def empty_strided(size: Any, stride: Any, *, dtype: DType | None = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
                  pin_memory: bool = False) -> Tensor:
    """Uninitialised memory with any strides. RuntimeError for negative ones.

    >>> import tensorx
    >>> tensorx.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    shape, strides = as_shape("empty_strided", (size,)), as_ints("empty_strided", "stride", stride)
    if len(shape) != len(strides):
        raise RuntimeError(f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})")
    if any(s < 0 for s in strides):
        raise RuntimeError("as_strided: Negative strides are not supported at the moment")
    base = _empty((span(shape, strides),), dtype or dtypes.get_default_dtype(), resolve(device))
    return _made(make(base._storage, shape, strides, 0, base.dtype), requires_grad)


@checked
def empty_permuted(size: Any, physical_layout: Any, *, dtype: DType | None = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
                   pin_memory: bool = False) -> Tensor:
    """Uninitialised dense memory whose dimensions lie in this order, the outermost one first.

    >>> import tensorx
    >>> tensorx.empty_permuted((2, 3, 4), (2, 0, 1)).stride()
    (3, 1, 6)
    """
    shape, order = as_shape("empty_permuted", (size,)), as_ints("empty_permuted", "physical_layout", physical_layout)
    if sorted(order) != list(range(len(shape))):
        raise RuntimeError(f"empty_permuted: argument 'physical_layout' must be a permutation of {len(shape)} dimensions; got {order}")
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d] = step
        step *= max(shape[d], 1)
    return empty_strided(shape, strides, dtype=dtype, device=device, requires_grad=requires_grad)


@checked
def eye(n: int, m: int | None = None, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
        pin_memory: bool = False) -> Tensor:
    """The identity matrix.

    >>> import tensorx
    >>> tensorx.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    m = n if m is None else m
    d, dev = dtype or dtypes.get_default_dtype(), resolve(device)
    out = zeros(n, m, dtype=d, device=dev)
    if min(n, m):
        out.diagonal().fill_(1)
    return _made(out, requires_grad)


def _infer(data: Any) -> tuple[np.ndarray[Any, Any], DType]:
    """Python data as an array, with the dtype that PyTorch gives it."""
    try:
        arr = np.array(data)
    except ValueError:
        raise ValueError(f"expected sequence of length {len(data[0]) if data and hasattr(data[0], '__len__') else '?'} at dim 1: "
                         "sequences must have equal lengths") from None
    if arr.dtype == object:
        flat = arr.ravel()
        if flat.size and all(isinstance(x, int) for x in flat):
            raise BadValue("Overflow when unpacking long long")
        if isinstance(data, np.ndarray):
            raise TypeError(f"can't convert np.ndarray of type numpy.object_. The only supported types are: {', '.join(str(d.np) for d in dtypes.ALL)}.")
        if not flat.size or flat[0] is None or isinstance(flat[0], dict):
            raise RuntimeError(f"Could not infer dtype of {type(flat[0] if flat.size else data).__name__}")
        raise TypeError(f"tensor: argument 'data' must hold numbers; got {type(flat[0] if flat.size else data).__name__}")
    if arr.dtype.kind in "US":
        raise TypeError(f"new(): invalid data type '{type(data).__name__ if isinstance(data, str) else 'str'}'")
    if arr.dtype == np.uint64 and not isinstance(data, np.ndarray | np.generic):
        raise BadValue("Overflow when unpacking long long")
    if arr.dtype.kind == "f" and not _has_numpy(data):
        return arr, dtypes.get_default_dtype()
    if arr.dtype.kind == "c" and not _has_numpy(data):
        return arr, dtypes.get_default_dtype().to_complex()
    if not arr.size and not _has_numpy(data):
        return arr, dtypes.get_default_dtype()
    _check_byte_order(arr)
    return arr, dtypes.of_numpy(arr.dtype)


def _check_byte_order(arr: np.ndarray[Any, Any]) -> None:
    if not arr.dtype.isnative:
        raise ValueError("given numpy array has byte order different from the native byte order. Conversion between byte orders is currently not supported.")


def _check_range(arr: np.ndarray[Any, Any], d: DType) -> None:
    """BadValue for a Python number that an integer dtype cannot hold. Negative ones wrap around in unsigned dtypes, as in PyTorch."""
    info = np.iinfo(d.np)
    low, high = arr.min().item(), arr.max().item()  # NaN is neither at least nor at most anything
    if not (low >= (info.min if d.is_signed else -info.max) and high <= info.max):
        raise BadValue(f"value cannot be converted to type {d.name} without overflow")


def _has_numpy(data: Any) -> bool:
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return isinstance(data, np.ndarray | np.generic)


@checked
def tensor(data: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A new leaf tensor with a copy of ``data`` (numbers, nested sequences, arrays, tensors).

    >>> import tensorx
    >>> tensorx.tensor([[1, 2], [3, 4]]).dtype
    tensorx.int64
    """
    if isinstance(data, Tensor):
        out = data.detach().to(data.device if device is None else device, dtype or data.dtype, copy=True)
        return _made(out, requires_grad)
    if isinstance(data, list | tuple) and _holds_tensor(data):
        dtype = dtype or _common(_leaves(data))
        data = _unwrap(data, dtype)
    arr, d = _infer(data)
    target = dtype or d
    if target.kind < dtypes.COMPLEX and arr.dtype.kind == "c":
        raise TypeError("value cannot be converted to a real dtype without discarding its imaginary part")
    with np.errstate(all="ignore"):
        if target.kind == dtypes.INT and arr.dtype.kind in "iuf" and arr.size and not _has_numpy(data):
            _check_range(arr, target)
        arr = arr.astype(target.np)
    return _made(from_host(arr, target, resolve(device), lent=True), requires_grad)


def _holds_tensor(data: Any) -> bool:
    return any(isinstance(x, Tensor) or (isinstance(x, list | tuple) and _holds_tensor(x)) for x in data)


def _leaves(data: Any) -> list[Any]:
    return [y for x in data for y in _leaves(x)] if isinstance(data, list | tuple) else [data]


def _common(leaves: Sequence[Any]) -> DType:
    """The dtype of a sequence that holds tensors: what those of its elements promote to."""
    found = [x.dtype if isinstance(x, Tensor | np.generic) else dtypes.of_python(x) for x in leaves if isinstance(x, Tensor | np.generic | int | float | complex)]
    return dtypes.promote([dtypes.of_numpy(d) if isinstance(d, np.dtype) else d for d in found], [], [])


def _unwrap(data: Any, target: DType) -> Any:
    """Tensors of one element inside sequences as numbers. TypeError where they cannot be an integer dtype's, ValueError for other shapes."""
    if isinstance(data, Tensor):
        if target.kind == dtypes.INT and (data.numel() != 1 or data.dtype.kind > dtypes.INT):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        if data.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return data.item()
    return [_unwrap(x, target) for x in data] if isinstance(data, list | tuple) else data


def as_tensor(data: Any, dtype: DType | None = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, sharing memory with a tensor or a NumPy array where dtype and device allow it.

    >>> import tensorx, numpy
    >>> a = numpy.zeros(2, "float32"); t = tensorx.as_tensor(a); a[0] = 5; t
    tensor([5., 0.])
    """
    if isinstance(data, Tensor):
        return data.to(data.device if device is None else device, dtype or data.dtype)
    dev = resolve(device)
    if isinstance(data, np.ndarray) and dev.type == "cpu" and all(s >= 0 for s in data.strides) and data.flags.writeable:
        t = from_numpy(data)
        return t if dtype is None else t.to(dtype)
    return tensor(data, dtype=dtype, device=dev)


def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """A cpu tensor that shares memory with ``ndarray``. TypeError for other types or dtypes, ValueError for negative strides.

    >>> import tensorx, numpy
    >>> tensorx.from_numpy(numpy.arange(3))
    tensor([0, 1, 2])
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    _check_byte_order(ndarray)
    d = dtypes.of_numpy(ndarray.dtype)
    if any(s < 0 for s in ndarray.strides):
        raise ValueError("At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. "
                         "(You can probably work around this by making a copy of your array  with array.copy().)")
    if any(s % d.itemsize for s in ndarray.strides):
        raise ValueError("given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory.")
    dense = ndarray.flags.c_contiguous or ndarray.flags.f_contiguous
    if dense:
        return wrap(ndarray.view(), d)
    span = 1 + sum((n - 1) * s // d.itemsize for n, s in zip(ndarray.shape, ndarray.strides, strict=True)) if ndarray.size else 0
    flat = np.lib.stride_tricks.as_strided(ndarray, (span,), (d.itemsize,))
    base = wrap(flat, d)
    return make(base._storage, ndarray.shape, tuple(s // d.itemsize for s in ndarray.strides), 0, d)

