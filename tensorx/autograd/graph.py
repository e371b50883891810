"""Looking into the graph: nodes, gradient edges, and hooks on what is saved for backward."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tensorx.errors import GradError

from .hooks import RemovableHandle, register_hook
from .modes import state
from .node import Node, gradient_edge

__all__ = [
    "GradientEdge",
    "Node",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class GradientEdge(NamedTuple):
    """Where the gradient of a tensor goes; can stand for the tensor in ``autograd.grad`` and ``autograd.backward``."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """Return the gradient edge of ``tensor``. Raises RuntimeError if it does not require grad."""
    edge = gradient_edge(tensor)
    if edge is None:
        raise GradError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*edge)


class saved_tensors_hooks:
    """In the block, keep ``pack_hook(tensor)`` for backward instead of the tensor; ``unpack_hook`` turns it back.

    The pair must restore the value. Blocks nest; the innermost applies.

    >>> with saved_tensors_hooks(lambda t: t.numpy().copy(), tx.from_numpy):  # doctest: +SKIP
    ...     y = x.exp()
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if state.disabled_hooks is not None:
            raise GradError(state.disabled_hooks)
        state.saved_hooks = (*state.saved_hooks, (self.pack_hook, self.unpack_hook))

    def __exit__(self, *error: object) -> None:
        state.saved_hooks = state.saved_hooks[:-1]


class save_on_cpu(saved_tensors_hooks):
    """In the block, keep what is saved for backward in host memory and bring it back when it is needed.

    ``pin_memory`` is accepted for compatibility; host memory is pageable.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: (tensor.device, tensor.to("cpu", copy=True)), lambda kept: kept[1].to(kept[0]))


class disable_saved_tensors_hooks:
    """In the block, entering :class:`saved_tensors_hooks` raises RuntimeError with ``error_message``."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message

    def __enter__(self) -> None:
        if state.saved_hooks:
            raise GradError(self.error_message)
        self._outer, state.disabled_hooks = state.disabled_hooks, self.error_message

    def __exit__(self, *error: object) -> None:
        state.disabled_hooks = self._outer


def increment_version(tensor: Any) -> None:
    """Tell autograd that ``tensor`` (or each of several) was written to by means that it cannot see."""
    for item in tensor if isinstance(tensor, (list, tuple)) else (tensor,):
        item._storage.version += 1


def register_multi_grad_hook(tensors: Sequence[Any], fn: Callable[..., None], *, mode: str = "all") -> RemovableHandle:
    """Call ``fn`` once a backward has computed the gradients of all ``tensors`` (with their list), or of ``"any"``
    (with that one).

    A backward that reaches only some of them calls nothing in mode ``"all"``.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"register_multi_grad_hook: argument 'mode' must be 'all' or 'any'; got {mode!r}.")
    lock, seen = threading.Lock(), {}

    def collect(index: int, grad: Any) -> None:
        with lock:
            seen[index] = grad
            complete = len(seen) == (1 if mode == "any" else len(tensors))
            grads = [seen.get(i) for i in range(len(tensors))] if complete else []
            if len(seen) == len(tensors):
                seen.clear()
        if complete:
            fn(grad if mode == "any" else grads)

    def hook_for(index: int) -> Callable[[Any], None]:
        return lambda grad: collect(index, grad)

    return _Handles([register_hook(tensor, hook_for(index)) for index, tensor in enumerate(tensors)])


class _Handles(RemovableHandle):
    """Removes several hooks."""

    __slots__ = ("_handles",)

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self._handles = tuple(handles)

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
