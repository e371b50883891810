"""Hooks on tensors and graph nodes, and the handles that remove them."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from tensorx.errors import GradError

_next_id = itertools.count().__next__


class RemovableHandle:
    """Removes one hook; it holds the hooks by weak reference only, so a forgotten handle keeps nothing alive.

    >>> hooks = OrderedDict()
    >>> handle = RemovableHandle(hooks)
    >>> hooks[handle.id] = print
    >>> handle.remove()
    >>> len(hooks)
    0
    """

    __slots__ = ("__weakref__", "_extra", "_hooks", "id")

    def __init__(self, hooks: OrderedDict[int, Any], *, extra_dict: Any = None) -> None:
        self.id = _next_id()
        self._hooks = weakref.ref(hooks)
        extras = extra_dict if isinstance(extra_dict, (list, tuple)) else () if extra_dict is None else (extra_dict,)
        self._extra = tuple(weakref.ref(extra) for extra in extras)

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        for ref in (self._hooks, *self._extra):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __reduce__(self) -> Any:  # copied or pickled with its module, it removes the hook of that copy
        return _handle, (self.id, self._hooks(), tuple(ref() for ref in self._extra))

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def _handle(number: int, hooks: OrderedDict[int, Any] | None, extra: tuple[Any, ...]) -> RemovableHandle:
    found = [OrderedDict() if d is None else d for d in (hooks, *extra)]
    handle = RemovableHandle(found[0], extra_dict=found[1:])
    handle.id = number
    return handle


def add(hooks: OrderedDict[int, Any], hook: Callable[..., Any]) -> RemovableHandle:
    """Append ``hook`` to ``hooks`` and return the handle that removes it."""
    if not callable(hook):
        raise TypeError(f"register_hook: argument 'hook' must be callable; got {type(hook).__name__}.")
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def is_tensor(value: object) -> bool:
    """Return True for a tensor (the class itself is above this package)."""
    return getattr(value, "_is_tensor", False)


def _check(hook: Callable[..., Any], old: Any, new: Any) -> None:
    """Raise if ``new``, returned by ``hook``, cannot stand in for the gradient ``old``."""
    if not is_tensor(new):
        raise TypeError(f"expected Variable, but hook returned '{type(new).__name__}'")
    name = getattr(hook, "__name__", type(hook).__name__)
    if old is None:
        raise GradError(f"hook '{name}': can't replace a None gradient with a non-None value")
    for what, before, after in (
        ("type", old.dtype, new.dtype),
        ("location", old.device, new.device),
        ("size", tuple(old.shape), tuple(new.shape)),
    ):
        if before != after:
            raise GradError(f"hook '{name}' has changed the {what} of value (was {before} got {after})")


def apply_tensor_hooks(hooks: OrderedDict[int, Any], grad: Any) -> Any:
    """Pass ``grad`` through tensor hooks; each sees what the one before it returned."""
    for hook in tuple(hooks.values()):  # a copy: a hook may remove itself
        new = hook(grad)
        if new is not None:
            _check(hook, grad, new)
            grad = new
    return grad


def _replace(hook: Callable[..., Any], old: Any, new: Any) -> Any:
    """Return what a node hook made of the gradients ``old``."""
    if new is None:
        return old
    if is_tensor(new) and len(old) == 1:
        new = (new,)
    if not isinstance(new, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(new).__name__}'")
    if len(new) != len(old):
        name = getattr(hook, "__name__", type(hook).__name__)
        raise GradError(
            f"hook '{name}' has returned an incorrect number of values (got {len(new)}, but expected {len(old)})"
        )
    for before, after in zip(old, new):
        if after is not None and after is not before:
            _check(hook, before, after)
    return new


class NodeHooks:
    """Everything rare about a graph node; most nodes have none, so that the engine tests one slot.

    ``tensors``: output number -> hooks of that tensor; ``retains``: output number -> weak reference to a tensor that
    retains its gradient; ``pre`` and ``post``: hooks of the node; ``metadata``: the user's (and anomaly mode's) notes.
    """

    __slots__ = ("metadata", "post", "pre", "retains", "tensors")

    def __init__(self) -> None:
        self.tensors: dict[int, OrderedDict[int, Any]] = {}
        self.retains: dict[int, weakref.ref[Any]] = {}
        self.pre: OrderedDict[int, Any] = OrderedDict()
        self.post: OrderedDict[int, Any] = OrderedDict()
        self.metadata: dict[Any, Any] = {}

    def before_capture(self, grads: list[Any]) -> None:
        """Run tensor hooks, then store retained gradients (which therefore are the final values)."""
        for nr, hooks in self.tensors.items():
            grads[nr] = apply_tensor_hooks(hooks, grads[nr])
        for nr, ref in self.retains.items():
            tensor, grad = ref(), grads[nr]
            if tensor is not None and grad is not None:
                tensor._grad = grad.clone() if tensor._grad is None else tensor._grad + grad

    def before(self, grads: Any) -> Any:
        """Run the node's prehooks on the gradients of its outputs."""
        for hook in tuple(self.pre.values()):
            grads = _replace(hook, grads, hook(grads))
        return grads

    def after(self, results: Any, grads: Any) -> Any:
        """Run the node's hooks on the gradients of its inputs."""
        for hook in tuple(self.post.values()):
            results = _replace(hook, results, hook(results, grads))
        return results


def register_hook(tensor: Any, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call ``hook(grad)`` whenever the gradient of ``tensor`` is computed; a returned tensor replaces it.

    Raises RuntimeError if ``tensor`` does not require grad.
    """
    if not tensor.requires_grad:
        raise GradError("cannot register a hook on a tensor that doesn't require gradient")
    node = tensor.grad_fn
    if node is None:  # a leaf's hooks live on the tensor: its AccumulateGrad node comes and goes with the graphs
        if tensor._hooks is None:
            tensor._hooks = OrderedDict()
        return add(tensor._hooks, hook)
    return add(node.need_extras().tensors.setdefault(tensor._nr, OrderedDict()), hook)


def register_post_accumulate_grad_hook(tensor: Any, hook: Callable[[Any], None]) -> RemovableHandle:
    """Call ``hook(tensor)`` after a backward has accumulated into ``tensor.grad``.

    Raises RuntimeError if ``tensor`` is not a leaf that requires grad.
    """
    if not tensor.requires_grad:
        raise GradError("cannot register a hook on a tensor that doesn't require gradient")
    if tensor.grad_fn is not None:
        raise GradError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    if tensor._post_hooks is None:
        tensor._post_hooks = OrderedDict()
    return add(tensor._post_hooks, hook)


def retain_grad(tensor: Any) -> None:
    """Have backward store the gradient of the non-leaf ``tensor`` in its ``.grad``; does nothing for a leaf.

    Raises RuntimeError if ``tensor`` does not require grad.
    """
    if not tensor.requires_grad:
        raise GradError("can't retain_grad on Tensor that has requires_grad=False")
    node = tensor.grad_fn
    if node is not None and not tensor._retains:
        node.need_extras().retains[tensor._nr] = weakref.ref(tensor)
        tensor._retains = True


def move_retained(tensor: Any, old_node: Any, old_nr: int) -> None:
    """Follow ``tensor`` to its new history after an in-place operation: it retains the gradient of its newest value."""
    if tensor._retains and old_node is not None and old_node.extras is not None:
        ref = old_node.extras.retains.pop(old_nr, None)
        if ref is not None:
            tensor.grad_fn.need_extras().retains[tensor._nr] = ref
