"""Derivatives of functions of tensors: jacobian, hessian, and products with them.

Functions take one tensor or a tuple of tensors and return the same; results follow that structure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorx.errors import GradError

from .engine import _factory, _stack
from .engine import grad as _grad
from .hooks import is_tensor
from .modes import enable_grad


def _tuple(value: Any, what: str, op: str) -> tuple[bool, tuple[Any, ...]]:
    """Return whether ``value`` is a tuple, and it as one."""
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    for item in items:
        if not is_tensor(item):
            raise TypeError(
                f"{op}: argument '{what}' must be a tensor or a tuple of tensors; got {type(item).__name__}."
            )
    return isinstance(value, (tuple, list)), items


def _leaves(inputs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """Return inputs to differentiate by: aliases that stay connected under ``create_graph``, else fresh leaves."""
    if create_graph:
        return tuple(t.view(tuple(t.shape)) if t.requires_grad else t.detach().requires_grad_() for t in inputs)
    return tuple(t.detach().requires_grad_() for t in inputs)


def _call(func: Callable[..., Any], inputs: Any, op: str, create_graph: bool) -> tuple[Any, ...]:
    """Return (inputs were a tuple, leaves, outputs were a tuple, outputs)."""
    is_tuple, given = _tuple(inputs, "inputs", op)
    with enable_grad():
        leaves = _leaves(given, create_graph)
        out_tuple, outputs = _tuple(func(*leaves), "func(...)", op)
    return is_tuple, leaves, out_tuple, outputs


def _grads(
    outputs: tuple[Any, ...],
    leaves: tuple[Any, ...],
    vectors: Any,
    create_graph: bool,
    strict: bool,
    op: str,
    keep: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of the outputs that depend on anything; zeros where a leaf is unused."""
    if strict and not all(output.requires_grad for output in outputs):
        raise GradError(
            f"{op}: an output of the function is independent of the inputs. This is not allowed in strict mode."
        )
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o.requires_grad]
    if not pairs:
        return tuple(_factory("zeros_like")(leaf) for leaf in leaves)
    with enable_grad():
        got = _grad(
            [o for o, _ in pairs], leaves, [v for _, v in pairs], keep or create_graph, create_graph, allow_unused=True
        )
    if strict and any(g is None for g in got):
        raise GradError(
            f"{op}: an output of the function is independent of an input. This is not allowed in strict mode."
        )
    return tuple(_factory("zeros_like")(leaf) if g is None else g for g, leaf in zip(got, leaves, strict=True))


def _finish(values: tuple[Any, ...], is_tuple: bool, create_graph: bool) -> Any:
    result = values if create_graph else tuple(value.detach() for value in values)
    return result if is_tuple else result[0]


def _vectors(v: Any, like: tuple[Any, ...], op: str) -> tuple[Any, ...]:
    """Check ``v`` against the tensors it multiplies; None means one, for a single one-element tensor."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise GradError(f"{op}: argument 'v' must be given unless there is a single one-element tensor.")
        return (_factory("ones_like")(like[0]),)
    _, vectors = _tuple(v, "v", op)
    shapes, wanted = [tuple(x.shape) for x in vectors], [tuple(x.shape) for x in like]
    if shapes != wanted:
        raise GradError(f"{op}: argument 'v' must be of shape {wanted}; got {shapes}.")
    return vectors


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return ``(func(inputs), v @ J)``; ``v`` has the shape of the outputs.

    ``strict`` raises RuntimeError where an output does not depend on an input, instead of giving zeros.

    >>> import tensorx as tx
    >>> vjp(lambda x: x * x, tx.tensor([1.0, 2.0]), tx.tensor([1.0, 1.0]))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    is_tuple, leaves, out_tuple, outputs = _call(func, inputs, "vjp", create_graph)
    result = _grads(outputs, leaves, _vectors(v, outputs, "vjp"), create_graph, strict, "vjp")
    return _finish(outputs, out_tuple, create_graph), _finish(result, is_tuple, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return ``(func(inputs), J @ v)`` by two backwards; ``v`` has the shape of the inputs.

    >>> import tensorx as tx
    >>> jvp(lambda x: x * x, tx.tensor([1.0, 2.0]), tx.tensor([1.0, 0.0]))
    (tensor([1., 4.]), tensor([2., 0.]))
    """
    _, leaves, out_tuple, outputs = _call(func, inputs, "jvp", create_graph)
    vectors = _vectors(v, leaves, "jvp")
    zeros = tuple(_factory("zeros_like")(output).requires_grad_() for output in outputs)
    grads = _grads(outputs, leaves, zeros, True, strict, "jvp")
    result = _grads(grads, zeros, vectors, create_graph, strict, "jvp")  # grads are linear in zeros
    return _finish(outputs, out_tuple, create_graph), _finish(result, out_tuple, create_graph)


def _scalar(outputs: tuple[Any, ...], op: str) -> None:
    if len(outputs) != 1 or outputs[0].numel() != 1:
        raise GradError(f"{op}: argument 'func' must return one tensor of one element.")


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return ``(func(inputs), v @ H)`` for a scalar function; ``v`` has the shape of the inputs.

    >>> import tensorx as tx
    >>> vhp(lambda x: (x * x * x).sum(), tx.tensor([1.0, 2.0]), tx.tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    is_tuple, leaves, out_tuple, outputs = _call(func, inputs, "vhp", create_graph)
    _scalar(outputs, "vhp")
    grads = _grads(outputs, leaves, (_factory("ones_like")(outputs[0]),), True, strict, "vhp")
    result = _grads(grads, leaves, _vectors(v, leaves, "vhp"), create_graph, strict, "vhp")
    return _finish(outputs, out_tuple, create_graph), _finish(result, is_tuple, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return ``(func(inputs), H @ v)`` for a scalar function: :func:`vhp`, as H is symmetric where it exists.

    >>> import tensorx as tx
    >>> hvp(lambda x: (x * x * x).sum(), tx.tensor([1.0, 2.0]), tx.tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return vhp(func, inputs, v, create_graph, strict)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the derivative of every element of every output by every input.

    For one output and one input: a tensor of shape ``output.shape + input.shape``; tuples give tuples (outputs outside,
    inputs inside). ``vectorize`` and ``strategy`` are hints about speed; this version runs one backward per element of
    the outputs.

    >>> import tensorx as tx
    >>> jacobian(lambda x: x * x, tx.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(f"jacobian: argument 'strategy' must be 'reverse-mode' or 'forward-mode'; got {strategy!r}.")
    is_tuple, leaves, out_tuple, outputs = _call(func, inputs, "jacobian", create_graph)
    rows = [_rows(output, leaves, create_graph, strict) for output in outputs]
    result = tuple(_finish(row, is_tuple, create_graph) for row in rows)
    return result if out_tuple else result[0]


def _rows(output: Any, leaves: tuple[Any, ...], create_graph: bool, strict: bool) -> tuple[Any, ...]:
    """Return one tensor of shape ``output.shape + leaf.shape`` per leaf."""
    count = output.numel()
    shapes = [tuple(output.shape) + tuple(leaf.shape) for leaf in leaves]
    if count == 0:
        return tuple(_factory("zeros")(s, dtype=x.dtype, device=x.device) for s, x in zip(shapes, leaves, strict=True))
    columns: list[list[Any]] = [[] for _ in leaves]
    for index in range(count):
        basis = _factory("zeros_like")(output.detach()).reshape(-1)
        basis[index] = 1
        vector = (basis.reshape(tuple(output.shape)),)
        for column, g in zip(
            columns, _grads((output,), leaves, vector, create_graph, strict, "jacobian", keep=True), strict=True
        ):
            column.append(g)
    return tuple(_stack(column).reshape(shape) for column, shape in zip(columns, shapes, strict=True))


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of a scalar function: shape ``input.shape + input.shape``, or a tuple of tuples of
    those.

    >>> import tensorx as tx
    >>> hessian(lambda x: (x * x * x).sum(), tx.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    is_tuple, _ = _tuple(inputs, "inputs", "hessian")

    def gradient(*points: Any) -> Any:
        _, outputs = _tuple(func(*points), "func(...)", "hessian")
        _scalar(outputs, "hessian")
        grads = _grads(outputs, points, (_factory("ones_like")(outputs[0]),), True, strict, "hessian")
        return grads if is_tuple else grads[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
