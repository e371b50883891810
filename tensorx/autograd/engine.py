"""The backward engine: one iterative pass over the graph, newest node first.

Sequence numbers grow along the graph (see node.py), so a heap of ready nodes pops every node after all nodes that feed
it: no pass counts dependencies, nothing recurses, and a cotangent is dropped as soon as it is used.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from tensorx.errors import GradError

from . import anomaly
from .hooks import apply_tensor_hooks, is_tensor, retain_grad
from .modes import state
from .node import AccumulateGrad, Edge, Node, gradient_edge


class _Captures:
    """What a call with ``inputs`` wants: ``places`` maps a node to (output number, position in the result) pairs."""

    __slots__ = ("needed", "places", "results")

    def __init__(self, edges: Sequence[Edge], roots: Sequence[Node]) -> None:
        self.places: dict[Node, list[tuple[int, int]]] = {}
        for position, (node, nr) in enumerate(edges):
            self.places.setdefault(node, []).append((nr, position))
        self.results: list[Any] = [None] * len(edges)
        self.needed = _needed(self.places, roots)


def _needed(targets: Iterable[Node], roots: Iterable[Node]) -> dict[Node, bool]:
    """Return the nodes on a path from ``roots`` to ``targets``; the value tells if the node must run (or only
    receive)."""
    wanted = set(targets)
    oldest = min((node.seq for node in wanted), default=0)
    seen, todo = set(roots), list(roots)
    while todo:
        for edge in todo.pop().edges:
            if edge is not None and edge[0].seq >= oldest and edge[0] not in seen:
                seen.add(edge[0])
                todo.append(edge[0])
    needed: dict[Node, bool] = {}
    for node in sorted(seen, key=lambda node: node.seq):  # older nodes first: their consumers can look them up
        runs = any(edge is not None and edge[0] in needed for edge in node.edges)
        if runs or node in wanted:
            needed[node] = runs
    return needed


def needed_edges(node: Node) -> tuple[bool, ...] | None:
    """Return, inside ``apply``, which edges of ``node`` the running backward needs; None means all that are not
    None."""
    needed = state.needed
    if needed is None:
        return None
    return tuple(edge is not None and (edge[0] in needed or edge[0].stands_in) for edge in node.edges)


def run(
    roots: Sequence[Edge], grads: Sequence[Any], keep_graph: bool, create_graph: bool, captures: _Captures | None = None
) -> None:
    """Send ``grads`` into ``roots`` and on through the graph, to the leaves or to ``captures``."""
    pending: dict[Node, list[Any]] = {}
    owned: set[tuple[int, int]] = set()
    previous = state.grad, state.needed, state.running, state.stack
    if state.stack:
        state.stack = tuple(mode for mode in state.stack if mode.in_backward)
    state.grad, state.needed = create_graph, None if captures is None else captures.needed
    try:
        for (node, nr), grad in zip(roots, grads, strict=True):
            if state.needed is None or node in state.needed:
                _deliver(pending, owned, node, nr, grad, create_graph)
        _loop(pending, owned, keep_graph, create_graph, captures)
    finally:
        state.grad, state.needed, state.running, state.stack = previous


def _deliver(
    pending: dict[Node, list[Any]], owned: set[Any], node: Node, nr: int, grad: Any, create_graph: bool
) -> None:
    """Add ``grad`` to what waits for output ``nr`` of ``node``; the general form of the branch at the end of
    :func:`_loop`."""
    grads = pending.setdefault(node, [None] * node.n_out)
    if grads[nr] is None:
        grads[nr] = grad
    elif grad is not None:
        _add(grads, owned, node.seq, nr, grad, create_graph)


def _add(grads: list[Any], owned: set[Any], seq: int, nr: int, grad: Any, create_graph: bool) -> None:
    """Accumulate. The first sum makes a tensor that only we hold, so later ones go into it in place."""
    key = (seq, nr)
    if key in owned:
        grads[nr].add_(grad)
    else:
        grads[nr] = grads[nr] + grad
        if not create_graph:
            owned.add(key)


def _loop(
    pending: dict[Node, list[Any]], owned: set[Any], keep_graph: bool, create_graph: bool, captures: _Captures | None
) -> None:
    """Run ready nodes until none is left. Written flat: this is the price of every node of every training step."""
    heap = [(-node.seq, node) for node in pending]
    heapify(heap)
    needed = None if captures is None else captures.needed
    careful = anomaly.mode.on
    results: Any
    steal = True  # gradients that a hook saw may be kept by it: from then on leaves copy
    while heap:
        node = heappop(heap)[1]
        grads = pending.pop(node)
        extras = node.extras
        if extras is not None or (node.__class__ is AccumulateGrad and node.variable._hooks is not None):
            steal = False
            _before_capture(node, grads)
        if captures is not None and needed is not None:
            if node in captures.places:
                for nr, position in captures.places[node]:
                    captures.results[position] = grads[nr]
            if not needed[node]:
                continue
        if node.__class__ is AccumulateGrad and extras is None:
            node.accumulate(grads, create_graph, steal)
            continue
        if careful or extras is not None or grads[0] is None:
            results = _apply(node, grads, create_graph)
        else:
            results = node.apply(tuple(grads), create_graph)
        if not keep_graph:
            node.release()
        del grads
        seq = node.seq
        for edge, grad in zip(node.edges, results, strict=True):
            if edge is None:
                continue
            target, nr = edge
            waiting = pending.get(target)
            if waiting is None:
                if needed is not None and target not in needed:
                    continue
                if target.seq >= seq:
                    raise AssertionError(f"{node.name()} is older than {target.name()}, which it feeds")
                if target.n_out == 1:
                    pending[target] = [grad]
                else:
                    pending[target] = waiting = [None] * target.n_out
                    waiting[nr] = grad
                heappush(heap, (-target.seq, target))
            elif waiting[nr] is None:
                waiting[nr] = grad
            elif grad is not None:
                _add(waiting, owned, target.seq, nr, grad, create_graph)
        results = grad = waiting = None  # leaves count references: drop ours


def _before_capture(node: Node, grads: list[Any]) -> None:
    """Run the hooks of the tensors that ``node`` made (or of the leaf that it feeds)."""
    if node.__class__ is AccumulateGrad and node.variable._hooks is not None:
        grads[0] = apply_tensor_hooks(node.variable._hooks, grads[0])
    if node.extras is not None:
        node.extras.before_capture(grads)


def _apply(node: Node, grads: list[Any], create_graph: bool) -> tuple[Any, ...]:
    """Run a node that has extras or undefined gradients."""
    inputs = tuple(grads)
    extras = node.extras
    if extras is not None and extras.pre:
        inputs = extras.before(inputs)
    if not node.wants_undefined and all(grad is None for grad in inputs):
        results: tuple[Any, ...] = (None,) * len(node.edges)
    elif anomaly.mode.on:
        state.running, outer = node, state.running
        results = anomaly.apply(node, inputs, create_graph)
        state.running = outer
    else:
        results = node.apply(inputs, create_graph)
    if extras is not None and extras.post:
        results = extras.after(results, inputs)
    return results


def _factory(name: str) -> Any:
    """Return a factory function. Factories are above this package, hence imported when needed."""
    from tensorx.ops import factories

    return getattr(factories, name)


def _stack(tensors: Sequence[Any]) -> Any:
    from tensorx.ops import PUBLIC

    return PUBLIC["stack"](tuple(tensors))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, Iterable) and not is_tensor(value) and not _is_edge(value) else (value,)


def _is_edge(value: Any) -> bool:
    """Return True for a graph.GradientEdge (a named tuple), which can stand for a tensor."""
    return isinstance(value, tuple) and hasattr(value, "output_nr")


def _root_grad(index: int, output: Any, grad: Any) -> Any:
    """Check one initial gradient, or make the implicit one."""
    if grad is None:
        if _is_edge(output) or output.numel() != 1:
            raise GradError("grad can be implicitly created only for scalar outputs")
        if not output.dtype.is_floating_point:
            raise GradError(f"grad can be implicitly created only for real scalar outputs but got {output.dtype}")
        return _factory("ones_like")(output)
    if not is_tensor(grad):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
    if _is_edge(output):
        return grad
    if tuple(grad.shape) != tuple(output.shape):
        raise GradError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {grad.shape} and output[{index}] has a shape of"
            f" {output.shape}."
        )
    if output.is_complex() != grad.is_complex():
        raise GradError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype:"
            f" grad_output[{index}] has a dtype of {grad.dtype} and output[{index}] has a dtype of {output.dtype}."
        )
    if grad.device != output.device:
        raise GradError(f"grad_output[{index}] is on {grad.device} and output[{index}] is on {output.device}.")
    return grad if grad.dtype is output.dtype else grad.to(output.dtype)


def _roots(outputs: Sequence[Any], grads: Any) -> tuple[list[Edge], list[Any]]:
    """Return the edges to start from and their initial gradients."""
    given = (None,) * len(outputs) if grads is None else _as_tuple(grads)
    if len(given) != len(outputs):
        raise GradError(f"got {len(outputs)} tensors and {len(given)} gradients")
    edges, initial = [], []
    for index, (output, grad) in enumerate(zip(outputs, given)):
        edge = (output.node, output.output_nr) if _is_edge(output) else gradient_edge(output)
        if edge is None:
            raise GradError(f"element {index} of tensors does not require grad and does not have a grad_fn")
        edges.append(edge)
        initial.append(_root_grad(index, output, grad))
    return edges, initial


def _input_edges(inputs: Sequence[Any]) -> list[Edge]:
    edges = []
    for tensor in inputs:
        edge = (tensor.node, tensor.output_nr) if _is_edge(tensor) else gradient_edge(tensor)
        if edge is None:
            raise GradError("One of the differentiated Tensors does not require grad")
        edges.append(edge)
    return edges


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradient of ``tensors`` to the ``.grad`` of the leaves (or of ``inputs`` only).

    Args:
        tensors: one tensor or several.
        grad_tensors: the gradient with respect to each, of its shape; None for a real one-element tensor means one.
        retain_graph: keep the saved values for another backward; default ``create_graph``.
        create_graph: record the backward too, so that it can be differentiated.
        grad_variables: the old name of ``grad_tensors``.
        inputs: accumulate into these tensors alone (into a non-leaf, too).

    Raises RuntimeError if a tensor does not require grad, an initial gradient is missing or does not fit, or the graph
    was freed.

    >>> import tensorx as tx
    >>> x = tx.tensor([1.0, 2.0], requires_grad=True)
    >>> tx.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise GradError(
                "backward: arguments 'grad_tensors' and 'grad_variables' (its old name) must not both be given."
            )
        grad_tensors = grad_variables
    outputs = _as_tuple(tensors)
    roots, grads = _roots(outputs, grad_tensors)
    captures = None
    if inputs is not None:
        targets = _as_tuple(inputs)
        if not targets:
            raise GradError("`inputs` argument to `backward()` cannot be empty.")
        edges = _input_edges(targets)
        for tensor in targets:
            if is_tensor(tensor):
                retain_grad(tensor)
        captures = _Captures(edges, [node for node, _ in roots])
        captures.needed.update((node, True) for node in captures.places if isinstance(node, AccumulateGrad))
        captures.places = {}
    run(roots, grads, create_graph if retain_graph is None else retain_graph, create_graph, captures)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of ``outputs`` with respect to ``inputs``, without touching any ``.grad``.

    Args:
        outputs: one tensor or several.
        inputs: one tensor or several; the result has one gradient for each, of its shape and dtype.
        grad_outputs: the gradient with respect to each output; None for a real one-element output means one.
        retain_graph: keep the saved values for another backward; default ``create_graph``.
        create_graph: record the backward too, so that the result can be differentiated.
        only_inputs: deprecated; without effect.
        allow_unused: return None for an input that no output depends on, instead of raising.
        is_grads_batched: every entry of ``grad_outputs`` has one more dimension in front; so has the result.
        materialize_grads: return zeros instead of None (implies ``allow_unused``).

    Raises RuntimeError if a tensor does not require grad, an initial gradient is missing or does not fit, an input is
    unused, or the graph was freed.

    >>> import tensorx as tx
    >>> x = tx.tensor([1.0, 2.0], requires_grad=True)
    >>> tx.autograd.grad((x * x).sum(), x)
    (tensor([2., 4.]),)
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True)", FutureWarning, stacklevel=2
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    wanted = _as_tuple(inputs)
    if not wanted:
        raise GradError("`inputs` argument to `grad()` cannot be empty.")
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        results = _batched(_as_tuple(outputs), wanted, _as_tuple(grad_outputs), keep, create_graph)
    else:
        roots, grads = _roots(_as_tuple(outputs), grad_outputs)
        captures = _Captures(_input_edges(wanted), [node for node, _ in roots])
        run(roots, grads, keep, create_graph, captures)
        results = captures.results
    for index, result in enumerate(results):
        if result is None and materialize_grads:
            results[index] = _factory("zeros_like")(wanted[index])
        elif result is None and not allow_unused:
            raise GradError(
                f"The differentiated Tensor at index {index} appears to not have been used in the graph. Set"
                f" allow_unused=True if"
                " this is the desired behavior."
            )
    return tuple(results)


def _batched(
    outputs: tuple[Any, ...], inputs: tuple[Any, ...], grads: tuple[Any, ...], keep: bool, create_graph: bool
) -> list[Any]:
    """Run one backward per leading index of ``grads`` and stack what they give."""
    size = next((len(batch) for batch in grads if batch is not None), 0)
    if size == 0 or any(batch is not None and len(batch) != size for batch in grads):
        raise GradError(
            "grad: argument 'grad_outputs' must have one common, non-empty leading dimension with"
            " is_grads_batched=True."
        )
    rows = []
    for index in range(size):
        row = [None if batch is None else batch[index] for batch in grads]
        rows.append(grad(outputs, inputs, row, keep or index + 1 < size, create_graph, allow_unused=True))
    return [None if column[0] is None else _stack(column) for column in zip(*rows, strict=True)]
