"""Special functions: the functions of the rows called ``special_*``.

>>> import tensorx
>>> tensorx.special.expit(tensorx.tensor([0.]))
tensor([0.5000])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorx.ops import namespace

if TYPE_CHECKING:
    from tensorx._special import *  # noqa: F403  generated: lists its names

globals().update(namespace("special"))
__all__ = [*sorted(namespace("special"))]  # noqa: PLE0604  names, from the rows
