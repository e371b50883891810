"""Trees of tuples, lists and dicts: flatten, map, and put together again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple


class TreeSpec(NamedTuple):
    """The shape of a tree: the type and keys of a node, and its children; type None is a leaf."""

    type: Any
    context: Any
    children: tuple[TreeSpec, ...]

    @property
    def num_leaves(self) -> int:
        """How many leaves there are."""
        return 1 if self.type is None else sum(c.num_leaves for c in self.children)


LEAF = TreeSpec(None, None, ())


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves, and what `tree_unflatten` needs.

    >>> tree_flatten({"a": (1, 2)})[0]
    [1, 2]
    """
    if is_leaf is not None and is_leaf(tree):
        return [tree], LEAF
    if type(tree) in (dict, OrderedDict):
        items, context = list(tree.values()), tuple(tree)
    elif type(tree) in (tuple, list) or (isinstance(tree, tuple) and hasattr(tree, "_fields")):
        items, context = list(tree), None
    else:
        return [tree], LEAF
    parts = [tree_flatten(item, is_leaf) for item in items]
    return [leaf for leaves, _ in parts for leaf in leaves], TreeSpec(
        type(tree), context, tuple(spec for _, spec in parts)
    )


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> Any:
    """The tree with these leaves.

    >>> tree_unflatten(*tree_flatten([1, {"b": 2}]))
    [1, {'b': 2}]
    """
    return _build(iter(leaves), treespec)


def _build(leaves: Any, spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    items = [_build(leaves, child) for child in spec.children]
    if spec.context is not None:
        return spec.type(zip(spec.context, items))
    return spec.type(*items) if hasattr(spec.type, "_fields") else spec.type(items)


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """``func`` of each leaf (and the leaves of further trees of the same shape).

    >>> tree_map(lambda x: x + 1, (1, [2]))
    (2, [3])
    """
    leaves, spec = tree_flatten(tree)
    others = [tree_flatten(rest)[0] for rest in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others, strict=True)], spec)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves."""
    return tree_flatten(tree)[0]


__all__ = ["TreeSpec", "tree_flatten", "tree_leaves", "tree_map", "tree_unflatten"]
