"""Layers under autocast, forward and backward: dtypes as PyTorch's, on cpu and by its CUDA lists elsewhere."""

from __future__ import annotations

import pytest

import tensorx as tx
from tensorx import nn
from tensorx.nn import functional as F

LOW, FULL = "lower", "float32"
# what it computes -> (from x of (2, 5, 8) and an image of (2, 4, 8, 8), on cpu, elsewhere)
PROGRAMS = {
    "linear": (lambda x, image: nn.Linear(8, 8)(x), LOW, LOW),
    "conv, batch norm": (lambda x, image: nn.BatchNorm2d(3)(nn.Conv2d(4, 3, 3)(image)), LOW, LOW),
    "layer norm": (lambda x, image: nn.LayerNorm(8)(nn.Linear(8, 8)(x)), LOW, FULL),
    "group norm": (lambda x, image: nn.GroupNorm(1, 3)(nn.Conv2d(4, 3, 3)(image)), LOW, FULL),
    "RMS norm": (lambda x, image: nn.RMSNorm(8)(nn.Linear(8, 8)(x)), LOW, LOW),
    "LSTM": (lambda x, image: nn.LSTM(8, 6, batch_first=True)(x)[0], LOW, LOW),
    "GRU": (lambda x, image: nn.GRU(8, 6, bidirectional=True)(x)[0], LOW, LOW),
    "RNN cell": (lambda x, image: nn.RNNCell(8, 6)(x[:, 0]), LOW, LOW),
    "attention": (lambda x, image: nn.MultiheadAttention(8, 2)(x, x, x)[0], LOW, LOW),
    "transformer": (lambda x, image: nn.TransformerEncoderLayer(8, 2, 16)(x), FULL, FULL),
    "transposed": (lambda x, image: nn.ConvTranspose2d(4, 3, 3)(image), LOW, LOW),
    "bilinear": (lambda x, image: nn.Bilinear(8, 8, 3)(x, x), FULL, FULL),
    "power": (lambda x, image: nn.Linear(8, 8)(x) ** 2, LOW, FULL),
    "reciprocal": (lambda x, image: 1 / nn.Linear(8, 8)(x).exp(), LOW, FULL),
    "running sum": (lambda x, image: nn.Linear(8, 8)(x).cumsum(0), LOW, FULL),
    "norm": (lambda x, image: nn.Linear(8, 8)(x).norm(), LOW, FULL),
    "cosine": (lambda x, image: F.cosine_similarity(nn.Linear(8, 8)(x), x, dim=-1), FULL, FULL),
    "loss": (lambda x, image: nn.SmoothL1Loss()(nn.Linear(8, 8)(x), x), FULL, FULL),
}


def test_layers_under_autocast(device):
    """With both dtypes; where every kernel takes time to compile, they take turns."""
    wrong, both = [], (tx.bfloat16, tx.float16)
    with device:
        for i, (name, (program, on_cpu, elsewhere)) in enumerate(PROGRAMS.items()):
            for dtype in both[i % 2 :][:1] if device.runtime.capabilities.compiler else both:
                x = tx.linspace(0.1, 1, 80).view(2, 5, 8).requires_grad_()
                image = tx.linspace(0.1, 1, 512).view(2, 4, 8, 8).requires_grad_()
                with tx.autocast(device.type, dtype=dtype):
                    y = program(x, image)
                y.float().sum().backward()
                wanted = dtype if (on_cpu if device.type == "cpu" else elsewhere) == LOW else tx.float32
                grad = x.grad if x.grad is not None else image.grad
                if y.dtype is not wanted or grad.dtype is not tx.float32 or not grad.isfinite().all():
                    wrong.append(f"{name}: {y.dtype}, gradient {grad.dtype}")
    assert not wrong


def test_training_in_half_precision(device):
    """A model learns under autocast with a GradScaler as it does without."""

    def run(enabled):
        tx.manual_seed(0)
        with device:
            model = nn.Sequential(nn.Linear(8, 32), nn.LayerNorm(32), nn.ReLU(), nn.Linear(32, 3))
            x, y = tx.randn(64, 8), tx.randint(0, 3, (64,))
            optimizer = tx.optim.Adam(model.parameters(), lr=1e-2)
            scaler = tx.amp.GradScaler(device.type, init_scale=2.0**10, enabled=enabled)
            for _ in range(20):
                optimizer.zero_grad()
                with tx.autocast(device.type, dtype=tx.float16, enabled=enabled):
                    loss = F.cross_entropy(model(x), y)
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), 10.0)
                scaler.step(optimizer)
                scaler.update()
        return loss.item()

    assert run(True) == pytest.approx(run(False), rel=0.02)
