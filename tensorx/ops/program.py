"""Program: traced Exprs with storage dtypes, ready to run on any device.

Elementwise rows, their fused backward kernels, optimiser steps, casts, fills and random draws are all Programs. A Program owns its two
lanes: the NumPy function (small work on the cpu, or no compiler) and one kernel per access class.
"""

from __future__ import annotations

import functools
import hashlib
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tensorx.devices import registry
from tensorx.dtypes import COMPLEX, INT, dtype
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec, Operand
from tensorx.ops import build, expr_kernel, expr_numpy, layout
from tensorx.ops import expr as E
from tensorx.ops.recipes import Launch, Layouts, Result, layouts
from tensorx.storage import Storage
from tensorx.tensor import CONTIGUOUS, Tensor, check_supported, make, wrap

NUMPY_LIMIT = 1 << 15  # elements x intrinsics up to which one NumPy call beats a ctypes call and a kernel
prefer_kernels = os.environ.get("TENSORX_LANE") == "kernels"  # tests: no work is too small for a kernel


def use_numpy(device: registry.device, elements: int, limit: int = NUMPY_LIMIT) -> bool:
    """Whether work of so many elements runs as NumPy calls: on host memory, where it is small or there is no compiler."""
    caps = (device.runtime or registry.open(device)).capabilities
    return caps.host_callable and (not caps.compiler or (elements <= limit and not prefer_kernels))


class Program:
    """``outputs`` over ``arg`` leaves (compute dtypes of ``inputs``) and ``scalar`` leaves; results are stored as ``stores``."""

    __slots__ = ("__dict__", "flats", "indexed", "inputs", "kernels", "name", "orders", "outputs", "recipes", "scalars", "small", "stores")

    def __init__(self, name: str, outputs: Sequence[E.Expr], inputs: Sequence[dtype], stores: Sequence[dtype], scalars: Sequence[dtype] = ()) -> None:
        self.name, self.inputs, self.stores, self.scalars = name, tuple(inputs), tuple(stores), tuple(scalars)
        self.outputs = [E.cast(x, d.compute) for x, d in zip(outputs, stores, strict=True)]
        self.indexed = any(x.op == "index" for x in E.topological(self.outputs))
        cost = sum(x.op not in E.LEAVES for x in E.topological(self.outputs))
        self.small = NUMPY_LIMIT // max(cost, 2)
        self.kernels: dict[Any, tuple[Any, KernelSpec]] = {}
        self.recipes: Layouts[tuple[Launch | None, list[Result]]] = Layouts()
        self.orders: Layouts[tuple[int, ...] | None] = Layouts()
        self.flats: dict[registry.device, Flat] = {}

    @functools.cached_property
    def function(self) -> Callable[..., Any]:
        """The NumPy lane, compiled when it is first used: devices without it never pay for it."""
        return expr_numpy.compile(self.outputs, self.inputs, self.stores, len(self.scalars))

    def arrays(self, values: Sequence[Any]) -> list[Any]:
        """Scalars as 0-d arrays of their dtypes, for the NumPy lane."""
        return [np.array(wrapped_int(v, d) if d.kind == INT else v, d.np) for v, d in zip(values, self.scalars, strict=True)]

    def run(self, ins: Sequence[Tensor], values: Sequence[Any], shape: tuple[int, ...], device: registry.device,
            outs: Sequence[Tensor] | None = None) -> Sequence[Tensor]:
        """Run over ``shape`` (to which every input broadcasts); results are new tensors or go into ``outs``."""
        runtime = device.runtime or registry.open(device)
        if use_numpy(device, math.prod(shape), self.small):
            return self._run_numpy(ins, values, shape, outs)
        if all(t._key & CONTIGUOUS and t._shape == shape for t in (*ins, *(outs or ()))):
            results = self.run_flat(ins, values, shape, device, outs)
            if results is not None:
                return results
        key = (device, shape, layouts(ins), outs and layouts(outs))
        recipe = self.recipes.get(key)
        if recipe is None:
            recipe = self.recipes.keep(key, self._recipe(runtime, device, ins, shape, outs))
        launch, made = recipe
        if outs is None:
            outs = [r.make(runtime, device) for r in made]
        if launch is not None:
            launch(runtime, outs, ins, scalar_args(self.scalars, values) if values else ())
        return outs

    def run_flat(self, ins: Sequence[Tensor], values: Sequence[Any], shape: tuple[int, ...], device: registry.device,
                 outs: Sequence[Tensor] | None = None) -> Sequence[Tensor] | None:
        """Run over dense operands of one shape: one axis, nothing to work out. None where that does not apply (empty, or 2**30 elements)."""
        n = math.prod(shape)
        if not 0 < n < 2**30 or device.type == "meta":
            return None
        flat = self.flats.get(device)
        if flat is None:
            flat = self.flats[device] = Flat(self, device)
        runtime = flat.runtime
        if outs is None:
            outs = [make(Storage(runtime.alloc(n * d.itemsize), n * d.itemsize, device), shape, None, 0, d) for d in self.stores]
        args: list[Any] = []
        for t in outs:
            args += (t._storage.handle(), t._offset)
        for t in ins:
            args += (t._storage.handle(), t._offset)
        if values:
            args += scalar_args(self.scalars, values)
        args.append(n)
        runtime.launch(flat.kernel, flat.grid(n), args)
        return outs

    def _run_numpy(self, ins: Sequence[Tensor], values: Sequence[Any], shape: tuple[int, ...], outs: Sequence[Tensor] | None) -> Sequence[Tensor]:
        args = [t._array() for t in ins] + self.arrays(values)
        if self.indexed:
            args.append(np.arange(math.prod(shape), dtype=np.uint64).reshape(shape))
        result = expr_numpy.quietly(self.function, *args)
        results = result if isinstance(result, tuple) else (result,)
        if outs is not None:
            for out, r in zip(outs, results, strict=True):
                np.copyto(out._array(), r, casting="unsafe")
            return outs
        found = [_owned(r, shape, d, args) for r, d in zip(results, self.stores, strict=True)]
        strides = self._order(ins, shape)
        if strides is not None or len(shape) > 1:  # NumPy orders axes its own way where operands differ
            found = [_laid_out(r, strides) for r in found]
        return [wrap(r, d) for r, d in zip(found, self.stores, strict=True)]

    def _order(self, ins: Sequence[Tensor], shape: tuple[int, ...]) -> tuple[int, ...] | None:
        """The strides of results, in the axis order of the operands; None means row-major."""
        key = (shape, layouts(ins))
        if key in self.orders:
            return self.orders[key]
        return self.orders.keep(key, layout.like_strides(shape, [(t._shape, t._get_strides()) for t in ins]))

    def _recipe(self, runtime: Any, device: registry.device, ins: Sequence[Tensor], shape: tuple[int, ...],
                outs: Sequence[Tensor] | None) -> tuple[Launch | None, list[Result]]:
        """The launch (none where there is nothing to do) and, unless they are given, the results to be made."""
        order = self._order(ins, shape) if outs is None else None
        results = [Result(shape, d, device, order) for d in self.stores] if outs is None else []
        if 0 in shape or device.type == "meta":
            return None, results
        out_layouts = [(r.shape, r.strides or layout.contiguous_strides(r.shape)) for r in results] or [(t._shape, t._get_strides()) for t in outs or ()]
        strides = tuple(layout.expanded_strides(s, steps, shape) for s, steps in (*out_layouts, *((t._shape, t._get_strides()) for t in ins)))
        sizes, merged = layout.merge_axes(shape, strides, not self.indexed)
        n = len(out_layouts)
        access = tuple("c" if sizes == (1,) else "r" if i >= n and s[-1] == 0 and any(s) else layout.access_class(s) for i, s in enumerate(merged))
        width = layout.index_width(sizes, merged)
        key = (device, len(sizes), access, width)
        found = self.kernels.get(key)
        if found is None:
            spec = self.spec(access, len(sizes), width)
            found = self.kernels[key] = (build.kernel(device, spec), spec)
        kernel, spec = found
        tail = list(sizes)
        for s, a in zip(merged, access, strict=True):
            if a != "b":
                tail += s[:-1] if a in "cr" else s
        return Launch(kernel, geometry(spec, runtime.capabilities, *sizes), tail), results

    def spec(self, access: Sequence[str], rank: int, width: str) -> KernelSpec:
        """The kernel for operands of these access classes (outputs first)."""
        n = len(self.stores)
        outs = tuple(Operand(f"y{i}", d.code, d.compute.code, a) for i, (d, a) in enumerate(zip(self.stores, access[:n], strict=True)))
        ins = tuple(Operand(f"x{i}", d.code, d.compute.code, a) for i, (d, a) in enumerate(zip(self.inputs, access[n:], strict=True)))
        body = expr_kernel.emit(self.outputs, [o.name for o in outs])
        return named(KernelSpec("elementwise", self.name, outs, ins, scalar_names(self.scalars), body, width, rank, self.indexed))


class Flat:
    """A Program's kernel for dense operands on one device, with the grids of sizes seen."""

    __slots__ = ("grids", "kernel", "runtime", "spec")

    def __init__(self, program: Program, device: registry.device) -> None:
        for d in program.stores:
            check_supported(d, device)
        self.spec = program.spec(("c",) * (len(program.stores) + len(program.inputs)), 1, "i32")
        self.kernel = build.kernel(device, self.spec)
        self.runtime = registry.open(device)
        self.grids: dict[int, Any] = {}

    def grid(self, n: int) -> Any:
        """The launch geometry for ``n`` elements."""
        found = self.grids.get(n)
        if found is None and self.runtime.capabilities.dialect != "c":
            if len(self.grids) > 1024:
                self.grids.clear()
            found = self.grids[n] = geometry(self.spec, self.runtime.capabilities, n)
        return found


def named(spec: KernelSpec) -> KernelSpec:
    """The spec with an entry name that no other spec has: readable stem and a hash of all the rest."""
    digest = hashlib.sha256(repr(spec).encode()).hexdigest()[:10]
    return replace(spec, entry=f"tx_{spec.entry}_{digest}")


def scalar_names(scalars: Sequence[dtype]) -> tuple[tuple[str, str], ...]:
    """Names and codes of the scalar arguments; a complex one is two."""
    out: list[tuple[str, str]] = []
    for i, d in enumerate(scalars):
        out += [(f"s{i}r", d.real.code), (f"s{i}i", d.real.code)] if d.kind == COMPLEX else [(f"s{i}", d.code)]
    return tuple(out)


def scalar_args(scalars: Sequence[dtype], values: Sequence[Any]) -> list[Any]:
    """Scalar values as kernel arguments."""
    out: list[Any] = []
    for d, v in zip(scalars, values, strict=True):
        if d.kind == COMPLEX:
            out += [complex(v).real, complex(v).imag]
        else:
            out.append(float(v) if d.kind > INT else wrapped_int(v, d) if d.kind == INT else bool(v))
    return out


def wrapped_int(value: Any, d: dtype) -> int:
    """An integer as dtype ``d`` holds it: modulo its width (C's conversion)."""
    bits = d.itemsize * 8
    value = int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if d.is_signed and value >> (bits - 1) else value


def _laid_out(r: np.ndarray[Any, Any], strides: tuple[int, ...] | None) -> np.ndarray[Any, Any]:
    """The array with the strides that kernels give such a result: NumPy orders broadcast axes its own way."""
    if strides is None:
        return r if r.flags.c_contiguous else np.ascontiguousarray(r)
    wanted = tuple(s * r.itemsize for s in strides)
    if not r.size or all(n == 1 or a == b for n, a, b in zip(r.shape, r.strides, wanted, strict=True)):
        return r
    order = sorted(range(r.ndim), key=lambda i: -strides[i])
    return np.ascontiguousarray(r.transpose(order)).transpose(np.argsort(order))


def _owned(r: Any, shape: tuple[int, ...], d: dtype, args: Sequence[Any]) -> np.ndarray[Any, Any]:
    """The NumPy lane's result as memory of its own: of the whole shape, dense, and no view of an input."""
    if r.__class__ is not np.ndarray:
        r = np.asarray(r, d.np)
    if r.shape != shape:
        r = np.broadcast_to(r, shape)
    if r.base is not None or any(r is a for a in args):
        r = np.array(r, order="K", subok=False)
    return r if r.dtype == d.np else r.astype(d.np)
