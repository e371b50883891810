"""Parametrisations: a parameter or buffer of a module as a function of other tensors."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

import tensorx as tx
from tensorx.nn.modules.container import ModuleDict, ModuleList
from tensorx.nn.modules.module import Module
from tensorx.nn.parameter import Parameter

_caching = 0
_cache: dict[tuple[int, str], Any] = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """While it is open, a parametrised tensor is computed at its first use and then kept.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.utils.parametrizations.weight_norm(tx.nn.Linear(2, 2))
        >>> with tx.nn.utils.parametrize.cached():
        ...     layer.weight is layer.weight
        True
    """
    global _caching
    _caching += 1
    try:
        yield
    finally:
        _caching -= 1
        if not _caching:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, first to last, with the tensor (or several) that they start from.

    Those lie in ``original``, or in ``original0``, ``original1``, ... where the first parametrisation takes several.
    """

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new: Any = original
        with tx.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        new = module.right_inverse(new)
        self.is_tensor = isinstance(new, tx.Tensor)
        if not self.is_tensor and not isinstance(new, Sequence):
            raise ValueError(
                f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {_name(new)}"
            )
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            _check_same("right_inverse", "dtype", original.dtype, new.dtype)
            original.data = new.detach()
            _register(self, "original", original)
        else:
            for i, value in enumerate(new):
                if not isinstance(value, tx.Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                        f"Got element {i} of the sequence with type {_name(value)}."
                    )
                value = Parameter(value.detach()) if isinstance(original, Parameter) else value
                _register(self, f"original{i}", value.requires_grad_(original.requires_grad))
        if not unsafe:
            result = self()
            if not isinstance(result, tx.Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {_name(result)}.")
            _check_same("parametrization", "dtype", dtype, result.dtype)
            _check_same("parametrization", "shape", shape, result.shape)

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the parametrised tensor becomes ``value``."""
        with tx.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, tx.Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {_name(value)}")
                _check_same("right_inverse", "dtype", self.original.dtype, value.dtype)
                self.original.data = value.detach()
                return
            if not isinstance(value, Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {_name(value)}.")
            if len(value) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(value)}."
                )
            for i, tensor in enumerate(value):
                getattr(self, f"original{i}").data = tensor.detach()

    def forward(self) -> Any:
        """The parametrised tensor."""
        first, *rest = self
        if self.is_tensor:
            value = first(self.original)
        else:
            value = first(*(getattr(self, f"original{i}") for i in range(self.ntensors)))
        for module in rest:
            value = module(value)
        return value


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Make ``module.tensor_name`` the value of ``parametrization`` at a new parameter (or buffer); returns ``module``.

    A further one is put behind those that are there. Where ``parametrization`` has a ``right_inverse``, the value stays
    what it was, and the tensor can be assigned to. Unless ``unsafe``, shape and dtype must stay what they were.

    Example:
        >>> import tensorx as tx
        >>> class Symmetric(tx.nn.Module):
        ...     def forward(self, x):
        ...         return x.triu() + x.triu(1).mT
        >>> layer = tx.nn.Linear(3, 3)
        >>> layer = tx.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
        >>> tx.allclose(layer.weight, layer.weight.mT)
        True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _append(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        found = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _change_class(module)
            module.parametrizations = ModuleDict()
        _add_property(module, tensor_name)
        module.parametrizations[tensor_name] = found
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _append(module: Module, name: str, parametrization: Module, unsafe: bool) -> None:
    if not unsafe:
        before = getattr(module, name)
        after = parametrization(before)
        if not isinstance(after, tx.Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {_name(after)}.")
        _check_same("parametrization", "dtype", before.dtype, after.dtype)
        _check_same("parametrization", "shape", before.shape, after.shape)
        if hasattr(parametrization, "right_inverse"):
            with contextlib.suppress(NotImplementedError):
                back = parametrization.right_inverse(after)
                if not isinstance(back, tx.Tensor):
                    raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {_name(back)}")
                _check_same("right_inverse", "dtype", before.dtype, back.dtype)
                _check_same("right_inverse", "shape", before.shape, back.shape)
    found = module.parametrizations[name]
    found.append(parametrization)
    found.unsafe |= unsafe


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a tensor of ``module`` (with ``tensor_name``: this one) is parametrised.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.utils.parametrize.is_parametrized(tx.nn.Linear(2, 2))
        False
    """
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make ``module.tensor_name`` a parameter (or buffer) again: of the parametrised value, or of the original one.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.utils.parametrizations.weight_norm(tx.nn.Linear(2, 2))
        >>> tx.nn.utils.parametrize.remove_parametrizations(layer, "weight")
        Linear(in_features=2, out_features=2, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found: ParametrizationList = module.parametrizations[tensor_name]
    if leave_parametrized:
        with tx.no_grad():
            value = getattr(module, tensor_name).detach()
        if found.is_tensor:
            original = found.original
            original.data = value
        else:
            first = found.original0
            original = Parameter(value, first.requires_grad) if isinstance(first, Parameter) else value
    elif found.is_tensor:
        original = found.original
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The module's class as it was.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.utils.parametrizations.weight_norm(tx.nn.Linear(2, 2))
        >>> tx.nn.utils.parametrize.type_before_parametrizations(layer).__name__
        'Linear'
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give ``to_module`` the parametrisations (of all tensors, or of one) and originals of ``from_module``.

    Example:
        >>> import tensorx as tx
        >>> a, b = tx.nn.utils.parametrizations.weight_norm(tx.nn.Linear(2, 2)), tx.nn.Linear(2, 2)
        >>> b = tx.nn.utils.parametrize.transfer_parametrizations_and_params(a, b)
        >>> tx.equal(a.weight, b.weight)
        True
    """
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        source = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            _register(to_module, name, getattr(from_module, name).detach())
        for parametrization in source:
            register_parametrization(to_module, name, parametrization, unsafe=True)
        target = to_module.parametrizations[name]
        for part in ("original",) if source.is_tensor else [f"original{i}" for i in range(source.ntensors)]:
            setattr(target, part, getattr(source, part))
    return to_module


def _change_class(module: Module) -> None:
    """A class of its own for the module, whose properties are the parametrised tensors."""
    cls = type(module)

    def getstate(self: Any) -> Any:
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict().")

    def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
        made = memo.get(id(self))
        if made is None:
            made = memo[id(self)] = object.__new__(type(self))
            made.__dict__ = copy.deepcopy(self.__dict__, memo)
        return made

    names: dict[str, Any] = {"__getstate__": getstate}
    if not hasattr(cls, "__deepcopy__"):
        names["__deepcopy__"] = deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), names)


def _add_property(module: Module, name: str) -> None:
    def compute(self: Any) -> Any:
        if not _caching:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def assign(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(compute, assign))


def _register(module: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _check_same(what: str, property_name: str, before: Any, after: Any) -> None:
    if before != after:
        raise ValueError(
            f"The {what} may not change the {property_name} of the tensor, unless `unsafe` flag is enabled.\n"
            f"{property_name} before: {before}\n{property_name} after: {after}"
        )


def _name(value: Any) -> str:
    return type(value).__name__
