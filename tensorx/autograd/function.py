"""Custom differentiable functions: ``Function``, its context and its graph node."""

from __future__ import annotations

import functools
import inspect
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from tensorx.errors import GradError

from .engine import needed_edges
from .hooks import is_tensor
from .modes import no_grad, state
from .node import FREED, Node, gradient_edge

_Meta = tuple[tuple[int, ...], Any, Any]  # shape, dtype, device


class FunctionCtx:
    """What ``forward`` hands to ``backward``; set any other attribute freely (tensors belong into
    :meth:`save_for_backward`)."""

    needs_input_grad: tuple[bool, ...] = ()
    materialize_grads = True

    def __init__(self) -> None:
        self._to_save: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._non_differentiable: tuple[Any, ...] = ()
        self._saved: tuple[Any, ...] | None = ()
        self._node: weakref.ref[Node] | None = None

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs or outputs (or None) for ``backward``, which finds them in ``saved_tensors``. Call it once, in
        forward.

        Raises TypeError for anything but tensors and None.
        """
        for position, tensor in enumerate(tensors):
            if tensor is not None and not is_tensor(tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {position} is of type"
                    f" {type(tensor).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for ``jvp``; accepted so that functions written with both modes run."""

    def mark_dirty(self, *tensors: Any) -> None:
        """Declare that forward changed these inputs in place; each must be returned."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Declare that these outputs have no gradient; ``backward`` still gets one (zeros) for each."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Choose if undefined gradients reach ``backward`` as zeros (True, the default) or as None."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What :meth:`save_for_backward` got. Raises RuntimeError when freed, or when a tensor was written to since."""
        if self._to_save:  # asked for while forward runs
            return self._to_save
        if self._saved is None:
            raise GradError(FREED)
        node = self._node() if self._node is not None else None
        return tuple(None if item is None else item.unpack(node) for item in self._saved)

    def _finish(self, node: Node | None) -> None:
        """Turn what forward asked to save into saved values (dropped when nothing is recorded)."""
        to_save, self._to_save = self._to_save, ()
        self._dirty = self._non_differentiable = ()
        if node is not None:
            self._node = weakref.ref(node)
            self._saved = tuple(None if tensor is None else _save(tensor, node) for tensor in to_save)


def _save(tensor: Any, node: Node) -> Any:
    """Keep an input or an output, the latter without its node: that would be a reference cycle."""
    from tensorx.ops import record

    if tensor._node is node:
        return record.save_output(tensor, tensor._nr, node.name())
    return record.save_input(tensor, gradient_edge(tensor))


class FunctionNode(Node):
    """The graph node of one call of a custom function. Attributes of the context can be read through it."""

    __slots__ = ("ctx", "function", "inputs", "outputs")

    wants_undefined = True

    def __init__(self, function: type[Function], ctx: FunctionCtx, args: tuple[Any, ...]) -> None:
        self.function, self.ctx = function, ctx
        self.inputs = tuple(_meta(arg) for arg in args)
        self.outputs: tuple[_Meta | None, ...] = ()
        super().__init__(tuple(gradient_edge(arg) if is_tensor(arg) else None for arg in args))

    def name(self) -> str:
        return self.function.__name__ + "Backward"

    def __getattr__(self, name: str) -> Any:
        if name in ("ctx", "extras"):  # not set yet: the constructor failed
            raise AttributeError(name)
        return getattr(self.ctx, name)

    def apply(self, grads: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
        ctx = self.ctx
        if ctx.materialize_grads:
            grads = tuple(_zeros(meta) if g is None else g for g, meta in zip(grads, self.outputs, strict=True))
        every, needed = ctx.needs_input_grad, needed_edges(self)
        ctx.needs_input_grad = every if needed is None else needed
        try:
            results = self.function._backward_rule()(ctx, *grads)
        finally:
            ctx.needs_input_grad = every
        return self._validated(results if isinstance(results, tuple) else (results,))

    def _validated(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        count = len(self.inputs)
        if len(results) > count and all(grad is None for grad in results[count:]):
            results = results[:count]
        if len(results) != count:
            raise GradError(
                f"function {self.name()} returned an incorrect number of gradients (expected {count}, got"
                f" {len(results)})"
            )
        return tuple(
            None if grad is None else self._fit(index, grad, meta)
            for index, (grad, meta) in enumerate(zip(results, self.inputs, strict=True))
        )

    def _fit(self, index: int, grad: Any, meta: _Meta | None) -> Any:
        """Check one result against the input it belongs to; undo broadcasting and dtype promotion."""
        if meta is None:
            raise GradError(
                f"function {self.name()} returned a gradient different than None at position {index + 1}, but the"
                f" corresponding"
                " forward input was not a Variable"
            )
        if not is_tensor(grad):
            raise GradError(f"expected Variable or None (got {type(grad).__name__})")
        if self.edges[index] is None:
            return None
        shape, dtype, device = meta
        where = f"Function {self.name()} returned an invalid gradient at index {index} - "
        if grad.device != device:
            raise GradError(f"{where}expected device {device} but got {grad.device}")
        if tuple(grad.shape) != shape:
            if not _expands(shape, tuple(grad.shape)):
                raise GradError(f"{where}got {list(grad.shape)} but expected shape compatible with {list(shape)}")
            grad = sum_to_shape(grad, shape)
        if grad.dtype is not dtype:
            grad = (grad.real if grad.is_complex() and not dtype.is_complex else grad).to(dtype)
        return grad

    def release(self) -> None:
        if self.ctx._saved:
            self.ctx._saved = None


def _meta(value: Any) -> _Meta | None:
    return (tuple(value.shape), value.dtype, value.device) if is_tensor(value) else None


def _zeros(meta: _Meta | None) -> Any:
    if meta is None:
        return None
    from tensorx.ops import factories

    return factories.zeros(meta[0], dtype=meta[1], device=meta[2])


def _expands(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Return True if ``shape`` broadcasts to exactly ``to``."""
    tail = to[len(to) - len(shape) :] if len(shape) <= len(to) else ()
    return len(tail) == len(shape) and all(a in (1, b) for a, b in zip(shape, tail))


def sum_to_shape(grad: Any, shape: tuple[int, ...]) -> Any:
    """Sum ``grad`` over the dimensions along which ``shape`` was broadcast."""
    extra = len(grad.shape) - len(shape)
    if extra:
        grad = grad.sum(tuple(range(extra)))
    dims = tuple(dim for dim, size in enumerate(shape) if size == 1 and grad.shape[dim] != 1)
    return grad.sum(dims, keepdim=True) if dims else grad


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a ``backward`` that cannot itself be differentiated: it runs unrecorded, and differentiating its result
    raises."""

    @functools.wraps(backward)
    def wrapper(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            results = backward(ctx, *grads)
        if not state.grad or not any(is_tensor(grad) and grad.requires_grad for grad in grads):
            return results
        node = _OnlyOnce(tuple(gradient_edge(grad) if is_tensor(grad) else None for grad in grads))
        if not isinstance(results, tuple):
            return _with_history(results, node, 0)
        node.n_out = len(results)
        return tuple(_with_history(result, node, nr) for nr, result in enumerate(results))

    return wrapper


class _OnlyOnce(Node):
    """Stands behind the results of a backward that is differentiable once."""

    __slots__ = ()

    def name(self) -> str:
        return "Error"

    def apply(self, grads: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
        raise GradError("trying to differentiate twice a function that was marked with @once_differentiable")


def _with_history(result: Any, node: Node, nr: int) -> Any:
    if not is_tensor(result):
        return result
    return _attach(result.detach(), node, nr)


def _attach(tensor: Any, node: Node, nr: int) -> Any:
    tensor._node, tensor._nr, tensor._rg = node, nr, True
    return tensor


def _contains(tensors: tuple[Any, ...], tensor: Any) -> bool:
    return any(item is tensor for item in tensors)


def _output(value: Any, nr: int, node: Node | None, ctx: FunctionCtx, args: tuple[Any, ...]) -> Any:
    """Give one result of forward its history."""
    if not is_tensor(value):
        return value
    is_input, dirty = _contains(args, value), _contains(ctx._dirty, value)
    if dirty:
        value._storage.version += 1
    differentiable = value.dtype.is_floating_point or value.dtype.is_complex
    if node is None or not differentiable or _contains(ctx._non_differentiable, value):
        return value.detach() if value.requires_grad or (is_input and not dirty) else value
    if dirty and is_input:
        return _rebase(value, nr, node, args)
    result = value.detach() if is_input else value
    _mark_view(result, value, is_input)
    return _attach(result, node, nr)


def _mark_view(result: Any, value: Any, is_input: bool) -> None:
    """Note that ``result`` looks into memory of another tensor, so that writing to it in place is refused."""
    from tensorx.ops.views import CUSTOM, View

    view = value._view
    if view is not None:
        result._view = View(view.base, view.steps, CUSTOM, value._storage.version)
    elif is_input:
        result._view = View(value, (), CUSTOM, value._storage.version)


def _rebase(value: Any, nr: int, node: Node, args: tuple[Any, ...]) -> Any:
    """Make ``node`` the newest history of an input that forward changed in place."""
    if value.is_leaf and value.requires_grad:
        raise GradError("a leaf Variable that requires grad has been used in an in-place operation.")
    if value._view is None:
        return _attach(value, node, nr)
    from tensorx.ops.views import check_write, rebase, target_edge

    check_write(node.name(), value, True)
    if args[0] is not value or nr:
        raise GradError(
            f"{node.name()}: argument 'x' of mark_dirty must be the first input and the only output of forward when"
            f" it is a view."
        )
    node.edges = (target_edge(value), *node.edges[1:])
    rebase(value, node)
    return value


class Function:
    """Base of custom differentiable functions.

    Define static ``forward(ctx, *args)`` (or ``forward(*args)`` with ``setup_context(ctx, inputs, output)``) and
    ``backward(ctx, *grad_outputs)``, which returns one gradient, or None, for each argument of forward. Call
    :meth:`apply`.

    >>> import tensorx as tx
    >>> class Square(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad
    >>> x = tx.tensor([3.0], requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor([6.])
    """

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should"
            f" invoke them on the"
            " class itself.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise GradError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd"
            " function with"
            " static forward method."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result. Operations in it are not recorded."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Fill ``ctx``; overriding this means that forward takes no ``ctx``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return one gradient, or None, per argument of forward."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with"
            " backward mode AD."
        )

    vjp = backward

    @classmethod
    def _backward_rule(cls) -> Callable[..., Any]:
        if cls.vjp is Function.vjp:
            return cls.backward
        if cls.backward is not Function.backward:
            raise GradError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only"
                " implement one of them."
            )
        return cls.vjp

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and record the call. ``args`` that are tensors can get gradients.

        Raises RuntimeError for a marked input that forward does not return, or a leaf changed in place.
        """
        setup = cls.setup_context is not Function.setup_context
        if kwargs:
            args = _bound(cls.forward, args if setup else (None, *args), kwargs)[0 if setup else 1 :]
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(is_tensor(arg) and arg.requires_grad for arg in args)
        node = FunctionNode(cls, ctx, args) if state.grad and any(ctx.needs_input_grad) else None
        outer, state.grad = state.grad, False
        try:
            if setup:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args)
            values = output if isinstance(output, tuple) else (output,)
            if not all(_contains(values, tensor) for tensor in ctx._dirty):
                raise GradError(
                    "Some elements marked as dirty during the forward method were not returned as output. The inputs"
                    " that are modified"
                    " inplace must all be outputs of the Function."
                )
            results = tuple(_output(value, nr, node, ctx, args) for nr, value in enumerate(values))
        finally:
            state.grad = outer
        if node is not None:
            node.n_out = len(results)
            node.outputs = tuple(_meta(result) for result in results)
        ctx._finish(node)
        return results if isinstance(output, tuple) else results[0]


def _bound(forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args
