"""Views as copies (permute_copy, view_copy, ...): what functional code calls where PyTorch's own would give a view."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx.ops.families import composite
from tensorx.ops.table import BY_NAME
from tensorx.tensor import Tensor

#: Row -> its parameters, which the copying form shares.
ROWS = ("as_strided", "diagonal", "expand", "permute", "select", "slice", "squeeze", "t", "transpose", "unbind", "unfold", "unsqueeze", "view", "split_with_sizes",
        "narrow", "view_as_real", "view_as_complex")


def _copy(result: Any) -> Any:
    """A view (or a tuple of them) as tensors with memory of their own, row-major."""
    return tuple(map(_copy, result)) if isinstance(result, tuple) else result.clone() if result.is_contiguous() else result.contiguous()


def _of(op: Any) -> None:
    text = op.schema.text.replace(op.schema.name, op.schema.name + "_copy", 1)
    composite(text, ref=op.ref, samples=op.samples, dtypes=op.dtypes, doc=f"{op.doc[:-1]}; a copy.")(lambda *args: _copy(op(*args)))


for _name in ROWS:
    _of(BY_NAME[_name][0])


@composite("alias_copy(Tensor self) -> Tensor", ref=np.copy, samples=lambda t: [(t((3, 4)),)], doc="A copy.")
def alias_copy(x: Any) -> Any:
    return x.clone()


@composite("detach_copy(Tensor self) -> Tensor", ref=np.copy, samples=lambda t: [(t((3, 4)),)], doc="A copy outside of the graph.")
def detach_copy(x: Any) -> Any:
    return x.detach().clone()


@composite("resolve_conj(Tensor self) -> Tensor", ref=np.copy, samples=lambda t: [(t((3, 4)),)], doc="self: tensors keep no pending conjugation.")
def resolve_conj(x: Any) -> Any:
    return x


@composite("resolve_neg(Tensor self) -> Tensor", ref=np.copy, samples=lambda t: [(t((3, 4)),)], doc="self: tensors keep no pending sign.")
def resolve_neg(x: Any) -> Any:
    return x


@composite("adjoint(Tensor self) -> Tensor", ref=lambda x: np.conj(np.swapaxes(x, -2, -1)), samples=lambda t: [(t((2, 3, 4)),)], doc="The last two dimensions swapped, and conjugated.")
def adjoint(x: Any) -> Any:
    return matrix_adjoint(x)


def matrix_adjoint(self: Tensor) -> Tensor:
    """The conjugate transpose of the last two dimensions. RuntimeError for fewer than two."""
    if len(self._shape) < 2:
        raise RuntimeError(f"tensor.adjoint() is only supported on matrices or batches of matrices. Got {len(self._shape)}-D tensor.")
    return self.transpose(-2, -1).conj()


def hermitian(self: Tensor) -> Tensor:
    """The conjugate transpose of a matrix. RuntimeError for other than 0 or 2 dimensions."""
    if len(self._shape) not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {len(self._shape)}-D tensor.")
    return self.mT.conj() if self._shape else self.conj()


def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor itself.

    >>> import tensorx
    >>> tensorx.conj(tensorx.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return input.conj()


def is_conj(input: Tensor) -> bool:
    """Whether a conjugation is pending: never, tensors are conjugated at once.

    >>> import tensorx
    >>> tensorx.is_conj(tensorx.tensor([1j]).conj())
    False
    """
    return False


def is_neg(input: Tensor) -> bool:
    """Whether a sign is pending: never.

    >>> import tensorx
    >>> tensorx.is_neg(tensorx.tensor([1]))
    False
    """
    return False


def _real(name: str, x: Any) -> Any:
    if x.dtype.is_complex:
        raise RuntimeError(f"{name} is not supported for complex tensors.")
    return x


@composite("deg2rad(Tensor self) -> Tensor", ref=lambda x: np.deg2rad(x * 1.0), dtypes="bif", samples=lambda t: [(t((3, 4)),)], doc="Degrees as radians.")
def deg2rad(x: Any) -> Any:
    return _real("deg2rad", x) * (math.pi / 180)


@composite("rad2deg(Tensor self) -> Tensor", ref=lambda x: np.rad2deg(x * 1.0), dtypes="bif", samples=lambda t: [(t((3, 4)),)], doc="Radians as degrees.")
def rad2deg(x: Any) -> Any:
    return _real("rad2deg", x) * (180 / math.pi)


METHODS: dict[str, Any] = {"mH": property(matrix_adjoint), "H": property(hermitian), "is_conj": is_conj, "is_neg": is_neg}
