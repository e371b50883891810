"""Five networks as any PyTorch-like module ``T`` builds and trains them: weights and batches come from NumPy.

``curve(T, name, device)`` gives the losses of 100 steps. ``python tests/curves/networks.py torch`` records
PyTorch's in ``tests/data/curves.json`` (2.13 on the CPU, float32).
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

RECORD = Path(__file__).parents[1] / "data" / "curves.json"
STEPS = 100
TEXT = (
    "the wind came over the hill and the grass bent down before it, wave after wave, as if the field were a sea. "
    "nobody was there to see it. a gate stood open; a bucket lay on its side; the dog slept on the warm stones. "
)
LETTERS = sorted(set(TEXT))


def images(random: np.random.RandomState, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Bars and blobs of 12 x 12 with noise: four classes that a small network learns."""
    labels = random.randint(0, 4, count)
    x = random.randn(count, 1, 12, 12).astype(np.float32) * 0.5
    for i, label in enumerate(labels):
        at = random.randint(2, 8)
        if label == 0:
            x[i, 0, at] += 2
        elif label == 1:
            x[i, 0, :, at] += 2
        elif label == 2:
            x[i, 0, at : at + 3, at : at + 3] += 2
        else:
            x[i, 0, np.arange(12), np.arange(12)] += 2
    return x, labels


def letters(random: np.random.RandomState, batch: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Pieces of TEXT as numbers, and the same a letter later."""
    code = np.array([LETTERS.index(c) for c in TEXT])
    starts = random.randint(0, len(code) - length - 1, batch)
    return np.stack([code[s : s + length] for s in starts]), np.stack([code[s + 1 : s + length + 1] for s in starts])


class Mlp:
    """Two hidden layers, SGD with momentum."""

    def __init__(self, T: Any) -> None:
        nn = T.nn
        self.model = nn.Sequential(
            nn.Flatten(), nn.Linear(144, 64), nn.ReLU(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 4)
        )
        self.optimizer = T.optim.SGD(self.model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)

    def batch(self, random: np.random.RandomState) -> tuple[np.ndarray, ...]:
        return images(random, 32)

    def loss(self, T: Any, x: Any, y: Any) -> Any:
        return T.nn.functional.cross_entropy(self.model(x), y)


class Cnn:
    """Convolutions, batch norm, pooling; AdamW."""

    def __init__(self, T: Any) -> None:
        nn = T.nn
        self.model = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.LeakyReLU(0.1), nn.AdaptiveAvgPool2d(2),
            nn.Flatten(), nn.Linear(64, 4),
        )  # fmt: skip
        self.optimizer = T.optim.AdamW(self.model.parameters(), lr=3e-3)

    batch, loss = Mlp.batch, Mlp.loss


class Gpt:
    """A causal transformer of four blocks over letters; AdamW, clipped gradients, a schedule."""

    def __init__(self, T: Any) -> None:
        nn = T.nn

        class Block(nn.Module):
            def __init__(self, width: int, heads: int) -> None:
                super().__init__()
                self.heads = heads
                self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
                self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

            def forward(self, x: Any) -> Any:
                b, n, c = x.shape
                parts = self.qkv(self.norm1(x)).chunk(3, dim=-1)
                q, k, v = (z.view(b, n, self.heads, c // self.heads).transpose(1, 2) for z in parts)
                y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                x = x + self.out(y.transpose(1, 2).reshape(b, n, c))
                return x + self.mlp(self.norm2(x))

        class Model(nn.Module):
            def __init__(self, width: int = 32, depth: int = 4, heads: int = 4, length: int = 16) -> None:
                super().__init__()
                self.letters, self.places = nn.Embedding(len(LETTERS), width), nn.Embedding(length, width)
                self.blocks = nn.ModuleList([Block(width, heads) for _ in range(depth)])
                self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, len(LETTERS), bias=False)

            def forward(self, x: Any) -> Any:
                h = self.letters(x) + self.places(T.arange(x.shape[1], device=x.device))
                for block in self.blocks:
                    h = block(h)
                return self.head(self.norm(h))

        self.model = Model()
        self.optimizer = T.optim.AdamW(self.model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.1)
        self.schedule = T.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, STEPS)

    def batch(self, random: np.random.RandomState) -> tuple[np.ndarray, ...]:
        return letters(random, 8, 16)

    def loss(self, T: Any, x: Any, y: Any) -> Any:
        return T.nn.functional.cross_entropy(self.model(x).flatten(0, 1), y.flatten())


class Vae:
    """A variational autoencoder whose noise is given; Adam."""

    def __init__(self, T: Any) -> None:
        nn = T.nn
        self.model = nn.ModuleDict({
            "encoder": nn.Sequential(nn.Linear(144, 64), nn.Softplus(), nn.Linear(64, 16)),
            "decoder": nn.Sequential(nn.Linear(8, 64), nn.ELU(), nn.Linear(64, 144)),
        })
        self.optimizer = T.optim.Adam(self.model.parameters(), lr=2e-3)

    def batch(self, random: np.random.RandomState) -> tuple[np.ndarray, ...]:
        x = 1 / (1 + np.exp(-images(random, 16)[0].reshape(16, 144)))
        return x.astype(np.float32), random.randn(16, 8).astype(np.float32)

    def loss(self, T: Any, x: Any, noise: Any) -> Any:
        mean, log_variance = self.model["encoder"](x).chunk(2, dim=1)
        z = mean + noise * T.exp(0.5 * log_variance)
        rebuilt = T.nn.functional.binary_cross_entropy_with_logits(self.model["decoder"](z), x, reduction="sum")
        return rebuilt - 0.5 * T.sum(1 + log_variance - mean.pow(2) - log_variance.exp())


class Lstm:
    """Two recurrent layers over letters; RMSprop, clipped gradients."""

    def __init__(self, T: Any) -> None:
        nn = T.nn

        class Model(nn.Module):
            def __init__(self, width: int = 32) -> None:
                super().__init__()
                self.letters = nn.Embedding(len(LETTERS), width)
                self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True)
                self.head = nn.Linear(width, len(LETTERS))

            def forward(self, x: Any) -> Any:
                return self.head(self.lstm(self.letters(x))[0])

        self.model = Model()
        self.optimizer = T.optim.RMSprop(self.model.parameters(), lr=2e-3, alpha=0.95)

    def batch(self, random: np.random.RandomState) -> tuple[np.ndarray, ...]:
        return letters(random, 8, 12)

    loss = Gpt.loss


NETWORKS = {"mlp": Mlp, "cnn": Cnn, "gpt": Gpt, "vae": Vae, "lstm": Lstm}


def curve(T: Any, name: str, device: Any, steps: int = STEPS) -> list[float]:
    """The loss of every step."""
    network = NETWORKS[name](T)
    model = network.model.to(device)
    random = np.random.RandomState(len(name))
    with T.no_grad():
        for p in model.parameters():
            scale = 1 / np.sqrt(p.shape[-1]) if p.dim() > 1 else 0.1
            is_gain = p.dim() == 1 and float(p.mean()) > 0.9
            p.copy_(T.tensor((random.randn(*p.shape) * scale + is_gain).astype(np.float32)))
    losses = []
    for _ in range(steps):
        batch = [T.tensor(array, device=device) for array in network.batch(random)]
        network.optimizer.zero_grad()
        loss = network.loss(T, *batch)
        loss.backward()
        T.nn.utils.clip_grad_norm_(model.parameters(), 5.0 if name != "vae" else 1e4)
        network.optimizer.step()
        if hasattr(network, "schedule"):
            network.schedule.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    library = importlib.import_module(sys.argv[1])
    rows = {name: [float(f"{x:.6g}") for x in curve(library, name, "cpu")] for name in NETWORKS}
    RECORD.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in rows.items()) + "\n}\n")
