"""Anomaly mode: remember where each node was made, and stop at the first NaN in a backward."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

from tensorx.errors import GradError

TRACEBACK, PARENT = "traceback_", "parent_"  # keys in a node's metadata


class _Mode:
    """Process wide, as nodes are made in one thread and run in another."""

    __slots__ = ("check_nan", "on")

    def __init__(self) -> None:
        self.on, self.check_nan = False, True


mode = _Mode()


class set_detect_anomaly:
    """Switch anomaly mode, at once or (in a ``with``) for a block.

    While it is on, nodes remember the traceback of the forward call that made them, an error in a backward shows it as
    a warning, and (``check_nan``) a NaN in a gradient raises RuntimeError. It is slow: use it to find errors only.

    >>> with set_detect_anomaly(False):
    ...     mode.on
    False
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._previous = (globals()["mode"].on, globals()["mode"].check_nan)
        globals()["mode"].on, globals()["mode"].check_nan = bool(mode), bool(check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        mode.on, mode.check_nan = self._previous


class detect_anomaly:
    """Anomaly mode for a block; see :class:`set_detect_anomaly`. Entering it warns that it is slow.

    >>> with detect_anomaly():  # doctest: +SKIP
    ...     loss.backward()
    """

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan
        self._previous = (mode.on, mode.check_nan)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for"
            " debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._previous = (mode.on, mode.check_nan)
        mode.on, mode.check_nan = True, self._check_nan

    def __exit__(self, *error: object) -> None:
        mode.on, mode.check_nan = self._previous


def is_anomaly_enabled() -> bool:
    """Return True while anomaly mode is on.

    >>> import tensorx as tx
    >>> tx.autograd.is_anomaly_enabled()
    False
    """
    return mode.on


def is_anomaly_check_nan_enabled() -> bool:
    """Return True if anomaly mode, when on, looks for NaN.

    >>> import tensorx as tx
    >>> tx.autograd.is_anomaly_check_nan_enabled()
    True
    """
    return mode.check_nan


def note(node: Any, parent: Any) -> None:
    """Remember the forward traceback in ``node``, and the node whose backward was running (double backward)."""
    metadata = node.need_extras().metadata
    metadata[TRACEBACK] = traceback.format_stack()[:-3]  # without the three frames of our own
    metadata[PARENT] = parent


def explain(node: Any) -> None:
    """Warn with the forward traceback of ``node`` and of the nodes that made it."""
    metadata = node.metadata
    if TRACEBACK not in metadata:
        warnings.warn(
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during"
            f" forward pass for"
            " more information.",
            stacklevel=2,
        )
        return
    stack = "".join(metadata[TRACEBACK])
    warnings.warn(
        f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{stack}", stacklevel=2
    )
    parent = metadata[PARENT]
    while parent is not None and TRACEBACK in parent.metadata:
        stack = "".join(parent.metadata[TRACEBACK])
        warnings.warn(f"\n\nPrevious calculation was induced by {parent.name()}. Traceback:\n{stack}", stacklevel=2)
        parent = parent.metadata[PARENT]


def apply(node: Any, grads: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """Run ``node.apply`` and explain an error or a NaN."""
    try:
        results = node.apply(grads, create_graph)
        if mode.check_nan:
            for number, grad in enumerate(results):
                if grad is not None and bool(grad.isnan().any()):
                    raise GradError(f"Function '{node.name()}' returned nan values in its {number}th output.")
    except Exception:
        explain(node)
        raise
    return results
