"""Functions of tensors that give Python values: equal, allclose, result_type, is_complex, ..."""

from __future__ import annotations

from typing import Any

from tensorx import dtypes
from tensorx.dtypes import dtype as DType
from tensorx.ops.dispatch import device_of
from tensorx.ops.mixing import isclose
from tensorx.ops.table import OPS
from tensorx.tensor import Tensor


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape and equal elements (NaN equals nothing). RuntimeError for tensors on two devices.

    >>> import tensorx
    >>> tensorx.equal(tensorx.tensor([1, 2]), tensorx.tensor([1, 2])), tensorx.equal(tensorx.ones(2), tensorx.ones(3))
    (True, False)
    """
    device_of(OPS["eq"], [input, other])
    return input._shape == other._shape and bool((input.detach() == other.detach()).all().item())


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements satisfy ``|input - other| <= atol + rtol * |other|``. RuntimeError for two dtypes.

    >>> import tensorx
    >>> tensorx.allclose(tensorx.tensor([1., 1e-9]), tensorx.tensor([1., 0.]))
    True
    """
    return bool(isclose(input.detach(), other.detach(), rtol, atol, equal_nan).all().item())


def result_type(tensor1: Any, tensor2: Any) -> DType:
    """The dtype of arithmetic on two tensors or numbers.

    >>> import tensorx
    >>> tensorx.result_type(tensorx.tensor([1, 2], dtype=tensorx.int16), 1.5)
    tensorx.float32
    """
    groups: tuple[list[DType], list[DType], list[DType]] = ([], [], [])
    for x in (tensor1, tensor2):
        if isinstance(x, Tensor):
            groups[0 if x._shape else 1].append(x.dtype)
        elif isinstance(x, bool | int | float | complex):
            groups[2].append(dtypes.of_python(x))
        else:
            raise TypeError(f"result_type: arguments must be tensors or numbers; got {type(x).__name__}")
    return dtypes.promote(*groups)


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex.

    >>> import tensorx
    >>> tensorx.is_complex(tensorx.ones(1))
    False
    """
    return input.dtype.is_complex


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a real floating-point one.

    >>> import tensorx
    >>> tensorx.is_floating_point(tensorx.ones(1))
    True
    """
    return input.dtype.is_floating_point


def is_nonzero(input: Tensor) -> bool:
    """Whether a tensor of one element is nonzero. RuntimeError for other sizes.

    >>> import tensorx
    >>> tensorx.is_nonzero(tensorx.tensor([0.]))
    False
    """
    if input.numel() != 1:
        raise RuntimeError(f"Boolean value of Tensor with {'no' if not input.numel() else 'more than one'} value{'' if input.numel() else 's'} is ambiguous")
    return bool(input.item())


def numel(input: Tensor) -> int:
    """The number of elements.

    >>> import tensorx
    >>> tensorx.numel(tensorx.ones(2, 3))
    6
    """
    return input.numel()


def where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """This tensor's elements where ``condition`` is true, else ``other``'s.

    >>> import tensorx
    >>> tensorx.tensor([1, 2]).where(tensorx.tensor([True, False]), 0)
    tensor([1, 0])
    """
    return OPS["where"](condition, self, other)


METHODS: dict[str, Any] = {"equal": equal, "allclose": allclose, "is_nonzero": is_nonzero, "where": where}
