"""Views and in-place writes in the graph.

A view keeps its base, the steps that make it from the base, and how it was made. An in-place write to a view rebases the base's history:
the base's new node takes the write's gradient out of the slice (``CopySlices``), and every view of it renews its node when next asked.
"""

from __future__ import annotations

from typing import Any

from tensorx.autograd.hooks import move_retained
from tensorx.autograd.modes import enable_grad, state
from tensorx.autograd.node import Node, gradient_edge
from tensorx.errors import GradError
from tensorx.tensor import Tensor

DEFAULT, NO_GRAD, MULTI, CUSTOM = "default", "no_grad", "multi", "custom"

_WHY = {
    NO_GRAD: "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is ambiguous and "
             "error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad block "
             "(if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).",
    MULTI: "Output of a function that returns multiple views is a view and is being modified inplace. Such functions do not allow the output views "
           "to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    CUSTOM: "Output of a custom Function is a view and is being modified inplace. This view was created inside a custom Function (or because an input "
            "was returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated with the custom "
            "Function, leading to incorrect gradients. You can fix this by cloning the output of the custom Function.",
}


class View:
    """How a tensor looks into another: ``steps`` are (op, arguments after the tensor, output number) from ``base``."""

    __slots__ = ("base", "mode", "steps", "version")

    def __init__(self, base: Any, steps: tuple[Any, ...], mode: str, version: int) -> None:
        self.base, self.steps, self.mode, self.version = base, steps, mode, version

    def refresh(self, t: Tensor) -> None:
        """Renew ``t``'s node if its memory was written since, through the base or another view."""
        version = t._storage.version
        if version == self.version or (t._node is None and not self.base.requires_grad):
            return
        self.version = version
        with enable_grad():
            new = self.replay(self.base)
        t._node, t._nr, t._rg = new._node, new._nr, new._rg

    def replay(self, base: Tensor) -> Tensor:
        """The same view of another base."""
        from tensorx.ops.dispatch import call
        for op, rest, nr in self.steps:
            result = call(op, (base, *rest))
            base = result[nr] if isinstance(result, tuple) else result
        return base


def connect(source: Tensor, out: Tensor, op: Any, rest: tuple[Any, ...], nr: int = 0, multi: bool = False) -> None:
    """Note that ``out`` is a view of ``source``."""
    if source._inference:
        return
    mode = NO_GRAD if not state.grad else MULTI if multi else DEFAULT
    step = (op, rest, nr)
    old = source._view
    if old is None:
        out._view = View(source, (step,), mode, out._storage.version)
    else:
        out._view = View(old.base, (*old.steps, step), old.mode if old.mode != DEFAULT else mode, out._storage.version)


def check_write(op: str, t: Tensor, records: bool) -> None:
    """Raise, in PyTorch's words, if an in-place write to ``t`` cannot be differentiated. ``records``: the write will be recorded."""
    if t._inference and not state.inference:
        raise RuntimeError("Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal tensor before "
                           "doing inplace update.")
    if not state.grad:
        return
    view = t._view
    if t.requires_grad and t._node is None:
        raise GradError("a leaf Variable that requires grad is being used in an in-place operation. "
                        f"Hint: {op} under no_grad(), or on a clone()")
    if view is None:
        return
    if view.base.requires_grad and view.base._node is None:
        raise GradError("a view of a leaf Variable that requires grad is being used in an in-place operation. "
                        f"Hint: {op} under no_grad(), or on a clone()")
    if view.mode != DEFAULT and (records or t.requires_grad or view.base.requires_grad):
        raise GradError(_WHY[view.mode])


class CopySlices(Node):
    """The base's node after a recorded write to one of its views."""

    __slots__ = ("inner", "needs_slice", "view")

    def __init__(self, base_edge: Any, inner: Node, view: View) -> None:
        """``inner``'s first edge belongs to the slice itself."""
        super().__init__((base_edge, *inner.edges[1:]), 1)
        self.inner = inner
        self.view = View(None, view.steps, view.mode, view.version)  # without the base, whose node this is: that would be a cycle

    def release(self) -> None:
        self.inner.release()

    def apply(self, grads: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
        g = grads[0]
        if g is None:
            return (None,) * len(self.edges)
        whole = g.clone()
        piece = self.view.replay(whole)
        results = self.inner.apply((piece.clone(),), create_graph)
        if results[0] is None:
            piece.zero_()
        else:
            piece.copy_(results[0])
        return (whole, *results[1:])


class SliceSource(Node):
    """Stands for the slice's old value in ``CopySlices.inner``'s first edge, so that its rule knows the gradient is wanted.

    ``edge`` is the true one: where the gradients of the old value go if the rule saved it.
    """

    __slots__ = ("edge",)
    stands_in = True

    def __init__(self, edge: Any) -> None:
        super().__init__()
        self.edge = edge


def rebase(t: Tensor, node: Node) -> None:
    """Make ``t``, just written in place, a result of ``node``; through the base if it is a view."""
    view = t._view
    if view is None:
        _renew(t, node)
        return
    base, old, nr = view.base, t._node, t._nr
    _renew(base, CopySlices(gradient_edge(base), node, view))
    view.version = -1
    view.refresh(t)
    move_retained(t, old, nr)


def _renew(t: Tensor, node: Node) -> None:
    old, nr = t._node, t._nr
    t._node, t._nr, t._rg = node, 0, True
    if t._retains:
        move_retained(t, old, nr)


def target_edge(t: Tensor) -> Any:
    """The edge that a recorded write to ``t`` gives its old value: for a view a stand-in, if the base requires grad."""
    if t._view is None:
        return gradient_edge(t)
    return (SliceSource(gradient_edge(t)), 0) if t._view.base.requires_grad else None
