"""The pooling functions, in 1 to 3 spatial dimensions: arguments checked as PyTorch does, then a row of `pooling`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tensorx.ops.convolutions import per_dim
from tensorx.ops.dispatch import call
from tensorx.ops.families import composite
from tensorx.ops.pooling import _ref_max, _ref_mean, avg_pool, max_pool
from tensorx.tensor import Tensor

Ints = tuple[int, ...]


def out_size(n: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows there are. In ceil mode one may hang over the end, if it starts inside the input or the padding before it.

    >>> out_size(5, 2, 2, 0, 1, False), out_size(5, 2, 2, 0, 1, True)
    (2, 3)
    """
    room = n + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return room // stride + 1
    size = -(-room // stride) + 1
    return size - ((size - 1) * stride >= n + padding)


def spread(name: str, word: str, values: Any, rank: int) -> Ints:
    """A number for each dimension. RuntimeError, as PyTorch's, for another number of them."""
    found = per_dim(values, rank)
    if len(found) != rank:
        raise RuntimeError(f"{name}: argument '{word}' must be an int or {rank} of them; got {values!r}")
    return found


def check_window(name: str, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> None:
    """RuntimeErrors for windows that PyTorch refuses."""
    for k, s, p, d in zip(kernel, stride, padding, dilation, strict=True):
        for word, value in (("kernel_size", k), ("stride", s), ("dilation", d)):
            if value <= 0:
                raise RuntimeError(f"{name}: argument '{word}' must be greater than zero; got {value}")
        if p < 0:
            raise RuntimeError(f"{name}: argument 'padding' must be non-negative; got {p}")
        if p > k // 2:
            raise RuntimeError(f"{name}: pad should be at most half of kernel size, but got pad={p} and kernel_size={k}")


def check_input(name: str, shape: Ints, rank: int, channels: bool = True) -> None:
    """RuntimeErrors for an input that is not (N, C, ...) or (C, ...), or has an empty dimension other than the batch."""
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"{name}: Expected {rank + 1}D or {rank + 2}D (batch mode) input, but got {list(shape)}")
    if 0 in shape[len(shape) - rank - channels * (len(shape) == rank + 2):]:
        raise RuntimeError(f"{name}: Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)}")


@lru_cache(maxsize=4096)
def windows(name: str, shape: Ints, rank: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """(size, kernel, stride, padding, dilation) of a call, checked."""
    kernel = spread(name, "kernel_size", kernel, rank)
    stride = spread(name, "stride", stride, rank) if stride is not None and stride != () else kernel
    padding, dilation = spread(name, "padding", padding, rank), spread(name, "dilation", dilation, rank)
    check_window(name, kernel, stride, padding, dilation)
    check_input(name, shape, rank)
    if not shape[0] and len(shape) == rank + 1:
        raise RuntimeError(f"{name}: Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)}")
    n = shape[-rank:]
    size = tuple(out_size(*at, ceil_mode) for at in zip(n, kernel, stride, padding, dilation, strict=True))
    if min(size) < 1:
        raise RuntimeError(f"{name}: Given input size: {list(n)}. Calculated output size: {list(size)}. Output size is too small")
    return size, kernel, stride, padding, dilation


def shares(name: str, x: Tensor, rank: int, output_size: Any, channels: bool) -> Ints:
    """The sizes of an adaptive call, checked."""
    size = (output_size,) * rank if isinstance(output_size, int) else tuple(output_size)
    if len(size) != rank:
        raise RuntimeError(f"{name}: argument 'output_size' must be an int or {rank} of them; got {output_size!r}")
    check_input(name, x._shape, rank, channels)
    if min(size) < 0:
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0 but received {list(size)}")
    return size


# oracles


def _window_of(x: Any, rank: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> tuple[Ints, ...]:
    kernel, padding, dilation = (per_dim(v, rank) for v in (kernel, padding, dilation))
    stride = per_dim(stride, rank) if stride else kernel
    return tuple(out_size(*at, ceil_mode) for at in zip(x.shape[-rank:], kernel, stride, padding, dilation, strict=True)), kernel, stride, padding, dilation


def _ref_max_pool(rank: int, both: bool) -> Any:
    def ref(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False) -> Any:
        found = _ref_max(x, *_window_of(x, rank, kernel_size, stride, padding, dilation, ceil_mode))
        return found if both else found[0]
    return ref


def _ref_avg_pool(rank: int) -> Any:
    def ref(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: Any = None) -> Any:
        size, kernel, steps, pads, _ = _window_of(x, rank, kernel_size, stride, padding, 1, ceil_mode)
        return _ref_mean(x, size, kernel, steps, pads, count_include_pad, divisor_override)
    return ref


def _ref_adaptive(rank: int, of: Any) -> Any:
    return lambda x, output_size: of(x, per_dim(output_size, rank), (), (), (), *([()] if of is _ref_max else []))


# rows


def _max(name: str, rank: int, both: bool) -> Any:
    def pool(x: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
        found = call(max_pool, (x, *windows(name, x._shape, rank, kernel_size, stride, padding, dilation, ceil_mode)))
        return found if both else found[0]
    return pool


def _avg(name: str, rank: int) -> Any:
    def pool(x: Tensor, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool, divisor_override: int | None = None) -> Tensor:
        size, kernel, steps, pads, _ = windows(name, x._shape, rank, kernel_size, stride, padding, 1, ceil_mode)
        if rank == 3 and any(n < k for n, k in zip(x._shape[-3:], kernel, strict=True)):  # PyTorch's rule for volumes alone, padded or not
            raise RuntimeError(f"{name}: input image of size {list(x._shape[-3:])} smaller than kernel size {list(kernel)}")
        if divisor_override == 0:
            raise RuntimeError(f"{name}: divisor must be not zero")
        if kernel == x._shape[-rank:] and not any(pads) and divisor_override is None and x.dtype.kind > 1:
            return x.mean(tuple(range(-rank, 0)), keepdim=True)  # one window: a reduction, which many work items share
        return call(avg_pool, (x, size, kernel, steps, pads, count_include_pad, divisor_override))
    return pool


def _adaptive_avg(name: str, rank: int) -> Any:
    def pool(x: Tensor, output_size: Any) -> Tensor:
        size = shares(name, x, rank, output_size, rank == 3)
        if max(size) == 1 and size == (1,) * rank and x.dtype.kind > 1:
            return x.mean(tuple(range(-rank, 0)), keepdim=True)  # as above
        return call(avg_pool, (x, size, (), (), (), False, None))
    return pool


def _adaptive_max(name: str, rank: int) -> Any:
    def pool(x: Tensor, output_size: Any) -> Any:
        return call(max_pool, (x, shares(name, x, rank, output_size, True), (), (), (), ()))
    return pool


def _register(rank: int) -> None:
    n, shape, small = f"{rank}d", (2, 3, *(7, 6, 5)[:rank]), (1, *((6,), (3, 4), (2, 2, 3))[rank - 1])
    window = f"int[{rank}] kernel_size, int[{rank}]? stride=None, int[{rank}] padding=0"
    largest = f"{window}, int[{rank}] dilation=1, bool ceil_mode=False"

    def calls(t: Any) -> list[Any]:
        return [(t(small), 2), (t(shape), 3, 2, 1, 1, True), (t(shape[1:]), 2, 1, 1, 2)]

    composite(f"max_pool{n}(Tensor input, {largest}) -> Tensor", dtypes="if", ref=_ref_max_pool(rank, False), samples=calls,
              doc=f"The largest element of each {n[0]}-d window.")(_max(f"max_pool{n}", rank, False))
    composite(f"max_pool{n}_with_indices(Tensor input, {largest}) -> (Tensor values, Tensor indices)", dtypes="if", ref=_ref_max_pool(rank, True), samples=calls,
              doc=f"The largest element of each {n[0]}-d window, and its place in the flattened plane.")(_max(f"max_pool{n}_with_indices", rank, True))
    composite(f"avg_pool{n}(Tensor input, {window}, bool ceil_mode=False, bool count_include_pad=True{', int? divisor_override=None' if rank > 1 else ''}) -> Tensor",
              dtypes="if", ref=_ref_avg_pool(rank), doc=f"The mean of each {n[0]}-d window.",
              samples=lambda t: [(t(small), 2), (t(shape), 3, 2, 1, True), (t(shape[1:]), 3, 2, 1, True, False)])(_avg(f"avg_pool{n}", rank))
    sizes = (3, 2, 4)[:rank]
    composite(f"adaptive_avg_pool{n}(Tensor input, int[{rank}] output_size) -> Tensor", dtypes="f", ref=_ref_adaptive(rank, _ref_mean),
              samples=lambda t: [(t(small), 2), (t(shape), sizes), (t(shape), 1), (t(shape[1:]), 8)], doc=f"Means of windows that share the input evenly, to a given {n[0]}-d size.")(
                  _adaptive_avg(f"adaptive_avg_pool{n}", rank))
    name = f"adaptive_max_pool{n}" + ("" if rank == 1 else "_with_indices")  # as PyTorch calls those that give both
    composite(f"{name}(Tensor input, int[{rank}] output_size) -> (Tensor values, Tensor indices)", dtypes="if", ref=_ref_adaptive(rank, _ref_max),
              samples=lambda t: [(t(small), 2), (t(shape), sizes), (t(shape[1:]), 8)], doc=f"Maxima of windows that share the input evenly, to a given {n[0]}-d size, and their places.")(
                  _adaptive_max(name, rank))


for _rank in (1, 2, 3):
    _register(_rank)
