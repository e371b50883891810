"""OpenMP: kernels on cpu are built with it where there is a C compiler."""

from __future__ import annotations


def is_available() -> bool:
    """Whether kernels on cpu are C programs (with OpenMP)."""
    from tensorx.devices import registry

    return bool(registry.resolve("cpu").runtime.capabilities.compiler)  # type: ignore[union-attr]  # resolved, hence opened
