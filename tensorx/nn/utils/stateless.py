"""Calling a module with other parameters and buffers than its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any


def _groups(module: Any) -> tuple[dict[str, Any], dict[int, list[str]]]:
    """All tensors by name (those of tied weights by each of their names), and the names of each tensor."""
    found: dict[str, Any] = {}
    names: dict[int, list[str]] = {}
    for members in (module.named_parameters, module.named_buffers):
        for name, tensor in members(remove_duplicate=False):
            found[name] = tensor
            names.setdefault(id(tensor), []).append(name)
    return found, names


def _with_tied(module: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """``given``, and the other names of tied tensors for the same value. ValueError if they are given two."""
    found, names = _groups(module)
    values = dict(given)
    for name in given:
        tied = names.get(id(found.get(name)), [])
        several = {id(given[other]) for other in tied if other in given}
        if len(several) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider using "
                "tie_weights=False"
            )
        for other in tied:
            values.setdefault(other, given[name])
    return values


def _check_names(module: Any, values: Mapping[str, Any]) -> None:
    found, _ = _groups(module)
    unexpected, missing = [n for n in values if n not in found], [n for n in found if n not in values]
    if unexpected or missing:
        lines = [f"Error(s) in reparametrizing for {type(module).__name__}:"]
        for what, keys in (("Unexpected", unexpected), ("Missing", missing)):
            if keys:
                lines.append(f"\n\t{what} key(s): {', '.join(map(repr, keys))}.")
        raise RuntimeError("".join(lines))


def _slot(module: Any, path: str) -> tuple[dict[str, Any], str] | None:
    """The registry that holds a dotted name."""
    *parents, name = path.split(".")
    for parent in parents:
        module = module._modules.get(parent)
        if module is None:
            return None
    return next(((r, name) for r in (module._parameters, module._buffers) if name in r), None)


@contextmanager
def reparametrized(
    module: Any, values: Mapping[str, Any], tie_weights: bool = True, strict: bool = False
) -> Iterator[Any]:
    """``module`` with ``values`` in the place of its own tensors while the block runs; what a buffer became then is
    put into ``values`` if that is a dict.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.Linear(1, 1)
        >>> with tx.nn.utils.stateless.reparametrized(layer, {"weight": tx.zeros(1, 1), "bias": tx.ones(1)}):
        ...     layer(tx.ones(1))
        tensor([1.])
    """
    full = _with_tied(module, values) if tie_weights else dict(values)
    if strict:
        _check_names(module, full)
    before: list[tuple[dict[str, Any], str, Any, str]] = []
    try:
        for path, value in full.items():
            slot = _slot(module, path)
            if slot is not None:
                before.append((*slot, slot[0][slot[1]], path))
                slot[0][slot[1]] = value
        yield module
    finally:
        for registry, name, value, path in reversed(before):
            now = registry.get(name)
            if isinstance(values, dict) and path in values:
                values[path] = now
            registry[name] = value


def functional_call(
    module: Any,
    parameters_and_buffers: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``module(*args, **kwargs)`` with these tensors in the place of its own, by dotted name.

    Args:
        parameters_and_buffers: a dict, or several that have no name in common.
        args: the positional arguments; one that is no tuple stands for itself.
        tie_weights: a tensor for one name of tied weights counts for the others.
        strict: RuntimeError for names that are missing or that the module does not have.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.Linear(1, 1)
        >>> tx.nn.utils.stateless.functional_call(layer, {"weight": tx.zeros(1, 1), "bias": tx.ones(1)}, tx.ones(2, 1))
        tensor([[1.],
                [1.]])
    """
    if isinstance(parameters_and_buffers, Mapping):
        values: Any = parameters_and_buffers
    elif isinstance(parameters_and_buffers, Sequence):
        names = [name for given in parameters_and_buffers for name in given]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        values = {name: value for given in parameters_and_buffers for name, value in given.items()}
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameters_and_buffers)}"
        )
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with reparametrized(module, values, tie_weights, strict):
        return module(*args, **(kwargs or {}))


__all__ = ["functional_call", "reparametrized"]
