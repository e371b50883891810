"""Launches of the attention kernels (`kernels.attention`): operands as three leading axes and a matrix, on processors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tensorx.dtypes import dtype, uint64
from tensorx.kernels import attention as kernels
from tensorx.kernels.geometry import ceil_div, geometry
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.ops import build, expr_kernel, layout
from tensorx.ops import expr as E
from tensorx.ops.kinds.loop import bare
from tensorx.ops.program import named, scalar_names, use_numpy
from tensorx.ops.random import dropped
from tensorx.tensor import Tensor, empty

Ints = tuple[int, ...]
#: (probability, seed, offset): the draw is that of `dropout` on the whole scores.
Drop = tuple[float, int, int] | None


def fits(query: Tensor, value: Tensor) -> bool:
    """Whether the device is one that the kernels are for, and the heads are not too wide."""
    device = query.device
    if device.runtime is None or device.type == "meta" or use_numpy(device, 1 << 62):
        return False
    caps = device.runtime.capabilities
    acc = query.dtype.accumulate.code
    return (caps.cpu_like or caps.dialect == "c") and kernels.blocks(acc, caps, query._shape[-1], value._shape[-1], True) is not None


def dense(t: Tensor) -> Tensor:
    """``t`` without history, its rows dense."""
    return bare(t if t._get_strides()[-1] == 1 or t._shape[-1] == 1 else t.contiguous())


def _arranged(lead: Ints, tensors: Sequence[Tensor]) -> tuple[Ints, list[Ints], list[Tensor]]:
    """Three leading extents, each tensor's strides (leading ones, rows, columns), and the tensors: copies where no three axes would do."""
    shapes = [(*lead, *t._shape[-2:]) for t in tensors]
    strides = [layout.expanded_strides(t._shape, t._get_strides(), s) for t, s in zip(tensors, shapes, strict=True)]
    sizes, merged = layout.merge_axes(lead, tuple(s[:-2] for s in strides), False)
    if len(sizes) > kernels.LEAD:
        copies = [bare(t.expand(s).reshape(math.prod(lead), *s[-2:])) for t, s in zip(tensors, shapes, strict=True)]
        return _arranged((math.prod(lead),), copies)
    more = kernels.LEAD - len(sizes)
    return (1,) * more + tuple(sizes), [(0,) * more + tuple(m) + tuple(s[-2:]) for m, s in zip(merged, strides, strict=True)], list(tensors)


@lru_cache(maxsize=1024)
def _spec(device: Any, d: dtype, masks: tuple[str, ...], widths: Ints, causal: bool, back: bool, drop: bool, index: str) -> KernelSpec:
    caps = device.runtime.capabilities
    acc, code, held = d.accumulate.code, d.code, d.compute.code
    outs = [Operand("y0", acc, acc, "p"), Operand("y1", code, held), Operand("y2", code, held)] if back else [Operand("y0", code, held), Operand("y1", acc, acc, "p")]
    ins = [Operand(f"x{i}", code, held) for i in range(4 if back else 3)]
    if back:
        ins += [Operand(name, acc, acc, "p") for name in ("x4", "x5")]
    ins += [Operand(name, "b8" if name == "x6" else code, "b8" if name == "x6" else held, "s") for name in masks]
    body = ""
    scalars: tuple[dtype, ...] = (d.accumulate,)
    if drop:
        p, seed, offset = E.scalar(1, d.accumulate), E.scalar(2, uint64), E.scalar(3, uint64)
        values = [dropped(E.arg(i, d.accumulate), p, seed, offset) for i in range(2 if back else 1)]
        body, scalars = expr_kernel.emit(values, ["y0", "y1"][:len(values)]), (d.accumulate, d.accumulate, uint64, uint64)
    names = (("scale", acc), *scalar_names(scalars)[1:])
    params = (("back", back), ("causal", causal), ("acc", acc), ("shape", kernels.blocks(acc, caps, widths[0], widths[1], back)), ("tile", kernels.vector_tile(acc, caps)))
    spec = named(KernelSpec("attention", "attention_backward" if back else "attention", tuple(outs), tuple(ins), names, body, index, params=params))
    return replace(spec, entry=spec.entry.removeprefix("tx_"))  # its microkernels are named after it, and are no intrinsics


def _run(operands: Sequence[tuple[str, Tensor]], lead: Ints, causal: bool, scale: float, drop: Drop, back: bool, splits: Ints = ()) -> None:
    strided = [(n, t) for n, t in operands if len(t._shape) >= 2 and n not in (("y0", "x4", "x5") if back else ("y1",))]
    sizes, strides, tensors = _arranged(lead, [t for _, t in strided])
    found = dict(operands) | {n: t for (n, _), t in zip(strided, tensors, strict=True)}
    query, value = found["x0"], found["x2"]
    (rows, width), (keys, wide) = query._shape[-2:], value._shape[-2:]
    device, masks = query.device, tuple(n for n in ("x6", "x7") if n in found)
    small = all(layout.index_width((*sizes, *t._shape[-2:]), [s]) == "i32" for t, s in zip(tensors, strides, strict=True))
    spec = _spec(device, query.dtype, masks, (width, wide), causal, back, drop is not None, "i32" if small and math.prod(sizes) * rows * width < 2**30 else "i64")
    numbers = [*sizes, rows, keys, width, wide, *splits]
    steps = [x for (n, _), s in zip(strided, strides, strict=True) for x in (s if n in masks else s[:-1])]
    buffers = [x for o in spec.operands for x in (found[o.name]._storage.handle(), found[o.name]._offset)]
    runtime = device.runtime
    assert runtime is not None
    runtime.launch(build.kernel(device, spec), geometry(spec, runtime.capabilities, *numbers), [*buffers, scale, *(drop or ()), *numbers, *steps])


def _masks(keep: Tensor | None, bias: Tensor | None, rows: int, keys: int) -> list[tuple[str, Tensor]]:
    found = [(n, t) for n, t in (("x6", keep), ("x7", bias)) if t is not None]
    return [(n, bare(t.expand(*t._shape[:-2], rows, keys))) for n, t in found]


def lead_of(*tensors: Tensor | None) -> Ints:
    """What the leading dimensions broadcast to."""
    return layout.broadcast_shapes("scaled_dot_product_attention", *(t._shape[:-2] for t in tensors if t is not None))


def means(g: Tensor, out: Tensor) -> Tensor:
    """The sum over each row of cotangent * output, which is that of the weights' cotangents * weights."""
    acc = g.dtype.accumulate
    return bare((g.to(acc) * bare(out).to(acc)).sum(-1))


def forward(query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None, bias: Tensor | None, causal: bool, scale: float, drop: Drop, sums: Tensor) -> Tensor:
    """The output; ``sums`` (leading dimensions, queries) receives the logarithms of the rows' sums."""
    lead = lead_of(query, key, value, keep, bias)
    out = empty((*lead, query._shape[-2], value._shape[-1]), query.dtype, query.device)
    if out.numel():
        masks = _masks(keep, bias, query._shape[-2], key._shape[-2])
        _run([("y0", out), ("y1", sums), ("x0", dense(query)), ("x1", dense(key)), ("x2", dense(value)), *masks], lead, causal, scale, drop, False)
    return out


def backward(g: Tensor, query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None, bias: Tensor | None, out: Tensor, sums: Tensor, causal: bool, scale: float,
             drop: Drop) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of query, key and value, over all leading dimensions."""
    from tensorx.ops import factories
    lead, d, device = g._shape[:-2], query.dtype, query.device
    (rows, width), keys, acc = query._shape[-2:], key._shape[-2], d.accumulate
    shapes = [(*lead, rows, width), (*lead, keys, width), (*lead, keys, value._shape[-1])]
    if not math.prod(lead) * rows * keys:
        d_query, d_key, d_value = (factories.zeros(s, dtype=d, device=device) for s in shapes)
        return d_query, d_key, d_value
    caps = device.runtime.capabilities  # type: ignore[union-attr]
    shape = kernels.blocks(acc.code, caps, width, value._shape[-1], True)
    assert shape is not None
    heads, units = math.prod(lead), max(1, caps.compute_units)
    splits = 1 if heads >= 2 * units else min(ceil_div(2 * units, heads), ceil_div(keys, shape.keys))
    parts = empty((splits, *shapes[0]), acc, device)
    d_key, d_value = (empty(s, d, device) for s in shapes[1:])
    mean = means(g, out)
    operands = [("y0", parts), ("y1", d_key), ("y2", d_value), ("x0", dense(query)), ("x1", dense(key)), ("x2", dense(value)), ("x3", dense(g)), ("x4", sums),
                ("x5", mean), *_masks(keep, bias, rows, keys)]
    _run(operands, lead, causal, scale, drop, True, (splits,))
    d_query = parts.sum(0) if splits > 1 else parts.view(shapes[0])
    return d_query.to(d), d_key, d_value
