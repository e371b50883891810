"""Deterministic algorithms: no result that depends on the order of atomic additions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorx.autograd.modes import state
from tensorx.ops.dispatch import Mode
from tensorx.ops.table import Op

_everywhere = False


class deterministic(Mode):
    """Mode of the door: calls inside use deterministic kernels.

    >>> import tensorx
    >>> with tensorx.deterministic():
    ...     tensorx.are_deterministic_algorithms_enabled()
    True
    """

    def handle(self, op: Op, args: tuple[Any, ...], out: Any, proceed: Callable[..., Any]) -> Any:
        """Run the call with the flag set."""
        state.deterministic = getattr(state, "deterministic", 0) + 1
        try:
            return proceed(op, args, out)
        finally:
            state.deterministic -= 1


def is_deterministic() -> bool:
    """Whether the running call must be deterministic."""
    return _everywhere or getattr(state, "deterministic", 0) > 0


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Use deterministic kernels everywhere (all of ours have such a form, so ``warn_only`` changes nothing).

    >>> import tensorx
    >>> tensorx.use_deterministic_algorithms(False)
    """
    global _everywhere
    _everywhere = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether deterministic kernels are used.

    >>> import tensorx
    >>> tensorx.are_deterministic_algorithms_enabled()
    False
    """
    return is_deterministic() or any(isinstance(m, deterministic) for m in state.stack)
