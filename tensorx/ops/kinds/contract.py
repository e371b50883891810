"""CONTRACT: matrix products and convolutions in all three directions, one kernel template with different index maps.

``body(*args)`` answers a `Product` or a `Convolution`. On the cpu products of floats go to BLAS (through NumPy) where it is faster, unless
TENSORX_BLAS=0; without a compiler convolutions are windows and a BLAS product.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorx import dtypes, locks
from tensorx.devices import registry
from tensorx.dtypes import dtype
from tensorx.errors import DTypeError
from tensorx.kernels import contraction, convolution
from tensorx.kernels.contraction import View
from tensorx.kernels.convolution import Window
from tensorx.ops import build, dispatch, layout, record, table, tuning, windows
from tensorx.ops.expr_numpy import quietly
from tensorx.ops.outputs import resize_output
from tensorx.ops.program import scalar_args, scalar_names, use_numpy
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, empty

Ints = tuple[int, ...]


@dataclass
class Product:
    """``beta * extra + alpha * (a @ b)``; batch axes broadcast. Without ``extra`` just the product."""

    a: Tensor
    b: Tensor
    extra: Tensor | None = None
    alpha: Any = 1
    beta: Any = 1


@dataclass
class Convolution:
    """One direction of a convolution: ``operands`` are (input, weight), (cotangent, weight) or (input, cotangent); ``size`` is the result's."""

    direction: str  # forward | data | weight
    operands: tuple[Tensor, Tensor]
    size: Ints
    window: Window
    bias: Tensor | None = None


def blas_enabled() -> bool:
    """Whether float products on the cpu may use BLAS."""
    return os.environ.get("TENSORX_BLAS", "1") != "0"


class Contract(record.Ruled):
    """The kind."""

    name = "CONTRACT"

    def forward(self, op: Op, args: tuple[Any, ...], out: Any) -> Any:
        """Compute."""
        tensors = [a for a in args if isinstance(a, Tensor)]
        device = dispatch.device_of(op, tensors)
        first = tensors[0].dtype
        for t in tensors:
            table.check_dtype(op, t.dtype)
            if t.dtype is not first:
                raise DTypeError(f"{op.public}: expected all operands to have the same dtype, but got {first.name} and {t.dtype.name}. "
                                 "Hint: cast one of them with .to()")
        plan = op.body(*args)
        shape = plan.size if isinstance(plan, Convolution) else product_shape(op, plan)
        result, copy = self.result(op, out, shape, first, device, tensors)
        if 0 not in shape and device.type != "meta":
            (convolve if isinstance(plan, Convolution) else multiply)(plan, result)
        if copy:
            from tensorx.ops.convert import copy_into
            copy_into(out[0], result)
            return out[0]
        return result

    def result(self, op: Op, out: Any, shape: Ints, d: dtype, device: Any, inputs: Sequence[Tensor]) -> tuple[Tensor, bool]:
        """Where to compute, and whether that is a temporary: an ``out=`` that shares memory with an operand must not be written early."""
        if out is None:
            return empty(shape, d, device), False
        target = out[0]
        if target.dtype is not d:
            raise DTypeError(f"{op.public}: Expected out tensor to have dtype {d.name}, but got {target.dtype.name} instead")
        if target._shape != shape:
            resize_output(target, shape)
        if any(t._storage.buffer is target._storage.buffer for t in inputs):
            return empty(shape, d, device), True
        return target, False


def product_shape(op: Op, p: Product) -> Ints:
    """The shape of a product. RuntimeError, in PyTorch's words, where inner extents differ."""
    (m, k), (k2, n) = p.a._shape[-2:], p.b._shape[-2:]
    if k != k2:
        raise RuntimeError(f"{op.public}: mat1 and mat2 shapes cannot be multiplied ({m}x{k} and {k2}x{n})")
    return (*layout.broadcast_shapes(op.public, p.a._shape[:-2], p.b._shape[:-2]), m, n)


def view(t: Tensor, shape: Ints | None = None) -> View:
    """What the kernels need to know of a tensor (broadcast to ``shape``)."""
    strides = t._get_strides()
    return View(t.dtype.code, t._shape, strides) if shape is None else View(t.dtype.code, shape, layout.expanded_strides(t._shape, strides, shape))


def launch(calls: Sequence[contraction.Call], operands: Sequence[Tensor], scalars: Sequence[Any]) -> None:
    """Run the calls of one contraction; ``operands`` are result, first, second, extras."""
    device = operands[0].device
    runtime = device.runtime
    assert runtime is not None
    pairs = [(t._storage.handle(), t._offset) for t in operands]
    for call in calls:
        call = tuning.choose(device, call)
        runtime.launch(build.kernel(device, call.spec), call.grid, call.arguments(pairs, scalars))


def multiply(p: Product, out: Tensor) -> None:
    """Run a product. A factor of 0 leaves its term out, also where that holds NaN or infinities (as BLAS does)."""
    if p.extra is not None and (p.alpha == 0 or p.beta == 0):
        from tensorx.ops.convert import copy_into
        from tensorx.ops.factories import zeros
        nothing = zeros((1,) * len(out._shape), dtype=out.dtype, device=out.device)
        if p.alpha == 0:
            copy_into(out, p.extra * p.beta if p.beta != 0 else nothing)
            return
        p = Product(p.a, p.b, None if p.alpha == 1 else nothing, p.alpha)
    caps = out.device.runtime.capabilities  # type: ignore[union-attr]
    d = out.dtype
    if use_numpy(out.device, out.numel(), -1) or (caps.host_callable and d.kind >= dtypes.FLOAT and blas_enabled() and _blas_wins(p, out)):
        _multiply_numpy(p, out)
        return
    if p.extra is None:
        launch([contraction.matmul(caps, *_views(p, out))], (out, p.a, p.b), ())
        return
    scale = d.accumulate
    body = _scaled(d)
    scalars = (scale, scale)
    extra = view(p.extra, out._shape)
    call = contraction.matmul(caps, *_views(p, out), (extra,), body, scalar_names(scalars))
    launch([call], (out, p.a, p.b, p.extra), scalar_args(scalars, (p.alpha, p.beta)))


def _views(p: Product, out: Tensor) -> tuple[View, View, View]:
    batch = out._shape[:-2]
    return view(out), view(p.a, (*batch, *p.a._shape[-2:])), view(p.b, (*batch, *p.b._shape[-2:]))


def _blas_wins(p: Product, out: Tensor) -> bool:
    key = (out.dtype.code, p.a._shape, p.b._shape, p.a._get_strides(), p.b._get_strides())
    return tuning.blas_wins(key, out.device, lambda: contraction.matmul(registry.open(out.device).capabilities, *_views(p, out)))


def _scaled(d: dtype) -> str:
    """The epilogue alpha * acc + beta * extra, in the accumulate dtype."""
    if d.kind == dtypes.COMPLEX:
        return ("y0r = s0r * accr - s0i * acci + s1r * x2r - s1i * x2i;\n"
                "y0i = s0r * acci + s0i * accr + s1r * x2i + s1i * x2r;")
    acc, held = d.accumulate.code, d.compute.code
    x2 = "x2" if acc == held else f"tx_cast_{held}_{acc}(x2)"
    value = f"s0 * acc + s1 * {x2}"
    return f"y0 = {value};" if acc == held else f"y0 = tx_cast_{acc}_{held}({value});"


def _multiply_numpy(p: Product, out: Tensor) -> None:
    with locks.blas:
        quietly(_product, p, out)


def blas_product(target: Any, a: Any, b: Any, work: Any) -> Any:
    """``a @ b`` in dtype ``work``: written to ``target`` where that has it (no operand shares memory with it), else returned."""
    if target.dtype == work:
        return np.matmul(a, b, out=target)
    return np.matmul(a.astype(work, copy=False), b.astype(work, copy=False))


def _product(p: Product, out: Tensor) -> None:
    work = out.dtype.compute.np
    target = out._array()
    r = blas_product(target, p.a._array(), p.b._array(), work)
    if p.alpha != 1:
        r *= np.asarray(p.alpha, r.dtype)
    if p.extra is not None and p.beta != 0:
        extra = p.extra._array().astype(work, copy=False)
        r += extra if p.beta == 1 else extra * np.asarray(p.beta, work)
    if r is not target:
        target[...] = r


def convolve(c: Convolution, out: Tensor) -> None:
    """Run a convolution."""
    caps = out.device.runtime.capabilities  # type: ignore[union-attr]
    first, second = c.operands
    if use_numpy(out.device, out.numel(), -1):
        work = out.dtype.compute.np
        arrays = [t._array().astype(work, copy=False) for t in (first, second)]
        with np.errstate(all="ignore"), locks.blas:
            result = windows.RUN[c.direction](arrays[0], arrays[1], c.size, c.window)
            if c.bias is not None:
                result += c.bias._array().astype(work, copy=False).reshape(-1, *(1,) * (result.ndim - 2))
            out._array()[...] = result
        return
    if c.direction == "weight":
        launch(convolution.convolution_weight(caps, view(out), view(first), view(second), c.window), (out, first, second), ())
        return
    run = convolution.convolution_forward if c.direction == "forward" else convolution.convolution_data
    if c.bias is None:
        launch(run(caps, view(out), view(first), view(second), c.window), (out, first, second), ())
        return
    bias = View(c.bias.dtype.code, out._shape, tuple(c.bias._get_strides()[0] if i == 1 else 0 for i in range(len(out._shape))))
    body = _biased(out.dtype)
    launch(run(caps, view(out), view(first), view(second), c.window, (bias,), body), (out, first, second, c.bias), ())


def _biased(d: dtype) -> str:
    if d.kind == dtypes.COMPLEX:
        return "y0r = accr + x2r;\ny0i = acci + x2i;"
    acc, held = d.accumulate.code, d.compute.code
    return "y0 = acc + x2;" if acc == held else f"y0 = tx_cast_{acc}_{held}(acc + tx_cast_{held}_{acc}(x2));"


CONTRACT = Contract()
