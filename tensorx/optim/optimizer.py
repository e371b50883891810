"""Optimizer: what all optimisers share - parameter groups, state, hooks, saving - and the step over an update rule.

An optimiser is one pure function over Expr-like operands, its *update rule*: from a parameter, its gradient, its state
and scalars to the new parameter and state, elementwise. `tensorx.ops.fused.step` makes it one in-place kernel; the
scalars (learning rate, bias corrections) are run-time inputs, so a schedule never compiles anything.
"""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import tensorx as tx
from tensorx.autograd.hooks import RemovableHandle, add
from tensorx.ops import fused

Rule = Callable[..., tuple[Any, ...]]
#: What an optimiser takes first.
ParamsT = Iterable[Any]

_global_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_global_post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Run ``hook(optimizer, args, kwargs)`` before the step of every optimiser."""
    return add(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Run ``hook(optimizer, args, kwargs)`` after the step of every optimiser."""
    return add(_global_post_hooks, hook)


class _Required:
    """Marks a default that every group must give itself."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


@functools.cache
def specialise(rule: Rule, **flags: Hashable) -> Rule:
    """``rule`` with its compile-time choices made. Cached: the same choices give the same object, by which kernels
    are kept.
    """
    return functools.wraps(rule)(functools.partial(rule, **flags))


def number(value: Any) -> float:
    """A hyperparameter as a Python number; learning rates may be tensors."""
    return value.item() if isinstance(value, tx.Tensor) else value


def check_rate(lr: Any, form: str = "Invalid learning rate: {}") -> None:
    """ValueError for a learning rate below 0, NaN, or a tensor of several elements."""
    if isinstance(lr, tx.Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    require(number(lr) >= 0.0, form.format(lr))


def check_betas(betas: tuple[Any, Any]) -> None:
    """ValueError for a decay rate outside [0, 1)."""
    for i, beta in enumerate(betas):
        require(0.0 <= number(beta) < 1.0, f"Invalid beta parameter at index {i}: {beta}")


def require(condition: bool, message: str) -> None:
    """ValueError with ``message`` unless ``condition``: a hyperparameter is out of range."""
    if not condition:
        raise ValueError(message)


class Optimizer:
    """Base class. A subclass gives its defaults to ``__init__`` and writes :meth:`update` (or all of :meth:`step`).

    Args:
        params: tensors, pairs (name, tensor), or dicts with a key ``params`` and settings that differ from
            ``defaults``.
        defaults: the settings of groups that do not give their own.

    Attributes:
        param_groups: list of dicts ``{"params": [...], "lr": ..., ...}``; schedulers change them.
        state: what is remembered of each parameter.

    Example:
        >>> import tensorx as tx
        >>> w = tx.zeros(2, requires_grad=True)
        >>> tx.optim.SGD([{"params": [w], "lr": 0.5}], lr=0.1).param_groups[0]["lr"]
        0.5
    """

    param_groups: list[dict[str, Any]]
    state: defaultdict[Any, Any]
    #: What ``state`` holds as Python numbers, and a state_dict as zero-dim float32 tensors, as in PyTorch's.
    numbers: tuple[str, ...] = ()

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if defaults.get("fused") and (defaults.get("differentiable") or defaults.get("foreach")):
            if defaults.get("differentiable"):
                raise RuntimeError("`fused` does not support `differentiable`")
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        self.defaults = defaults
        self._make_hooks()
        if isinstance(params, tx.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {type(params).__name__}"
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(dict(group))

    def _make_hooks(self) -> None:
        for name in ("pre", "post"):
            for what in ("step", "state_dict", "load_state_dict"):
                self.__dict__.setdefault(f"_optimizer_{what}_{name}_hooks", OrderedDict())

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Every subclass's own ``step`` runs the hooks and counts as a step, for the schedulers."""
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _hooked(cls.__dict__["step"])  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hooks()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = []
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return type(self).__name__ + " (" + "\n".join(lines) + "\n)"

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters, with settings of their own, for instance of layers unfrozen later."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be in an ordered collection; a set has no stable order")
        params = [params] if isinstance(params, tx.Tensor) else list(params)
        if params and all(isinstance(p, tuple) for p in params):
            param_group["param_names"] = [name for name, _ in params]
            params = [p for _, p in params]
        for p in params:
            if not isinstance(p, tx.Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + type(p).__name__)
            if not self.defaults.get("differentiable") and not p.is_leaf and not p.retains_grad:
                raise ValueError("can't optimize a non-leaf Tensor")
        param_group["params"] = params
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        ids = [id(p) for p in params]
        if len(set(ids)) != len(ids):
            raise ValueError("optimizer contains a parameter group with duplicate parameters")
        if {id(p) for group in self.param_groups for p in group["params"]} & set(ids):
            raise ValueError("some parameters appear in more than one parameter group")
        named = "param_names" in param_group
        if self.param_groups and named != ("param_names" in self.param_groups[0]):
            raise ValueError("all optimizer param groups should be with/without names.")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget (or with ``set_to_none=False`` zero) the gradients."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    p.grad.detach_().requires_grad_(False).zero_()

    # The step -----------------------------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; ``closure``, if given, computes the loss again and is what is
        returned.
        """
        loss = None
        if closure is not None:
            with tx.enable_grad():
                loss = closure()
        with tx.set_grad_enabled(bool(self.defaults.get("differentiable"))):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self.update(p, p.grad, self.state[p], group)
        return loss

    @staticmethod
    def apply(
        rule: Rule, scalars: dict[str, Any], grad: Any, outs: Sequence[Any], more: Sequence[Any] = (), reads: int = -1
    ) -> None:
        """Write ``rule(p, grad, *state, *more, **scalars)`` into ``outs``, parameter and state, in one kernel.

        A complex parameter is a pair of real ones, as in PyTorch. Of ``outs`` the first ``reads`` are read, by default
        all.
        """
        given = [tx.view_as_real(t) if t.is_complex() else t for t in outs]
        grad = tx.view_as_real(grad) if grad.is_complex() else grad
        p, *rest = given if reads < 0 else given[:reads]
        fused.step(rule, (p, grad, *rest, *more), scalars, given)

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change ``p`` and ``state`` in place; every optimiser writes its own."""
        raise NotImplementedError

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Run ``hook(optimizer, args, kwargs)`` before each step; it may return new ``(args, kwargs)``."""
        return add(self._optimizer_step_pre_hooks, hook)  # type: ignore[attr-defined]  # made by _make_hooks

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Run ``hook(optimizer, args, kwargs)`` after each step."""
        return add(self._optimizer_step_post_hooks, hook)  # type: ignore[attr-defined]

    # Saving -------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """``{"state": ..., "param_groups": ...}`` with parameters replaced by their numbers; the tensors are not
        copied.
        """
        for hook in list(self._optimizer_state_dict_pre_hooks.values()):  # type: ignore[attr-defined]
            hook(self)
        order = {id(p): i for i, p in enumerate(p for group in self.param_groups for p in group["params"])}
        numbers = [[order[id(p)] for p in group["params"]] for group in self.param_groups]
        settings = [{k: v for k, v in group.items() if k != "params"} for group in self.param_groups]
        groups = [group | {"params": ns} for group, ns in zip(settings, numbers)]
        state = {order[id(p)] if isinstance(p, tx.Tensor) else p: self._pack(s) for p, s in self.state.items()}
        made = {"state": state, "param_groups": groups}
        for hook in list(self._optimizer_state_dict_post_hooks.values()):  # type: ignore[attr-defined]
            result = hook(self, made)
            made = made if result is None else result
        return made

    def _pack(self, state: Any) -> Any:
        if not isinstance(state, dict):
            return state
        plain = {name: state[name] for name in self.numbers if isinstance(state.get(name), (int, float))}
        return state | {name: tx.tensor(float(x), dtype=tx.float32, device="cpu") for name, x in plain.items()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the state (moved to each parameter's device and, if floating point, dtype) and the groups' settings."""
        state_dict = dict(state_dict)
        for hook in list(self._optimizer_load_state_dict_pre_hooks.values()):  # type: ignore[attr-defined]
            result = hook(self, state_dict)
            state_dict = state_dict if result is None else result
        given = copy.deepcopy([{k: v for k, v in g.items() if k != "params"} for g in state_dict["param_groups"]])
        numbers = [group["params"] for group in state_dict["param_groups"]]
        if len(given) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(ns) != len(group["params"]) for ns, group in zip(numbers, self.param_groups)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        by_number = {n: p for ns, group in zip(numbers, self.param_groups) for n, p in zip(ns, group["params"])}
        self.state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            p = by_number.get(key)
            self.state[key if p is None else p] = value if p is None else self._unpack(p, value)
        for mine, theirs in zip(self.param_groups, given):
            names = mine.get("param_names")
            kept = {"params": mine["params"]} | ({"param_names": names} if names is not None else {})
            mine.clear()
            mine.update({**self.defaults, **theirs, **kept})
        for hook in list(self._optimizer_load_state_dict_post_hooks.values()):  # type: ignore[attr-defined]
            hook(self)

    def _unpack(self, p: Any, value: Any, key: str = "") -> Any:
        if key in self.numbers:
            return number(value)
        if key == "step":  # a count of an optimiser that is not ours: of its own dtype
            return copy.deepcopy(value)
        if isinstance(value, tx.Tensor):
            floating = p.is_floating_point() and value.is_floating_point()
            return value.to(device=p.device, dtype=p.dtype if floating else value.dtype, copy=True)
        if isinstance(value, dict):
            return {k: self._unpack(p, v, k) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._unpack(p, v) for v in value)
        return copy.deepcopy(value)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Run ``hook(optimizer)`` before :meth:`state_dict`."""
        return self._register("state_dict_pre", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Run ``hook(optimizer, state_dict)`` after :meth:`state_dict`; it may return another dict."""
        return self._register("state_dict_post", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Run ``hook(optimizer, state_dict)`` before :meth:`load_state_dict`; it may return another dict."""
        return self._register("load_state_dict_pre", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Run ``hook(optimizer)`` after :meth:`load_state_dict`."""
        return self._register("load_state_dict_post", hook, prepend)

    def _register(self, which: str, hook: Callable[..., Any], prepend: bool) -> RemovableHandle:
        hooks = getattr(self, f"_optimizer_{which}_hooks")
        handle = add(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle


def _hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(step)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        for hook in [*_global_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()]:
            result = hook(self, args, kwargs)
            if result is not None:
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(f"a step pre-hook must return None or (new_args, new_kwargs), but got {result}.")
                args, kwargs = result
        out = step(self, *args, **kwargs)
        self._step_count = getattr(self, "_step_count", 0) + 1
        for hook in [*self._optimizer_step_post_hooks.values(), *_global_post_hooks.values()]:
            hook(self, args, kwargs)
        return out

    return wrapper


Optimizer.step = _hooked(Optimizer.step)  # type: ignore[method-assign]  # the subclasses that write only `update`
