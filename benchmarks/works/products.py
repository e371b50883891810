"""Matrix products: square, odd, batched, skinny, linear layers."""

from __future__ import annotations

from typing import Any

from benchmarks.work import Work, both_ways, floats, function

#: With neighbours of powers of two, and primes: edge tiles must not be a cliff.
SQUARES = (64, 128, 256, 512, 1021, 1023, 1024, 1025, 1536, 2048)


def _product(name: str, m: int, n: int, k: int, turned: str = "") -> Work:
    def f(T: Any, a: Any, b: Any) -> Any:
        return T.matmul(T.transpose(a, 0, 1) if "a" in turned else a, T.transpose(b, 0, 1) if "b" in turned else b)

    a, b = (k, m) if "a" in turned else (m, k), (n, k) if "b" in turned else (k, n)
    return function(
        "matmul", name, f, lambda: [floats(*a), floats(*b)], flops=2.0 * m * n * k, nbytes=4.0 * (m * k + k * n + m * n)
    )


def _linear(T: Any, x: Any, w: Any, b: Any) -> Any:
    return T.nn.functional.linear(x, w, b)


WORKS = [
    *(_product(f"{n} x {n} x {n}", n, n, n) for n in SQUARES),
    _product("1024, b transposed", 1024, 1024, 1024, "b"),
    _product("1024, a transposed", 1024, 1024, 1024, "a"),
    _product("1 x 4096 x 4096", 1, 4096, 4096),
    _product("1 x 4096 x 4096, b transposed", 1, 4096, 4096, "b"),
    _product("4096 x 1 x 4096", 4096, 1, 4096),
    _product("64 x 64 x 65536", 64, 64, 65536),
    _product("16384 x 64 x 64", 16384, 64, 64),
    function("matmul", "64 of 128 x 128 x 128", lambda T, a, b: T.bmm(a, b), lambda: [floats(64, 128, 128)] * 2, flops=2.0 * 64 * 128**3),
    function("matmul", "4096 of 16 x 16 x 16", lambda T, a, b: T.bmm(a, b), lambda: [floats(4096, 16, 16)] * 2, flops=2.0 * 4096 * 16**3),
    *both_ways("matmul", "linear 512 x 1024 to 4096", _linear, lambda: [floats(512, 1024), floats(4096, 1024), floats(4096)],
               flops=2.0 * 512 * 1024 * 4096),
    *both_ways("matmul", "linear 32 x 256 to 256", _linear, lambda: [floats(32, 256), floats(256, 256), floats(256)],
               flops=2.0 * 32 * 256 * 256),
]  # fmt: skip
