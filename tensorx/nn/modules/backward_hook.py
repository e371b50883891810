"""Full backward hooks: identity functions around a module's inputs and outputs that see the gradients go by."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import tensorx as tx


class BackwardHook:
    """Watches one call of ``module``: its hooks run when the gradients of all inputs are known, its pre-hooks before
    that.
    """

    def __init__(self, module: Any, hooks: list[Callable[..., Any]], pre_hooks: list[Callable[..., Any]]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.n_inputs = 0
        self.input_places: list[int] = []
        self.n_outputs = 0
        self.output_places: list[int] = []
        self.grad_output: tuple[Any, ...] | None = None

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The positional arguments, with the differentiable tensors marked."""
        self.n_inputs = len(args)
        self.input_places, args = _mark(self._inputs_done, args)
        return args

    def watch_outputs(self, result: Any) -> Any:
        """The result (a tensor, or a tuple of them), marked."""
        single = not isinstance(result, tuple)
        if single and not isinstance(result, tx.Tensor):
            message = "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
            warnings.warn(f"{message}received {type(result)}", stacklevel=4)
            return result
        values = (result,) if single else tuple(result)
        self.n_outputs = len(values)
        self.output_places, values = _mark(self._outputs_seen, values)
        return values[0] if single else values

    def _outputs_seen(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        full = _spread(grads, self.output_places, self.n_outputs)
        for hook in self.pre_hooks:
            full = _checked(hook(self.module, full), full, "grad_output")
        self.grad_output = full
        if not self.input_places:  # no input wants a gradient: nothing comes later that could run the hooks
            for hook in self.hooks:
                if hook(self.module, (None,) * self.n_inputs, full) is not None:
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None "
                        "or None for all gradients."
                    )
            self.grad_output = None
        return tuple(full[i] for i in self.output_places)

    def _inputs_done(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        full = _spread(grads, self.input_places, self.n_inputs)
        for hook in self.hooks:
            full = _checked(hook(self.module, full, self.grad_output), full, "grad_input")
        self.grad_output = None
        return tuple(full[i] for i in self.input_places)


def _mark(callback: Callable[..., Any], values: tuple[Any, ...]) -> tuple[list[int], tuple[Any, ...]]:
    places = [i for i, v in enumerate(values) if isinstance(v, tx.Tensor) and v.requires_grad]
    if not places or not tx.is_grad_enabled():
        return [], values
    marked = _identity().apply(callback, *(values[i] for i in places))
    out = list(values)
    for i, value in zip(places, marked if isinstance(marked, tuple) else (marked,)):
        out[i] = value
    return places, tuple(out)


def _spread(grads: tuple[Any, ...], places: list[int], n: int) -> tuple[Any, ...]:
    full: list[Any] = [None] * n
    for i, grad in zip(places, grads):
        full[i] = grad
    return tuple(full)


def _checked(new: Any, old: tuple[Any, ...], what: str) -> tuple[Any, ...]:
    if new is None:
        return old
    new = new if isinstance(new, tuple) else (new,)
    if len(new) != len(old):
        count = f"got {len(new)}, but expected {len(old)}"
        raise RuntimeError(f"Backward hook returned an invalid number of {what}, {count}")
    return new


def _identity() -> Any:
    """The function, made on first use: importing nn does not need the whole of autograd."""
    global _Identity
    if _Identity is None:

        class Identity(tx.autograd.Function):
            """Returns its tensors; in backward passes their gradients through a callback."""

            @staticmethod
            def forward(ctx: Any, callback: Callable[..., Any], *tensors: Any) -> Any:
                ctx.callback = callback
                return tuple(t.view(t.shape) for t in tensors)

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                return (None, *ctx.callback(grads))

        _Identity = Identity
    return _Identity


_Identity: Any = None
