"""Which tile won where: size classes of contractions, and the winners of a device on disk.

A winner is one of the :func:`tensorx.kernels.contraction.tilings` of a call, found by :mod:`tensorx.ops.tuning`, which
runs them. The file lies beside the kernel cache and is keyed by the device's fingerprint (device, driver, compiler,
mask) and by the texts of the templates: a winner was checked with exactly these.
"""

from __future__ import annotations

import bisect
import functools
import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import cache
from .contract import extents
from .generator import TEMPLATES

if TYPE_CHECKING:
    from .contraction import Call

__all__ = ["Winners", "size_class"]

_ROOM = "tunings"
#: Extents up to 1, 2, 4 (thin tiles have as many rows), 8, 64, 512, and more.
_BOUNDS = (1, 2, 4, 8, 64, 512)


def size_class(call: Call) -> str:
    """What a winner is kept under: dtypes and access of the operands, and the class of each extent.

    >>> from tensorx.kernels.capabilities import Capabilities
    >>> from tensorx.kernels.contraction import View, matmul
    >>> square = View("f32", (1024, 1024), (1024, 1))
    >>> size_class(matmul(Capabilities("c", simd_width=8), square, square, square))
    'contract f32n f32k f32n 0666'
    """
    spec = call.spec
    windows = (0, *spec.param("patch"))
    placed = (f"{o.dtype}{'w' if w else o.access}" for o, w in zip(spec.operands[:3], windows, strict=True))
    batch, m, n, k = (bisect.bisect_left(_BOUNDS, e) for e in extents(spec, call.numbers))
    return f"contract {' '.join(placed)} {min(batch, 1)}{m}{n}{k}"


@functools.cache
def _texts() -> str:
    """A digest of the templates."""
    texts = (path.read_bytes() for path in sorted(TEMPLATES.glob("contract*.mako")))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


class Winners:
    """Answers found by trials on the device with this fingerprint: question and size class -> a tile's ``repr``.

    >>> Winners("a device never tuned").get("tile contract f32n f32k f32n 0666") is None
    True
    """

    def __init__(self, fingerprint: str) -> None:
        self._key = (fingerprint, _texts())
        self._found = self._read()

    def _read(self) -> dict[str, str]:
        payload = cache.recall(_ROOM, self._key)
        return dict(json.loads(payload)) if payload else {}

    def __len__(self) -> int:
        return len(self._found)

    def get(self, question: str) -> str | None:
        """The answer, if there is one."""
        return self._found.get(question)

    def put(self, answers: Mapping[str, str]) -> bool:
        """Keep answers, beside those that other processes have kept meanwhile. False where the disk keeps nothing."""
        self._found = {**self._found, **self._read(), **answers}
        return cache.keep(_ROOM, self._key, json.dumps(self._found, sort_keys=True).encode())
