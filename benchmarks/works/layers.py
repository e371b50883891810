"""Pooling, embedding, gathering, sorting; causal attention."""

from __future__ import annotations

from typing import Any

from benchmarks.work import below, both_ways, floats, function

HEADS = (8, 8, 512, 64)


def _attention(T: Any, q: Any, k: Any, v: Any) -> Any:
    return T.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def _pictures() -> list[Any]:
    return [floats(8, 64, 112, 112)]


WORKS = [
    *both_ways("pooling", "max_pool2d 3, stride 2", lambda T, x: T.nn.functional.max_pool2d(x, 3, 2, 1), _pictures),
    *both_ways("pooling", "avg_pool2d 2", lambda T, x: T.nn.functional.avg_pool2d(x, 2), _pictures),
    *both_ways("pooling", "adaptive_avg_pool2d 1", lambda T, x: T.nn.functional.adaptive_avg_pool2d(x, 1), _pictures),
    *both_ways("pooling", "interpolate 2, bilinear",
               lambda T, x: T.nn.functional.interpolate(x, scale_factor=2, mode="bilinear"), lambda: [floats(4, 64, 56, 56)]),
    *both_ways("index", "embedding 64 x 128 of 50,000 x 256", lambda T, i, w: T.nn.functional.embedding(i, w),
               lambda: [below(50_000, 64, 128), floats(50_000, 256)]),
    function("index", "x[i], 8192 of 50,000 rows", lambda T, x, i: x[i], lambda: [floats(50_000, 256), below(50_000, 8192)]),
    function("index", "gather(1)", lambda T, x, i: T.gather(x, 1, i), lambda: [floats(4096, 1024), below(1024, 4096, 1024)]),
    function("index", "masked_select", lambda T, x: T.masked_select(x, x > 0), lambda: [floats(1 << 22)]),
    function("sort", "sort of 1M", lambda T, x: T.sort(x)[0], lambda: [floats(1 << 20)]),
    function("sort", "sort(-1) of 4096 x 256", lambda T, x: T.sort(x)[0], lambda: [floats(4096, 256)]),
    function("sort", "topk 50 of 1024 x 10,000", lambda T, x: T.topk(x, 50)[0], lambda: [floats(1024, 10_000)]),
    *both_ways("attention", "causal 8 x 8 x 512 x 64", _attention, lambda: [floats(*HEADS) for _ in range(3)],
               flops=4.0 * 64 * 512 * 512 * 64 / 2),
]  # fmt: skip
