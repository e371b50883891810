"""RESAMPLE rows: images (and signals, and volumes) resampled to another size, and the gradient of that."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.ops.families import row
from tensorx.ops.kinds.resample import RESAMPLE, Resampling
from tensorx.tensor import Tensor

HOW = "int[] size, str mode, bool align_corners, Any scales"


def _plan(back: bool) -> Any:
    return lambda x, size, mode, align_corners, scales: Resampling(x, size, mode, align_corners, scales, back)


def _keys(x: float, a: float) -> float:
    x = abs(x)
    if x >= 2:
        return 0.0
    return (a + 2) * x**3 - (a + 3) * x**2 + 1 if x < 1 else a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a


def _matrix(n: int, w: int, mode: str, align_corners: bool, scale: float | None) -> Any:
    """Oracle: the weights of one dimension as a dense matrix [w, n], entry by entry."""
    out = np.zeros((w, n))
    step = ((n - 1) / (w - 1) if w > 1 else 0.0) if align_corners else 1 / scale if scale else n / w
    for c in range(w):
        at = step * c if align_corners else step * (c + 0.5) - 0.5
        if mode == "nearest":
            out[c, min(math.floor(c * step), n - 1)] = 1
        elif mode == "nearest-exact":
            out[c, min(math.floor((c + 0.5) * step), n - 1)] = 1
        elif mode.endswith("-aa"):
            wide = max(step, 1.0)
            reach, centre = (2 if mode[0] == "c" else 1) * wide, step * (c + 0.5)
            for i in range(max(int(centre - reach + 0.5), 0), min(int(centre + reach + 0.5), n)):
                x = (i - centre + 0.5) / wide
                out[c, i] = _keys(x, -0.5) if mode[0] == "c" else max(1 - abs(x), 0)
            out[c] /= out[c].sum()
        else:
            at = at if mode == "cubic" else c if n == w else max(at, 0)
            for i in range(math.floor(at) - 1, math.floor(at) + 3):
                out[c, min(max(i, 0), n - 1)] += _keys(at - i, -0.75) if mode == "cubic" else max(1 - abs(at - i), 0)
    return out


def _ref(back: bool) -> Any:
    def ref(x: Any, size: Any, mode: str, align_corners: bool, scales: Any) -> Any:
        for q, w in enumerate(size):
            axis = x.ndim - len(size) + q
            n = x.shape[axis]
            m = _matrix(w, n, mode, align_corners, scales[q]).T if back else _matrix(n, w, mode, align_corners, scales[q])
            x = np.moveaxis(np.tensordot(m, x, (1, axis)), 0, axis)
        return x
    return ref


CASES = [((2, 3, 5), (8,), "linear", False, (None,)), ((2, 4, 5), (7, 3), "linear", True, (None, None)), ((2, 4, 6), (6, 9), "cubic", False, (1.6, None)),
         ((1, 3, 4, 2), (5, 4, 3), "linear", False, (None, 1.1, 1.5)), ((2, 7, 5), (3, 9), "linear-aa", False, (None, None)),
         ((2, 9, 5), (4, 9), "cubic-aa", False, (None, None)), ((3, 6, 5), (5, 3), "cubic", True, (None, None))]
PLAIN = [((2, 3, 5), (8,), "nearest", False, (None,)), ((2, 4, 5), (3, 12), "nearest-exact", False, (None, 2.5)), ((1, 3, 4, 2), (5, 4, 5), "nearest", False, (None,) * 3)]


def _backwards(t: Any, cases: Any) -> Any:
    return [(t((*x[: len(x) - len(size)], *size)), x[len(x) - len(size):], *how) for x, size, *how in cases]


resample = row(f"_resample(Tensor input, {HOW}) -> Tensor", RESAMPLE, _plan(False), lambda g, input_meta, size, mode, align_corners, scales: resample_back(
    g, input_meta.shape[-len(size):], mode, align_corners, scales), dtypes="f", ref=_ref(False), ulp=32.0, samples=lambda t: [(t(x), *how) for x, *how in CASES],
               public="interpolate", doc="Weighted sums of neighbours: the last dimensions at another size.")
resample_back = row(f"_resample_back(Tensor input, {HOW}) -> Tensor", RESAMPLE, _plan(True), lambda g, input_meta, size, mode, align_corners, scales: resample(
    g, input_meta.shape[-len(size):], mode, align_corners, scales), dtypes="f", ref=_ref(True), ulp=32.0, samples=lambda t: _backwards(t, CASES),
                    doc="Gradient of _resample: its transpose.")
pick_nearest = row(f"_pick_nearest(Tensor input, {HOW}) -> Tensor", RESAMPLE, _plan(False), lambda g, input_meta, size, mode, align_corners, scales: pick_nearest_back(
    g, input_meta.shape[-len(size):], mode, align_corners, scales), dtypes="if", ref=_ref(False), samples=lambda t: [(t(x), *how) for x, *how in PLAIN],
                   public="interpolate", doc="The nearest elements: the last dimensions at another size.")
pick_nearest_back = row(f"_pick_nearest_back(Tensor input, {HOW}) -> Tensor", RESAMPLE, _plan(True), lambda g, input_meta, size, mode, align_corners, scales: pick_nearest(
    g, input_meta.shape[-len(size):], mode, align_corners, scales), dtypes="f", ref=_ref(True), ulp=8.0, samples=lambda t: _backwards(t, PLAIN),
                        doc="Gradient of _pick_nearest: the sums of the cotangents that an element went to.")


def resized(x: Tensor, size: tuple[int, ...], mode: str, align_corners: bool, scales: tuple[float | None, ...]) -> Tensor:
    """``x``'s last dimensions at another size; the smooth modes of uint8 images round to the nearest integer."""
    n = x._shape[-len(size):]
    if mode == "nearest" and len(size) == 2:  # PyTorch's rule for images alone: factors that keep or double the size count as just that
        scales = tuple(None if w in (m, 2 * m) else s for m, w, s in zip(n, size, scales, strict=True))
    elif mode.endswith("-aa") or (mode == "cubic" and size == n):  # what keeps its size stays as it is
        scales = tuple(None if w == m else s for m, w, s in zip(n, size, scales, strict=True))
    if mode.startswith("nearest"):
        return pick_nearest(x, size, mode, False, scales)
    if x.dtype is not dtypes.uint8:
        return resample(x, size, mode, align_corners, scales)
    for q in reversed(range(len(size))):  # PyTorch's way with images: one dimension after the other, each result rounded
        if size[q] != n[q]:
            along = resample(x.float().transpose(q - len(size), -1), (size[q],), mode, align_corners, (scales[q],))
            x = (along + 0.5).floor().clamp(0, 255).to(x.dtype).transpose(q - len(size), -1)
    return x.contiguous()
