"""Discrete Fourier transforms: the functions of the rows called ``fft_*``, and their frequencies.

>>> import tensorx
>>> tensorx.fft.rfft(tensorx.tensor([1., 0., 0., 0.])).real
tensor([1., 1., 1.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorx.ops import namespace
from tensorx.ops.fourier import fftfreq, rfftfreq

if TYPE_CHECKING:
    from tensorx._fft import *  # noqa: F403  generated: lists its names

globals().update(namespace("fft"))
__all__ = ["fftfreq", "rfftfreq", *sorted(namespace("fft"))]  # noqa: PLE0604  names, from the rows
