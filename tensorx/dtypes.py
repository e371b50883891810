"""Dtype records and the promotion lattice.

A dtype knows its short ``code`` (the name that kernels use), its NumPy dtype, its *compute* dtype (f16 and bf16 values
are computed in f32) and its *accumulate* dtype. Promotion follows PyTorch's documented rules: three categories of
operands (dimensioned tensors, zero-dim tensors, Python numbers), of which a lower one only matters when its kind
(bool < int < float < complex) is higher.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

BOOL, INT, FLOAT, COMPLEX = range(4)


class dtype:
    """One element type.

    >>> import tensorx
    >>> tensorx.float16.itemsize, tensorx.float16.is_floating_point
    (2, True)
    """

    __slots__ = ("code", "id", "is_complex", "is_floating_point", "is_signed", "itemsize", "kind", "name", "np")

    np: np.dtype[Any]

    def __init__(self, ident: int, name: str, code: str, np_dtype: type | None, kind: int, itemsize: int = 0) -> None:
        self.id, self.name, self.code, self.kind = ident, name, code, kind
        if np_dtype is not None:
            self.np = np.dtype(np_dtype)
        self.itemsize = itemsize or self.np.itemsize
        self.is_floating_point, self.is_complex = kind == FLOAT, kind == COMPLEX
        self.is_signed = code[0] not in "ub" or code == "bf16"

    def __getattr__(self, name: str) -> Any:
        """``np`` of bfloat16, on first use: importing ml_dtypes takes from 10 ms to 0.7 s (0.7.0)."""
        if name != "np":
            raise AttributeError(f"'dtype' object has no attribute {name!r}")
        import ml_dtypes

        self.np = np.dtype(ml_dtypes.bfloat16)
        return self.np

    def __repr__(self) -> str:
        return f"tensorx.{self.name}"

    def __reduce__(self) -> str:
        return "bool_" if self.kind == BOOL else self.name  # this module's name for it

    @property
    def compute(self) -> dtype:
        """The dtype that kernels compute in."""
        return float32 if self.code in ("f16", "bf16") else self

    @property
    def accumulate(self) -> dtype:
        """The dtype that sums are kept in."""
        return int64 if self.kind <= INT else self.compute

    @property
    def real(self) -> dtype:
        """The real dtype of a complex one's parts; a real dtype is its own."""
        return {"c64": float32, "c128": float64}.get(self.code, self)

    def to_real(self) -> dtype:
        """The real dtype that corresponds to this one, as ``torch.dtype.to_real``."""
        return self.real

    def to_complex(self) -> dtype:
        """The complex dtype that corresponds to this one, as ``torch.dtype.to_complex``."""
        return {"f64": complex128, "c128": complex128}.get(self.code, complex64)


bool_ = dtype(0, "bool", "b8", np.bool_, BOOL)
uint8 = dtype(1, "uint8", "u8", np.uint8, INT)
int8 = dtype(2, "int8", "i8", np.int8, INT)
int16 = dtype(3, "int16", "i16", np.int16, INT)
int32 = dtype(4, "int32", "i32", np.int32, INT)
int64 = dtype(5, "int64", "i64", np.int64, INT)
float16 = dtype(6, "float16", "f16", np.float16, FLOAT)
bfloat16 = dtype(7, "bfloat16", "bf16", None, FLOAT, 2)
float32 = dtype(8, "float32", "f32", np.float32, FLOAT)
float64 = dtype(9, "float64", "f64", np.float64, FLOAT)
complex64 = dtype(10, "complex64", "c64", np.complex64, COMPLEX)
complex128 = dtype(11, "complex128", "c128", np.complex128, COMPLEX)
uint16 = dtype(12, "uint16", "u16", np.uint16, INT)
uint32 = dtype(13, "uint32", "u32", np.uint32, INT)
uint64 = dtype(14, "uint64", "u64", np.uint64, INT)

ALL = (
    *(bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128),
    *(uint16, uint32, uint64),
)
ALIASES = {"half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
           "cfloat": complex64, "cdouble": complex128, "bool": bool_}
_FROM_NUMPY = {d.np: d for d in ALL if d is not bfloat16}
FROM_CODE = {d.code: d for d in ALL}
PYTHON: dict[type, dtype] = {bool: bool_, int: int64, float: float64, complex: complex128}


def of_numpy(d: np.dtype[Any]) -> dtype:
    """The dtype of a NumPy array's elements. TypeError where there is none like it."""
    found = _FROM_NUMPY.get(d) or (bfloat16 if d.name == "bfloat16" else None)
    if found is None:
        names = ", ".join(x.name for x in ALL)
        raise TypeError(f"can't convert np.ndarray of type {d}. The only supported types are: {names}.")
    return found


def of_type(d: dtype | type) -> dtype:
    """A dtype, also as Python's bool, int, float or complex. TypeError for anything else."""
    found = PYTHON.get(d) if isinstance(d, type) else d
    if not isinstance(found, dtype):
        raise TypeError(f"argument 'dtype' must be a dtype; got {d!r} ({type(d).__name__})")
    return found


_default = float32


def get_default_dtype() -> dtype:
    """The dtype of Python floats and of float factories; float32 unless set.

    >>> import tensorx
    >>> tensorx.get_default_dtype()
    tensorx.float32
    """
    return _default


def set_default_dtype(d: dtype) -> None:
    """Set the default floating-point dtype. Raises TypeError unless ``d`` is a floating-point dtype.

    >>> import tensorx
    >>> tensorx.set_default_dtype(tensorx.float32)
    """
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"set_default_dtype: argument 'd' must be a floating-point dtype; got {d!r}")
    global _default
    _default = d


def of_python(value: object) -> dtype:
    """The dtype that a Python number has when it meets no tensor."""
    if isinstance(value, complex):
        return _default.to_complex()
    return bool_ if isinstance(value, bool) else int64 if isinstance(value, int) else _default


def _promote(a: dtype, b: dtype) -> dtype:
    if a.kind != b.kind:
        low, high = sorted((a, b), key=lambda d: d.kind)
        if high.kind == COMPLEX and low.kind == FLOAT:
            return complex128 if low is float64 else high
        return high
    if a.kind == FLOAT:
        if {a, b} == {float16, bfloat16}:
            return float32
        return max(a, b, key=lambda d: (d.itemsize, d.id))
    if a.kind == COMPLEX or a.is_signed == b.is_signed:
        return max(a, b, key=lambda d: d.itemsize)
    signed, unsigned = (a, b) if a.is_signed else (b, a)
    if signed.itemsize > unsigned.itemsize:
        return signed
    if unsigned is not uint8:
        raise TypeError(f"promote_types: no common dtype for {a.name} and {b.name}. Hint: cast one of them with .to()")
    return int16


_LATTICE: dict[tuple[dtype, dtype], dtype] = {}


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest dtype that both convert to, as ``torch.promote_types``.

    >>> import tensorx
    >>> tensorx.promote_types(tensorx.uint8, tensorx.int8), tensorx.promote_types(tensorx.float16, tensorx.bfloat16)
    (tensorx.int16, tensorx.float32)
    """
    if a is b:
        return a
    found = _LATTICE.get((a, b))
    if found is None:
        found = _LATTICE[a, b] = _promote(of_type(a), of_type(b))
    return found


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of dtype ``from_`` may be written into ``to``: kinds may rise, never fall (integers may narrow).

    >>> import tensorx
    >>> tensorx.can_cast(tensorx.float64, tensorx.float16), tensorx.can_cast(tensorx.float32, tensorx.int64)
    (True, False)
    """
    return of_type(from_).kind <= of_type(to).kind


def _combine(higher: dtype | None, lower: dtype | None) -> dtype | None:
    """A lower category only matters when its kind is higher (c10 TensorIterator's ``combine_categories``)."""
    if higher is None or lower is None:
        return higher or lower
    if higher.kind == COMPLEX or (higher.kind == FLOAT and lower.kind != COMPLEX):
        return higher
    if higher.kind == FLOAT:
        return higher.to_complex()
    return promote_types(higher, lower) if higher is bool_ or lower.kind >= FLOAT else higher


def promote(dims: list[dtype], zeros: list[dtype], numbers: list[dtype]) -> dtype:
    """Promote three categories of operands: dimensioned tensors, zero-dim tensors, Python numbers."""
    d, z, n = (functools.reduce(promote_types, group) if group else None for group in (dims, zeros, numbers))
    result = _combine(d, _combine(z, n))
    assert result is not None
    return result
