"""Large copies: from the host, to the host, and on the device."""

from __future__ import annotations

from benchmarks.peers import Peer
from benchmarks.work import Step, Work, floats

N = 1 << 24


def _to_the_device(peer: Peer) -> Step:
    T, x, there = peer.framework(), floats(N), peer.tensor(floats(1)).device
    host = T.from_numpy(x)
    return lambda: host.to(there, copy=True)


def _to_the_host(peer: Peer) -> Step:
    x = peer.tensor(floats(N))
    return lambda: x.to("cpu", copy=True)


def _on_the_device(peer: Peer) -> Step:
    x = peer.tensor(floats(N))
    return x.clone  # type: ignore[no-any-return]


WORKS = [
    Work("copies", "64 MB from the host", _to_the_device),
    Work("copies", "64 MB to the host", _to_the_host),
    Work("copies", "64 MB on the device", _on_the_device, nbytes=8 * N),
]
