"""Complex rows: parts as views, angle, polar form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.dtypes import COMPLEX
from tensorx.errors import DTypeError, ShapeError
from tensorx.ops import expr as E
from tensorx.ops.arithmetic import given, zero
from tensorx.ops.families import elementwise
from tensorx.ops.table import TO_FLOAT
from tensorx.ops.viewing import Geometry, viewing
from tensorx.tensor import Tensor


def _part(which: int, name: str) -> Any:
    def body(t: Tensor) -> Geometry:
        if not t.dtype.is_complex:
            if which:
                raise RuntimeError(f"{name} is not implemented for tensors with non-complex dtypes.")
            return t._shape, t._get_strides(), t._offset
        return t._shape, tuple(2 * s for s in t._get_strides()), 2 * t._offset + which, t.dtype.real
    return body


def _pairs(t: Tensor) -> Geometry:
    if not t.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return (*t._shape, 2), (*(2 * s for s in t._get_strides()), 1), 2 * t._offset, t.dtype.real


def _joined(t: Tensor) -> Geometry:
    if t.dtype.name not in ("float32", "float64"):
        raise RuntimeError(f"view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: {t.dtype.name}")
    if not t._shape or t._shape[-1] != 2:
        raise ShapeError("Tensor must have a last dimension of size 2")
    *rest, last = t._get_strides()
    if last != 1:
        raise ShapeError("Tensor must have a last dimension with stride 1")
    if any(s % 2 for s, n in zip(rest, t._shape, strict=False) if n != 1):
        raise ShapeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if t._offset % 2:
        raise ShapeError("Tensor must have a storage_offset divisible by 2")
    return t._shape[:-1], tuple(s // 2 for s in rest), t._offset // 2, t.dtype.to_complex()


def _embed(part: Any) -> Any:
    """The adjoint of taking a part: zeros with ``g`` there; of a real tensor ``g`` itself."""
    def vjp(g: Tensor, self_meta: Any) -> Tensor:
        from tensorx.ops import factories
        if not self_meta.dtype.is_complex:
            return g
        whole = factories.zeros(self_meta.shape, dtype=self_meta.dtype, device=self_meta.device)
        part(whole).copy_(g)
        return whole
    return vjp


C = {"samples": lambda t: [(t((2, 3)),)]}
real = viewing("real(Tensor self) -> Tensor", _part(0, "real"), _embed(lambda w: real(w)), ref=np.real, doc="The real part, as a view; a real tensor itself.", **C)
imag = viewing("imag(Tensor self) -> Tensor", _part(1, "imag"), _embed(lambda w: imag(w)), ref=np.imag, dtypes="c", doc="The imaginary part, as a view.", **C)
view_as_real = viewing("view_as_real(Tensor self) -> Tensor", _pairs, lambda g: view_as_complex(g.contiguous()), dtypes="c",
                       ref=lambda x: np.stack([x.real, x.imag], -1), doc="Real and imaginary parts along a new last dimension, as a view.", **C)
view_as_complex = viewing("view_as_complex(Tensor self) -> Tensor", _joined, lambda g: view_as_real(g), dtypes="f", ref=lambda x: x[..., 0] + 1j * x[..., 1],
                          samples=lambda t: [(t((3, 2)),)] if t.dtype.itemsize >= 4 else [], doc="The last dimension's pairs as complex numbers, as a view.")


def _angle(x):
    if x.dtype.is_complex:
        return E.atan2(E.imag(x), E.real(x))
    return E.where(E.isnan(x), x, E.where(x < 0, math.pi, E.const(0, x.dtype)))


def _angle_vjp(g, out, x):
    if not x.dtype.is_complex:
        return zero(g)
    a, b = E.real(x), E.imag(x)
    r = a * a + b * b
    unit = E.where(E.eq(r, 0), 0.0, g / r)
    return E.complex(-(unit * b), unit * a)


angle = elementwise("angle(Tensor self) -> Tensor", _angle, _angle_vjp, promote=TO_FLOAT, ref=np.angle,
                    doc="The angle of a complex number; 0 or pi for a real one.")

def _polar(r, a):
    if given(r) is not given(a):
        raise DTypeError(f"polar: Expected object of scalar type {given(r).name} but got scalar type {given(a).name} for second argument")
    return E.complex(r * E.cos(a), r * E.sin(a))


polar = elementwise("polar(Tensor abs, Tensor angle) -> Tensor", _polar,
                    lambda g, out, r, a: (E.real(g) * E.cos(a) + E.imag(g) * E.sin(a), r * (E.imag(g) * E.cos(a) - E.real(g) * E.sin(a))), dtypes="f",
                    domain=((0.2, 3.0), (-3.0, 3.0)), ref=lambda r, a: r * np.exp(1j * a), doc="Complex numbers with these magnitudes and angles.")
isreal = elementwise("isreal(Tensor self) -> Tensor", lambda x: E.eq(E.imag(x), 0) if x.dtype.kind == COMPLEX else E.const(True, dtypes.bool_), ref=np.isreal, doc="True where the imaginary part is 0.")
METHODS: dict[str, Any] = {"real": property(lambda self: real(self), lambda self, value: real(self).copy_(value)),
                           "imag": property(lambda self: imag(self), lambda self, value: imag(self).copy_(value))}
