"""Reductions along each axis, for few long rows and for many short ones; scans."""

from __future__ import annotations

from typing import Any

from benchmarks.work import both_ways, floats, function

N = 1 << 24
SIDE = 4096
WHOLE = 4 * N


def _of(*shape: int) -> Any:
    return lambda: [floats(*shape)]


WORKS = [
    function("reduce", "sum of all", lambda T, x: T.sum(x), _of(N), nbytes=WHOLE),
    function("reduce", "sum(0)", lambda T, x: T.sum(x, 0), _of(SIDE, SIDE), nbytes=WHOLE),
    function("reduce", "sum(1)", lambda T, x: T.sum(x, 1), _of(SIDE, SIDE), nbytes=WHOLE),
    function("reduce", "sum(1) of 4 long rows", lambda T, x: T.sum(x, 1), _of(4, N // 4), nbytes=WHOLE),
    function("reduce", "sum(1) of rows of 16", lambda T, x: T.sum(x, 1), _of(N // 16, 16), nbytes=WHOLE),
    function("reduce", "sum(1) of the middle axis", lambda T, x: T.sum(x, 1), _of(64, 1024, 256), nbytes=WHOLE),
    function("reduce", "amax(1)", lambda T, x: T.amax(x, 1), _of(SIDE, SIDE), nbytes=WHOLE),
    function("reduce", "argmax(1)", lambda T, x: T.argmax(x, 1), _of(SIDE, SIDE), nbytes=WHOLE),
    function("reduce", "argmax(0)", lambda T, x: T.argmax(x, 0), _of(SIDE, SIDE), nbytes=WHOLE),
    function("reduce", "mean over a batch's pictures", lambda T, x: T.mean(x, (0, 2, 3)), _of(32, 64, 64, 64), nbytes=WHOLE / 2),
    function("reduce", "var(1)", lambda T, x: x.var(1), _of(SIDE, SIDE), nbytes=WHOLE),
    *both_ways("reduce", "sum(1) of squares", lambda T, x: T.sum(x * x, 1), _of(SIDE, SIDE // 4), nbytes=WHOLE / 4),
    function("scan", "cumsum(1)", lambda T, x: T.cumsum(x, 1), _of(SIDE, SIDE // 4), nbytes=WHOLE / 2),
    function("scan", "cumsum(0)", lambda T, x: T.cumsum(x, 0), _of(SIDE, SIDE // 4), nbytes=WHOLE / 2),
    function("scan", "cumsum of 4M", lambda T, x: T.cumsum(x, 0), _of(N // 4), nbytes=WHOLE / 2),
]  # fmt: skip
