"""Which neighbours a resampled coordinate reads, with what weights: one table a dimension, made on the host.

Source coordinates follow PyTorch: ``scale * (c + 0.5) - 0.5`` between pixels' centres, ``scale * c`` between the corners' centres with
``align_corners``. Cubic weights are Keys' (1981, https://doi.org/10.1109/TASSP.1981.1163711), with a = -0.75, and -0.5 where antialiased.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Table(NamedTuple):
    """Coordinate c reads ``counts[c]`` elements from ``first[c]`` on; ``weights[c, t]`` belongs to the t-th."""

    first: Array
    counts: Array
    weights: Array


MODES = ("nearest", "nearest-exact", "linear", "cubic", "linear-aa", "cubic-aa")


@lru_cache(maxsize=256)
def table(mode: str, n: int, w: int, align_corners: bool, scale: float | None, wide: bool, back: bool) -> Table:
    """The table from ``n`` elements to ``w``, or for gradients from the w back to the n. ``scale`` is the factor that the caller gave;
    ``wide`` says that the data is in double precision.

    >>> table("linear", 2, 4, False, None, False, False).weights.tolist()
    [[1.0, 0.0], [0.75, 0.25], [0.25, 0.75], [1.0, 0.0]]
    """
    found = _nearest(mode, n, w, scale, wide) if mode.startswith("nearest") else _smooth(mode, n, w, align_corners, scale)
    return transposed(found, n) if back else found


def _ratio(n: int, w: int, align_corners: bool, scale: float | None) -> float:
    """How far neighbours of the result lie apart in the source."""
    if align_corners:
        return (n - 1) / (w - 1) if w > 1 else 0.0
    return 1 / scale if scale else n / w


def _nearest(mode: str, n: int, w: int, scale: float | None, wide: bool) -> Table:
    """In PyTorch's precision: which of two neighbours is nearer may depend on it."""
    f: Any = np.float64 if wide else np.float32
    step = f(1 / scale) if scale else f(n) / f(w)
    places: Array = (np.arange(w, dtype=f) + f(0.5 if mode == "nearest-exact" else 0)) * step
    first = np.minimum(np.floor(places.astype(np.float32)).astype(np.int64), n - 1)
    return Table(first, np.ones(w, np.int64), np.ones((w, 1)))


def _smooth(mode: str, n: int, w: int, align_corners: bool, scale: float | None) -> Table:
    step, c = _ratio(n, w, align_corners, scale), np.arange(w)
    if mode.endswith("-aa"):
        return _antialiased(mode.startswith("cubic"), n, step, c)
    at = step * c if align_corners else step * (c + 0.5) - 0.5
    if mode == "linear":
        at = c.astype(np.float64) if n == w else np.maximum(at, 0)
        low = np.minimum(np.floor(at), n - 1)
        part = np.clip(at - low, 0, 1)
        places, weights = np.stack([low, np.minimum(low + 1, n - 1)], 1), np.stack([1 - part, part], 1)
    else:
        low = np.floor(at)
        part = np.clip(at - low, 0, 1)
        places = np.clip(low[:, None] + np.arange(-1, 3), 0, n - 1)
        weights = _keys(np.stack([part + 1, part, 1 - part, 2 - part], 1), -0.75)
    return _merged(places.astype(np.int64), weights, n)


def _keys(x: Array, a: float) -> Array:
    """Keys' cubic convolution kernel at distances ``x``."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _antialiased(cubic: bool, n: int, step: float, c: Array) -> Table:
    """The filter is stretched where the result is smaller, so that every source element counts."""
    stretch = max(step, 1.0)
    support = (2.0 if cubic else 1.0) * stretch
    centre = step * (c + 0.5)
    first = np.maximum((centre - support + 0.5).astype(np.int64), 0)
    end = np.minimum((centre + support + 0.5).astype(np.int64), n)
    count = np.maximum(end - first, 1)
    x = (np.arange(int(count.max())) + first[:, None] - centre[:, None] + 0.5) / stretch
    weights = np.where(np.arange(x.shape[1]) < count[:, None], _keys(x, -0.5) if cubic else np.maximum(1 - np.abs(x), 0), 0.0)
    return Table(first, count, weights / weights.sum(1, keepdims=True))


def _merged(places: Array, weights: Array, n: int) -> Table:
    """Neighbours that the border pushes onto one element count once, with the sum of their weights."""
    first = places[:, 0]
    count = places[:, -1] - first + 1
    out = np.zeros((len(first), int(count.max())))
    np.add.at(out, (np.arange(len(first))[:, None], places - first[:, None]), weights)
    return Table(first, count, out)


def transposed(t: Table, n: int) -> Table:
    """The table of the gradient: which results read an element. As ``first`` and its end never fall, these are neighbours, too."""
    end, i = t.first + t.counts, np.arange(n)
    first = np.searchsorted(end, i, side="right")
    count = np.maximum(np.searchsorted(t.first, i, side="right") - first, 0)
    width = max(int(count.max()), 1) if n else 1
    c = np.minimum(first[:, None] + np.arange(width), len(t.first) - 1)
    at = np.clip(i[:, None] - t.first[c], 0, t.weights.shape[1] - 1)
    return Table(np.minimum(first, len(t.first) - 1), count, np.where(np.arange(width) < count[:, None], t.weights[c, at], 0.0))
