"""Who does the work: tensorx and what it is compared with. A peer makes steps of works, and waits for its device."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from benchmarks.timing import Loop
from benchmarks.work import Step

#: Name of the package, and the module here that holds its ``make``.
PEERS = {"torch": "modules", "tinygrad": "tinygrad", "jax": "jax", "numpy": "numpy"}


class Peer(Protocol):
    """A framework on a device."""

    name: str

    def function(self, f: Callable[..., Any], arrays: Sequence[np.ndarray], grad: bool) -> Step:
        """A step that calls ``f(T, *tensors)``, and with ``grad`` also takes the gradients of its float tensors."""
        ...

    def framework(self) -> Any:
        """The module with ``nn`` and ``optim``. Unsupported where there is none like PyTorch's."""
        ...

    def tensor(self, array: np.ndarray) -> Any: ...

    def loop(self, step: Step) -> Loop:
        """``step`` again and again; the last result is waited for."""
        ...


def installed(names: Sequence[str] | None = None) -> list[str]:
    """The peers that are here; with ``names`` just these, and an error that names the pip command for a missing one."""
    if names is None:
        return [name for name in PEERS if importlib.util.find_spec(name)]
    for package in (name.partition(":")[0] for name in names):
        if package not in PEERS:
            raise SystemExit(f"--peers: must be among {', '.join(PEERS)}; got {package}")
        if not importlib.util.find_spec(package):
            raise SystemExit(f"--peers: {package} is not installed. Hint: pip install {package}")
    return list(names)


def make(name: str, device: str | None = None) -> Peer:
    """A peer on a device of its own naming (``torch:cuda``); tensorx on ``device``."""
    name, _, its = name.partition(":")
    device = its or device
    if name == "tensorx":
        module = "modules"
    else:
        module = PEERS[name]
    return importlib.import_module(f"benchmarks.peers.{module}").make(name, device)  # type: ignore[no-any-return]
