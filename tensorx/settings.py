"""Settings of the process that PyTorch has, and small functions beside them."""

from __future__ import annotations

import warnings
from typing import Any

from tensorx.ops import determinism

_matmul_precision = "highest"
_interop_threads = 1
_warn_always = False


def set_float32_matmul_precision(precision: str) -> None:
    """Set what `get_float32_matmul_precision` says: ``highest``, ``high`` or ``medium``. Products of float32 are
    computed in float32 in any case.

    A warning for anything else, as in PyTorch.

    >>> import tensorx
    >>> tensorx.set_float32_matmul_precision("high"); tensorx.get_float32_matmul_precision()
    'high'
    >>> tensorx.set_float32_matmul_precision("highest")
    """
    global _matmul_precision
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call "
            "has no effect.",
            stacklevel=2,
        )
        return
    _matmul_precision = precision


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` set; first ``highest``.

    >>> get_float32_matmul_precision()
    'highest'
    """
    return _matmul_precision


def set_num_interop_threads(count: int) -> None:
    """Set what `get_num_interop_threads` says. One op runs at a time.

    >>> set_num_interop_threads(1)
    """
    global _interop_threads
    if count < 1:
        raise RuntimeError("Expected positive number of threads")
    _interop_threads = count


def get_num_interop_threads() -> int:
    """What `set_num_interop_threads` set.

    >>> get_num_interop_threads()
    1
    """
    return _interop_threads


def set_flush_denormal(mode: bool) -> bool:
    """False: denormal numbers are kept.

    >>> set_flush_denormal(True)
    False
    """
    return False


def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype (and device, if it names one) to that of an old type (``tensorx.DoubleTensor``, or its
    name).

    TypeError for a type of integers, AttributeError for a name that is none.

    >>> import tensorx
    >>> tensorx.set_default_tensor_type("torch.DoubleTensor"); tensorx.get_default_dtype()
    tensorx.float64
    >>> tensorx.set_default_tensor_type(tensorx.FloatTensor)
    """
    from tensorx.dtypes import set_default_dtype
    from tensorx.ops import legacy, methods

    if isinstance(t, str):
        *where, name = t.split(".")
        device = where[-1] if where and where[-1] not in ("torch", "tensorx") else "cpu"
        t = legacy.tensor_type(name, device)
    if not isinstance(t, legacy.TensorType):
        raise TypeError("invalid type object")
    dtype: Any = t.dtype
    if not dtype.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type; got {dtype}")
    set_default_dtype(dtype)
    if t.device != "cpu":  # set_default_device stays as it is
        methods.set_default_device(t.device)


def set_warn_always(b: bool) -> None:
    """Set what `is_warn_always_enabled` says.

    >>> set_warn_always(False)
    """
    global _warn_always
    _warn_always = bool(b)


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` set.

    >>> is_warn_always_enabled()
    False
    """
    return _warn_always


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """``0``/``default``: as it comes; ``1``/``warn`` and ``2``/``error``: deterministic kernels (every op has such a
    form).

    >>> set_deterministic_debug_mode("default")
    """
    modes = {"default": 0, "warn": 1, "error": 2}
    if isinstance(debug_mode, str):
        if debug_mode not in modes:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
            )
        debug_mode = modes[debug_mode]
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    determinism.use_deterministic_algorithms(debug_mode > 0)


def get_deterministic_debug_mode() -> int:
    """2 where deterministic kernels are used, else 0.

    >>> get_deterministic_debug_mode()
    0
    """
    return 2 if determinism.are_deterministic_algorithms_enabled() else 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """False: every op has a deterministic form, so nothing warns.

    >>> is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return False


def typename(obj: Any, /) -> str:
    """The name of the object's type, with its module unless that is builtins.

    >>> import tensorx
    >>> tensorx.typename(tensorx.ones(1)), tensorx.typename([])
    ('torch.FloatTensor', 'list')
    """
    from tensorx.tensor import Tensor

    if isinstance(obj, Tensor):
        return obj.type()  # type: ignore[no-any-return]
    what = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(what, "__module__", "") or ""
    return what.__qualname__ if module in ("", "builtins") else f"{module}.{what.__qualname__}"


def is_storage(obj: Any, /) -> bool:
    """Whether ``obj`` is a storage of a tensor.

    >>> is_storage([])
    False
    """
    from tensorx.storage import Storage, TypedStorage

    return isinstance(obj, Storage | TypedStorage)


def compiled_with_cxx11_abi() -> bool:
    """True; asked by code that builds C++ extensions.

    >>> compiled_with_cxx11_abi()
    True
    """
    return True


def _assert(condition: Any, message: str) -> None:
    """AssertionError with ``message`` unless ``condition``."""
    if not condition:
        raise AssertionError(message)


def _checked(error: type[Exception]) -> Any:
    def check(cond: Any, message: Any = None) -> None:
        if not cond:
            raise error(
                "Expected cond to be True" if message is None else str(message() if callable(message) else message)
            )

    check.__doc__ = f"{error.__name__} with ``message`` (a text, or a function that gives one) unless ``cond``."
    return check


_check, _check_index, _check_value = _checked(RuntimeError), _checked(IndexError), _checked(ValueError)
_check_type, _check_not_implemented = _checked(TypeError), _checked(NotImplementedError)
