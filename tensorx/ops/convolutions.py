"""Convolutions and transposed convolutions of any rank: three CONTRACT rows, and PyTorch's functions over them.

The rows are the three directions (see `kernels.convolution`): forward, data and weight. Each one's gradients are the other two, so gradients
of any order are the same kernels. A transposed convolution is the data direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import DTypeError, ShapeError
from tensorx.kernels.convolution import Window
from tensorx.ops.families import composite, row
from tensorx.ops.kinds.contract import CONTRACT, Convolution
from tensorx.tensor import Tensor

Ints = tuple[int, ...]
WINDOW = "int[] stride, int[] padding, int[] dilation, int groups"


def out_size(x: Sequence[int], w: Sequence[int], stride: Any, padding: Any, dilation: Any, groups: int = 1) -> Ints:
    """The shape of a convolution's result."""
    spatial = ((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(x[2:], w[2:], stride, padding, dilation, strict=True))
    return (x[0], w[0], *spatial)


def _window(stride: Any, padding: Any, dilation: Any, groups: int) -> Window:
    return Window(tuple(stride), tuple(padding), tuple(dilation), groups)


def _per_channel(g: Tensor) -> Tensor:
    return g.sum((0, *range(2, len(g._shape))))


def _forward_vjp(g: Tensor, input: Tensor, weight: Tensor, stride: Any, padding: Any, dilation: Any, groups: int, needs: Any) -> Any:
    at = (stride, padding, dilation, groups)
    return (data(g, weight.conj(), None, input._shape, *at) if needs[0] else None, weights(input.conj(), g, weight._shape, *at) if needs[1] else None,
            _per_channel(g) if needs[2] else None)


def _cropped(y: Tensor, shape: Ints) -> Tensor:
    """``y`` as large as ``shape``: an output padding beyond the stride (dilation allows it) holds places for more outputs than there were."""
    for dim, n in enumerate(shape):
        if y._shape[dim] != n:
            y = y.narrow(dim, 0, n)
    return y


def _data_vjp(g: Tensor, grad: Tensor, weight: Tensor, stride: Any, padding: Any, dilation: Any, groups: int, needs: Any) -> Any:
    at = (stride, padding, dilation, groups)
    return (_cropped(forward(g, weight.conj(), None, *at), grad._shape) if needs[0] else None, weights(g, grad.conj(), weight._shape, *at) if needs[1] else None,
            _per_channel(g) if needs[2] else None)


def _weights_vjp(g: Tensor, input: Tensor, grad: Tensor, stride: Any, padding: Any, dilation: Any, groups: int, needs: Any) -> Any:
    at = (stride, padding, dilation, groups)
    return data(grad.conj(), g, None, input._shape, *at) if needs[0] else None, _cropped(forward(input.conj(), g, None, *at), grad._shape) if needs[1] else None


def _ref_taps(x: Any, size: Any, outs: Sequence[int], stride: Any, padding: Any, dilation: Any, groups: int) -> Iterator[tuple[int, Any, Any]]:
    """Straight from the definition: what each weight, (output channel, position), is multiplied with."""
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    steps = list(zip(outs, stride, dilation, strict=True))
    for d in range(size[0]):
        first = d // (size[0] // groups) * size[1]
        for channel, *at in np.ndindex(*size[1:]):
            where = [slice(k * dilated, k * dilated + (n - 1) * step + 1, step) for k, (n, step, dilated) in zip(at, steps, strict=True)]
            yield d, (channel, *at), x[(slice(None), first + channel, *where)]


def _ref_forward(x: Any, w: Any, b: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    outs = out_size(x.shape, w.shape, stride, padding, dilation, groups)[2:]
    y = np.zeros((x.shape[0], w.shape[0], *outs), np.result_type(x, w))
    for d, at, tap in _ref_taps(x, w.shape, outs, stride, padding, dilation, groups):
        y[:, d] += w[(d, *at)] * tap
    return y if b is None else y + b.reshape(-1, *(1,) * len(outs))


def _ref_data(g: Any, w: Any, b: Any, size: Any, *window: Any) -> Any:
    """The adjoint of the forward oracle, from its action on unit vectors (a batch of them: samples do not meet)."""
    n = math.prod(size[1:])
    moved = _ref_forward(np.eye(n).reshape(n, *size[1:]), w, None, *window)[(slice(None), *map(slice, g.shape[1:]))]
    axes = range(1, g.ndim)
    out = np.tensordot(g, moved, (axes, axes)).reshape(size).astype(np.result_type(g, w))
    return out if b is None else out + b.reshape(-1, *(1,) * (out.ndim - 2))


def _ref_weight(x: Any, g: Any, size: Any, *window: Any) -> Any:
    out = np.zeros(size, np.result_type(x, g))
    for d, at, tap in _ref_taps(x, size, g.shape[2:], *window):
        out[(d, *at)] = (tap * g[:, d]).sum()
    return out


CASES: list[Any] = [((2, 3, 7), (4, 3, 3), (1,), (0,), (1,), 1), ((1, 4, 6, 5), (6, 2, 3, 2), (2, 1), (1, 0), (1, 2), 2), ((1, 2, 4, 4), (2, 1, 3, 3), (1, 1), (1, 1), (1, 1), 2),
         ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), (1, 2, 1), (0, 1, 1), (1, 1, 1), 1), ((1, 1, 3), (2, 1, 2), (3,), (1,), (2,), 1),
                    ((2, 4, 4, 6), (6, 2, 2, 3), (2, 3), (0, 0), (1, 1), 2)]
forward = row(f"_convolve(Tensor input, Tensor weight, Tensor? bias, {WINDOW}) -> Tensor", CONTRACT,
              lambda x, w, b, *at: Convolution("forward", (x, w), out_size(x._shape, w._shape, *at), _window(*at), b), _forward_vjp, dtypes="ifc", ulp=64,
              ref=_ref_forward, samples=lambda t: [(t(x), t(w), t((w[0],)) if i % 2 else None, *at) for i, (x, w, *at) in enumerate(CASES)],
              public="convolution", doc="Convolution (correlation) of a batch with weights, in 1 to 3 spatial dimensions.")
data = row(f"_convolve_data(Tensor grad, Tensor weight, Tensor? bias, int[] size, {WINDOW}) -> Tensor", CONTRACT,
           lambda g, w, b, size, *at: Convolution("data", (g, w), tuple(size), _window(*at), b), _data_vjp, dtypes="ifc", ulp=64, ref=_ref_data,
           samples=lambda t: [(t(out_size(x, w, *at)), t(w), t((x[1],)) if i % 2 else None, x, *at) for i, (x, w, *at) in enumerate(CASES)],
           public="convolution", doc="The adjoint of a convolution in its input: a transposed convolution.")
weights = row(f"_convolve_weight(Tensor input, Tensor grad, int[] size, {WINDOW}) -> Tensor", CONTRACT,
              lambda x, g, size, *at: Convolution("weight", (x, g), tuple(size), _window(*at)), _weights_vjp, dtypes="ifc", ulp=64, ref=_ref_weight,
              samples=lambda t: [(t(x), t(out_size(x, w, *at)), w, *at) for x, w, *at in CASES], public="convolution", doc="The adjoint of a convolution in its weights.")


# PyTorch's functions


def per_dim(values: Any, rank: int) -> Ints:
    """One number for each spatial dimension: a single one serves them all."""
    values = (values,) if isinstance(values, int) else tuple(values)
    return values * rank if len(values) == 1 else values


def _numbers(name: str, what: str, values: Any, rank: int) -> Ints:
    """`per_dim`, with a RuntimeError for another count."""
    found = per_dim(values, rank)
    if len(found) != rank:
        raise ShapeError(f"{name}: expected {what} to be a single integer value or a list of {rank} values to match the convolution dimensions, but got "
                         f"{what}={list(found)}")
    return found


def _check_numbers(stride: Ints, padding: Ints, output_padding: Ints, dilation: Ints, groups: int) -> None:
    for wrong, text in ((any(s <= 0 for s in stride), "non-positive stride is not supported"), (any(p < 0 for p in padding), "negative padding is not supported"),
                        (any(p < 0 for p in output_padding), "negative output_padding is not supported"),
                        (any(d <= 0 for d in dilation), f"dilation should be greater than zero, but got {list(dilation)}"),
                        (groups <= 0, "non-positive groups is not supported")):
        if wrong:
            raise RuntimeError(text)


def _check_operands(name: str, x: Tensor, w: Tensor, b: Tensor | None, transposed: bool, groups: int) -> None:
    """RuntimeError, in PyTorch's words, where shapes do not fit."""
    start = f"Given transposed={int(transposed)}" if transposed else f"Given groups={groups}"
    size = list(w._shape)
    if w._shape[0] < groups:
        raise ShapeError(f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size {size} instead")
    if w._shape[0] % groups:
        raise ShapeError(f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size {size} instead")
    channels = w._shape[0] if transposed else w._shape[1] * groups
    if x._shape[1] != channels:
        raise ShapeError(f"{start}, weight of size {size}, expected input{list(x._shape)} to have {channels} channels, but got {x._shape[1]} channels instead")
    n = w._shape[1] * groups if transposed else w._shape[0]
    if b is not None and b._shape != (n,):
        start = f"{start}, weight" if transposed else "Given weight"
        raise ShapeError(f"{start} of size {size}, expected bias to be 1-dimensional with {n} elements, but got bias of size {list(b._shape)} instead")
    if any(k == 0 for k in w._shape[2:]):
        raise ShapeError(f"{name}: kernel size should be greater than zero, but got {list(w._shape[2:])}")
    if b is not None and b.dtype is not x.dtype:
        raise DTypeError(f"Input type ({x.dtype.name}) and bias type ({b.dtype.name}) should be the same")
    if x.dtype is dtypes.bool_:
        raise DTypeError(f"{name}: operands must be numbers; got bool. Hint: cast with .to()")


def _times(values: Any) -> str:
    return " x ".join(map(str, values))


def convolve(name: str, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
             groups: int) -> Tensor:
    """A convolution, or a transposed one, of a batch."""
    rank = len(weight._shape) - 2
    if rank < 1 or len(x._shape) != rank + 2:
        raise ShapeError(f"{name}: Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {name}, but got input of size: {list(x._shape)}")
    named = (("stride", stride), ("padding", padding), ("output_padding", output_padding), ("dilation", dilation))
    stride, padding, output_padding, dilation = (_numbers(name, what, values, rank) for what, values in named)
    _check_numbers(stride, padding, output_padding, dilation, groups)
    _check_operands(name, x, weight, bias, transposed, groups)
    steps = list(zip(x._shape[2:], weight._shape[2:], padding, dilation, stride, output_padding, strict=True))
    if not transposed:
        if any(n + 2 * p < d * (k - 1) + 1 for n, k, p, d, _, _ in steps):
            raise ShapeError(f"Calculated padded input size per channel: ({_times(n + 2 * p for n, _, p, *_ in steps)}). Kernel size: "
                             f"({_times(d * (k - 1) + 1 for _, k, _, d, _, _ in steps)}). Kernel size can't be greater than actual input size")
        return forward(x, weight, bias, stride, padding, dilation, groups)
    if any(o >= max(s, d) for *_, d, s, o in steps):
        raise ShapeError(f"output padding must be smaller than either stride or dilation, but got output_padding: {_times(output_padding)} stride: {_times(stride)} "
                         f"dilation: {_times(dilation)}")
    spatial = [(n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n, k, p, d, s, o in steps]
    if any(n < (rank > 1 and x._shape[0] > 0) for n in spatial):  # PyTorch takes an empty result of 1-d ones
        raise ShapeError(f"Given input size per channel: ({_times(x._shape[2:])}). Calculated output size per channel: ({_times(spatial)}). Output size is too small")
    return data(x, weight, bias, (x._shape[0], weight._shape[1] * groups, *spatial), stride, padding, dilation, groups)


def _ranked(name: str, rank: int, x: Tensor, weight: Tensor, run: Callable[[Tensor], Tensor]) -> Tensor:
    """``run`` of a batch, or of one sample as a batch."""
    if len(weight._shape) != rank + 2:
        raise ShapeError(f"{name}: expected weight of {rank + 2} dimensions; got {list(weight._shape)}")
    if len(x._shape) == rank + 1:
        return run(x.unsqueeze(0)).squeeze(0)
    if len(x._shape) != rank + 2:
        raise ShapeError(f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {name}, but got input of size: {list(x._shape)}")
    return run(x)


def _padded(name: str, rank: int, x: Tensor, weight: Tensor, bias: Any, stride: Any, padding: str, dilation: Any, groups: int) -> Tensor:
    """Padding by name. An odd total pads one more behind than before: padded alike, the first output is one too many."""
    if padding == "valid":
        return convolve(name, x, weight, bias, stride, 0, dilation, False, 0, groups)
    if padding != "same":
        raise RuntimeError(f"{name}: Invalid padding string: '{padding}'")
    if any(s != 1 for s in _numbers(name, "stride", stride, rank)):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(_numbers(name, "dilation", dilation, rank), weight._shape[2:], strict=True)]
    out = convolve(name, x, weight, bias, 1, [total - total // 2 for total in totals], dilation, False, 0, groups)
    for dim, total in enumerate(totals, start=2):
        if total % 2:
            out = out.narrow(dim, 1, out._shape[dim] - 1)
    return out


def _np_conv(x: Any, w: Any, b: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Any:
    rank = w.ndim - 2
    if x.ndim == rank + 1:
        return _np_conv(x[None], w, b, stride, padding, dilation, groups)[0]
    dilation = per_dim(dilation, rank)
    if padding == "same":
        totals = [d * (k - 1) for d, k in zip(dilation, w.shape[2:], strict=True)]
        x, padding = np.pad(x, [(0, 0), (0, 0), *((n // 2, n - n // 2) for n in totals)]), 0
    padding = 0 if padding == "valid" else padding
    return _ref_forward(x, w, b, per_dim(stride, rank), per_dim(padding, rank), dilation, groups)


def _np_transpose(x: Any, w: Any, b: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Any:
    rank = w.ndim - 2
    stride, padding, dilation, more = (per_dim(v, rank) for v in (stride, padding, dilation, output_padding))
    spatial = [(n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n, k, s, p, d, o in zip(x.shape[2:], w.shape[2:], stride, padding, dilation, more, strict=True)]
    return _ref_data(x, w, b, (x.shape[0], w.shape[1] * groups, *spatial), stride, padding, dilation, groups)


def _np_convolution(x: Any, w: Any, b: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any, groups: int) -> Any:
    if transposed:
        return _np_transpose(x, w, b, stride, padding, output_padding, groups, dilation)
    return _np_conv(x, w, b, stride, padding, dilation, groups)


@composite("convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups) "
           "-> Tensor", dtypes="ifc", ulp=64, ref=_np_convolution,
           samples=lambda t: [(t((2, 3, 5)), t((4, 3, 2)), t((4,)), (2,), (1,), (1,), False, (0,), 1), (t((1, 4, 3, 3)), t((4, 2, 2, 2)), None, (2, 1), (0, 0), (1, 1), True, (1, 0), 2)],
           doc="A convolution of any rank, transposed or not.")
def convolution(x: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any, groups: int) -> Tensor:
    return convolve("convolution", x, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


def _register(rank: int) -> None:
    """conv and conv_transpose of one rank."""
    name, back = f"conv{rank}d", f"conv_transpose{rank}d"
    numbers = {key: f"int[{rank}] {key}" for key in ("stride", "padding", "dilation", "output_padding")}

    def conv(x: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Tensor:
        return _ranked(name, rank, x, weight, lambda x: convolve(name, x, weight, bias, stride, padding, dilation, False, 0, groups))

    def conv_padding(x: Tensor, weight: Tensor, bias: Any, stride: Any, padding: str, dilation: Any, groups: int) -> Tensor:
        return _ranked(name, rank, x, weight, lambda x: _padded(name, rank, x, weight, bias, stride, padding, dilation, groups))

    def conv_transpose(x: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, output_padding: Any, groups: int, dilation: Any) -> Tensor:
        return _ranked(back, rank, x, weight, lambda x: convolve(back, x, weight, bias, stride, padding, dilation, True, output_padding, groups))

    start = "Tensor input, Tensor weight, Tensor? bias=None"
    fields: dict[str, Any] = {"dtypes": "ifc", "ulp": 64}
    small, kernel = (5,) * rank, (3,) * rank
    composite(f"{name}({start}, {numbers['stride']}=1, {numbers['padding']}=0, {numbers['dilation']}=1, int groups=1) -> Tensor", ref=_np_conv,
              samples=lambda t: [(t((2, 2, *small)), t((3, 2, *kernel)), t((3,)), 2, 1), (t((2, *small)), t((2, 1, *kernel)), None, 1, 0, 2, 2)],
              doc=f"{rank}-d convolution (cross-correlation).", **fields)(conv)
    composite(f"{name}.padding({start}, {numbers['stride']}=1, str padding='valid', {numbers['dilation']}=1, int groups=1) -> Tensor", ref=_np_conv,
              samples=lambda t: [(t((2, 2, *small)), t((3, 2, *(2,) * rank)), t((3,)), 1, "same"), (t((2, 2, *small)), t((3, 2, *kernel)), None, 2, "valid")],
              doc=f"{rank}-d convolution (cross-correlation), padded to the input's size or not at all.", **fields)(conv_padding)
    composite(f"{back}({start}, {numbers['stride']}=1, {numbers['padding']}=0, {numbers['output_padding']}=0, int groups=1, {numbers['dilation']}=1) -> Tensor",
              ref=_np_transpose, samples=lambda t: [(t((1, 2, *(2,) * rank)), t((2, 1, *kernel)), t((2,)), 2, 1, 1, 2), (t((2, 2, *(2,) * rank)), t((2, 3, *(2,) * rank))),
                                                        (t((1, 1, *(4,) * rank)), t((1, 1, *(2,) * rank)), None, 1, 1, 1, 1, 2)],
              doc=f"{rank}-d transposed convolution: the adjoint of a convolution, which enlarges.", **fields)(conv_transpose)


for _rank in (1, 2, 3):
    _register(_rank)


@composite("conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", dtypes="f", ulp=64,
           ref=lambda x, w, b, pad=0: np.moveaxis(_np_conv(np.moveaxis(x, 0, 2), w.transpose(2, 1, 0), b, 1, pad), 2, 0),
           samples=lambda t: [(t((5, 2, 3)), t((2, 3, 4)), t((4,)), 1)], doc="1-d convolution of a (time, batch, channel) sequence with a (kernel, in, out) weight.")
def conv_tbc(x: Tensor, weight: Tensor, bias: Tensor, pad: int) -> Tensor:
    return convolve("conv_tbc", x.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad, 1, False, 0, 1).permute(2, 0, 1)
