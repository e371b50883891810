"""``torch.func``: functions of functions, by reverse mode. Arguments and results may be trees of tuples, lists and
dicts of tensors.

`vmap` comes in a later version; `jacrev` and `hessian` run one backward per element of the result.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorx as tx
from tensorx.autograd.node import AccumulateGrad
from tensorx.nn.utils.stateless import functional_call
from tensorx.utils._pytree import tree_flatten, tree_map, tree_unflatten

ArgNums = int | tuple[int, ...]


def _picked(args: tuple[Any, ...], argnums: ArgNums, op: str) -> tuple[int, ...]:
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    for n in numbers:
        if not -len(args) <= n < len(args):
            raise RuntimeError(f"{op}: Got argnum={n}, but only {len(args)} positional inputs")
    return tuple(n % len(args) for n in numbers)


def _connected(t: Any) -> Any:
    """A tensor to differentiate by: fresh, or connected to what an outer transform differentiates by."""
    if not isinstance(t, tx.Tensor) or not (t.is_floating_point() or t.is_complex()):
        return t
    return t.view_as(t) if t.requires_grad else t.detach().requires_grad_()


def _own(results: Any, leaves: list[Any]) -> Any:
    """Detached, unless they depend on something else that requires grad (an outer transform's inputs, parameters)."""
    mine = {id(t._acc() if t._acc is not None else None) for t in leaves if t.is_leaf}

    def free(t: Any) -> Any:
        return t if not isinstance(t, tx.Tensor) or not t.requires_grad or _reaches_others(t, mine) else t.detach()

    return tree_map(free, results)


def _reaches_others(t: Any, mine: set[int]) -> bool:
    seen: set[int] = set()
    todo = [t.grad_fn] if t.grad_fn is not None else []
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, AccumulateGrad) and id(node) not in mine:
            return True
        todo += [edge[0] for edge in node.edges if edge is not None]
    return not todo and t.grad_fn is None


def _prepare(args: tuple[Any, ...], argnums: ArgNums, op: str) -> tuple[list[Any], tuple[int, ...], list[Any]]:
    """(arguments with fresh tensors, positions, the tensors in those)."""
    numbers = _picked(args, argnums, op)
    new = [tree_map(_connected, a) if i in numbers else a for i, a in enumerate(args)]
    leaves = [t for n in numbers for t in tree_flatten(new[n])[0]]
    for t in leaves:
        if not isinstance(t, tx.Tensor):
            raise ValueError(f"{op}: expected all inputs to be differentiated to be tensors; got {type(t).__name__}")
    return new, numbers, leaves


def _gradient(output: Any, leaves: list[Any], vector: Any = None, keep: bool = True) -> list[Any]:
    if not output.requires_grad:
        return [tx.zeros_like(t) for t in leaves]
    grads = tx.autograd.grad(output, leaves, vector, retain_graph=keep, create_graph=True, allow_unused=True)
    return [tx.zeros_like(t) if g is None else g for g, t in zip(grads, leaves)]


def _like(grads: list[Any], new: list[Any], numbers: tuple[int, ...], argnums: ArgNums) -> Any:
    """Gradients in the trees of their arguments."""
    found, out = iter(grads), []
    for n in numbers:
        leaves, spec = tree_flatten(new[n])
        out.append(tree_unflatten([next(found) for _ in leaves], spec))
    return tuple(out) if isinstance(argnums, tuple) else out[0]


def grad_and_value(func: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives (gradient, value) of ``func``, whose result is a scalar tensor (with ``has_aux``, also
    something else).

    >>> import tensorx as tx
    >>> tx.func.grad_and_value(lambda x: (x * x).sum())(tx.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with tx.enable_grad():
            new, numbers, leaves = _prepare(args, argnums, "grad")
            output = func(*new, **kwargs)
            output, aux = output if has_aux else (output, None)
            if not isinstance(output, tx.Tensor):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a tensor, got {type(output)}"
                )
            if output.dim() or not output.is_floating_point():
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
                    "{output.dim()} dims. "
                    "Did you forget to sum over f's output?"
                )
            grads = _like(_gradient(output, leaves), new, numbers, argnums)
        grads, output, aux = _own((grads, output, aux), leaves)
        return (grads, (output, aux)) if has_aux else (grads, output)

    return wrapper


def grad(func: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the gradient of ``func`` by its argument ``argnums`` (a number, or a tuple of such).

    Calls nest. Raises RuntimeError unless ``func`` gives a scalar tensor.

    >>> import tensorx as tx
    >>> tx.func.grad(tx.func.grad(tx.sin))(tx.tensor(0.0))
    tensor(-0.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """(``func(*primals)``, a function that gives ``v @ J`` for a ``v`` like the result), and what else ``func`` gives
    with ``has_aux``.

    >>> import tensorx as tx
    >>> value, f = tx.func.vjp(tx.exp, tx.zeros(2))
    >>> f(tx.tensor([1.0, 2.0]))
    (tensor([1., 2.]),)
    """
    with tx.enable_grad():
        new, numbers, leaves = _prepare(primals, tuple(range(len(primals))), "vjp")
        output = func(*new)
        output, aux = output if has_aux else (output, None)
        outputs, spec = tree_flatten(output)

    def pull(*cotangents: Any, **kwargs: Any) -> Any:
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        vectors, other = tree_flatten(given)
        if other.num_leaves != spec.num_leaves:
            raise RuntimeError("vjp: the cotangents must have the structure of the function's result")
        pairs = [(o, v) for o, v in zip(outputs, vectors) if o.requires_grad]
        with tx.enable_grad():
            got = (
                tx.autograd.grad([o for o, _ in pairs], leaves, [v for _, v in pairs], True, True, allow_unused=True)
                if pairs
                else [None] * len(leaves)
            )
            grads = [tx.zeros_like(t) if g is None else g for g, t in zip(got, leaves)]
        return _own(_like(grads, new, numbers, tuple(numbers)), leaves)

    shown = _own(output, leaves)
    return (shown, pull, aux) if has_aux else (shown, pull)


def jvp(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """(``func(*primals)``, ``J @ tangents``), by two backwards.

    >>> import tensorx as tx
    >>> tx.func.jvp(tx.exp, (tx.zeros(2),), (tx.tensor([1.0, 2.0]),))
    (tensor([1., 1.]), tensor([1., 2.]))
    """
    with tx.enable_grad():
        new, _, leaves = _prepare(primals, tuple(range(len(primals))), "jvp")
        output = func(*new)
        output, aux = output if has_aux else (output, None)
        outputs, spec = tree_flatten(output)
        zeros = [tx.zeros_like(o).requires_grad_() for o in outputs]
        used = [(o, z) for o, z in zip(outputs, zeros) if o.requires_grad]
        got = (
            tx.autograd.grad([o for o, _ in used], leaves, [z for _, z in used], True, True, allow_unused=True)
            if used
            else [None] * len(leaves)
        )
        vectors = tree_flatten(tuple(tangents))[0]
        pairs = [(g, v) for g, v in zip(got, vectors) if g is not None and g.requires_grad]
        push = (
            tx.autograd.grad([g for g, _ in pairs], zeros, [v for _, v in pairs], True, True, allow_unused=True)
            if pairs
            else [None] * len(zeros)
        )
        result = tree_unflatten([tx.zeros_like(o) if p is None else p for p, o in zip(push, outputs)], spec)
    output, result, aux = _own((output, result, aux), [*leaves, *zeros])
    return (output, result, aux) if has_aux else (output, result)


def jacrev(
    func: Callable[..., Any], argnums: ArgNums = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """A function that gives the derivative of every element of the result by every element of an argument: shape
    ``result.shape + argument.shape``.

    >>> import tensorx as tx
    >>> tx.func.jacrev(lambda x: x * x)(tx.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with tx.enable_grad():
            new, numbers, leaves = _prepare(args, argnums, "jacrev")
            output = func(*new, **kwargs)
            output, aux = output if has_aux else (output, None)
            outputs, spec = tree_flatten(output)
            parts = [_like(_jacobian(o, leaves), new, numbers, argnums) for o in outputs]
            result = tree_unflatten(parts, spec)
        result, aux = _own((result, aux), leaves)
        return (result, aux) if has_aux else result

    return wrapper


def _jacobian(output: Any, leaves: list[Any]) -> list[Any]:
    rows: list[list[Any]] = []
    for i in range(output.numel()):
        unit = tx.zeros(output.numel(), dtype=output.dtype, device=output.device)
        unit[i] = 1
        rows.append(_gradient(output, leaves, unit.view(tuple(output.shape))))
    shapes = [(*output.shape, *t.shape) for t in leaves]
    if not rows:
        return [tx.zeros(shape, dtype=t.dtype, device=t.device) for shape, t in zip(shapes, leaves)]
    return [tx.stack(column).reshape(shape) for column, shape in zip(zip(*rows), shapes)]


def jacfwd(
    func: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """`jacrev`, under the name that stands for forward mode; the result is the same."""
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func: Callable[..., Any], argnums: ArgNums = 0) -> Callable[..., Any]:
    """A function that gives the second derivatives of ``func``.

    >>> import tensorx as tx
    >>> tx.func.hessian(lambda x: (x * x * x).sum())(tx.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacrev(jacrev(func, argnums), argnums)


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(parameters, buffers) of models of one class, each stacked along a new first dimension."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(found: list[dict[str, Any]]) -> dict[str, Any]:
        return {k: tx.stack([d[k].detach() for d in found]).requires_grad_(found[0][k].requires_grad) for k in found[0]}

    return stacked([dict(m.named_parameters()) for m in models]), stacked([dict(m.named_buffers()) for m in models])


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Not in this version: NotImplementedError.

    >>> vmap(abs)
    Traceback (most recent call last):
    ...
    NotImplementedError: vmap: comes in a later version. Hint: write the batch dimension out, or loop and stack
    """
    raise NotImplementedError("vmap: comes in a later version. Hint: write the batch dimension out, or loop and stack")


__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "stack_module_state",
    "vjp",
    "vmap",
]
