"""Autocast: a mode of the door that brings operands to the dtype that suits the op (see `lists`)."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from tensorx import dtypes
from tensorx.amp.lists import KINDS, policy
from tensorx.autograd.modes import state
from tensorx.devices import registry
from tensorx.dtypes import dtype as DType
from tensorx.ops.dispatch import Mode
from tensorx.ops.table import Op
from tensorx.tensor import Tensor

_defaults: dict[str, DType] = {"cpu": dtypes.bfloat16}  # all others: float16
_cache_enabled = True
_ABSENT = (
    "mps",
    "xpu",
    "hip",
    "hpu",
    "xla",
    "mtia",
    "npu",
)  # PyTorch names of devices that are never there: a warning, as in PyTorch


def default_dtype(device_type: str) -> DType:
    """What autocast casts to on such devices when it is not told."""
    return _defaults.get(device_type, dtypes.float16)


class Autocasting(Mode):
    """The mode: one device type, one lower dtype. Backward runs without it, in the dtypes that forward chose."""

    in_backward = False
    sees_writes = False

    def __init__(self, device_type: str, dtype: DType, cache: dict[int, Any] | None) -> None:
        self.type, self.dtype, self.cache = device_type, dtype, cache

    def enter(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], inner: tuple[Mode, ...]
    ) -> tuple[tuple[Any, ...], dict[str, Any], tuple[Mode, ...]]:
        """A composite: its operands are cast, and its body runs without autocast, if it is listed."""
        rule = policy(name, self.type)
        if not rule or (rule == "float32" and kwargs.get("dtype") is not None):
            return args, kwargs, inner
        to = self._target(rule, (*args, *kwargs.values()))
        args = tuple(self._cast(a, to) for a in args)
        return args, {k: self._cast(v, to) for k, v in kwargs.items()}, tuple(m for m in inner if m is not self)

    def handle(self, op: Op, args: tuple[Any, ...], out: Any, proceed: Callable[..., Any]) -> Any:
        """A primitive. Forms that write into a given tensor are not touched, as in PyTorch."""
        if out is None:
            rule = "lower" if op.kind.name in KINDS else policy(op.schema.name, self.type)
            if not rule and op.schema.name == "div" and not isinstance(args[0], Tensor):
                rule = policy("reciprocal", self.type)  # number / tensor
            if rule == "float32" and any(p.name == "dtype" and a is not None for p, a in zip(op.schema.params, args)):
                rule = ""
            if rule:
                to = self._target(rule, args)
                args = tuple(self._cast(a, to) for a in args)
        return proceed(op, args, out)

    def _eligible(self, t: Any) -> bool:
        return (
            isinstance(t, Tensor)
            and t.dtype.is_floating_point
            and t.dtype is not dtypes.float64
            and t.device.type == self.type
        )

    def _target(self, rule: str, args: tuple[Any, ...]) -> DType:
        if rule == "lower":
            return self.dtype
        if rule == "float32":
            return dtypes.float32
        flat = [t for a in args for t in (a if isinstance(a, (tuple, list)) else (a,)) if self._eligible(t)]
        return dtypes.float32 if any(t.dtype is not self.dtype for t in flat) else self.dtype

    def _cast(self, value: Any, to: DType) -> Any:
        if isinstance(value, (tuple, list)):
            return type(value)(self._cast(v, to) for v in value) if type(value) in (tuple, list) else value
        if not self._eligible(value) or value.dtype is to:
            return value
        keep = self.cache is not None and to is self.dtype and value.requires_grad and value.is_leaf
        if self.cache is None or not keep:
            return value.to(to)
        found = self.cache.get(id(value))
        seen = (value._version, state.grad)
        if found is None or found[1] != seen:
            found = self.cache[id(value)] = (value, seen, value.to(to))  # holding value keeps its id taken
        return found[2]


class autocast:
    """In the block (or the decorated function) products and convolutions run in ``dtype``, and ops that need the range
    in
    float32, on devices of ``device_type``.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ``"opencl"``, ...: the type of device whose tensors are cast.
        dtype: the lower dtype; default bfloat16 on cpu, else float16.
        enabled: False switches autocast off in the block.
        cache_enabled: cast a weight once, not at every use (default True); the casts live until the block ends.

    Call ``backward`` outside; gradients have their parameter's dtype. A device that is not there, or a dtype that is no
    lower
    one, is a warning and disables it.

    >>> import tensorx
    >>> a = tensorx.ones(2, 2)
    >>> with tensorx.autocast("cpu"):
    ...     (a @ a).dtype, (a + a).dtype
    (tensorx.bfloat16, tensorx.float32)
    """

    def __init__(
        self, device_type: str, dtype: DType | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type not in registry.BACKENDS and device_type not in _ABSENT:
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'. "
                f"Hint: one of {', '.join(registry.BACKENDS)}"
            )
        self.device = device_type
        self.fast_dtype = default_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = _cache_enabled if cache_enabled is None else cache_enabled
        self._enabled = bool(enabled)
        self._outer: list[tuple[Any, ...]] = []
        if self._enabled:
            reason = self._unusable()
            if reason:
                warnings.warn(reason, stacklevel=2)
                self._enabled = False

    def _unusable(self) -> str:
        if not is_autocast_available(self.device):
            return f"User provided device_type of '{self.device}', but it is not available. Disabling"
        if self.fast_dtype not in (dtypes.float16, dtypes.bfloat16):
            return (
                f"In {self.device.upper()} autocast, but the target dtype is not supported. Disabling autocast.\n"
                "Autocast only supports dtypes of bfloat16 and float16 currently."
            )
        return ""

    def __enter__(self) -> autocast:
        stack = state.stack
        self._outer.append(stack)
        previous = next((m for m in stack if isinstance(m, Autocasting) and m.type == self.device), None)
        state.stack = tuple(m for m in stack if m is not previous)
        if self._enabled:
            cache: dict[int, Any] | None = {} if self._cache_enabled else None
            if (
                cache is not None
                and previous is not None
                and previous.dtype is self.fast_dtype
                and previous.cache is not None
            ):
                cache = previous.cache  # nested blocks share what is cast
            state.stack += (Autocasting(self.device, self.fast_dtype, cache),)
        return self

    def __exit__(self, *error: object) -> None:
        state.stack = self._outer.pop()

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The decorator."""

        @functools.wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return decorated


def _active(device_type: str) -> Autocasting | None:
    return next((m for m in state.stack if isinstance(m, Autocasting) and m.type == device_type), None)


def is_autocast_available(device_type: str) -> bool:
    """Whether there is such a device, to which autocast can apply.

    >>> is_autocast_available("cpu")
    True
    """
    return device_type in registry.BACKENDS and not registry.backend(device_type).available()


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on, in this thread, for such devices.

    >>> with autocast("cpu"):
    ...     is_autocast_enabled("cpu"), is_autocast_enabled()
    (True, False)
    """
    return _active(device_type) is not None


def is_autocast_cpu_enabled() -> bool:
    """``is_autocast_enabled("cpu")``.

    >>> is_autocast_cpu_enabled()
    False
    """
    return is_autocast_enabled("cpu")


def get_autocast_dtype(device_type: str) -> DType:
    """What autocast casts to on such devices.

    >>> get_autocast_dtype("cpu")
    tensorx.bfloat16
    """
    mode = _active(device_type)
    return default_dtype(device_type) if mode is None else mode.dtype


def set_autocast_dtype(device_type: str, dtype: DType) -> None:
    """Set what autocast casts to on such devices when it is not told.

    >>> set_autocast_dtype("cpu", get_autocast_dtype("cpu"))
    """
    _defaults[device_type] = dtype


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Switch autocast on or off for such devices (with one argument: cuda) in this thread, until switched again.

    >>> set_autocast_enabled("cpu", True)
    >>> is_autocast_enabled("cpu")
    True
    >>> set_autocast_enabled("cpu", False)
    """
    kind, on = ("cuda", bool(device_type)) if enabled is None else (str(device_type), enabled)
    state.stack = tuple(m for m in state.stack if m is not _active(kind))
    if on:
        state.stack += (Autocasting(kind, default_dtype(kind), None),)


def get_autocast_gpu_dtype() -> DType:
    """``get_autocast_dtype("cuda")``.

    >>> get_autocast_gpu_dtype()
    tensorx.float16
    """
    return get_autocast_dtype("cuda")


def get_autocast_cpu_dtype() -> DType:
    """``get_autocast_dtype("cpu")``.

    >>> get_autocast_cpu_dtype()
    tensorx.bfloat16
    """
    return get_autocast_dtype("cpu")


def is_autocast_cache_enabled() -> bool:
    """Whether a new autocast keeps the casts of weights.

    >>> is_autocast_cache_enabled()
    True
    """
    return _cache_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether a new autocast keeps the casts of weights.

    >>> set_autocast_cache_enabled(True)
    """
    global _cache_enabled
    _cache_enabled = bool(enabled)


def clear_autocast_cache() -> None:
    """Drop the casts that this thread's autocast blocks hold.

    >>> clear_autocast_cache()
    """
    for mode in state.stack:
        if isinstance(mode, Autocasting) and mode.cache is not None:
            mode.cache.clear()


def _map(value: Any, device_type: str, dtype: DType) -> Any:
    if isinstance(value, Tensor):
        wanted = value.is_floating_point() and value.device.type == device_type and value.dtype is not dtypes.float64
        return value.to(dtype) if wanted else value
    if isinstance(value, dict):
        return {_map(k, device_type, dtype): _map(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        mapped = [_map(v, device_type, dtype) for v in value]
        return type(value)(*mapped) if hasattr(value, "_fields") else type(value)(mapped)
    return value


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: DType | None = None) -> Any:
    """Decorator of ``forward`` of an autograd.Function: note whether autocast is on, for `custom_bwd`; with
    ``cast_inputs``, cast the
    inputs to it and run without autocast."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = get_autocast_dtype(device_type)
        on = is_autocast_enabled(device_type)
        if cast_inputs is None:
            ctx._fwd_used_autocast = on
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        if not on:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_map(args, device_type, cast_inputs), **_map(kwargs, device_type, cast_inputs))

    return decorated


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """Decorator of ``backward`` of an autograd.Function with `custom_fwd`: run it with the same autocast."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return decorated
