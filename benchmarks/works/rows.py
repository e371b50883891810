"""Softmax, norms and cross entropy over rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.work import below, both_ways, floats

ROWS, WIDTH = 4096, 1024
WHOLE = 4 * ROWS * WIDTH


def _rows(*more: np.ndarray) -> Any:
    return lambda: [floats(ROWS, WIDTH), *more]


def _layer_norm(T: Any, x: Any, w: Any, b: Any) -> Any:
    return T.nn.functional.layer_norm(x, (WIDTH,), w, b)


def _batch_norm(T: Any, x: Any, w: Any, b: Any) -> Any:
    return T.nn.functional.batch_norm(x, None, None, w, b, training=True)


WORKS = [
    *both_ways("rows", "softmax", lambda T, x: T.softmax(x, -1), _rows(), nbytes=2 * WHOLE),
    *both_ways("rows", "log_softmax", lambda T, x: T.log_softmax(x, -1), _rows(), nbytes=2 * WHOLE),
    *both_ways("rows", "softmax of rows of 64", lambda T, x: T.softmax(x, -1), lambda: [floats(ROWS * 16, 64)], nbytes=2 * WHOLE),
    *both_ways("rows", "layer_norm", _layer_norm, _rows(floats(WIDTH), floats(WIDTH)), nbytes=2 * WHOLE),
    *both_ways("rows", "rms_norm", lambda T, x, w: T.nn.functional.rms_norm(x, (WIDTH,), w), _rows(floats(WIDTH)), nbytes=2 * WHOLE),
    *both_ways("rows", "batch_norm", _batch_norm, lambda: [floats(32, 64, 32, 32), floats(64), floats(64)], nbytes=4 * WHOLE / 2),
    *both_ways("rows", "group_norm", lambda T, x: T.nn.functional.group_norm(x, 8), lambda: [floats(32, 64, 32, 32)], nbytes=WHOLE),
    *both_ways("rows", "cross_entropy of 10,000 classes", lambda T, x, y: T.nn.functional.cross_entropy(x, y),
               lambda: [floats(512, 10_000), below(10_000, 512)], nbytes=4 * 512 * 10_000),
]  # fmt: skip
