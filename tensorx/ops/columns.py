"""COLUMNS rows, and the functions of planes that are made of them: im2col (F.unfold) and col2im (F.fold)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.kernels.convolution import Window
from tensorx.ops.families import composite, row
from tensorx.ops.kinds.columns import COLUMNS, Columns
from tensorx.tensor import Tensor

WINDOW = "int[] size, int[] kernel, int[] stride, int[] padding, int[] dilation"
Ints = tuple[int, ...]


def _plan(back: bool) -> Any:
    def plan(x: Tensor, size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Columns:
        return Columns(x, back, size, kernel, Window(tuple(stride), tuple(padding), tuple(dilation)))
    return plan


def _ref(x: Any, size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Any:
    """One column entry at a time."""
    r = len(size)
    lead = x.shape[: x.ndim - r]
    y = np.zeros((*lead, *kernel, *size), x.dtype)
    for at in np.ndindex(*kernel, *size):
        place = tuple(o * s - p + k * d for k, o, s, p, d in zip(at[:r], at[r:], stride, padding, dilation, strict=True))
        if all(0 <= i < n for i, n in zip(place, x.shape[x.ndim - r:], strict=True)):
            y[(..., *at)] = x[(..., *place)]
    return y


def _ref_back(g: Any, size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Any:
    r = len(size)
    out = np.zeros((*g.shape[: g.ndim - 2 * r], *size), g.dtype)
    for at in np.ndindex(*g.shape[g.ndim - 2 * r:]):
        place = tuple(o * s - p + k * d for k, o, s, p, d in zip(at[:r], at[r:], stride, padding, dilation, strict=True))
        if all(0 <= i < n for i, n in zip(place, size, strict=True)):
            out[(..., *place)] += g[(..., *at)]
    return out


CASES = [((2, 3, 9), (4,), (3,), (2,), (0,), (1,)), ((3, 6, 7), (6, 2), (3, 2), (1, 3), (2, 1), (2, 3)), ((2, 4, 5), (3, 4), (2, 2), (1, 1), (0, 0), (1, 1))]

columns = row(f"_columns(Tensor input, {WINDOW}) -> Tensor", COLUMNS, _plan(False),
              lambda g, input_meta, size, kernel, stride, padding, dilation: columns_back(g, input_meta.shape[-len(size):], kernel, stride, padding, dilation),
              ref=_ref, samples=lambda t: [(t(x), *at) for x, *at in CASES], public="unfold", doc="The elements that windows see, one axis a kernel dimension.")
columns_back = row(f"_columns_back(Tensor input, {WINDOW}) -> Tensor", COLUMNS, _plan(True),
                   lambda g, input_meta, size, kernel, stride, padding, dilation: columns(g, input_meta.shape[-len(size):], kernel, stride, padding, dilation),
                   ref=_ref_back, dtypes="ifc", ulp=8.0, public="fold", doc="For each element the sum of what windows hold of it.",
                   samples=lambda t: [(t((*x[: len(x) - len(size)], *kernel, *size)), x[len(x) - len(size):], kernel, *at) for x, size, kernel, *at in CASES])


def _pairs(name: str, **words: Any) -> list[Ints]:
    found: list[Ints] = []
    for word, given in words.items():
        value = (given,) * 2 if isinstance(given, int) else tuple(given)
        if len(value) != 2:
            raise RuntimeError(f"{name}: It is expected {word} equals to 2, but got size {len(value)}")
        least = 0 if word == "padding" else -math.inf if word == "output_size" else 1
        if min(value) < least:
            raise RuntimeError(f"{name}: argument '{word}' must be at least {least}; got {value}")
        found.append(value)
    return found


def _blocks(name: str, n: Ints, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Ints:
    """How many windows of each dimension."""
    return tuple((i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, d, p, s in zip(n, kernel, dilation, padding, stride, strict=True))


FOLD = "int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1"


def _ref_im2col(x: Any, kernel: Any, dilation: Any = (1, 1), padding: Any = (0, 0), stride: Any = (1, 1)) -> Any:
    size = _blocks("", x.shape[-2:], kernel, dilation, padding, stride)
    return _ref(x, size, kernel, stride, padding, dilation).reshape(*x.shape[:-3], x.shape[-3] * math.prod(kernel), math.prod(size))


def _ref_col2im(x: Any, n: Any, kernel: Any, dilation: Any = (1, 1), padding: Any = (0, 0), stride: Any = (1, 1)) -> Any:
    size = _blocks("", n, kernel, dilation, padding, stride)
    return _ref_back(x.reshape(*x.shape[:-2], x.shape[-2] // math.prod(kernel), *kernel, *size), n, kernel, stride, padding, dilation)


@composite(f"im2col(Tensor input, {FOLD}) -> Tensor", ref=_ref_im2col,
           samples=lambda t: [(t((1, 3, 3)), (2, 2)), (t((2, 3, 5, 6)), (2, 2), (2, 1), (1, 0), (1, 2))],
           doc="The windows of images as columns: (N, C * kernel elements, windows).")
def im2col(x: Tensor, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    kernel, dilation, padding, stride = _pairs("im2col", kernel_size=kernel, dilation=dilation, padding=padding, stride=stride)
    shape = x._shape
    if len(shape) not in (3, 4) or 0 in shape[len(shape) == 4:]:
        raise RuntimeError(f"im2col: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: {list(shape)}")
    size = _blocks("im2col", shape[-2:], kernel, dilation, padding, stride)
    if min(size) < 1:
        raise RuntimeError(f"im2col: Given input with spatial size {shape[-2:]}, kernel_size={kernel}, dilation={dilation}, padding={padding}, calculated shape of the "
                           f"array of sliding blocks as {size}, but its components must be at least one.")
    return columns(x, size, kernel, stride, padding, dilation).reshape(*shape[:-3], shape[-3] * math.prod(kernel), math.prod(size))


@composite(f"col2im(Tensor input, int[2] output_size, {FOLD}) -> Tensor", ref=_ref_col2im, dtypes="bifc", ulp=8.0,
           samples=lambda t: [(t((4, 2)), (2, 3), (2, 2)), (t((2, 12, 15)), (5, 6), (2, 2), (2, 1), (1, 0), (1, 2))],
           doc="Images of which each element is the sum of what columns (N, C * kernel elements, windows) hold of it.")
def col2im(x: Tensor, output_size: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    n, kernel, dilation, padding, stride = _pairs("col2im", output_size=output_size, kernel_size=kernel, dilation=dilation, padding=padding, stride=stride)
    shape = x._shape
    if len(shape) not in (2, 3) or 0 in shape[len(shape) == 3:]:
        raise RuntimeError(f"col2im: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: {list(shape)}")
    each = math.prod(kernel)
    if shape[-2] % each:
        raise RuntimeError("col2im: Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
                           f"input.size(1)={shape[-2]} and kernel_size={kernel}.")
    size = _blocks("col2im", n, kernel, dilation, padding, stride)
    if min(size) < 1 or math.prod(size) != shape[-1]:
        raise RuntimeError(f"col2im: Given output_size={n}, kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride}, expected size of input's "
                           f"dimension 2 to match the calculated number of sliding blocks {' * '.join(map(str, size))} = {math.prod(size)}, but got {shape[-1]}.")
    held = x.reshape(*shape[:-2], shape[-2] // each, *kernel, *size)
    if x.dtype.kind == 0:  # whether any window holds a True
        return columns_back(held.to(dtypes.int64), n, kernel, stride, padding, dilation).bool()
    return columns_back(held, n, kernel, stride, padding, dilation)
