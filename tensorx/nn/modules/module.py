"""Module: the base of every layer and model."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import tensorx as tx
from tensorx.nn.parameter import Buffer, Parameter, is_lazy

from .conversion import parse_to
from .global_hooks import (  # noqa: F401  where PyTorch has them
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
    registered,
)
from .hooks import HookMixin
from .state import _EXTRA_STATE_KEY_SUFFIX, StateMixin, _IncompatibleKeys  # noqa: F401  where PyTorch has them

Self = TypeVar("Self", bound="Module")

_HOOK_DICTS = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class Module(HookMixin, StateMixin):
    """Base class of layers and models: assign parameters, buffers and modules as attributes, write ``forward``.

    Example:
        >>> import tensorx as tx
        >>> class Double(tx.nn.Module):
        ...     def forward(self, x):
        ...         return x * 2
        >>> Double()(tx.ones(2))
        tensor([2., 2.])
    """

    training: bool
    call_super_init: bool = False
    dump_patches: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            got = f"{len(args)} positional and {sorted(kwargs)}"
            raise TypeError(f"{type(self).__name__}.__init__: Module takes no arguments; got {got}.")
        put = super().__setattr__  # past our own __setattr__, which needs these to exist
        put("training", True)
        put("_parameters", {})
        put("_buffers", {})
        put("_non_persistent_buffers_set", set())
        put("_modules", {})
        put("_is_full_backward_hook", None)
        for name in _HOOK_DICTS:
            put(name, OrderedDict())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The computation; every subclass writes its own."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # Registration -------------------------------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under ``name``; None reserves the name (such as a bias that is turned off)."""
        self._check_name("register_parameter", "parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"register_parameter: argument 'param' for '{name}' must be a Parameter or None; got {_kind(param)}."
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"register_parameter: argument 'param' for '{name}' must be a leaf; got a tensor with grad_fn. "
                "Hint: a value computed from other parameters belongs into forward()."
            )
        self._parameters[name] = None if param is None else registered("parameter", self, name, param)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Add a tensor that is state but not trained; ``persistent=False`` leaves it out of ``state_dict``."""
        self._check_name("register_buffer", "buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, tx.Tensor):
            raise TypeError(
                f"register_buffer: argument 'tensor' for '{name}' must be a Tensor or None; got {_kind(tensor)}"
            )
        self._buffers[name] = registered("buffer", self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child under ``name``."""
        self._check_name("add_module", "module", name, self._modules)
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"add_module: argument 'module' for '{name}' must be a Module; got {_kind(module)}.")
        self._modules[name] = registered("module", self, name, module)

    register_module = add_module

    def _check_name(self, op: str, what: str, name: str, registry: dict[str, Any]) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{op}: argument 'name' must be a string; got {_kind(name)}.")
        if "." in name or name == "":
            raise KeyError(f"{op}: argument 'name' must be non-empty and without a dot; got '{name}'.")
        if hasattr(self, name) and name not in registry:
            raise KeyError(f"{op}: attribute '{name}' already exists")

    # Attributes ---------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        for registry in ("_parameters", "_buffers", "_modules"):
            if registry in state and name in state[registry]:
                return state[registry][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        params = self.__dict__.get("_parameters")
        if isinstance(value, Parameter):
            self._forget(name, "_parameters", "parameters")
            self.register_parameter(name, value)
        elif params is not None and name in params:
            if value is not None:
                raise TypeError(f"cannot assign '{_kind(value)}' as parameter '{name}' (Parameter or None expected)")
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            self._forget(name, "_modules", "modules")
            self._modules[name] = registered("module", self, name, value)
        elif name in self.__dict__.get("_modules", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{_kind(value)}' as child module '{name}' (Module or None expected)")
            self._modules[name] = registered("module", self, name, None)
        elif isinstance(value, Buffer):
            self._forget(name, "_buffers", "buffers")
            self.register_buffer(name, value, value.persistent)
        elif name in self.__dict__.get("_buffers", ()):
            if value is not None and not isinstance(value, tx.Tensor):
                raise TypeError(f"cannot assign '{_kind(value)}' as buffer '{name}' (Tensor, Buffer or None expected)")
            self._buffers[name] = registered("buffer", self, name, value)
        else:
            super().__setattr__(name, value)

    def _forget(self, name: str, target: str, what: str) -> None:
        """Remove ``name`` from everywhere but the registry it goes into."""
        state = self.__dict__
        if target not in state:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        state.pop(name, None)
        for registry in ("_parameters", "_buffers", "_modules"):
            if registry != target:
                state[registry].pop(name, None)
        if target != "_buffers":
            state["_non_persistent_buffers_set"].discard(name)

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._buffers, self._modules):
            if name in registry:
                del registry[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._buffers, *self._modules}
        return sorted(n for n in names if not n[0].isdigit())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOK_DICTS:  # a module pickled elsewhere may lack some
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    def __repr__(self) -> str:
        extra = self.extra_repr()
        own = extra.split("\n") if extra else []
        children = [f"({name}): " + _indented(repr(module)) for name, module in self._modules.items()]
        if len(own) == 1 and not children:
            return f"{self._get_name()}({own[0]})"
        if not own and not children:
            return f"{self._get_name()}()"
        return self._get_name() + "(\n  " + "\n  ".join(own + children) + "\n)"

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What ``repr`` shows between the parentheses; a subclass names its settings here."""
        return ""

    # Walking ------------------------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, with dotted names; a shared module comes once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def _named_members(
        self, members: Callable[[Any], Any], prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in members(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield path + ("." if path else "") + name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Parameters with dotted names; a shared one comes once, under its first name."""
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Buffers with dotted names, persistent or not."""
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct children with their names; a shared one comes once."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, each once."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """All buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def children(self) -> Iterator[Module]:
        """The direct children, each once."""
        for _, module in self.named_children():
            yield module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it, each once unless ``remove_duplicate`` is False."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted path; the empty path is this module."""
        module: Module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path."""
        return self._get_member(target, Parameter, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Any:
        """The buffer at a dotted path."""
        return self._get_member(target, tx.Tensor, "_buffers", "a buffer")

    def _get_member(self, target: str, kind: Any, registry: str, what: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        value = getattr(module, name)
        if not isinstance(value, kind) or name not in getattr(module, registry):
            raise AttributeError(f"`{name}` is not {what}")
        return value

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put ``module`` at a dotted path; with ``strict`` there must be one already."""
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    # Changing all of it -------------------------------------------------------------------------------------------

    def _apply(self: Self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Replace the memory of every parameter (which stays the same object), its gradient, and every buffer by
        ``fn`` of it.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        with tx.no_grad():
            for param in self._parameters.values():
                if param is None:
                    continue
                grad = param.grad
                param.data = fn(param.data)
                if grad is not None:
                    grad = fn(grad.detach()).requires_grad_(grad.requires_grad)
                    param.grad = None  # the check on assignment compares with the parameter as it is now
                    param.grad = grad
        for name, buffer in self._buffers.items():
            if is_lazy(buffer):
                buffer.data = fn(buffer.data)
            elif buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call ``fn`` on every module, children first; often used to initialise."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Move to a device, to a floating point or complex dtype, or both: ``to(device)``, ``to(dtype)``,
        ``to(tensor)``.

        Integer parameters and buffers keep their dtype. The parameters stay the same objects.
        """
        device, dtype, non_blocking, memory_format = parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"Module.to: argument 'dtype' must be floating point or complex; got {dtype}.")
        more = {} if memory_format is None else {"memory_format": memory_format}

        def convert(t: Any) -> Any:
            wanted = dtype if t.is_floating_point() or t.is_complex() else None
            return t.to(device or t.device, wanted or t.dtype, non_blocking, **(more if t.dim() in (4, 5) else {}))

        return self._apply(convert)

    def to_empty(self: Self, *, device: Any, recurse: bool = True) -> Self:
        """Move to a device without copying: the values are arbitrary afterwards."""
        return self._apply(lambda t: tx.empty_like(t, device=device), recurse=recurse)

    def type(self: Self, dst_type: Any) -> Self:
        """Cast all parameters and buffers to ``dst_type``."""
        return self._apply(lambda t: t.to(dst_type))

    def _cast(self: Self, dtype: Any) -> Self:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self: Self) -> Self:
        """Cast floating point parameters and buffers to float32."""
        return self._cast(tx.float32)

    def double(self: Self) -> Self:
        """Cast floating point parameters and buffers to float64."""
        return self._cast(tx.float64)

    def half(self: Self) -> Self:
        """Cast floating point parameters and buffers to float16."""
        return self._cast(tx.float16)

    def bfloat16(self: Self) -> Self:
        """Cast floating point parameters and buffers to bfloat16."""
        return self._cast(tx.bfloat16)

    def cpu(self: Self) -> Self:
        """Move to the cpu."""
        return self._apply(lambda t: t.to("cpu"))

    def cuda(self: Self, device: Any = None) -> Self:
        """Move to a CUDA device."""
        name = "cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device
        return self._apply(lambda t: t.to(name))

    def train(self: Self, mode: bool = True) -> Self:
        """Set training mode (dropout drops, batch norm learns) here and below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: Self) -> Self:
        """Set evaluation mode: ``train(False)``."""
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Set ``requires_grad`` of every parameter."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget (or with ``set_to_none=False`` zero) the gradients of every parameter."""
        for param in self.parameters():
            if param.grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                param.grad.detach_().requires_grad_(False).zero_()

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile this module in place: see `tensorx.compile`, which leaves it as it is."""
        tx.compile(self, *args, **kwargs)

    def share_memory(self: Self) -> Self:
        """Not in this version."""
        raise NotImplementedError("Module.share_memory: sharing memory between processes is not in this version.")


def _kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def _indented(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *("  " + line for line in rest)])
