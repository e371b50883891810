"""INDEX rows, and Python's ``x[...]``."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import BadIndex, BadValue, DTypeError, ShapeError
from tensorx.ops import layout
from tensorx.ops.families import composite, row
from tensorx.ops.kinds.index import PUT, TAKE, Index, Put, Take
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, normalize_dim

Ints = tuple[int, ...]


def taking(schema: str, body: Any, vjp: Any, **fields: Any) -> Op:
    """An INDEX row that reads."""
    return row(schema, TAKE, body, vjp, **fields)


def putting(schema: str, body: Any, vjp: Any, **fields: Any) -> Op:
    """An INDEX row that writes."""
    return row(schema, PUT, body, vjp, **fields)


def _long(t: Tensor, op: str) -> Tensor:
    """An index tensor as the kernels read it."""
    if t.dtype in (dtypes.int64, dtypes.int32):
        return t
    if t.dtype.kind != dtypes.INT:
        raise BadIndex(f"{op}: tensors used as indices must be long, int, byte or bool tensors; got {t.dtype.name}")
    return t.long()


def _along(op: str, t: Tensor, dim: int, index: Tensor, shape: Ints) -> tuple[Ints, list[Index]]:
    """One index tensor of the walked shape, which replaces the coordinate along ``dim``."""
    index = _long(index, op)
    n = len(shape)
    d = normalize_dim(dim, n, op)
    own = t._get_strides() if t._shape else (1,) * n
    if not n:
        return (), [Index(index, (), t._shape[0] if t._shape else 1, own[0] if own else 1, dim=0)]
    strides = tuple(0 if i == d else s for i, s in enumerate(own))
    step = index._get_strides() if index._shape else (0,) * n
    return strides, [Index(index, step, t._shape[d] if t._shape else 1, own[d] if n else 1, dim=d)]


def _vector(op: str, t: Tensor, dim: int, index: Tensor) -> tuple[Ints, Ints, list[Index]]:
    """A vector of indices along ``dim``: (walked shape, strides over it, index)."""
    index = _long(index, op)
    if len(index._shape) > 1:
        raise IndexError(f"{op}(): Index is supposed to be a vector, but got dim: {len(index._shape)}")
    d = normalize_dim(dim, len(t._shape), op)
    n = index.numel()
    own = t._get_strides()
    if not t._shape:
        return (), (), [Index(index, (), 1, 1, dim=0)]
    shape = (*t._shape[:d], n, *t._shape[d + 1:])
    strides = (*own[:d], 0, *own[d + 1:])
    step = index._get_strides()[0] if index._shape else 0
    return shape, strides, [Index(index, tuple(step if i == d else 0 for i in range(len(shape))), t._shape[d], own[d], dim=d)]


def advanced(op: str, t: Tensor, indices: Sequence[Tensor | None]) -> tuple[Ints, Ints, list[Index]]:
    """``t[indices]`` with one entry a dimension (None: all of it). The indices' common shape stands where they are if they are neighbours, else first."""
    used = [(d, _long(i, op)) for d, i in enumerate(indices) if i is not None]
    if len(indices) > len(t._shape):
        raise IndexError(f"too many indices for tensor of dimension {len(t._shape)}")
    try:
        common = layout.broadcast_shapes(op, *[i._shape for _, i in used])
    except ShapeError:
        shapes = ", ".join(str(list(i._shape)) for _, i in used)
        raise IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}") from None
    dims = [d for d, _ in used]
    rest = [d for d in range(len(t._shape)) if d not in dims]
    together = dims == list(range(dims[0], dims[0] + len(dims)))
    lead = [d for d in rest if together and d < dims[0]]
    tail = [d for d in rest if d not in lead]
    own = t._get_strides()
    shape = (*(t._shape[d] for d in lead), *common, *(t._shape[d] for d in tail))
    strides = (*(own[d] for d in lead), *(0 for _ in common), *(own[d] for d in tail))
    out = []
    for d, i in used:
        s = layout.expanded_strides(i._shape, i._get_strides(), common)
        out.append(Index(i, (*(0 for _ in lead), *s, *(0 for _ in tail)), t._shape[d], own[d], op != "embedding", d))
    return shape, strides, out


def _index_body(t: Tensor, indices: Sequence[Tensor | None]) -> Take:
    shape, strides, found = advanced("index", t, indices)
    return Take(t, shape, strides, found)


def _index_put_body(t: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool) -> Put:
    shape, strides, found = advanced("index_put", t, indices)
    if values.dtype is not t.dtype:
        raise DTypeError(f"index_put: Index put requires the source and destination dtypes match, got {t.dtype.name} for the destination and "
                         f"{values.dtype.name} for the source.")
    if layout.broadcast_shapes("index_put", values._shape, shape) != shape:
        raise ShapeError(f"shape mismatch: value tensor of shape {list(values._shape)} cannot be broadcast to indexing result of shape {list(shape)}")
    return Put(values, shape, strides, found, "add" if accumulate else "none")


def _gather_body(t: Tensor, dim: int, index: Tensor, sparse_grad: bool) -> Take:
    _check_along("gather", t, dim, index, None)
    strides, found = _along("gather", t, dim, index, index._shape)
    return Take(t, index._shape, strides, found)


def _check_along(op: str, t: Tensor, dim: int, index: Tensor, src: Tensor | None) -> None:
    n, m = max(len(t._shape), 1), max(len(index._shape), 1)
    if n != m or (src is not None and max(len(src._shape), 1) != n):
        raise RuntimeError(f"{op}: Index tensor must have the same number of dimensions as {'self' if n != m else 'src'} tensor")
    d = normalize_dim(dim, n, op)
    for i, size in enumerate(index._shape):
        if (i != d and size > t._shape[i]) or (src is not None and size > src._shape[i]):
            raise RuntimeError(f"{op}: Size does not match at dimension {i} expected index {list(index._shape)} to be no larger than self {list(t._shape)} apart "
                               f"from dimension {d}" + (f" and to be no larger than src {list(src._shape)}" if src is not None else ""))


def _scatter(op: str, accumulate: str) -> Any:
    def body(t: Tensor, dim: int, index: Tensor, src: Any) -> Put:
        if not isinstance(src, Tensor):
            from tensorx.ops import factories
            src = factories.full((), src, dtype=t.dtype, device=t.device).expand(index._shape)
        _check_along(op, t, dim, index, src)
        if src.dtype is not t.dtype:
            raise RuntimeError(f"{op}(): Expected self.dtype to be equal to src.dtype")
        strides, found = _along(op, t, dim, index, index._shape)
        part = src.as_strided(index._shape, src._get_strides(), src._offset) if src._shape != index._shape else src
        return Put(part, index._shape, strides, found, accumulate)
    return body


def _select_body(t: Tensor, dim: int, index: Tensor) -> Take:
    if not t._shape and index.numel() != 1:
        raise ShapeError(f"index_select(): Index to scalar can have only 1 value, got {index.numel()} value(s)")
    return Take(t, *_vector("index_select", t, dim, index))


def _index_add_body(t: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any) -> Put:
    shape, strides, found = _vector("index_add", t, dim, index)
    if source.dtype is not t.dtype:
        raise DTypeError(f"index_add: self ({t.dtype.name}) and source ({source.dtype.name}) must have the same scalar type")
    if source._shape != shape:
        raise ShapeError(f"index_add(): source shape {list(source._shape)} must match self shape {list(t._shape)} with {list(index._shape)} along dimension {dim}")
    if t.dtype.kind < dtypes.FLOAT:
        alpha = bool(alpha) if t.dtype.kind == dtypes.BOOL else int(alpha)
    return Put(source if alpha == 1 else source.detach() * alpha, shape, strides, found, "add")


def _zeros(meta: Any, like: Tensor) -> Tensor:
    from tensorx.ops import factories
    return factories.zeros(meta.shape, dtype=like.dtype, device=like.device)


def _slice_to(g: Tensor, index: Tensor, meta: Any) -> Tensor:
    """``src`` may be larger than ``index``: the rest of it has a zero cotangent."""
    if g._shape == meta.shape:
        return g
    whole = _zeros(meta, g)
    part = whole
    for d, n in enumerate(index._shape):
        part = part.narrow(d, 0, n)
    part.copy_(g)
    return whole


def _ref_at(x: Any, dim: int, index: Any) -> tuple[Any, ...]:
    grid = list(np.indices(index.shape))
    grid[dim] = index
    return tuple(grid)


def _ref_put(add: bool) -> Any:
    def ref(x: Any, dim: int, index: Any, src: Any) -> Any:
        out = np.array(x)
        values = np.broadcast_to(src, index.shape) if np.ndim(src) == 0 else src[tuple(slice(n) for n in index.shape)]
        if add:
            np.add.at(out, _ref_at(x, dim, index), values)
        else:
            out[_ref_at(x, dim, index)] = values
        return out
    return ref


def _ref_index_put(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    out = np.array(x)
    at = tuple(slice(None) if i is None else i for i in indices)
    if accumulate:
        np.add.at(out, at, values)  # type: ignore[arg-type]  # NumPy's stubs know no mixed index tuples
    else:
        out[at] = values
    return out


def _ref_index_add(x: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    out = np.array(x)
    np.add.at(out, (slice(None),) * dim + (index,), alpha * source)
    return out


index = taking("index(Tensor self, Tensor[] indices) -> Tensor", _index_body,
                 lambda g, self_meta, indices: (index_put(_zeros(self_meta, g), tuple(indices), g, True), [None] * len(indices)),
                 ref=lambda x, indices: x[tuple(slice(None) if i is None else i for i in indices)],
                 samples=lambda t: [(t((3, 4)), (t.index((5,), 3),)), (t((3, 4, 2)), (t.index((2, 1), 3), None, t.index((3,), 2))),
                                    (t((3, 4)), (None, t.index((2, 2), 4)))], doc="Elements at index tensors, broadcast against each other.")
index_put = putting("index_put(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor", _index_put_body,
                     lambda g, self_meta, indices, values_meta, accumulate: (
                         g if accumulate else index_put(g, tuple(indices), _zeros(values_meta._replace(shape=()), g), False), [None] * len(indices),
                         index(g, tuple(indices))), ref=_ref_index_put,
                     samples=lambda t: [(t((3, 4)), (t.index((7,), 3),), t((7, 4)), True), (t((4,)), (t.unique(3, 4),), t((3,))),
                                        (t((3, 4)), (t.index((7,), 3), t.index((7,), 4)), t((1,)), True)],
                     doc="Values written (or added) at index tensors; added duplicates add up.")
gather = taking("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", _gather_body,
                  lambda g, self_meta, dim, index: (scatter_add(_zeros(self_meta, g), dim, index, g), None),
                  ref=lambda x, dim, index: x[_ref_at(x, dim, index)], samples=lambda t: [(t((3, 4)), 0, t.index((5, 2), 3)), (t((3, 4)), 1, t.index((3, 6), 4))],
                  doc="Elements along dim at the indices given for each position.")
scatter = putting("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", _scatter("scatter", "none"),
                   lambda g, dim, index, src_meta: (scatter_value(g, dim, index, 0), None, _slice_to(gather(g, dim, index), index, src_meta)),
                   ref=_ref_put(False), samples=lambda t: [(t((3, 4)), 0, t.unique_along(3, 4), t((3, 4)))],
                   doc="Values written along dim at the indices given for each position.")
scatter_value = putting("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", _scatter("scatter", "none"),
                         lambda g, dim, index: (scatter_value(g, dim, index, 0), None), ref=_ref_put(False),
                         samples=lambda t: [(t((3, 4)), 1, t.index((3, 2), 4), 0.5)], doc="One value written along dim at the given indices.")
scatter_add = putting("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", _scatter("scatter_add", "add"),
                       lambda g, dim, index, src_meta: (g, None, _slice_to(gather(g, dim, index), index, src_meta)), ref=_ref_put(True),
                       samples=lambda t: [(t((3, 4)), 0, t.index((5, 4), 3), t((5, 4))), (t((3, 4)), 1, t.index((3, 2), 4), t((3, 6)))],
                       doc="Values added along dim at the indices given for each position.")
index_select = taking("index_select(Tensor self, int dim, Tensor index) -> Tensor", _select_body,
                        lambda g, self_meta, dim, index: (index_add(_zeros(self_meta, g), dim, index, g), None),
                        ref=lambda x, dim, index: np.take(x, index, dim), samples=lambda t: [(t((3, 4)), 0, t.index((5,), 3)), (t((3, 4)), 1, t.index((2,), 4))],
                        doc="Slices of dim at a vector of indices.")
index_add = putting("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor", _index_add_body,
                     lambda g, dim, index, alpha: (g, None, index_select(g, dim, index) * alpha), ref=_ref_index_add,
                     samples=lambda t: [(t((3, 4)), 0, t.index((5,), 3), t((5, 4))), (t((3, 4)), 1, t.index((5,), 4), t((3, 5)), {"alpha": 2})],
                     doc="Slices added to dim at a vector of indices; duplicates add up.")


def _embedding_body(weight: Tensor, indices: Tensor, padding_idx: int, scale: bool, sparse: bool) -> Take:
    if sparse:
        raise NotImplementedError("embedding: argument 'sparse' must be False; sparse gradients are not supported")
    if len(weight._shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    return Take(weight, *advanced("embedding", weight, (indices,)))


def _embedding_vjp(g: Tensor, weight_meta: Any, indices: Tensor, padding_idx: int, scale_grad_by_freq: bool) -> tuple[Tensor, None]:
    if scale_grad_by_freq:
        uses = index_put(g.new_zeros((weight_meta.shape[0],)), (indices,), g.new_ones(()), True)
        g = g / index(uses, (indices,)).unsqueeze(-1)
    if padding_idx >= 0:
        g = g.masked_fill((indices == padding_idx).unsqueeze(-1), 0)
    return index_put(_zeros(weight_meta, g), (indices,), g, True), None


embedding = taking("embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
                     _embedding_body, _embedding_vjp, ref=lambda weight, indices, padding_idx=-1: weight[indices],
                     samples=lambda t: [(t((5, 3)), t.index((2, 4), 5)), (t((5, 3)), t.index((6,), 2), 4)], doc="Rows of a weight matrix.")


@composite("flip(Tensor self, int[] dims) -> Tensor", ref=np.flip, samples=lambda t: [(t((2, 3, 4)), (0, 2)), (t((3,)), (0,))],
           doc="The order along some dimensions reversed.")
def flip(x: Tensor, dims: Sequence[int]) -> Tensor:
    from tensorx.ops import factories
    from tensorx.ops.viewing import normalize_dims
    for d in normalize_dims(dims, len(x._shape), "flip"):
        if x._shape:
            n = x._shape[d]
            x = index_select(x, d, factories._range((n,), n - 1, -1, dtype=dtypes.int64, device=x.device))
    return x.clone() if not dims or not x._shape else x


def _split_key(t: Tensor, key: Any) -> tuple[Tensor, list[Tensor | None] | None]:
    """Apply the basic parts of a key as views; answer what is left for index tensors (None if nothing)."""
    items = list(key) if isinstance(key, tuple) or _is_nested(key) else [key]
    items = [_as_index(t, k) for k in items]
    wanted = sum(len(k._shape) if isinstance(k, Tensor) and k.dtype is dtypes.bool_ and k._shape else 0 if k is None or k is Ellipsis or isinstance(k, bool) or (
        isinstance(k, Tensor) and k.dtype is dtypes.bool_) else 1 for k in items)
    if sum(k is Ellipsis for k in items) > 1:  # the first one stands for what is left; PyTorch passes over the others
        first = next(i for i, k in enumerate(items) if k is Ellipsis)
        items = [k for i, k in enumerate(items) if i <= first or k is not Ellipsis]
    if wanted > len(t._shape):
        raise IndexError(f"too many indices for tensor of dimension {len(t._shape)}")
    view, d = t, 0  # ``d`` is where we are in the view, ``place`` in ``t``
    place = 0
    advanced_at: dict[int, Tensor] = {}
    for k in items:
        if k is None:
            view = view.unsqueeze(d)
            d += 1
        elif k is Ellipsis:
            d += len(t._shape) - wanted
            place += len(t._shape) - wanted
        elif isinstance(k, bool):
            view = view.unsqueeze(d)
            advanced_at[d] = _bool_index(t, k)
            d += 1
        elif isinstance(k, slice):
            view = _sliced(view, d, k)
            d, place = d + 1, place + 1
        elif isinstance(k, Tensor):
            d = _advance(view, d, k, advanced_at)
            place += 1 if k.dtype is not dtypes.bool_ else len(k._shape)
            if not k._shape and k.dtype is dtypes.bool_:
                view = view.unsqueeze(d - 1)
        else:
            n = view._shape[d]
            if not -n <= k < n:
                raise IndexError(f"select: index {k} is out of bounds for dimension {place} with size {n}")
            view = view.select(d, k)
            place += 1
    if not advanced_at:
        return view, None
    return view, [advanced_at.get(i) for i in range(max(advanced_at) + 1)]


def _is_nested(key: Any) -> bool:
    """A list that holds sequences, slices, None, ... counts as the tuple of them, as in PyTorch."""
    return isinstance(key, list) and len(key) < 32 and any(k is None or k is Ellipsis or isinstance(k, list | tuple | slice | Tensor | np.ndarray) for k in key)


def _bool_index(t: Tensor, k: bool) -> Tensor:
    from tensorx.ops import factories
    return factories.zeros((1,) if k else (0,), dtype=dtypes.int64, device=t.device)


def _advance(view: Tensor, d: int, k: Tensor, advanced_at: dict[int, Tensor]) -> int:
    """Note an index tensor at dimension ``d``; a mask becomes its coordinates."""
    if k.dtype is not dtypes.bool_:
        advanced_at[d] = k
        return d + 1
    if not k._shape:
        advanced_at[d] = _bool_index(view, bool(k.item()))
        return d + 1
    for i, n in enumerate(k._shape):
        if d + i < len(view._shape) and view._shape[d + i] != n:
            raise IndexError(f"The shape of the mask {list(k._shape)} at index {i} does not match the shape of the indexed tensor {list(view._shape)} at index {d + i}")
    for i, column in enumerate(k.nonzero().unbind(1)):
        advanced_at[d + i] = column
    return d + len(k._shape)


def _sliced(view: Tensor, d: int, k: slice) -> Tensor:
    start, stop, step = (None if x is None else int(x.__index__()) for x in (k.start, k.stop, k.step))
    if step is not None and step <= 0:
        raise ValueError("step must be greater than zero")
    if start in (None, 0) and stop is None and step in (None, 1):
        return view.slice(d, None, None, 1)
    return view.slice(d, start, stop, step or 1)


def _as_index(t: Tensor, k: Any) -> Any:
    """Lists and arrays as index tensors on the tensor's device; integer scalars as ints."""
    if k is None or k is Ellipsis or isinstance(k, slice | bool):
        return k
    if isinstance(k, Tensor):
        if k.dtype.kind == dtypes.INT and not k._shape and not isinstance(k, bool):
            return k if k.device.type != "cpu" and k.device is t.device else int(k.item())  # elsewhere a place: no wait for the device
        k = k.bool() if k.dtype is dtypes.uint8 else k
        if k.dtype.kind > dtypes.INT:
            raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors; got {k.dtype.name}")
        return _beside(t, k)
    if isinstance(k, numbers.Integral) or (hasattr(k, "__index__") and not isinstance(k, np.ndarray)):
        return int(k.__index__())
    if isinstance(k, list | tuple | range | np.ndarray):
        from tensorx.ops import factories
        found = factories.tensor(np.asarray(k) if not isinstance(k, list | tuple) or not k else list(k), device=t.device)
        if not isinstance(k, np.ndarray) and not found.numel():
            found = found.long()
        return _as_index(t, found) if found.dtype.kind <= dtypes.INT else _bad_key(k)
    return _bad_key(k)


def _beside(t: Tensor, k: Tensor) -> Tensor:
    """An index tensor on the device of ``t``. It may come from the cpu, and from no other device, as in PyTorch."""
    if k.device is t.device:
        return k
    if k.device.type != "cpu":
        from tensorx.errors import DeviceError
        raise DeviceError(f"index: indices should be either on cpu or on the same device as the indexed tensor ({t.device}); got one on {k.device}. "
                          "Hint: move it with .to(device)")
    return k.to(t.device)


def _bad_key(k: Any) -> Any:
    raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                     f"(got {type(k).__name__})")


def getitem(self: Tensor, key: Any) -> Tensor:
    """``x[key]`` with Python's and NumPy's indices: views for basic keys, copies for index tensors and masks."""
    view, indices = _split_key(self, key)
    if indices is None:
        return view if view is not self else self.view(self._shape) if self._shape else self.view(())
    return index(view, tuple(indices))


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """``x[key] = value``: in place, recorded."""
    from tensorx.ops import factories
    if isinstance(key, Tensor) and key.dtype is dtypes.bool_ and key._shape == self._shape and not isinstance(value, Tensor) and key._shape:
        self.masked_fill_(_beside(self, key), value)
        return
    view, indices = _split_key(self, key)
    if value is None or isinstance(value, str):
        raise TypeError(f"can't assign a {type(value).__name__} to a {self.dtype.name} tensor")
    if isinstance(value, complex) and not self.dtype.is_complex:
        raise BadValue(f"value {value} cannot be converted to type {self.dtype.name} without overflow")
    if not isinstance(value, Tensor):
        value = factories.tensor(value, dtype=self.dtype, device=self.device)
    elif value.device is not self.device and indices is not None:  # copy_ takes values from anywhere
        if value._shape:
            raise RuntimeError(f"expected value to be on {self.device}, but got {value.device}")
        value = value.to(self.device, self.dtype)
    if indices is None:
        while len(value._shape) > len(view._shape) and value._shape[0] == 1:
            value = value.squeeze(0)
        view.copy_(value)
        return
    view.index_put_(tuple(indices), value if value._shape else value.to(self.dtype))


def masked_positions(mask: Tensor) -> tuple[Tensor, ...]:
    """Index tensors, one a dimension, of the places where ``mask`` is true; none for a zero-dim mask."""
    return tuple(mask.nonzero().unbind(1)) if mask._shape else ()


METHODS = {"__getitem__": getitem, "__setitem__": setitem}


def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write (or add) values at index tensors, in place.

    >>> import tensorx
    >>> tensorx.zeros(3).index_put_((tensorx.tensor([0, 0, 2]),), tensorx.tensor(1.), accumulate=True)
    tensor([2., 0., 1.])
    """
    from tensorx.ops.dispatch import call
    return call(index_put, (self, _coordinates(self, indices), values, accumulate), (self,))


def _coordinates(t: Tensor, indices: Any) -> tuple[Any, ...]:
    """Index tensors beside ``t``, a mask as one for each of its dimensions."""
    beside = [None if i is None else _beside(t, i) for i in indices]
    return tuple(c for i in beside for c in (i.nonzero().unbind(1) if i is not None and i.dtype in (dtypes.bool_, dtypes.uint8) else (i,)))


def index_put_masked(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with values written (or added) at index tensors or masks.

    >>> import tensorx
    >>> tensorx.index_put(tensorx.zeros(3), (tensorx.tensor([True, False, True]),), tensorx.tensor(1.))
    tensor([1., 0., 1.])
    """
    return index_put(self, _coordinates(self, indices), values, accumulate)  # type: ignore[no-any-return]


METHODS["index_put_"], METHODS["index_put"] = index_put_, index_put_masked
