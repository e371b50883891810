"""Saving and loading a module's state, with PyTorch's keys, hooks, messages and rules."""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

import tensorx as tx
from tensorx.autograd.hooks import RemovableHandle, add
from tensorx.nn.parameter import is_lazy

EXTRA_STATE = _EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What ``load_state_dict(strict=False)`` could not match."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


IncompatibleKeys = _IncompatibleKeys


class StateMixin:
    """The half of :class:`Module` that knows about ``state_dict``."""

    _version: int = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Callable[..., Any]]
    _state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]

    def get_extra_state(self) -> Any:
        """Override together with :meth:`set_extra_state` to put more than tensors into the ``state_dict``."""
        raise RuntimeError("get_extra_state: a class that stores extra state must override this method.")

    def set_extra_state(self, state: Any) -> None:
        """Take back what :meth:`get_extra_state` gave."""
        raise RuntimeError("set_extra_state: a class that loads extra state must override this method.")

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Run ``hook(module, prefix, keep_vars)`` before the state is collected."""
        return add(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Run ``hook(module, state_dict, prefix, local_metadata)`` afterwards; it changes the dict in place."""
        hook._from_public_api = True  # type: ignore[attr-defined]  # such a hook must not return another dict
        return add(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        return add(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Run ``hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)`` before
        loading.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        call = (lambda *args: hook(self, *args)) if with_module else hook
        return add(self._load_state_dict_pre_hooks, call)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Run ``hook(module, incompatible_keys)`` after loading; it may change the lists of keys in place."""
        return add(self._load_state_dict_post_hooks, hook)

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """All parameters and persistent buffers by dotted name; detached (sharing memory) unless ``keep_vars``.

        Example:
            >>> import tensorx as tx
            >>> list(tx.nn.Linear(2, 3).state_dict())
            ['weight', 'bias']
        """
        if args:
            message = "Positional args are being deprecated, use kwargs instead."
            warnings.warn(message, FutureWarning, stacklevel=2)
            given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination = given.get("destination", destination)
            prefix, keep_vars = given.get("prefix", prefix), given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in list(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in list(self._state_dict_hooks.values()):
            result = hook(self, destination, prefix, metadata)
            if not getattr(hook, "_from_public_api", False):
                destination = destination if result is None else result
            elif result is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, value in self._parameters.items():
            if value is not None:
                destination[prefix + name] = value if keep_vars else value.detach()
        for name, value in self._buffers.items():
            if value is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = value if keep_vars else value.detach()
        if _overrides(self, "get_extra_state"):
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy (or with ``assign`` put) the tensors of ``state_dict`` into this module and its children.

        Returns the names ``(missing_keys, unexpected_keys)``. A tensor of another shape, and with ``strict`` a missing
        or unexpected key, raises a RuntimeError that lists every problem.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        state = OrderedDict(state_dict)
        if metadata is not None:
            state._metadata = metadata  # type: ignore[attr-defined]
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        _load(self, state, "", strict, assign, missing, unexpected, errors)
        if strict and unexpected:
            errors.insert(0, "Unexpected key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in unexpected)))
        if strict and missing:
            errors.insert(0, "Missing key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in missing)))
        if errors:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(errors))
            )
        return IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        for hook in list(self._load_state_dict_pre_hooks.values()):
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        buffers = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        own = {**self._parameters, **buffers}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, value in own.items():
            if value is None:
                continue
            if prefix + name in state_dict:
                self._load_one(name, value, prefix + name, state_dict[prefix + name], assign, error_msgs)
            elif strict:
                missing_keys.append(prefix + name)
        extra = prefix + EXTRA_STATE
        if _overrides(self, "set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            unexpected_keys.extend(_unexpected(state_dict, prefix, extra, self._modules, own))

    def _load_one(self, name: str, value: Any, key: str, given: Any, assign: bool, errors: list[str]) -> None:
        if not isinstance(given, tx.Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(given)}"
            )
            return
        lazy = is_lazy(value)
        if not lazy and value.dim() == 0 and len(given.shape) == 1 and len(given) == 1:
            given = given[0]  # checkpoints of PyTorch 0.3 and older hold scalars so
        if not lazy and given.shape != value.shape:
            errors.append(
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
                f"the shape in current model is {value.shape}."
            )
            return
        if value.is_meta and not given.is_meta and not assign:
            warnings.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current "
                "module, which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary "
                "to their corresponding key in the module instead of copying them in place?)",
                stacklevel=2,
            )
        if assign:
            if isinstance(value, tx.nn.Parameter):
                if not isinstance(given, tx.nn.Parameter):
                    given = tx.nn.Parameter(given, requires_grad=value.requires_grad)
                else:
                    given.requires_grad_(value.requires_grad)
            setattr(self, name, given)
            return
        try:
            with tx.no_grad():
                value.copy_(given)
        except Exception as error:
            errors.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are {value.shape} and whose '
                f"dimensions in the checkpoint are {given.shape}, an exception occurred : {error.args}."
            )


def _load(
    module: Any,
    state: Any,
    prefix: str,
    strict: bool,
    assign: bool,
    missing: list[str],
    unexpected: list[str],
    errors: list[str],
) -> None:
    metadata = getattr(state, "_metadata", None)
    local = {} if metadata is None else dict(metadata.get(prefix[:-1], {}))
    if assign:
        local["assign_to_params_buffers"] = True
    module._load_from_state_dict(state, prefix, local, True, missing, unexpected, errors)
    for name, child in module._modules.items():
        if child is not None:
            inner = prefix + name + "."
            # A child sees only its own keys, so that a large model is not scanned once for every layer.
            part = OrderedDict((k, v) for k, v in state.items() if k.startswith(inner))
            if metadata is not None:
                part._metadata = metadata  # type: ignore[attr-defined]
            _load(child, part, inner, strict, assign, missing, unexpected, errors)
    keys = IncompatibleKeys(missing, unexpected)
    for hook in list(module._load_state_dict_post_hooks.values()):
        if hook(module, keys) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                "if incompatible_keys need to be modified, it should be done inplace."
            )


def _unexpected(state: Any, prefix: str, extra: str, modules: Any, own: Any) -> list[str]:
    found = []
    for key in state:
        if key.startswith(prefix) and key != extra:
            head, *rest = key[len(prefix) :].split(".", 1)
            if (head not in modules) if rest else (head not in own):
                found.append(key)
    return found


def _overrides(module: Any, name: str) -> bool:
    return getattr(type(module), name) is not getattr(StateMixin, name)
