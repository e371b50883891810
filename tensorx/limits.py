"""What a dtype can hold: ``finfo`` and ``iinfo``."""

from __future__ import annotations

from typing import Any

from tensorx import dtypes
from tensorx.dtypes import BOOL, COMPLEX, FLOAT, INT
from tensorx.dtypes import dtype as DType


class finfo:
    """Limits of a floating-point (or complex: of its parts) dtype; the default dtype if none is given.

    TypeError for other dtypes. Attributes: ``bits``, ``eps``, ``max``, ``min``, ``tiny``, ``smallest_normal``,
    ``resolution``, ``dtype`` (its name).

    >>> import tensorx
    >>> tensorx.finfo(tensorx.float16).max, tensorx.finfo(tensorx.float32).eps == 2.0**-23
    (65504.0, True)
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, dtype: DType | None = None) -> None:
        d = dtypes.PYTHON.get(dtype, dtype) if isinstance(dtype, type) else dtype or dtypes.get_default_dtype()
        if not isinstance(d, DType) or d.kind < FLOAT:
            raise TypeError(
                f"finfo: argument 'dtype' must be a floating-point or complex dtype; got {d!r}. "
                "Hint: use iinfo for integers"
            )
        import ml_dtypes

        info = ml_dtypes.finfo(d.real.np)
        self.bits, self.dtype = int(info.bits), d.real.name if d.kind == COMPLEX else d.name
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.smallest_normal)
        self.resolution = float(info.resolution)

    def __repr__(self) -> str:
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
                f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})")


class iinfo:
    """Limits of an integer dtype. TypeError for other dtypes.

    Attributes: ``bits``, ``max``, ``min``, ``dtype`` (its name).

    >>> import tensorx
    >>> tensorx.iinfo(tensorx.int8)
    iinfo(min=-128, max=127, dtype=int8)
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, dtype: Any) -> None:
        if not isinstance(dtype, DType) or dtype.kind != INT:
            what = "bool" if isinstance(dtype, DType) and dtype.kind == BOOL else repr(dtype)
            raise TypeError(
                f"iinfo: argument 'dtype' must be an integer dtype; got {what}. Hint: use finfo for floating-point ones"
            )
        bits = self.bits = dtype.itemsize * 8
        self.dtype = dtype.name
        self.min: int = -(1 << bits - 1) if dtype.is_signed else 0
        self.max: int = self.min + (1 << bits) - 1

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
