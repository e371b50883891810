"""The door: every primitive call passes here.

bind -> promote and broadcast (pure) -> mode stack -> autograd record -> device and capability check -> plan cache -> launch. Binding happened
before `call`; promotion, broadcasting, plans and launches belong to the kind; this file orders the steps.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from tensorx.autograd.modes import state
from tensorx.devices import registry
from tensorx.devices.base import raise_out_of_memory
from tensorx.errors import GradError, OutOfMemory, TensorXError
from tensorx.ops import record, views
from tensorx.ops.arguments import explain
from tensorx.ops.table import Op
from tensorx.tensor import Tensor


class Mode:
    """Something that sees every call while it is on the stack (recorder, determinism, profiler, ...).

    ``handle`` gets the call and a function that continues with the modes below; what it returns is the call's result.
    """

    in_backward = True  # whether the mode stays on while gradients are computed
    sees_writes = True  # and in forms that write into given tensors

    def enter(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], inner: tuple[Mode, ...]) -> Any:
        """See one call of a composite (or function of nn.functional): its arguments, and the modes under which its body runs."""
        return args, kwargs, inner

    def handle(self, op: Op, args: tuple[Any, ...], out: Any, proceed: Callable[..., Any]) -> Any:
        """See one call."""
        return proceed(op, args, out)

    def on_break(self, t: Tensor) -> None:
        """A value left the graph of calls for Python (``.item()``, a data-dependent shape)."""

    def __enter__(self) -> Any:
        state.stack = (*state.stack, self)
        return self

    def __exit__(self, *error: object) -> None:
        state.stack = state.stack[:-1]


def under_modes(name: str, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run the body ``f`` of a composite while modes are on, after each has seen the call, innermost first."""
    stack = inner = state.stack
    for mode in reversed(stack):
        args, kwargs, inner = mode.enter(name, args, kwargs, inner)
    state.stack = inner
    try:
        return f(*args, **kwargs)
    finally:
        state.stack = stack


def seen_by_modes(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, a function that is no row, but of which modes should know by its name."""

    @functools.wraps(f)
    def seen(*args: Any, **kwargs: Any) -> Any:
        try:
            return under_modes(f.__name__, f, args, kwargs) if state.stack else f(*args, **kwargs)
        except (AttributeError, TypeError):
            explain(f, args, kwargs)  # a list or a number where a tensor belongs gets as far as its first method
            raise

    return seen


def call(op: Op, args: tuple[Any, ...], out: Any = None) -> Any:
    """Run a primitive on bound arguments. ``out`` is a tuple of tensors to write; if ``out[0] is args[0]`` the call is in place."""
    if state.stack:
        return _through_modes(op, args, out)
    if out is not None:
        return _call_out(op, args, out)
    try:
        result = op.kind.forward(op, args, None)
    except MemoryError as error:
        result = _short_of_memory(op, args, error)
    if state.grad and op.differentiable and record.requires_grad(args):
        outputs = result if isinstance(result, tuple) else (result,)
        node = op.kind.node(op, args, outputs, None)
        if node is not None:
            record.attach(node, outputs)
    return result


def _short_of_memory(op: Op, args: tuple[Any, ...], error: MemoryError) -> Any:
    """NumPy found no memory: give the pool's free blocks back and try once more. OutOfMemory with figures if that fails, too."""
    if isinstance(error, OutOfMemory):
        raise error
    error.__traceback__ = None  # its frames hold what the call had made so far
    runtime = registry.open(registry.device("cpu"))
    runtime.empty_cache()
    try:
        return op.kind.forward(op, args, None)
    except OutOfMemory:
        raise
    except MemoryError as again:
        shape, d = getattr(again, "shape", ()), getattr(again, "dtype", None)  # NumPy says what it wanted
        raise_out_of_memory(runtime, math.prod(shape) * d.itemsize if d is not None else 0)


def _through_modes(op: Op, args: tuple[Any, ...], out: Any) -> Any:
    stack = state.stack
    mode = stack[-1]
    state.stack = stack[:-1]
    try:
        return mode.handle(op, args, out, call)
    finally:
        state.stack = stack


def _call_out(op: Op, args: tuple[Any, ...], out: tuple[Tensor, ...]) -> Any:
    target = out[0]
    inplace = bool(args) and target is args[0]
    records = state.grad and record.requires_grad(args)
    name = op.public + ("_" if inplace else "")
    if not inplace and records:
        raise GradError(f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad. "
                        "Hint: call it under no_grad(), or without out=")
    for t in out:
        views.check_write(name, t, records)
    if inplace and records and not op.differentiable and target.dtype.is_floating_point and target.requires_grad:
        raise GradError(f"{name}: is not differentiable and must not write to a tensor that requires grad. Hint: use detach()")
    node = None
    if inplace and records and op.differentiable:
        node = op.kind.node(op, args, out, views.target_edge(target) if target._view is not None else None)
        record.preserve(node, target._storage)
    try:
        op.kind.forward(op, args, out)
    except BaseException as error:
        if not isinstance(error, TensorXError):  # a bad index, Ctrl-C: part of it may have been written
            for t in out:
                t._storage.version += 1
        raise
    for t in out:
        t._storage.version += 1
    if node is not None:
        node.outputs_written()
        views.rebase(target, node)
    return target if len(out) == 1 else out


def device_of(op: Op, tensors: list[Tensor]) -> Any:
    """The one device of all tensors. RuntimeError if there are two (zero-dim cpu tensors may join any)."""
    first = tensors[0].device
    for t in tensors:
        if t.device is not first:
            from tensorx.errors import DeviceError
            names = sorted({str(t.device) for t in tensors})
            raise DeviceError(f"{op.public}: Expected all tensors to be on the same device, but found at least two devices, {' and '.join(names)}! "
                              "Hint: move them with .to(device)")
    return first
