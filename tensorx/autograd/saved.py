"""Tensors kept for the backward of a custom function."""

from __future__ import annotations

from typing import Any

from tensorx.errors import GradError

from .hooks import is_tensor
from .modes import no_grad, state
from .node import FREED, Edge, Node, gradient_edge


def check_version(tensor: Any, version: int, edge: Edge | None) -> None:
    """Raise if ``tensor`` was written to since its version was ``version``."""
    now = tensor._storage.version
    if now != version:
        origin = "" if edge is None else f", which is output {edge[1]} of {edge[0].name()},"
        raise GradError(
            "one of the variables needed for gradient computation has been modified by an inplace operation:"
            f" [{tensor.dtype} {list(tensor.shape)}]{origin} is at version {now}; expected version {version} instead."
            " Hint: enable anomaly detection to find the operation that failed to compute its gradient, with"
            " autograd.set_detect_anomaly(True)."
        )


class SavedTensor:
    """One value kept for backward.

    An input is kept as it is. An output is kept without its history, which would be a reference cycle (node -> output
    -> node), and gets it back when unpacked. With :class:`graph.saved_tensors_hooks` active, what ``pack`` returned is
    kept instead.
    """

    __slots__ = ("_edge", "_leaf", "_own_nr", "_unpack", "_value", "_version")

    def __init__(self, tensor: Any, node: Node | None) -> None:
        """Keep ``tensor`` for ``node``, or for nobody in particular (None: then it is no output)."""
        own = node is not None and tensor._node is node
        self._own_nr = tensor._nr if own else -1
        self._edge = None if own else gradient_edge(tensor)
        self._leaf = not own and tensor._node is None
        self._version = tensor._storage.version
        self._unpack = None
        if state.saved_hooks:
            pack, self._unpack = state.saved_hooks[-1]
            with no_grad():
                self._value = pack(tensor.detach())
        else:
            self._value = tensor.detach() if own else tensor

    def unpack(self, node: Node | None) -> Any:
        """Return the tensor with its history. Raises RuntimeError if it was written to in between."""
        value, edge = self._value, self._edge
        if self._own_nr >= 0:
            edge = (node, self._own_nr)
        if self._unpack is not None:
            with no_grad():
                value = self._unpack(value)
            if not is_tensor(value):
                raise TypeError(
                    f"saved_tensors_hooks: argument 'unpack_hook' must return a tensor; got {type(value).__name__}."
                )
        else:
            check_version(value, self._version, edge)
            if self._own_nr < 0:
                return value
        value = value.detach()
        if edge is None:
            return value
        if self._leaf:
            value._rg, value._acc = True, edge[0].variable._acc  # gradients go on to the original leaf
        else:
            (value._node, value._nr), value._rg = edge, True
        return value


def unpack_all(saved: tuple[SavedTensor | None, ...] | None, node: Node) -> tuple[Any, ...]:
    """Return the tensors in ``saved``; None stands for values that were freed."""
    if saved is None:
        raise GradError(FREED)
    return tuple(None if item is None else item.unpack(node) for item in saved)
