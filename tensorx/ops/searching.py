"""Values among sorted boundaries: searchsorted, bucketize, isin, and the counts of values in bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.ops.families import composite, row
from tensorx.ops.indexing import index_put
from tensorx.ops.kinds.search import SEARCH, Search
from tensorx.ops.ordering import sort
from tensorx.ops.table import NONDIFF
from tensorx.tensor import Tensor

REAL = (dtypes.INT, dtypes.FLOAT)


def _one_dtype(name: str, *tensors: Tensor) -> list[Tensor]:
    """Operands in their common dtype, in which they are compared."""
    for t in tensors:
        if t.dtype.kind not in REAL:
            raise NotImplementedError(f'"{name}" not implemented for \'{t.dtype.name}\'')
    common = dtypes.promote([t.dtype for t in tensors], [], [])
    return [t.detach() if t.dtype is common else t.detach().to(common) for t in tensors]


def _check_rows(boundaries: Tensor, values: Tensor, sorter: Tensor | None) -> None:
    b, v = boundaries._shape, values._shape
    if not b:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    if not v and len(b) != 1:
        raise RuntimeError(f"torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries tensor "
                           f"dim({len(b)}) and input value's dim(0) numel(1)")
    if len(b) != 1 and b[:-1] != v[:-1]:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor "
                           f"must match, but we got boundaries tensor {list(b)} and input value tensor {list(v)}")
    if sorter is None:
        return
    if sorter._shape != b:
        raise RuntimeError(f"torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor {list(b)}and got sorter tensor "
                           f"{list(sorter._shape)}")
    if sorter.dtype is not dtypes.int64:
        raise RuntimeError(f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {sorter.dtype.name}")
    if sorter.numel() and sorter.device.type not in ("meta", "null") and bool(((sorter < 0) | (sorter >= b[-1])).any()):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")


def _search(boundaries: Tensor, values: Tensor, out_int32: bool, right: bool, side: str | None, sorter: Tensor | None) -> Search:
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True")
    _check_rows(boundaries, values, sorter)
    x, v = _one_dtype("searchsorted", boundaries, values)
    return Search(x, v, dtypes.int32 if out_int32 else dtypes.int64, right or side == "right", sorter)


def _np_search(x: Any, v: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Any = None) -> Any:
    x = x if sorter is None else np.take_along_axis(x, sorter, -1)
    how: Any = "right" if right or side == "right" else "left"
    if x.ndim == 1:
        return np.searchsorted(x, v, how)
    rows = [np.searchsorted(a, b, how) for a, b in zip(x.reshape(-1, x.shape[-1]), v.reshape(-1, v.shape[-1]), strict=True)]
    return np.reshape(rows, v.shape)


def _ascending(t: Any, shape: Any) -> Tensor:
    x: Tensor = t(shape)
    return x if x.dtype.is_complex else x.sort(-1)[0]


OPTIONS = "*, bool out_int32=False, bool right=False"
searchsorted = row(f"searchsorted(Tensor sorted_sequence, Tensor input, {OPTIONS}, str? side=None, Tensor? sorter=None) -> Tensor", SEARCH, _search, NONDIFF,
                   ref=_np_search, dtypes="if",
                   samples=lambda t: [(_ascending(t, (6,)), t((3, 4))), (_ascending(t, (2, 3, 5)), t((2, 3, 4)), {"right": True}), (_ascending(t, (5,)), t(()), {"side": "right"}),
                                      (_ascending(t, (4,)).flip(0), t((5,)), {"out_int32": True, "sorter": t.index((4,), 1) + t.unique(4, 4).sort()[0].flip(0)})],
                   doc="Where values would be inserted into a sorted sequence (along its last dimension) to keep its order.")


@composite(f"searchsorted.Scalar(Tensor sorted_sequence, Scalar input, {OPTIONS}, str? side=None, Tensor? sorter=None) -> Tensor", ref=_np_search, dtypes="if",
           samples=lambda t: [(_ascending(t, (6,)), 1)], doc="Where one value would be inserted.")
def searchsorted_scalar(x: Any, v: Any, out_int32: bool, right: bool, side: str | None, sorter: Any) -> Any:
    return searchsorted(x, _number(x, v), out_int32=out_int32, right=right, side=side, sorter=sorter)


def _number(like: Tensor, value: Any) -> Tensor:
    from tensorx.ops import factories
    return factories.tensor(value, device=like.device)


bucketize = row(f"bucketize(Tensor self, Tensor boundaries, {OPTIONS}) -> Tensor", SEARCH, lambda v, x, out_int32, right: _bucket(v, x, out_int32, right), NONDIFF,
                ref=lambda v, x, out_int32=False, right=False: np.searchsorted(x, v, "right" if right else "left"), dtypes="if",
                samples=lambda t: [(t((3, 4)), _ascending(t, (6,))), (t((3, 4)), _ascending(t, (6,)), {"right": True, "out_int32": True})],
                doc="Which of the buckets between sorted boundaries every value falls into.")


def _bucket(values: Tensor, boundaries: Tensor, out_int32: bool, right: bool) -> Search:
    if len(boundaries._shape) != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({len(boundaries._shape)})")
    x, v = _one_dtype("bucketize", boundaries, values)
    return Search(x, v, dtypes.int32 if out_int32 else dtypes.int64, right)


@composite(f"bucketize.Scalar(Scalar input, Tensor boundaries, {OPTIONS}) -> Tensor", dtypes="if",
           ref=lambda v, x, out_int32=False, right=False: np.searchsorted(x, v, "right" if right else "left"), samples=lambda t: [(1, _ascending(t, (6,)))],
           doc="Which of the buckets between sorted boundaries a number falls into.")
def bucketize_scalar(v: Any, x: Any, out_int32: bool, right: bool) -> Any:
    return bucketize(_number(x, v), x, out_int32=out_int32, right=right)


@composite("isin(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor", dtypes="if",
           ref=lambda e, t, assume_unique=False, invert=False: np.isin(e, t, invert=invert),
           samples=lambda t: [(t((3, 4)).round(), t((5,)).round()), (t((4,)).round(), t((2, 2)).round(), {"invert": True})] if t.dtype.kind == dtypes.FLOAT else [
               (t((3, 4)), t((5,))), (t((4,)), t((2, 2)), {"invert": True})], doc="Which elements are among the test elements.")
def isin(elements: Any, test_elements: Any, assume_unique: bool, invert: bool) -> Any:
    e, known = _one_dtype("isin", elements, test_elements)
    n = known.numel()
    if not n:
        return e.new_full(e.shape, invert, dtype=dtypes.bool_)
    ordered = sort(known.reshape(-1), 0)[0]
    near = ordered[searchsorted(ordered, e).clamp(0, n - 1)]
    return near != e if invert else near == e


@composite("isin.Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor", dtypes="if",
           ref=lambda e, t, assume_unique=False, invert=False: np.isin(e, t, invert=invert), samples=lambda t: [(t((3, 4)), 1)], doc="Which elements are the given number.")
def isin_scalar(e: Any, value: Any, assume_unique: bool, invert: bool) -> Any:
    return e != value if invert else e == value


@composite("isin.Number(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor", dtypes="if",
           ref=lambda e, t, assume_unique=False, invert=False: np.isin(e, t, invert=invert), samples=lambda t: [(1, t((5,)))], doc="Whether a number is among the test elements.")
def isin_number(e: Any, known: Any, assume_unique: bool, invert: bool) -> Any:
    found = (known == e).any()
    return ~found if invert else found


@composite("bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor", dtypes="i", ref=lambda x, weights=None, minlength=0: np.bincount(x, weights, minlength),
           domain=(0, 6), samples=lambda t: [(t((9,)),), (t((9,)), None, 12)], doc="How often every non-negative integer occurs, or the sums of weights where it does.")
def bincount(x: Any, weights: Any, minlength: int) -> Any:
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if x.dtype.kind != dtypes.INT:
        raise NotImplementedError(f'"bincount_cpu" not implemented for \'{x.dtype.name}\'')
    if x.dim() != 1:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights._shape != x._shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if x.device.type == "meta":
        raise NotImplementedError("bincount: the result's shape depends on values, which meta tensors have not")
    size = minlength
    if x.numel():
        least, most = (int(v) for v in x.long().aminmax())
        if least < 0:
            raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
        size = max(size, most + 1)
    d = dtypes.int64 if weights is None else weights.dtype if weights.dtype is dtypes.float32 else dtypes.float64
    ones = x.new_full((1,), 1, dtype=d) if weights is None else weights.to(d)
    return index_put(x.new_zeros((size,), dtype=d), (x.long(),), ones, True)


def _range_of(name: str, x: Any, low: float, high: float, margin: float) -> tuple[float, float]:
    """The range of a histogram: the data's, where both limits are equal; a single value gets a margin on both sides."""
    if low > high:
        raise RuntimeError(f"{name}: max must be larger than min")
    if low == high and x.numel() and x.device.type != "meta":
        low, high = (float(v) for v in x.detach().aminmax())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{name}: range of [{low}, {high}] is not finite")
    return (low - margin, high + margin) if low == high else (low, high)


def _np_histc(x: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    return np.histogram(x, bins, (min, max) if min != max else None)[0]


@composite("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", dtypes="f", ref=_np_histc, samples=lambda t: [(t((3, 4)), 5, -3, 3)],
           doc="How many elements fall into each of equal bins between min and max (the data's own, where both are equal).")
def histc(x: Any, bins: int, min: Any, max: Any) -> Any:
    if x.dtype.kind != dtypes.FLOAT:
        raise NotImplementedError(f'"histogram_cpu" not implemented for \'{x.dtype.name}\'')
    if bins <= 0:
        raise RuntimeError("histc: bins must be > 0")
    low, high = _range_of("torch.histc", x, float(min), float(max), 1)
    flat = x.detach().reshape(-1).to(x.dtype.compute)
    place = ((flat - low) * (bins / (high - low))).floor().clamp(0, bins - 1)
    place = place.masked_fill(~((flat >= low) & (flat <= high)), bins).long()  # what falls outside (or is NaN) goes to a bin of its own
    counts = index_put(flat.new_zeros((bins + 1,)), (place,), flat.new_full((1,), 1), True)
    return counts.narrow(0, 0, bins).to(x.dtype)


def _counts(x: Any, edges: Sequence[Any], weight: Any, density: bool) -> Any:
    """Sums of weights in the boxes between ``edges``; ``x`` is [points, dimensions]. The last edge belongs to the last box."""
    total = 1
    place: Any = None
    inside: Any = None
    for d, e in enumerate(edges):
        column, n = x.select(1, d).contiguous(), e.numel() - 1
        bin_ = (searchsorted(e, column, right=True) - 1).masked_fill(column == e[n], n - 1)
        good = (column >= e[0]) & (column <= e[n])
        place = bin_ if place is None else place * n + bin_
        inside, total = good if inside is None else inside & good, total * n
    place = place.masked_fill(~inside, total)
    values = x.new_full((1,), 1) if weight is None else weight.reshape(-1).to(x.dtype)
    hist = index_put(x.new_zeros((total + 1,)), (place,), values, True).narrow(0, 0, total).reshape([e.numel() - 1 for e in edges])
    if density:
        hist = hist / hist.sum()
        for d, e in enumerate(edges):
            hist = hist / e.diff().reshape([-1 if i == d else 1 for i in range(len(edges))])
    return hist


def _edges(x: Any, bins: Any, bounds: Sequence[float] | None, name: str) -> list[Any]:
    """Edges along every dimension of the points ``x``: given, or equally spaced over a range."""
    from tensorx.ops import factories
    n = x._shape[1]
    found = []
    for d in range(n):
        b = bins[d]
        if isinstance(b, Tensor):
            found.append(b.detach().contiguous())
            continue
        if b <= 0:
            raise RuntimeError(f"{name}: bins must be > 0, but got {b} for dimension {d}")
        if bounds:
            low, high = bounds[2 * d], bounds[2 * d + 1]
            if low > high:
                raise RuntimeError(f"{name}: min should not exceed max, but got min {low} max {high} for dimension {d}")
            low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        else:
            low, high = _range_of(name, x.select(1, d), 0.0, 0.0, 0.5) if x.numel() else (0.0, 1.0)
        found.append(factories.linspace(low, high, b + 1, dtype=x.dtype, device=x.device))
    return found


def histogram(input: Tensor, bins: Any, *, range: Any = None, weight: Tensor | None = None, density: bool = False, out: Any = None) -> Any:
    """(hist, bin_edges): sums of weights (or counts) in bins, a number of equal ones or those between the given edges.

    >>> import tensorx
    >>> tensorx.histogram(tensorx.tensor([1., 2., 1.]), bins=4, range=(0., 3.)).hist
    tensor([0., 2., 1., 0.])
    """
    if input.dtype.kind != dtypes.FLOAT:
        raise NotImplementedError(f'"histogramdd" not implemented for \'{input.dtype.name}\'')
    flat = input.detach().reshape(-1, 1)
    edges = _edges(flat, [bins], range, "torch.histogramdd")
    return _named("histogram", ("hist", "bin_edges"), (_counts(flat, edges, weight, density), edges[0]), out)


def histogramdd(input: Tensor, bins: Any, *, range: Any = None, weight: Tensor | None = None, density: bool = False, out: Any = None) -> Any:
    """(hist, bin_edges): `histogram` of points, the rows of ``input``, in as many dimensions as they have.

    >>> import tensorx
    >>> tensorx.histogramdd(tensorx.tensor([[0., 1.], [1., 0.], [2., 0.], [2., 2.]]), bins=[3, 3]).hist.tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0]]
    """
    if input.dim() < 2:
        raise RuntimeError(f"torch.histogramdd: input tensor should have at least 2 dimensions, but got {input.dim()}")
    points = input.detach().reshape(-1, input.shape[-1])
    given = [bins] * points.shape[1] if isinstance(bins, int) else list(bins)
    if len(given) != points.shape[1]:
        raise RuntimeError(f"torch.histogramdd: The size of bins must be equal to the innermost dimension of the input; got {len(given)}")
    edges = _edges(points, given, range, "torch.histogramdd")
    return _named("histogramdd", ("hist", "bin_edges"), (_counts(points, edges, weight, density), tuple(edges)), out)


def _named(name: str, fields: tuple[str, ...], values: tuple[Any, ...], out: Any) -> Any:
    from collections import namedtuple
    if out is not None:
        values = tuple(o.resize_(v._shape).copy_(v) for o, v in zip(out, values, strict=True))
    return namedtuple(name, fields)(*values)  # type: ignore[misc]  # the name is known at run time alone


__all__ = ["bincount", "bucketize", "histc", "histogram", "histogramdd", "isin", "searchsorted"]
