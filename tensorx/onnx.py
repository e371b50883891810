"""``torch.onnx``: export comes in a later version."""

from __future__ import annotations

from typing import Any


def is_in_onnx_export() -> bool:
    """False.

    >>> is_in_onnx_export()
    False
    """
    return False


def export(*args: Any, **kwargs: Any) -> Any:
    """Not in this version: NotImplementedError."""
    raise NotImplementedError(
        "onnx.export: is not in this version. Hint: save the weights, tensorx.save(model.state_dict(), path), and "
        "export them from PyTorch"
    )


__all__ = ["export", "is_in_onnx_export"]
