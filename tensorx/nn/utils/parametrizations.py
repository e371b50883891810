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


MAPS = ("matrix_exp", "cayley", "householder")


def _orthonormal(a: Any) -> Any:
    """The Q of a QR decomposition whose R has a positive diagonal: ``a`` itself, if its columns are orthonormal."""
    reflectors, tau = tx.geqrf(a)
    signs = reflectors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return tx.linalg.householder_product(reflectors, tau) * signs


class _Orthogonal(Module):
    """The tensor as the coordinates of an orthogonal matrix, in one of three maps.

    With ``base`` the map is about that matrix instead of about the identity (a dynamic trivialization, Lezcano-Casado
    2019, https://arxiv.org/abs/1909.09501).
    """

    def __init__(self, weight: Any, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Any) -> Any:
        wide = x.size(-2) < x.size(-1)
        x = x.mT if wide else x
        q = self._reflected(x) if self.orthogonal_map == "householder" else self._rotation(x)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _rotation(self, x: Any) -> Any:
        """The first columns of the exponential (or Cayley map) of a skew-symmetric matrix."""
        n, k = x.shape[-2:]
        x = x.tril()
        if n != k:
            x = tx.cat([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], dim=-1)
        a = x - x.mT.conj()
        if self.orthogonal_map == "matrix_exp":
            q = tx.matrix_exp(a)
        else:
            one = tx.eye(n, dtype=a.dtype, device=a.device)
            q = tx.linalg.solve(one - a * 0.5, one + a * 0.5)
        return q[..., :k] if n != k else q

    def _reflected(self, x: Any) -> Any:
        """A product of Householder reflections, their vectors below the diagonal, which holds signs."""
        a = x.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (a * a).sum(dim=-2))
        signs = x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        return tx.linalg.householder_product(a, tau) * signs

    def right_inverse(self, q: Any) -> Any:
        """Coordinates of (the orthogonal matrix nearest in the sense of QR to) ``q``."""
        if q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got {q.shape}")
        wide, like = q.size(-2) < q.size(-1), q
        q = q.mT if wide else q
        n, k = q.shape[-2:]
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            reflectors, tau = tx.geqrf(q)
            diagonal = reflectors.diagonal(dim1=-2, dim2=-1)
            diagonal.sign_()
            diagonal.copy_(tx.where(tau == 0, -diagonal, diagonal))  # no reflection: a sign, which was a reflection
            return reflectors.mT if wide else reflectors
        if n != k:
            q = tx.cat([q, tx.randn(*q.shape[:-2], n, n - k, dtype=q.dtype, device=q.device)], dim=-1)
        self.base = _orthonormal(q)
        start = tx.zeros_like(like)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Parametrise ``module.name`` (a matrix, or a batch of them) by one with orthonormal rows or columns.

    ``orthogonal_map`` is 'matrix_exp' (the default for square and complex ones), 'cayley' or 'householder'. With
    ``use_trivialization`` the map is taken about the matrix assigned last, which makes assigning possible. Returns
    ``module``.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.utils.parametrizations.orthogonal(tx.nn.Linear(4, 2))
        >>> tx.allclose(layer.weight @ layer.weight.mT, tx.eye(2), atol=1e-5)
        True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, tx.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
