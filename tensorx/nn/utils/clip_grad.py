"""Clipping gradients. Everything stays on the device: a reduction for each gradient, one of all norms, a product for
each gradient.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import tensorx as tx
from tensorx.ops import expr as E
from tensorx.ops import fused
from tensorx.ops.dispatch import call
from tensorx.ops.statistics import euclid


def _listed(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, tx.Tensor) else list(tensors)


def _grads(parameters: Any) -> list[Any]:
    return [p.grad for p in _listed(parameters) if p.grad is not None]


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Any:
    """The norm of all elements of ``tensors`` together, as a 0-dim tensor on the first one's device.

    RuntimeError for an infinite or NaN norm with ``error_if_nonfinite`` (which waits for the device).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.utils.get_total_norm([tx.tensor([3.0, 4.0]), tx.tensor([12.0])])
        tensor(13.)
    """
    tensors, norm_type = _listed(tensors), float(norm_type)
    if not tensors:
        return tx.tensor(0.0)
    with tx.no_grad():
        total = _norm_of_norms(tensors, norm_type)
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
                "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
                "`error_if_nonfinite=False`"
            )
    return total


def _norm_of_norms(tensors: list[Any], p: float) -> Any:
    device = tensors[0].device
    like = tensors[0]
    if p == 2 and like.is_floating_point() and all(t.dtype == like.dtype and t.device == device for t in tensors):
        norms = tx.empty(len(tensors), dtype=like.dtype, device=device)
        for t, norm in zip(tensors, norms.unbind(0), strict=True):  # each into its place: no copies to join them
            call(euclid, (t.detach(), None, False), (norm,))
        return tx.linalg.vector_norm(norms)
    return tx.linalg.vector_norm(tx.stack([tx.linalg.vector_norm(t, p).to(device) for t in tensors]), p)


def _coefficient(total: Any, *, limit: Any) -> tuple[Any, ...]:
    return (E.min(limit / (total + 1e-6), 1.0),)


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None) -> None:
    """Scale the gradients of ``parameters`` by ``max_norm / total_norm`` if that is below 1, in place.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.zeros(2)); p.grad = tx.tensor([3.0, 4.0])
        >>> tx.nn.utils.clip_grads_with_norm_(p, 1.0, tx.tensor(5.0)); p.grad
        tensor([0.6000, 0.8000])
    """
    grads = _grads(parameters)
    if not grads:
        return
    with tx.no_grad():
        total_norm = total_norm.detach()
        scale = tx.empty_like(total_norm)
        fused.step(_coefficient, (total_norm,), {"limit": float(max_norm)}, (scale,))
        for grad in grads:
            grad.detach().mul_(scale if grad.device == scale.device else scale.to(grad.device))


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Scale the gradients of ``parameters`` in place so that their norm together is at most ``max_norm``; returns the
    norm before.

    ``foreach`` is accepted and changes nothing. RuntimeError as in :func:`get_total_norm`.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.zeros(2)); p.grad = tx.tensor([3.0, 4.0])
        >>> tx.nn.utils.clip_grad_norm_([p], 1.0), p.grad
        (tensor(5.), tensor([0.6000, 0.8000]))
    """
    generated = isinstance(parameters, Iterator)
    parameters = _listed(parameters)
    if generated and not parameters:
        message = "`parameters` is an empty generator, no gradient clipping will occur."
        warnings.warn(message, stacklevel=2)
    total = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Any:
    """Deprecated name of :func:`clip_grad_norm_`.

    Example:
        >>> import tensorx as tx, warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tx.nn.utils.clip_grad_norm([], 1.0)
        tensor(0.)
    """
    message = "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`."
    warnings.warn(message, FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Limit each element of the gradients of ``parameters`` to [-clip_value, clip_value], in place.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.zeros(2)); p.grad = tx.tensor([3.0, -0.5])
        >>> tx.nn.utils.clip_grad_value_(p, 1.0); p.grad
        tensor([ 1.0000, -0.5000])
    """
    clip_value = float(clip_value)
    with tx.no_grad():
        for grad in _grads(_listed(parameters)):
            grad.detach().clamp_(-clip_value, clip_value)


__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]
