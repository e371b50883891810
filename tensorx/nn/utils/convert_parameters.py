"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorx as tx


def _check_device(parameter: Any, device: Any) -> Any:
    if device is not None and parameter.device != device:
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
    return parameter.device


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """All elements of ``parameters``, one after the other. TypeError if they are on several devices.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.utils.parameters_to_vector([tx.tensor([[1.0, 2.0]]), tx.tensor([3.0])])
        tensor([1., 2., 3.])
    """
    device, parts = None, []
    for parameter in parameters:
        device = _check_device(parameter, device)
        parts.append(parameter.reshape(-1))
    return tx.cat(parts)


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Let ``parameters`` look into ``vec``, which holds their elements one after the other.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.zeros(1, 2))
        >>> tx.nn.utils.vector_to_parameters(tx.tensor([1.0, 2.0]), [p]); p.data
        tensor([[1., 2.]])
    """
    if not isinstance(vec, tx.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    device, start = None, 0
    for parameter in parameters:
        device = _check_device(parameter, device)
        n = parameter.numel()
        parameter.data = vec[start : start + n].view_as(parameter).data
        start += n
