"""Large elementwise ops: contiguous, broadcast and transposed operands, in place, into ``out=``, with gradients."""

from __future__ import annotations

from typing import Any

from benchmarks.peers import Peer
from benchmarks.work import Step, Work, both_ways, floats, function

N = 1 << 24
SIDE = 4096
WHOLE = 4 * N  # bytes of an operand


def _pair() -> list[Any]:
    return [floats(N), floats(N)]


def _square(*more: tuple[int, ...]) -> Any:
    return lambda: [floats(SIDE, SIDE), *(floats(*shape) for shape in more)]


def _add_out(peer: Peer) -> Step:
    T, a, b = peer.framework(), peer.tensor(floats(N)), peer.tensor(floats(N))
    c = T.empty_like(a)
    return lambda: T.add(a, b, out=c)


def _add_in_place(peer: Peer) -> Step:
    a, b = peer.tensor(floats(N)), peer.tensor(floats(N, scale=1e-6))
    return lambda: a.add_(b)


def _cast(to: str) -> Any:
    def make(peer: Peer) -> Step:
        x, dtype = peer.tensor(floats(N)), getattr(peer.framework(), to)
        return lambda: x.to(dtype)

    return make


WORKS = [
    function("elementwise", "a + b", lambda T, a, b: a + b, _pair, nbytes=3 * WHOLE),
    Work("elementwise", "add(a, b, out=c)", _add_out, nbytes=3 * WHOLE),
    Work("elementwise", "a.add_(b)", _add_in_place, nbytes=3 * WHOLE),
    function("elementwise", "a + row", lambda T, a, b: a + b, _square((SIDE,)), nbytes=2 * WHOLE),
    function("elementwise", "a + column", lambda T, a, b: a + b, _square((SIDE, 1)), nbytes=2 * WHOLE),
    function("elementwise", "a.t() + b", lambda T, a, b: T.transpose(a, 0, 1) + b, _square((SIDE, SIDE)), nbytes=3 * WHOLE),
    Work("elementwise", "a.t().contiguous()", lambda peer: _contiguous(peer, (SIDE, SIDE), (1, 0)), nbytes=2 * WHOLE),
    Work("elementwise", "heads: permute(0, 2, 1, 3)", lambda peer: _contiguous(peer, (8, 512, 16, 256), (0, 2, 1, 3)), nbytes=2 * WHOLE),
    function("elementwise", "a * b + a", lambda T, a, b: a * b + a, _pair, nbytes=6 * WHOLE),
    function("elementwise", "exp", lambda T, x: T.exp(x), lambda: [floats(N)], nbytes=2 * WHOLE),
    Work("elementwise", "to float16", _cast("float16"), nbytes=1.5 * WHOLE),
    Work("elementwise", "to bfloat16", _cast("bfloat16"), nbytes=1.5 * WHOLE),
    function("elementwise", "where(a > 0, a, b)", lambda T, a, b: T.where(a > 0, a, b), _pair, nbytes=5.5 * WHOLE),
    *both_ways("elementwise", "gelu, 4M", lambda T, x: T.nn.functional.gelu(x), lambda: [floats(N // 4)], nbytes=WHOLE / 2),
    *both_ways("elementwise", "tanh, 4M", lambda T, x: T.tanh(x), lambda: [floats(N // 4)], nbytes=WHOLE / 2),
]  # fmt: skip


def _contiguous(peer: Peer, shape: tuple[int, ...], order: tuple[int, ...]) -> Step:
    x = peer.tensor(floats(*shape))
    peer.framework()
    return lambda: x.permute(order).contiguous()
