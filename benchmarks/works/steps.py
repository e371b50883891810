"""Whole training steps, the optimiser alone, and decoding with a cache of keys and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import Peer
from benchmarks.work import Step, Work, below, floats


def mlp(T: Any) -> Any:
    nn = T.nn
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def cnn(T: Any) -> Any:
    nn, layers, width = T.nn, [], 3
    for outs in (32, 64, 128):
        layers += [nn.Conv2d(width, outs, 3, padding=1, bias=False), nn.BatchNorm2d(outs), nn.ReLU(), nn.MaxPool2d(2)]
        width = outs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


def gpt(T: Any, vocabulary: int = 1000, width: int = 256, heads: int = 8, depth: int = 2, length: int = 256) -> Any:
    """A causal transformer; ``model(x, caches)`` decodes with one cache of keys and values a block."""
    nn, F = T.nn, T.nn.functional

    class Block(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any, cache: list[Any] | None = None) -> Any:
            b, n, c = x.shape
            q, k, v = (z.view(b, n, heads, -1).transpose(1, 2) for z in self.qkv(self.norm1(x)).chunk(3, dim=-1))
            if cache is not None:
                k, v = (T.cat([old, new], 2) for old, new in zip(cache, (k, v), strict=True)) if cache else (k, v)
                cache[:] = k, v
            y = F.scaled_dot_product_attention(q, k, v, is_causal=n > 1)
            x = x + self.out(y.transpose(1, 2).reshape(b, n, c))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class Gpt(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList(Block() for _ in range(depth))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

        def forward(self, x: Any, caches: list[list[Any]] | None = None) -> Any:
            start = caches[0][0].shape[2] if caches and caches[0] else 0
            h = self.tokens(x) + self.places(T.arange(start, start + x.shape[1], device=x.device))
            for i, block in enumerate(self.blocks):
                h = block(h, caches[i] if caches is not None else None)
            return self.head(self.norm(h))

    return Gpt()


def lstm(T: Any) -> Any:
    nn = T.nn

    class Lstm(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.lstm, self.head = (
                nn.Embedding(1000, 128),
                nn.LSTM(128, 128, batch_first=True),
                nn.Linear(128, 1000),
            )

        def forward(self, x: Any) -> Any:
            return self.head(self.lstm(self.tokens(x))[0])

    return Lstm()


def training_step(peer: Peer, build: Callable[[Any], Any], x: np.ndarray, y: np.ndarray) -> Step:
    """Forward, cross entropy, backward, AdamW."""
    T = peer.framework()
    x, y = peer.tensor(x), peer.tensor(y)
    model = build(T).to(x.device)
    optimizer = T.optim.AdamW(model.parameters(), lr=1e-4)

    def step() -> Any:
        optimizer.zero_grad()
        loss = T.nn.functional.cross_entropy(model(x).flatten(0, -2), y.flatten())
        loss.backward()
        optimizer.step()
        return loss

    return step


#: Name: network, its input and its targets.
STEPS: dict[str, tuple[Callable[[Any], Any], Callable[[], np.ndarray], Callable[[], np.ndarray]]] = {
    "MLP, batch 128": (mlp, lambda: floats(128, 784), lambda: below(10, 128)),
    "CNN with batch norm, batch 32": (cnn, lambda: floats(32, 3, 32, 32), lambda: below(10, 32)),
    "GPT of 2 layers, 8 x 128": (gpt, lambda: below(1000, 8, 128), lambda: below(1000, 8, 128)),
    "LSTM, 32 x 64": (lstm, lambda: below(1000, 32, 64), lambda: below(1000, 32, 64)),
}


def _adamw(peer: Peer) -> Step:
    """10M parameters, in a transformer's mixture of sizes."""
    T = peer.framework()
    parameters = [
        peer.tensor(floats(*s)).requires_grad_() for s in [(2048, 2048)] * 2 + [(512, 512)] * 6 + [(512,)] * 20
    ]
    for p in parameters:
        p.grad = T.ones_like(p).detach()
    return T.optim.AdamW(parameters, lr=1e-4).step  # type: ignore[no-any-return]


DECODED = 32


def _decode(peer: Peer) -> Step:
    T, prompt = peer.framework(), peer.tensor(below(1000, 1, 16))
    model = gpt(T).to(prompt.device).eval()

    def step() -> Any:
        with T.no_grad():
            caches: list[list[Any]] = [[], []]
            token = model(prompt, caches)[:, -1:].argmax(-1)
            for _ in range(DECODED):
                token = model(token, caches)[:, -1:].argmax(-1)
            return token

    return step


WORKS = [
    *(Work("steps", name, lambda peer, w=w: training_step(peer, w[0], w[1](), w[2]())) for name, w in STEPS.items()),
    Work("optimiser", "AdamW of 10M parameters", _adamw),
    Work("decoding", f"GPT with a cache, {DECODED} tokens (one)", _decode, count=DECODED),
]
