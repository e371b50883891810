"""Hooks of a module: registering them, and the call that runs them in PyTorch's order.

The order of one call is: global pre-hooks, own pre-hooks, ``forward``, global forward hooks, own forward hooks. A
    module that
has none (almost every call) goes straight to ``forward``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from tensorx.autograd.hooks import RemovableHandle

global_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
global_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
global_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
global_hooks_always: OrderedDict[int, bool] = OrderedDict()


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Run ``hook(module, args)`` before the forward of every module."""
    handle = RemovableHandle(global_pre_hooks)
    global_pre_hooks[handle.id] = hook
    return handle


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Run ``hook(module, args, output)`` after the forward of every module."""
    handle = RemovableHandle(global_hooks, extra_dict=[global_hooks_with_kwargs, global_hooks_always])
    global_hooks[handle.id] = hook
    if with_kwargs:
        global_hooks_with_kwargs[handle.id] = True
    if always_call:
        global_hooks_always[handle.id] = True
    return handle


class HookMixin:
    """The half of :class:`Module` that registers hooks and runs them."""

    _forward_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    forward: Callable[..., Any]

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Run ``hook(module, args)`` before ``forward``; what it returns (if not None) replaces the arguments.

        With ``with_kwargs`` it is called as ``hook(module, args, kwargs)`` and returns None or ``(args, kwargs)``.
        """
        handle = RemovableHandle(self._forward_pre_hooks, extra_dict=self._forward_pre_hooks_with_kwargs)
        self._forward_pre_hooks[handle.id] = hook
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        if prepend:
            self._forward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Run ``hook(module, args, output)`` after ``forward``; what it returns (if not None) replaces the output.

        With ``with_kwargs`` it is called as ``hook(module, args, kwargs, output)``; with ``always_call`` it also runs
        (with output None) when ``forward`` raised.
        """
        extra = [self._forward_hooks_with_kwargs, self._forward_hooks_always_called]
        handle = RemovableHandle(self._forward_hooks, extra_dict=extra)
        self._forward_hooks[handle.id] = hook
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        if prepend:
            self._forward_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Run ``hook(module, grad_input, grad_output)`` when the gradients of the module's inputs are known.

        Both are tuples aligned with the positional inputs and the outputs (None where nothing is a differentiable
        tensor). What the hook returns (if not None) replaces ``grad_input``.
        """
        handle = RemovableHandle(self._backward_hooks)
        self._backward_hooks[handle.id] = hook
        if prepend:
            self._backward_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Run ``hook(module, grad_output)`` before the module's backward; its result (if not None) replaces
        ``grad_output``.
        """
        handle = RemovableHandle(self._backward_pre_hooks)
        self._backward_pre_hooks[handle.id] = hook
        if prepend:
            self._backward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or global_hooks
            or global_pre_hooks
        ):
            return self.forward(*args, **kwargs)
        ran: set[int] = set()
        try:
            return self._call_hooked(args, kwargs, ran)
        except Exception:
            self._run_always_called(args, kwargs, ran)
            raise

    def _call_hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any], ran: set[int]) -> Any:
        for hook in list(global_pre_hooks.values()):
            args = _replaced(hook(self, args), args)
        for key, hook in list(self._forward_pre_hooks.items()):
            if key in self._forward_pre_hooks_with_kwargs:
                args, kwargs = self._replaced_both(hook(self, args, kwargs), args, kwargs)
            else:
                args = _replaced(hook(self, args), args)
        backward = None
        if self._backward_hooks or self._backward_pre_hooks:
            from .backward_hook import BackwardHook

            backward = BackwardHook(self, list(self._backward_hooks.values()), list(self._backward_pre_hooks.values()))
            args = backward.watch_inputs(args)
        result = self.forward(*args, **kwargs)
        for hooks, with_kwargs in (
            (global_hooks, global_hooks_with_kwargs),
            (self._forward_hooks, self._forward_hooks_with_kwargs),
        ):
            for key, hook in list(hooks.items()):
                ran.add(key)
                new = hook(self, args, kwargs, result) if key in with_kwargs else hook(self, args, result)
                result = result if new is None else new
        return result if backward is None else backward.watch_outputs(result)

    def _replaced_both(self, new: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        if new is None:
            return args, kwargs
        if isinstance(new, tuple) and len(new) == 2:
            return new
        raise RuntimeError(
            f"{type(self).__name__}: a forward pre-hook with kwargs must return None or (args, kwargs); got {new}."
        )

    def _run_always_called(self, args: tuple[Any, ...], kwargs: dict[str, Any], ran: set[int]) -> None:
        """After ``forward`` raised: the hooks that asked to run all the same, each once; their own errors only warn."""
        import warnings

        for hooks, always, with_kwargs in (
            (global_hooks, global_hooks_always, global_hooks_with_kwargs),
            (self._forward_hooks, self._forward_hooks_always_called, self._forward_hooks_with_kwargs),
        ):
            for key, hook in list(hooks.items()):
                if key not in always or key in ran:
                    continue
                try:
                    hook(self, args, kwargs, None) if key in with_kwargs else hook(self, args, None)
                except Exception as error:  # the error of forward is the one to report
                    warnings.warn(f"forward hook with always_call=True raised and was ignored: {error}", stacklevel=3)


def _replaced(new: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    if new is None:
        return args
    return new if isinstance(new, tuple) else (new,)
