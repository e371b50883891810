"""Nodes of the backward graph.

An edge is ``(node, output_nr)``: where a cotangent goes. A node is made after the nodes of its edges and takes a
growing sequence number, so descending sequence numbers are a topological order: the engine needs no pass that counts
dependencies.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from sys import getrefcount
from typing import Any

from tensorx.errors import GradError
from tensorx.locks import Lock

from . import anomaly
from .hooks import NodeHooks, RemovableHandle, add
from .modes import state

next_sequence = itertools.count(1).__next__
Edge = tuple["Node", int]

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already"
    " been freed). Saved"
    " intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify"
    " retain_graph=True if you need"
    " to backward through the graph a second time or if you need to access saved tensors after calling backward."
)
"""The text of the error for a node that runs after :meth:`Node.release` (every framework user knows it)."""


class Node:
    """One recorded operation: turns the gradients of its outputs into those of its inputs.

    Subclasses define :meth:`apply`, :meth:`release` if they save values, and :meth:`name` where the class name is not
    it. ``edges`` has one entry per differentiable input, None where no gradient is wanted; pass it to the constructor
    (see the module text).
    """

    __slots__ = ("__weakref__", "edges", "extras", "n_out", "seq")

    wants_undefined = False
    """True if :meth:`apply` must run even when the gradients of all outputs are undefined (None)."""

    stands_in = False
    """True for a node outside the graph whose edge only says that a gradient is wanted."""

    def __init__(self, edges: tuple[Edge | None, ...] = (), n_out: int = 1) -> None:
        self.edges = edges
        self.seq = next_sequence()
        self.n_out = n_out
        self.extras: NodeHooks | None = None
        if anomaly.mode.on:
            anomaly.note(self, state.running)

    def apply(self, grads: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
        """Return one gradient (or None) per edge. ``grads`` has one entry per output, None where it is undefined."""
        raise NotImplementedError

    def release(self) -> None:
        """Free the saved values; running again must raise ``GradError(FREED)`` if there were any."""

    def name(self) -> str:
        """Return the operation's name, such as ``MulBackward0``."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that the gradients go to, each with the number of its output; ``(None, 0)`` where no gradient is
        wanted."""
        return tuple((None, 0) if edge is None else edge for edge in self.edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's notes."""
        return self.need_extras().metadata

    def need_extras(self) -> NodeHooks:
        """Return ``extras``, made on first use."""
        if self.extras is None:
            self.extras = NodeHooks()
        return self.extras

    def register_hook(self, hook: Callable[[tuple[Any, ...], tuple[Any, ...]], Any]) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after the node ran; a returned tuple replaces ``grad_inputs``."""
        return add(self.need_extras().post, hook)

    def register_prehook(self, hook: Callable[[tuple[Any, ...]], Any]) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before the node runs; a returned tuple replaces ``grad_outputs``."""
        return add(self.need_extras().pre, hook)

    def _sequence_nr(self) -> int:
        return self.seq

    def __call__(self, *grads: Any) -> Any:
        results = self.apply(grads, state.grad)
        return results[0] if len(results) == 1 else results

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


class AccumulateGrad(Node):
    """The sink of a leaf: adds what arrives to ``variable.grad``. The variable holds it by weak reference only."""

    __slots__ = ("lock", "variable")

    def __init__(self, variable: Any) -> None:
        super().__init__()
        self.variable = variable
        self.lock = threading.RLock()  # reentrant: a hook may run backward to this very leaf

    def apply(self, grads: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
        self.accumulate(list(grads), create_graph, False)
        return ()

    def accumulate(self, grads: list[Any], create_graph: bool, steal: bool) -> None:
        """Add the one gradient in ``grads`` (taken out of the list) to ``variable.grad`` and run the leaf's last hooks.

        With ``steal`` a gradient that nobody else can see becomes ``.grad`` without a copy.
        """
        variable = self.variable
        with self.lock:  # threads may run backward through different graphs of one leaf
            if grads[0] is not None:
                _accumulate(variable, grads, create_graph, steal)
            if variable._post_hooks and variable._grad is not None:
                for hook in tuple(variable._post_hooks.values()):
                    hook(variable)


def _accumulate(variable: Any, grads: list[Any], create_graph: bool, steal: bool) -> None:
    grad = grads.pop()
    if grad.dtype is not variable.dtype:
        grad = (grad.real if grad.is_complex() and not variable.is_complex() else grad).to(variable.dtype)
    if tuple(grad.shape) != tuple(variable.shape):
        raise GradError(
            f"AccumulateGrad: argument 'grad' must be of shape {tuple(variable.shape)}; got {tuple(grad.shape)}."
        )
    old = variable._grad
    if create_graph:
        variable._grad = grad.clone() if old is None else old + grad
    elif old is not None:
        old.add_(grad)  # in place: views and aliases of .grad see it
    elif steal and getrefcount(grad) <= 2 and _exclusive(grad):
        variable._grad = grad
    else:
        variable._grad = grad.clone() if grad.is_contiguous() else grad.contiguous()


def _exclusive(grad: Any) -> bool:
    """Return True if no other tensor or array shares the memory of ``grad`` and it can serve as a .grad as it is.

    The counts are exact: one reference from each owner, one from a local name, one from getrefcount's argument.
    """
    if grad._rg or not grad.is_contiguous():
        return False
    storage = grad._storage
    if grad._view is not None:
        if grad.nbytes != storage.length:
            return False
        grad._view = None  # a reshape of the whole: its base, if nobody else has it, dies here
    buffer, array = storage.buffer, grad._arr
    owners = 3 if array is None else 5 if array is buffer else 3 + (array.base is buffer)
    if array is not None and array is not buffer and getrefcount(array) > 3:
        return False
    return getrefcount(storage) <= 3 and getrefcount(buffer) <= owners


_accumulators = Lock()


def grad_accumulator(variable: Any) -> AccumulateGrad:
    """Return the one live :class:`AccumulateGrad` of a leaf."""
    ref = variable._acc
    node = ref() if ref is not None else None
    if node is None:
        with _accumulators.mutex:  # two threads must not make two: each has the lock that guards .grad
            ref = variable._acc
            node = ref() if ref is not None else None
            if node is None:
                node = AccumulateGrad(variable)
                variable._acc = weakref.ref(node)
    return node


def gradient_edge(tensor: Any) -> Edge | None:
    """Return where the gradient of ``tensor`` goes, or None if it does not require grad."""
    node = tensor.grad_fn
    if node is not None:
        return node, tensor._nr
    return (grad_accumulator(tensor), 0) if tensor._rg else None
