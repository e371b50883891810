"""``torch._inductor``: a compiler's settings, which scripts set; they change nothing (see `tensorx.compile`).

>>> import tensorx
>>> tensorx._inductor.config.coordinate_descent_tuning = True
"""

from __future__ import annotations

from types import SimpleNamespace

config = SimpleNamespace(triton=SimpleNamespace(), cpp=SimpleNamespace(), cuda=SimpleNamespace())

__all__ = ["config"]
