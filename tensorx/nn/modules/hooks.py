"""Hooks of a module: registering them, and the call that runs them in PyTorch's order.

The order of one call is: global pre-hooks, own pre-hooks, ``forward``, global forward hooks, own forward hooks. A
module that has none (almost every call) goes straight to ``forward``.
"""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from tensorx.autograd.hooks import RemovableHandle

from . import global_hooks as everywhere
from .global_hooks import put


class HookMixin:
    """The half of :class:`Module` that registers hooks and runs them."""

    _forward_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _is_full_backward_hook: bool | None
    forward: Callable[..., Any]

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Run ``hook(module, args)`` before ``forward``; what it returns (if not None) replaces the arguments.

        With ``with_kwargs`` it is called as ``hook(module, args, kwargs)`` and returns None or ``(args, kwargs)``.
        """
        handle = put(self._forward_pre_hooks, hook, (self._forward_pre_hooks_with_kwargs, with_kwargs))
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
        marks = ((self._forward_hooks_with_kwargs, with_kwargs), (self._forward_hooks_always_called, always_call))
        handle = put(self._forward_hooks, hook, *marks)
        if prepend:
            self._forward_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Run ``hook(module, grad_input, grad_output)`` when the gradients of the module's inputs are known.

        Both are tuples aligned with the positional inputs and the outputs (None where nothing is a differentiable
        tensor). What the hook returns (if not None) replaces ``grad_input``.
        """
        self._set_full_backward(True)
        handle = put(self._backward_hooks, hook)
        if prepend:
            self._backward_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Run ``hook(module, grad_output)`` before the module's backward; its result (if not None) replaces
        ``grad_output``.
        """
        handle = put(self._backward_pre_hooks, hook)
        if prepend:
            self._backward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Deprecated form of :meth:`register_full_backward_hook`: the hook sees the last op of the module only."""
        self._set_full_backward(False)
        return put(self._backward_hooks, hook)

    def _set_full_backward(self, full: bool) -> None:
        if self._is_full_backward_hook is not None and self._is_full_backward_hook is not full:
            raise RuntimeError(everywhere.MIXED.format("on a single Module"))
        self._is_full_backward_hook = full

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or everywhere.hooks
            or everywhere.pre_hooks
            or everywhere.backward_hooks
            or everywhere.backward_pre_hooks
        ):
            return self.forward(*args, **kwargs)
        ran: set[int] = set()
        try:
            return self._call_hooked(args, kwargs, ran)
        except Exception:
            self._run_always_called(args, kwargs, ran)
            raise

    def _call_hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any], ran: set[int]) -> Any:
        for hook in list(everywhere.pre_hooks.values()):
            args = _replaced(hook(self, args), args)
        for key, hook in list(self._forward_pre_hooks.items()):
            if key in self._forward_pre_hooks_with_kwargs:
                args, kwargs = self._replaced_both(hook(self, args, kwargs), args, kwargs)
            else:
                args = _replaced(hook(self, args), args)
        full, old = self._backward_hooks_now()
        pre = [*everywhere.backward_pre_hooks.values(), *self._backward_pre_hooks.values()]
        backward = None
        if full or pre:
            from .backward_hook import BackwardHook

            backward = BackwardHook(self, full, pre)
            args = backward.watch_inputs(args)
        result = self.forward(*args, **kwargs)
        for hooks, with_kwargs in (
            (everywhere.hooks, everywhere.hooks_with_kwargs),
            (self._forward_hooks, self._forward_hooks_with_kwargs),
        ):
            for key, hook in list(hooks.items()):
                ran.add(key)
                new = hook(self, args, kwargs, result) if key in with_kwargs else hook(self, args, result)
                result = result if new is None else new
        if backward is not None:
            result = backward.watch_outputs(result)
        if old:
            _watch_last_op(self, old, result)
        return result

    def _backward_hooks_now(self) -> tuple[list[Callable[..., Any]], list[Callable[..., Any]]]:
        """The full backward hooks and those of the deprecated form, global ones first."""
        found: dict[bool, list[Callable[..., Any]]] = {True: [], False: []}
        found[everywhere.backward_hooks_full.get("is", True)] += everywhere.backward_hooks.values()
        found[self._is_full_backward_hook is not False] += self._backward_hooks.values()
        return found[True], found[False]

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
        for hooks, always, with_kwargs in (
            (everywhere.hooks, everywhere.hooks_always, everywhere.hooks_with_kwargs),
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


def _watch_last_op(module: Any, hooks: list[Callable[..., Any]], result: Any) -> None:
    """Put hooks of the deprecated form on the node of the first tensor in ``result``."""
    while not hasattr(result, "grad_fn"):
        if isinstance(result, dict):
            result = next(v for v in result.values() if hasattr(v, "grad_fn"))
        else:
            result = result[0]
    if result.grad_fn is not None:
        for hook in hooks:
            result.grad_fn.register_hook(functools.partial(hook, module))
