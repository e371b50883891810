"""Ready parametrisations: weights with given norms, of spectral norm one, with orthogonal rows or columns."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.nn import functional as F
from tensorx.nn.modules.module import Module

from .parametrize import register_parametrization
from .spectral_norm import TRANSPOSED, as_matrix, iterate


class _WeightNorm(Module):
    """The tensor of lengths (first original) and directions (second)."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return tx.ops.weight_norms.weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> Any:
        """(lengths, directions) of a tensor."""
        return tx.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Parametrise ``module.name`` by its norms (``original0``) and its direction (``original1``).

    The norms run over all dimensions but ``dim``, with None over all. Returns ``module``; a ``state_dict`` of the older
    :func:`tensorx.nn.utils.weight_norm` loads.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.utils.parametrizations.weight_norm(tx.nn.Linear(20, 40))
        >>> layer.parametrizations.weight.original0.shape
        tensorx.Size([40, 1])
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: Any, prefix: str, *rest: Any) -> None:
        old = (f"{prefix}{name}_g", f"{prefix}{name}_v")
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """The tensor divided by its largest singular value, found by power iteration."""

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps, self.n_power_iterations = dim % ndim, eps, n_power_iterations
        if ndim > 1:
            with tx.no_grad():
                matrix = as_matrix(weight, self.dim)
                u, v = (F.normalize(matrix.new_empty(n).normal_(), dim=0, eps=eps) for n in matrix.shape)
                v, u = iterate(matrix.t(), v, u, 15, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            with tx.no_grad():
                v, u = iterate(matrix.t(), self._v, self._u, self.n_power_iterations, self.eps)  # u first, from v
                self._u.copy_(u)
                self._v.copy_(v)
        u, v = self._u.clone(), self._v.clone()  # a later forward moves them
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value: Any) -> Any:
        """The tensor itself: of norm one already, it should be."""
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Parametrise ``module.name`` by a tensor that is divided by its largest singular value; returns ``module``.

    The weight is seen as a matrix whose rows are dimension ``dim``: 0, or 1 for transposed convolutions. Every use in
    training moves the estimate by ``n_power_iterations``.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.utils.parametrizations.spectral_norm(tx.nn.Linear(20, 40))
        >>> sorted(layer.state_dict())[-1]
        'parametrizations.weight.original'
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, tx.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if any(c.__name__ in TRANSPOSED for c in type(module).__mro__) else 0
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
