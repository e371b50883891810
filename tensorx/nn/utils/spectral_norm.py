"""Spectral normalisation by a hook on forward (the newer way: `parametrizations.spectral_norm`)."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.nn import functional as F
from tensorx.nn.parameter import Parameter

TRANSPOSED = ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")


def as_matrix(weight: Any, dim: int) -> Any:
    """``weight`` with ``dim`` first and all other dimensions joined."""
    if dim:
        weight = weight.permute(dim, *(d for d in range(weight.dim()) if d != dim))
    return weight.reshape(weight.size(0), -1)


def iterate(matrix: Any, u: Any, v: Any, times: int, eps: float) -> tuple[Any, Any]:
    """Power iteration: unit vectors nearer to the first left and right singular vectors."""
    for _ in range(times):
        v = F.normalize(matrix.t().mv(u), dim=0, eps=eps)
        u = F.normalize(matrix.mv(v), dim=0, eps=eps)
    return u, v


class SpectralNorm:
    """The hook: before every forward the weight is ``<name>_orig`` divided by its largest singular value."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """The weight of now. The vectors move in place, as they are buffers; the gradient takes them as constants."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            with tx.no_grad():
                new_u, new_v = iterate(matrix, u, v, self.n_power_iterations, self.eps)
                u.copy_(new_u)
                v.copy_(new_v)
            u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with tx.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for end in ("_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Rename ``module.name``, add the vectors, and put the hook on."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        made = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        with tx.no_grad():
            matrix = as_matrix(weight, dim)
            u, v = (F.normalize(matrix.new_empty(n).normal_(), dim=0, eps=eps) for n in matrix.shape)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.detach())  # something to look at until the first forward
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(made)
        module._register_state_dict_hook(_StateHook(made))
        return made


class _StateHook:
    """Notes the version in the metadata of a ``state_dict``, where PyTorch looks for it."""

    def __init__(self, norm: SpectralNorm) -> None:
        self.norm = norm

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        versions[self.norm.name + ".version"] = self.norm._version


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide the parameter ``name`` by its largest singular value, which every forward in training estimates anew.

    The weight is seen as a matrix whose rows are dimension ``dim``: 0, or 1 for transposed convolutions. Returns
    ``module``.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.utils.spectral_norm(tx.nn.Linear(20, 40))
        >>> sorted(layer.state_dict())
        ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    if dim is None:
        dim = 1 if any(c.__name__ in TRANSPOSED for c in type(module).__mro__) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Undo :func:`spectral_norm`: the weight of now becomes a parameter.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.utils.remove_spectral_norm(tx.nn.utils.spectral_norm(tx.nn.Linear(20, 40)))
        >>> sorted(layer.state_dict())
        ['bias', 'weight']
    """
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for key, hook in list(module._state_dict_hooks.items()):
        if isinstance(hook, _StateHook) and hook.norm.name == name:
            del module._state_dict_hooks[key]
    return module
