"""Hooks of every module: on calls, on backward passes, and on what modules register."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from tensorx.autograd.hooks import RemovableHandle

Hooks = OrderedDict[int, Callable[..., Any]]
pre_hooks: Hooks = OrderedDict()
hooks: Hooks = OrderedDict()
hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
hooks_always: OrderedDict[int, bool] = OrderedDict()
backward_hooks: Hooks = OrderedDict()
backward_hooks_full: dict[str, bool] = {}  # "is": whether the backward hooks are full ones; empty before the first
backward_pre_hooks: Hooks = OrderedDict()
registrations: dict[str, Hooks] = {"buffer": OrderedDict(), "module": OrderedDict(), "parameter": OrderedDict()}
MIXED = "Cannot use both regular backward hooks and full backward hooks {}. Please use only one of them."


def put(into: Hooks, hook: Callable[..., Any], *marks: tuple[OrderedDict[int, bool], bool]) -> RemovableHandle:
    """Add ``hook``, and its number to each of the ``marks`` that is wanted."""
    handle = RemovableHandle(into, extra_dict=[mark for mark, _ in marks])
    into[handle.id] = hook
    for mark, wanted in marks:
        if wanted:
            mark[handle.id] = True
    return handle


def registered(kind: str, module: Any, name: str, value: Any) -> Any:
    """``value`` after the hooks of its kind."""
    for hook in list(registrations[kind].values()):
        new = hook(module, name, value)
        value = value if new is None else new
    return value


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Run ``hook(module, args)`` before the forward of every module."""
    return put(pre_hooks, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Run ``hook(module, args, output)`` after the forward of every module."""
    return put(hooks, hook, (hooks_with_kwargs, with_kwargs), (hooks_always, always_call))


def _register_backward(hook: Callable[..., Any], full: bool) -> RemovableHandle:
    if backward_hooks_full.setdefault("is", full) is not full:
        raise RuntimeError(MIXED.format("as a global Module hook"))
    return put(backward_hooks, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Run ``hook(module, grad_input, grad_output)`` in the backward pass of every module."""
    return _register_backward(hook, True)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Deprecated form of :func:`register_module_full_backward_hook`: the hook sees the last op of a module only."""
    return _register_backward(hook, False)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Run ``hook(module, grad_output)`` before the backward pass of every module."""
    return put(backward_pre_hooks, hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Run ``hook(module, name, buffer)`` when a module registers a buffer; what it returns (if not None) replaces
    it.
    """
    return put(registrations["buffer"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Run ``hook(module, name, submodule)`` when a module registers another; what it returns replaces it."""
    return put(registrations["module"], hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Run ``hook(module, name, param)`` when a module registers a parameter; what it returns replaces it."""
    return put(registrations["parameter"], hook)
