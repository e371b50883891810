"""Sampling images and volumes at given places: grid_sample's rows, and the grids of affine transforms.

A sample is a weighted sum of T ** r neighbours ("taps", T of 1, 2 or 4 a dimension). All taps lie along one axis: a row gives their
places, one their weights, a gather takes them and one reduction adds them up. Gradients follow, any number of times.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import DTypeError
from tensorx.ops import expr as E
from tensorx.ops import factories, layout
from tensorx.ops.families import composite, elementwise, row
from tensorx.ops.kinds.rows import REDUCE
from tensorx.ops.table import NONDIFF, Promote
from tensorx.tensor import Tensor

MODES, PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
TAPS = {"bilinear": 2, "nearest": 1, "bicubic": 4}


def _centre(x, n, align):
    """Pixel position of the grid's coordinate (-1 and 1 are the outermost centres, or edges)."""
    return (x + 1) / 2 * (n - 1) if align else ((x + 1) * n - 1) / 2


def _padded(x, n, padding, align):
    """A pixel position moved inside, and the derivative of that."""
    slope = E.const(1, x.dtype)
    if padding == "zeros":
        return x, slope
    if padding == "reflection":
        low, span = (0.0 * n, n - 1) if align else (0.0 * n - 0.5, n)
        far = E.abs(x - low)
        flips = E.floor(far / span)
        rest = far - flips * span
        odd = E.ne(flips - 2 * E.floor(flips / 2), 0)
        slope = E.where(x < low, -slope, slope)
        slope = E.where(odd, -slope, slope)
        x = E.where(span > 0, E.where(odd, span - rest, rest) + low, 0.0)
    outside = (x <= 0) | (x >= n - 1)
    return E.where(x > 0, E.where(x < n - 1, x, n - 1), 0.0), E.where(outside, 0.0, slope)


def _position(x, size, padding, align):
    return _padded(_centre(x, size, align), size, padding, align)[0]


def _position_vjp(g, out, x, size, padding, align):
    slope = _padded(_centre(x, size, align), size, padding, align)[1]
    scale = (size - 1) / 2 if align else size / 2
    return E.where(E.eq(slope, 0), 0.0, g * slope * scale)


def _np_padded(x: Any, n: int, padding: str, align: bool) -> Any:
    """Oracle, by following the reflections one by one."""
    if padding == "zeros":
        return x
    if padding == "reflection":
        low, high = (0.0, n - 1.0) if align else (-0.5, n - 0.5)
        if high <= low:
            return np.zeros_like(x)
        x = np.array(x)
        while ((x < low) | (x > high)).any():
            x = np.where(x < low, 2 * low - x, x)
            x = np.where(x > high, 2 * high - x, x)
    return np.clip(x, 0, n - 1)


def _np_centre(x: Any, n: int, align: bool) -> Any:
    return (x + 1) / 2 * (n - 1) if align else ((x + 1) * n - 1) / 2


position = elementwise("_grid_position(Tensor x, Scalar size, str padding, bool align_corners) -> Tensor", _position, _position_vjp, dtypes="f", ulp=32.0,
                       ref=lambda x, size, padding, align: _np_padded(_np_centre(x, size, align), size, padding, align), domain=(-2.6, 2.7),
                       samples=lambda t: [(t((3, 4)), 5, p, a) for p in PADDINGS for a in (False, True)], public="grid_sample", doc="The pixel position of a grid's coordinate, moved inside.")


def _digit(k, q, taps):
    """Which of its ``taps`` tap k takes in dimension q."""
    k = E.floor(k / taps**q)
    return k - taps * E.floor(k / taps)


def _tap(x, k, n, q, how):
    """(place, distance from the position) of tap k in dimension q."""
    mode, padding, align = how
    if mode == "nearest":
        return E.round(x), E.const(0, x.dtype)
    first, digit = E.floor(x), _digit(k, q, TAPS[mode])
    if mode == "bilinear":
        return first + digit, x - first - digit
    place = first + digit - 1
    return E.floor(_padded(place, n, padding, align)[0]), x - place


def _keys(d):
    """Keys' cubic at distance d with a = -0.75 (1981, https://doi.org/10.1109/TASSP.1981.1163711), and its derivative."""
    a, x = -0.75, E.abs(d)
    near, far = (x - 1) * (((a + 2) * x - 1) * x - 1), a * (x - 1) * (x - 2) * (x - 2)  # factors: exact zeros, no cancellation
    slope = E.where(x < 1, (3 * (a + 2) * x - 2 * (a + 3)) * x, ((3 * x - 10) * x + 8) * a)
    return E.where(x < 1, near, E.where(x < 2, far, 0.0)), E.where(x < 2, E.where(d < 0, -slope, slope), 0.0)


def _curve(d, mode):
    """The weight at distance d, and its derivative by the position."""
    if mode == "nearest":
        return d * 0 + 1, d * 0
    if mode == "bicubic":
        return _keys(d)
    return 1 - E.abs(d), E.where(d < 0, d * 0 + 1, d * 0 - 1)


def _inside(place, n):
    return (place >= 0) & (place <= n - 1)


def _split(r, args):
    """(positions, taps, extents, (mode, padding, align)) of a row's arguments; the last dimension first."""
    return args[:r], args[r], args[r + 1: 2 * r + 1], args[2 * r + 1:]


def _index(r):
    def body(*args):
        xs, k, sizes, how = _split(r, args)
        total = None
        for q in reversed(range(r)):
            place = _tap(xs[q], k, sizes[q], q, how)[0]
            at = E.cast(E.where(_inside(place, sizes[q]), place, 0.0), dtypes.int64)
            total = at if total is None else total * E.cast(sizes[q], dtypes.int64) + at
        return total
    return body


def _weights(r, args):
    """(weight, derivative) a dimension, and whether the tap is inside."""
    xs, k, sizes, how = _split(r, args)
    found, inside = [], None
    for q in range(r):
        place, distance = _tap(xs[q], k, sizes[q], q, how)
        found.append(_curve(distance, how[0]))
        here = _inside(place, sizes[q])
        inside = here if inside is None else inside & here
    return found, inside


def _weight(r):
    def body(*args):
        found, inside = _weights(r, args)
        return E.where(inside, math.prod((w for w, _ in found[1:]), start=found[0][0]), 0.0)
    return body


def _weight_vjp(r):
    def vjp(g, out, *args):
        if _split(r, args)[3][0] == "nearest":
            return (*(E.const(0, g.dtype) for _ in range(r)), None)
        found, inside = _weights(r, args)
        grads = []
        for q in range(r):
            others = [w for p, (w, _) in enumerate(found) if p != q]
            grads.append(E.where(inside, g * math.prod(others, start=found[q][1]), 0.0))
        return (*grads, None)
    return vjp


def _np_taps(r: int, args: Any) -> Any:
    """Oracle: (place, weight) a dimension, as arrays over the taps."""
    xs, k, sizes, (mode, padding, align) = _split(r, args)
    taps = TAPS[mode]
    for q, (x, n) in enumerate(zip(xs, sizes, strict=True)):
        x = x.astype(np.longdouble)  # a cubic's small values are differences
        digit = k // taps**q % taps
        if mode == "nearest":
            yield np.rint(x) + 0 * k, np.ones_like(x + k), n
        elif mode == "bilinear":
            place = np.floor(x) + digit
            yield place, 1 - abs(x - place), n
        else:
            d = abs(x - np.floor(x) - digit + 1)
            weight = np.where(d < 1, 1.25 * d**3 - 2.25 * d**2 + 1, -0.75 * d**3 + 3.75 * d**2 - 6 * d + 3)
            yield np.floor(_np_padded(np.floor(x) + digit - 1, n, padding, align)), weight, n


def _ref_index(r: int) -> Any:
    def ref(*args: Any) -> Any:
        total: Any = 0
        for place, _, n in list(_np_taps(r, args))[::-1]:
            total = total * n + np.where((place >= 0) & (place < n), place, 0)
        return total.astype(np.int64)
    return ref


def _ref_weight(r: int) -> Any:
    def ref(*args: Any) -> Any:
        total: Any = 1.0
        for place, weight, n in _np_taps(r, args):
            total = total * np.where((place >= 0) & (place < n), weight, 0)
        return total
    return ref


def _calls(r: int) -> Any:
    def calls(t: Any) -> list[Any]:
        found = []
        for mode, padding in itertools.product(MODES[: 3 if r == 2 else 2], PADDINGS):
            xs = [t((2, 1, 5), -1.5 if padding == "zeros" or mode == "bicubic" else 0.1, 4.5 if padding == "zeros" else 2.9) for _ in range(r)]
            k = factories.arange(TAPS[mode] ** r).reshape(1, -1, 1)
            found.append((*xs, k, *(4, 5, 6)[:r], mode, padding, False))
        return found
    return calls


def _tap_rows(r: int) -> tuple[Any, Any]:
    names = "xyz"[:r]
    schema = f"({', '.join(f'Tensor {c}' for c in names)}, Tensor tap, {', '.join(f'Scalar n{c}' for c in names)}, str mode, str padding, bool align_corners) -> Tensor"
    places = elementwise(f"_tap_places{r}d{schema}", _index(r), NONDIFF, ref=_ref_index(r), promote=Promote("places", result="i64"), dtypes="f", samples=_calls(r),
                         doc=f"The row-major places of a {r}-d sample's taps (0 for those outside).")
    weights = elementwise(f"_tap_weights{r}d{schema}", _weight(r), _weight_vjp(r), ref=_ref_weight(r), dtypes="f", ulp=64.0, samples=_calls(r),
                          doc=f"The weights of a {r}-d sample's taps (0 for those outside).")
    return places, weights


TAP_ROWS = {r: _tap_rows(r) for r in (2, 3)}


def _share(v, w):
    return E.where(E.eq(w, 0), 0.0, v * w)


tap_share = elementwise("_tap_share(Tensor value, Tensor weight) -> Tensor", _share, lambda g, out, v, w: (_share(g, w), g * v), ref=lambda v, w: v * w, dtypes="f",
                        public="grid_sample", doc="value * weight, and 0 where the weight is 0.")


def _onto(a: Tensor, b: Tensor, shape: Any) -> Tensor:
    """The products, added up along the axis that ``shape`` does not have."""
    whole = layout.broadcast_shapes("_tap_sum", a._shape, b._shape)
    axes = [i for i, n in enumerate(shape) if n == 1 and whole[i] != 1]
    return tap_sum(a, b, (axes[0],)).unsqueeze(axes[0]) if len(axes) == 1 else tap_share(a, b)


def _sum_vjp(g: Tensor, value: Tensor, weight: Tensor, dim: Any, needs: Any) -> Any:
    g = g.unsqueeze(dim[0])
    return _onto(g, weight, value._shape) if needs[0] else None, _onto(value, g, weight._shape) if needs[1] else None


tap_sum = row("_tap_sum(Tensor value, Tensor weight, int[] dim) -> Tensor", REDUCE, lambda v, w, dim: E.row_sum(_share(v, w)), _sum_vjp, dtypes="f", ulp=16.0,
              ref=lambda v, w, dim: (v * w).sum(dim), samples=lambda t: [(t((2, 3, 4, 5)), t((2, 1, 4, 5)), (2,))],
              public="grid_sample", doc="Sums of value * weight; what has weight 0 does not count.")


def _sampled(x: Tensor, grid: Tensor, mode: str, padding: str, align: bool) -> Tensor:
    r, shape = len(x._shape) - 2, x._shape
    outs = grid._shape[1:-1]
    work = dtypes.float64 if x.dtype is dtypes.float64 else dtypes.float32
    places, weights = TAP_ROWS[r]
    n, c, p, count = shape[0], shape[1], math.prod(outs), TAPS[mode] ** r
    moved = "zeros" if mode == "bicubic" else padding  # bicubic pads tap by tap
    sizes = shape[:1:-1]  # the grid's last axis counts the last dimension first
    xs = [position(grid.select(-1, q).to(work), m, moved, align).reshape(n, 1, p) for q, m in enumerate(sizes)]
    k = factories.arange(count, device=x.device).reshape(1, count, 1)
    at = places(*(t.detach() for t in xs), k, *sizes, mode, padding, align).reshape(n, 1, count * p).expand(n, c, count * p)
    weight = weights(*xs, k, *sizes, mode, padding, align).reshape(n, 1, count, p)
    values = x.reshape(n, c, math.prod(shape[2:])).gather(2, at).reshape(n, c, count, p)
    return tap_sum(values, weight, (2,)).to(x.dtype).reshape(n, c, *outs)


def _checked(name: str, x: Tensor, grid: Tensor, mode: int, padding: int) -> tuple[str, str]:
    r = len(x._shape) - 2
    if r not in (2, 3) or len(grid._shape) != r + 2:
        raise RuntimeError(f"{name}(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes {list(x._shape)} and grid with sizes "
                           f"{list(grid._shape)}")
    if x._shape[0] != grid._shape[0]:
        raise RuntimeError(f"{name}(): expected grid and input to have same batch size, but got input with sizes {list(x._shape)} and grid with sizes "
                           f"{list(grid._shape)}")
    if grid._shape[-1] != r:
        raise RuntimeError(f"{name}(): expected grid to have size {r} in last dimension, but got grid with sizes {list(grid._shape)}")
    if 0 in x._shape[2:]:
        raise RuntimeError(f"{name}(): expected input to have non-empty spatial dimensions, but input has sizes {list(x._shape)}")
    if x.dtype is not grid.dtype or not x.dtype.is_floating_point:
        raise DTypeError(f"{name}(): input and grid must be floating-point and of one dtype; got {x.dtype.name} and {grid.dtype.name}")
    if mode not in (0, 1, 2) or padding not in (0, 1, 2):
        raise RuntimeError(f"{name}(): arguments 'interpolation_mode' and 'padding_mode' must be 0, 1 or 2; got {mode} and {padding}")
    if mode == 2 and r == 3:
        raise RuntimeError(f"{name}(): bicubic interpolation only supports 4D input")
    return MODES[mode], PADDINGS[padding]


def _ref_sampler(x: Any, grid: Any, interpolation_mode: int, padding_mode: int, align: bool) -> Any:
    """Oracle: sample by sample, tap by tap."""
    r, mode, padding = x.ndim - 2, MODES[interpolation_mode], PADDINGS[padding_mode]
    sizes = x.shape[:1:-1]
    if grid.shape[-1] != r or 0 in sizes:
        raise ValueError
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for at in np.ndindex(*grid.shape[:-1]):
        xs = [_np_centre(grid[(*at, q)], m, align) for q, m in enumerate(sizes)]
        xs = xs if mode == "bicubic" else [_np_padded(v, m, padding, align) for v, m in zip(xs, sizes, strict=True)]
        for k in range(TAPS[mode] ** r):
            taps = list(_np_taps(r, (*map(np.float64, xs), np.float64(k), *sizes, mode, padding, align)))
            if all(0 <= place < n for place, _, n in taps):
                where = tuple(int(place) for place, _, _ in taps[::-1])
                out[(at[0], slice(None), *at[1:])] += x[(at[0], slice(None), *where)] * math.prod(float(w) for _, w, _ in taps)
    return out


def _sampler_calls(r: int) -> Any:
    size, outs = ((4, 5), (3, 2)) if r == 2 else ((3, 4, 2), (2, 2, 3))
    pairs = [(0, 0, False), (0, 2, True), (1, 1, False), (2, 1, False), (2, 2, True)]
    return lambda t: [(t((2, 2, *size)), t((2, *outs, r), -1.3, 1.3), *how) for how in pairs if r == 2 or how[0] < 2]


def _sampler(name: str) -> Any:
    return lambda x, grid, mode, padding, align: _sampled(x, grid, *_checked(name, x, grid, mode, padding), align)


for _name, _ranks in (("grid_sampler", (2, 3)), ("grid_sampler_2d", (2,)), ("grid_sampler_3d", (3,))):
    composite(f"{_name}(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor", ref=_ref_sampler, dtypes="f", ulp=256.0,
              samples=lambda t, ranks=_ranks: [call for r in ranks for call in _sampler_calls(r)(t)], doc="The input sampled at the places that a grid names; "
              "modes: bilinear, nearest, bicubic; paddings: zeros, border, reflection.")(_sampler(_name))


def _ref_affine(theta: Any, size: Any, align: bool) -> Any:
    def line(n: int) -> Any:
        return np.linspace(-1, 1, n) * (1 if align else (n - 1) / n) if n > 1 else np.zeros(1)
    mesh = np.meshgrid(*map(line, size[2:]), indexing="ij")
    base = np.stack([*mesh[::-1], np.ones_like(mesh[0])], -1)
    return np.einsum("...j,nij->n...i", base, theta)


@composite("affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor", ref=_ref_affine, dtypes="f", ulp=64.0,
           samples=lambda t: [(t((1, 2, 3)), (1, 1, 2, 2), False), (t((2, 2, 3)), (2, 1, 3, 1), True), (t((2, 3, 4)), (2, 1, 2, 3, 4), False)],
           doc="The grid of grid_sample that transforms places affinely.")
def affine_grid_generator(theta: Tensor, size: Any, align_corners: bool) -> Tensor:
    r, outs = len(size) - 2, tuple(size[2:])
    if len(theta._shape) != 3 or theta._shape != (size[0], r, r + 1):
        raise RuntimeError(f"affine_grid_generator: argument 'theta' must be of shape {[size[0], r, r + 1]} for size {list(size)}; got {list(theta._shape)}")
    lines = []
    for q, n in enumerate(outs):
        end = 0.0 if n < 2 else 1.0 if align_corners else (n - 1) / n
        line = factories.linspace(-end, end, n, dtype=theta.dtype, device=theta.device)
        lines.append(line.reshape([-1 if i == q else 1 for i in range(r)]).expand(outs))
    one = factories.ones(outs, dtype=theta.dtype, device=theta.device)
    from tensorx.ops import joining
    base = joining.stack((*lines[::-1], one), -1).reshape(1, math.prod(outs), r + 1)
    return (base @ theta.transpose(1, 2)).reshape(size[0], *outs, r)
