"""Layers that find the sizes of their parameters at the first call."""

from __future__ import annotations

from typing import Any, cast

from tensorx.nn.parameter import is_lazy

from .module import Module


class LazyModuleMixin:
    """Put before a module's class: parameters may be uninitialised until ``initialize_parameters`` sees an input.

    The first call runs ``initialize_parameters(*args, **kwargs)``, and the module becomes one of ``cls_to_become``.
    Loading a ``state_dict`` materialises the parameters in it.
    """

    cls_to_become: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        module = cast(Module, self)
        self._load_hook = module._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = module.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        module = cast(Module, self)
        for name, value in (*module._parameters.items(), *module._buffers.items()):
            given = state_dict.get(prefix + name)
            if is_lazy(value) and given is not None and not is_lazy(given):
                value.materialize(given.shape)  # type: ignore[union-attr]  # it is lazy

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materialise the parameters for an input; every lazy layer writes its own."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        module = cast(Module, self)
        return any(is_lazy(value) for value in (*module._parameters.values(), *module._buffers.values()))

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        kwargs = kwargs or {}
        module.initialize_parameters(*args, **kwargs)
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
