"""Grad modes: thread-local switches that say whether operations are recorded.

``state`` is read on every operation, so its defaults are class attributes: a thread that never changed
a mode pays no set-up.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any


class _State(threading.local):
    grad: bool = True  # operations on tensors that require grad are recorded
    inference: bool = False  # new tensors are inference tensors
    stack: tuple[Any, ...] = ()  # active modes of the door, innermost last; empty costs one test
    saved_hooks: tuple[Any, ...] = ()  # (pack, unpack) pairs of graph.saved_tensors_hooks, innermost last
    disabled_hooks: str | None = None  # why saved_tensors_hooks must not be used here
    running: Any = None  # the node whose apply runs now (kept in anomaly mode only)
    needed: Any = None  # nodes that the running backward needs, None for all (see engine.needed_edges)


state = _State()


def is_grad_enabled() -> bool:
    """Return True if operations are recorded for differentiation in this thread.

    >>> is_grad_enabled()
    True
    """
    return state.grad


def is_inference_mode_enabled() -> bool:
    """Return True inside :class:`inference_mode`.

    >>> is_inference_mode_enabled()
    False
    """
    return state.inference


def _wrap_generator(make: Callable[[], Any], func: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a generator function so that its body runs in the mode, and its consumer, between two items, does not."""

    @functools.wraps(func)
    def generator(*args: Any, **kwargs: Any) -> Any:
        gen = func(*args, **kwargs)
        step, arg = gen.send, None
        try:
            while True:
                with make():
                    item = step(arg)
                try:
                    arg = yield item
                    step = gen.send
                except GeneratorExit:
                    with make():
                        gen.close()
                    raise
                except BaseException as error:
                    step, arg = gen.throw, error
        except StopIteration as stop:
            return stop.value

    return generator


class _Mode:
    """A context manager that is a decorator too; every call of a decorated function enters a fresh copy."""

    __slots__ = ("_previous",)
    _previous: list[Any]  # a list: one object may be entered twice

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        name = type(self).__name__
        if inspect.isclass(func) or not callable(func):
            raise TypeError(
                f"{name}: argument 'func' must be a function or method; got {func!r}. Hint: decorate __init__ instead."
            )
        if inspect.isgeneratorfunction(func):
            return _wrap_generator(self._copy, func)

        @functools.wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self._copy():
                return func(*args, **kwargs)

        return decorated

    def _copy(self) -> Any:
        return type(self)()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *error: object) -> None:
        state.grad = self._previous.pop()


class no_grad(_Mode):
    """Switch recording off, as a context manager or a decorator (functions and generators).

    >>> with no_grad():
    ...     is_grad_enabled()
    False
    """

    __slots__ = ()

    def __new__(cls, func: Callable[..., Any] | None = None) -> Any:
        self = object.__new__(cls)
        self._previous = []
        return self if func is None else self(func)

    def __enter__(self) -> None:
        self._previous.append(state.grad)
        state.grad = False


class enable_grad(no_grad):
    """Switch recording on again inside :class:`no_grad`, as a context manager or a decorator.

    >>> with no_grad(), enable_grad():
    ...     is_grad_enabled()
    True
    """

    __slots__ = ()

    def __enter__(self) -> None:
        self._previous.append(state.grad)
        state.grad = True


class set_grad_enabled(_Mode):
    """Set recording to ``mode``: at once when called as a function, until the end of the block in a ``with``.

    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    """

    __slots__ = ("mode",)

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._previous = [state.grad]
        state.grad = self.mode

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        state.grad = self._previous[0]  # used as a decorator: what the constructor switched is undone
        return super().__call__(func)

    def _copy(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __enter__(self) -> None:
        if not self._previous:  # entered again after a first block
            self._previous.append(state.grad)
        state.grad = self.mode


class inference_mode(_Mode):
    """Switch recording off and mark new tensors as inference tensors, which never take part in autograd.

    ``inference_mode(False)`` leaves the mode again (and switches recording on).

    >>> with inference_mode():
    ...     is_grad_enabled(), is_inference_mode_enabled()
    (False, True)
    """

    __slots__ = ("mode",)
    mode: bool

    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        self._previous = []
        if callable(mode):
            self.mode = True
            return self(mode)
        self.mode = bool(mode)
        return self

    def _copy(self) -> inference_mode:
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self._previous.append((state.grad, state.inference))
        state.grad, state.inference = not self.mode, self.mode

    def __exit__(self, *error: object) -> None:
        state.grad, state.inference = self._previous.pop()
