"""Weight normalisation by a hook on forward (the newer way: `parametrizations.weight_norm`)."""

from __future__ import annotations

import warnings
from typing import Any

import tensorx as tx
from tensorx.nn.parameter import Parameter, is_lazy


class WeightNorm:
    """The hook: before every forward the weight is made of ``<name>_g`` (lengths) and ``<name>_v`` (directions)."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """The weight of now."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return tx.ops.weight_norms.weight_norm(v, g, self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Split ``module.name``, and put the hook on."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        made = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying weight normalization"
            )
        del module._parameters[name]
        lengths = tx.norm_except_dim(weight, 2, made.dim).detach()
        module.register_parameter(name + "_g", Parameter(lengths))
        module.register_parameter(name + "_v", Parameter(weight.detach()))
        setattr(module, name, made.compute_weight(module))
        module.register_forward_pre_hook(made)
        return made

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module).detach()
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Replace the parameter ``name`` by its norms ``<name>_g`` and its direction ``<name>_v``: w = g * v / ||v||.

    The norms run over all dimensions but ``dim``, with None over all. Returns ``module``.

    Example:
        >>> import tensorx as tx
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     layer = tx.nn.utils.weight_norm(tx.nn.Linear(20, 40))
        >>> layer.weight_g.shape, layer.weight_v.shape
        (tensorx.Size([40, 1]), tensorx.Size([40, 20]))
    """
    message = "`weight_norm` is deprecated in favor of `tensorx.nn.utils.parametrizations.weight_norm`."
    warnings.warn(message, FutureWarning, stacklevel=2)
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo :func:`weight_norm`: the weight of now becomes a parameter.

    Example:
        >>> import tensorx as tx
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     layer = tx.nn.utils.weight_norm(tx.nn.Linear(20, 40))
        >>> [name for name, _ in tx.nn.utils.remove_weight_norm(layer).named_parameters()]
        ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
