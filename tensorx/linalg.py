"""Linear algebra: the functions of the rows called ``linalg_*``.

>>> import tensorx
>>> tensorx.linalg.solve(tensorx.tensor([[2., 0.], [0., 4.]]), tensorx.tensor([2., 2.]))
tensor([1.0000, 0.5000])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorx.errors import LinAlgError
from tensorx.ops import namespace

if TYPE_CHECKING:
    from tensorx._linalg import *  # noqa: F403  generated: lists its names

globals().update(namespace("linalg"))
__all__ = ["LinAlgError", *sorted(namespace("linalg"))]  # noqa: PLE0604  names, from the rows
