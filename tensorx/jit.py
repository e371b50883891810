"""``torch.jit`` for code that decorates with it: functions and modules run as the Python that they are."""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Callable
from typing import Any, Final, TypeVar

T = TypeVar("T")


class ScriptFunction:
    """What nothing is an instance of: functions stay functions."""


class ScriptModule:
    """What nothing is an instance of: modules stay modules."""


def _no_archive(*args: Any, **kwargs: Any) -> None:
    """Not in this version: there is no TorchScript archive."""
    raise NotImplementedError(
        "jit.save: TorchScript archives are not in this version. Hint: tensorx.save(model.state_dict(), f)"
    )


def _compiled(obj: T) -> T:
    """``obj``, with the ``save`` that scripted functions and modules have, to say that there is none."""
    if not builtins.isinstance(obj, type) and hasattr(obj, "__dict__") and not hasattr(obj, "save"):
        with contextlib.suppress(TypeError):  # a __dict__ that cannot be written
            obj.__dict__["save"] = _no_archive
    return obj


def script(obj: T, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> T:
    """``obj``, a function, class or module, as it is.

    >>> script(len)([1, 2])
    2
    """
    return _compiled(obj)


def trace(
    func: Callable[..., Any],
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """``func``, after one call with ``example_inputs`` (a tensor or a tuple of such), so that what fails there fails
    now.

    >>> import tensorx
    >>> trace(lambda x: x + 1, tensorx.ones(1))(tensorx.zeros(1))
    tensor([1.])
    """
    if example_inputs is not None:
        from tensorx.autograd import no_grad

        with no_grad():
            func(*(example_inputs if isinstance(example_inputs, tuple) else (example_inputs,)))
    return _compiled(func)


def trace_module(mod: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """``mod``."""
    return _compiled(mod)


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Decorator: the function as it is, with and without an argument.

    >>> ignore(len) is len, ignore(drop=True)(len) is len
    (True, True)
    """
    return drop if callable(drop) else lambda f: f


def unused(fn: T) -> T:
    """``fn``."""
    return fn


def export(fn: T) -> T:
    """``fn``."""
    return fn


script_method = interface = script_if_tracing = _overload_method = _overload = unused


def is_scripting() -> bool:
    """False: nothing is scripted.

    >>> is_scripting(), is_tracing()
    (False, False)
    """
    return False


def is_tracing() -> bool:
    """False: nothing is traced."""
    return False


def annotate(the_type: Any, the_value: T) -> T:
    """``the_value``."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's own isinstance."""
    return builtins.isinstance(obj, target_type)


def freeze(mod: T, *args: Any, **kwargs: Any) -> T:
    """``mod``, which must be in evaluation mode (RuntimeError)."""
    if getattr(mod, "training", False):
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module "
            "before freezing."
        )
    return mod


def optimize_for_inference(mod: T, *args: Any, **kwargs: Any) -> T:
    """``mod``."""
    return mod


save = _no_archive


def load(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Not in this version: there is no TorchScript archive."""
    raise NotImplementedError(
        "jit.load: TorchScript archives are not in this version. Hint: load a state_dict with tensorx.load(f)"
    )


__all__ = [
    "Final",
    "ScriptFunction",
    "ScriptModule",
    "annotate",
    "export",
    "freeze",
    "ignore",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "optimize_for_inference",
    "save",
    "script",
    "trace",
    "trace_module",
    "unused",
]
