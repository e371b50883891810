"""SCAN: running sums, products and extremes along a dimension. The body names the operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.dtypes import dtype
from tensorx.errors import DTypeError
from tensorx.kernels import scan as family
from tensorx.kernels.geometry import ceil_div, geometry
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.ops import build, layout, record, table
from tensorx.ops.kinds.rows import written
from tensorx.ops.program import named, use_numpy
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, empty, normalize_dim

Ints = tuple[int, ...]


class Scanning(record.Ruled):
    """The kind: ``(self, dim[, dtype])``; the body is 'sum', 'prod', 'logsum', 'max' or 'min' (these also give the index)."""

    name = "SCAN"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Compute."""
        t, dim = args[:2]
        table.check_dtype(op, t.dtype)
        d = normalize_dim(dim, len(t._shape), op.public)
        asked = next((a for a in args if isinstance(a, dtype)), None)
        if asked is dtypes.bool_:
            raise DTypeError(f'"{op.public}" not implemented for \'bool\'')
        indexed = op.body in ("max", "min")
        store = t.dtype if indexed else asked or op.promote.common([t.dtype], [], [])
        stores = [store, dtypes.int64] if indexed else [store]
        outs = [empty(t._shape, s, t.device) for s in stores] if out is None else written(op, out, [t._shape] * len(stores), stores, [])
        if t.numel() and t.device.type != "meta":
            if use_numpy(t.device, t.numel(), 4096):
                for o, r in zip(outs, _host(op.body, t._array(), d, store), strict=True):
                    np.copyto(o._array(), r, casting="unsafe")
            else:
                _launch(op, t, d, store, outs)
        return outs[0] if len(outs) == 1 else tuple(outs)


def _host(how: str, x: Any, d: int, store: dtype) -> list[Any]:
    """The NumPy routine. Float sums and products run in double, so that long ones keep the precision that the kernels' blocks give."""
    if not x.ndim:
        return [x.astype(store.np), np.zeros((), np.int64)][: 1 + (how in ("max", "min"))]
    if how in ("sum", "prod"):
        work = {dtypes.FLOAT: np.float64, dtypes.COMPLEX: np.complex128}.get(store.kind, store.np)
        with np.errstate(all="ignore"):
            return [(np.cumsum if how == "sum" else np.cumprod)(x.astype(store.np), axis=d, dtype=work).astype(store.np)]
    if how == "logsum":
        with np.errstate(all="ignore"):
            return [np.logaddexp.accumulate(x.astype(np.float64), axis=d).astype(store.np)]
    wide = x.astype(store.compute.np)
    values = (np.maximum if how == "max" else np.minimum).accumulate(wide, axis=d)
    hit = (wide == values) | (wide != wide)
    place = np.arange(x.shape[d]).reshape([-1 if i == d else 1 for i in range(x.ndim)])
    return [values.astype(x.dtype), np.maximum.accumulate(np.where(hit, place, 0), axis=d)]


def _launch(op: Op, t: Tensor, d: int, store: dtype, outs: Sequence[Tensor]) -> None:
    device, operands = t.device, [*outs, t]
    runtime = device.runtime
    assert runtime is not None
    caps = runtime.capabilities
    n = t._shape[d] if t._shape else 1
    kept = tuple(i for i in range(len(t._shape)) if i != d)
    sizes, strides = layout.merge_axes(tuple(t._shape[i] for i in kept), tuple(tuple(o._get_strides()[i] for i in kept) for o in operands), False)
    full = [(*s, o._get_strides()[d] if o._shape else 1) for s, o in zip(strides, operands, strict=True)]
    access = tuple("c" if s[-1] == 1 else "k" if s[-2] == 1 else "s" for s in full)
    if any(a == "k" for a in access) and not all(a == "k" for a in access):
        access = tuple("s" if a == "k" else a for a in access)
    width = layout.index_width((*sizes, n), full)
    acc = store.compute if op.body in ("max", "min") else store.accumulate if store.kind >= dtypes.FLOAT else store
    key = (device, t.dtype, store, len(sizes), access, width)
    specs = op.plans.get(key)
    if specs is None:
        specs = op.plans[key] = {s: _spec(op, s, operands, acc, len(sizes), access, width) for s in ("full", "partial", "apply")}
    rows = 1
    for size in sizes:
        rows *= size
    buffers = [x for o in operands for x in (o._storage.handle(), o._offset)]
    steps = [x for s, a in zip(full, access, strict=True) for x in (s[:-1] if a == "c" else s)]
    parts = family.splits(specs["full"], caps, rows, n)
    if parts == 1:
        runtime.launch(build.kernel(device, specs["full"]), geometry(specs["full"], caps, *sizes, n), [*buffers, *sizes, n, *steps])
        return
    chunk = ceil_div(n, parts)
    parts = ceil_div(n, chunk)
    scratch = [empty((rows, parts), dtypes.FROM_CODE[o.dtype], device) for o in specs["partial"].outputs]
    held = [x for o in scratch for x in (o._storage.handle(), 0)]
    k = 2 * len(outs)
    in_steps = steps[len(steps) - (len(full[-1]) - (access[-1] == "c")):]
    runtime.launch(build.kernel(device, specs["partial"]), geometry(specs["partial"], caps, *sizes, n, chunk), [*held, *buffers[k:], *sizes, n, chunk, *in_steps])
    runtime.launch(build.kernel(device, specs["apply"]), geometry(specs["apply"], caps, *sizes, n, chunk), [*buffers, *held, *sizes, n, chunk, *steps])


def _spec(op: Op, stage: str, operands: Sequence[Tensor], acc: dtype, kept: int, access: Sequence[str], width: str) -> KernelSpec:
    n = len(operands) - 1
    names = [*(f"y{i}" for i in range(n)), "x0"]
    made = [Operand(name, t.dtype.code, t.dtype.compute.code, a) for name, t, a in zip(names, operands, access, strict=True)]
    outs, ins = made[:n], made[n:]
    packed = list(zip("01", family.packed(op.body, acc.code), strict=False))
    if stage == "partial":
        outs = [Operand("y" + i, c, c, "p") for i, c in packed]
    elif stage == "apply":
        ins += [Operand(f"x{int(i) + 1}", c, c, "p") for i, c in packed]
    params = (("op", op.body), ("kept", kept), ("acc", acc.code), ("stage", stage))
    return named(KernelSpec("scan", f"{op.schema.name}_{stage}", tuple(outs), tuple(ins), (), "", width, params=params))


SCAN = Scanning()
