"""Names for annotations, as ``torch.types`` has them.

>>> import tensorx
>>> def double(x: tensorx.types.Tensor, by: tensorx.types.Number = 2) -> tensorx.types.Tensor:
...     return x * by
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, TypeAlias

from tensorx.devices.registry import device as _device
from tensorx.dtypes import dtype as _dtype
from tensorx.formats import layout as _layout
from tensorx.storage import Storage
from tensorx.tensor import Size, Tensor

_int: TypeAlias = builtins.int
_float: TypeAlias = builtins.float
_bool: TypeAlias = builtins.bool
_complex: TypeAlias = builtins.complex
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
Number: TypeAlias = int | float | bool
Device: TypeAlias = _device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]

__all__ = ["Device", "FileLike", "Number", "Size", "Storage", "Tensor", "_dtype", "_layout"]
