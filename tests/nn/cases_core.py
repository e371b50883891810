"""Linear, convolution, normalisation, embedding, activations, cross entropy and their like."""

import numpy as np
from nn_cases import array, layer, loss

X = array(4, 6)
LOGITS = array(5, 4, seed=1)
TARGET = np.array([0, 3, 1, 1, 2])
HOLES = np.array([0, -100, 1, -100, 2])
WEIGHT = np.abs(array(4, seed=2)) + np.float32(0.1)
SOFT = np.abs(array(5, 4, seed=3))
SOFT /= SOFT.sum(1, keepdims=True)

layer("linear", lambda nn: nn.Linear(6, 3), X)
layer("linear without bias, 3-d", lambda nn: nn.Linear(6, 3, bias=False), array(2, 3, 6))
layer("linear on a vector", lambda nn: nn.Linear(6, 3), array(6))
layer("relu", lambda nn: nn.ReLU(), np.array([-1.0, 0.0, 2.0], np.float32))
layer("tanh", lambda nn: nn.Tanh(), X)
layer("sigmoid", lambda nn: nn.Sigmoid(), X)
layer("silu", lambda nn: nn.SiLU(), X)
layer("gelu", lambda nn: nn.GELU(), X)
layer("gelu tanh", lambda nn: nn.GELU(approximate="tanh"), X)
layer("softmax", lambda nn: nn.Softmax(dim=-1), X)
layer("log_softmax", lambda nn: nn.LogSoftmax(dim=0), X)
layer("flatten", lambda nn: nn.Flatten(), array(2, 3, 4))
layer("layer_norm", lambda nn: nn.LayerNorm((3, 4)), array(2, 3, 4))
layer("layer_norm plain", lambda nn: nn.LayerNorm(6, elementwise_affine=False), X)
layer("embedding", lambda nn: nn.Embedding(5, 3, padding_idx=1), np.array([[0, 1], [4, 0]]))
layer("conv2d", lambda nn: nn.Conv2d(2, 3, 3, padding=1), array(2, 2, 5, 5))
layer("conv2d all", lambda nn: nn.Conv2d(4, 6, (3, 2), (2, 1), (1, 2), (1, 2), groups=2), array(2, 4, 6, 7))
layer("conv2d same", lambda nn: nn.Conv2d(1, 2, 2, padding="same", bias=False), array(1, 1, 4, 4))
layer("sequential", lambda nn: nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 2)), X)

loss("cross_entropy", lambda F, x, t: F.cross_entropy(x, t), LOGITS, TARGET)
loss("cross_entropy ignoring", lambda F, x, t: F.cross_entropy(x, t), LOGITS, HOLES)
loss("cross_entropy of nothing", lambda F, x, t: F.cross_entropy(x, t), LOGITS[:2], np.array([-100, -100]))
loss("cross_entropy weights", lambda F, x, t, w: F.cross_entropy(x, t, w), LOGITS, TARGET, WEIGHT)
loss("cross_entropy none", lambda F, x, t, w: F.cross_entropy(x, t, w, reduction="none"), LOGITS, HOLES, WEIGHT)
loss("cross_entropy sum", lambda F, x, t: F.cross_entropy(x, t, ignore_index=1, reduction="sum"), LOGITS, TARGET)
loss("cross_entropy smooth", lambda F, x, t: F.cross_entropy(x, t, label_smoothing=0.2), LOGITS, HOLES)
loss(
    "cross_entropy smooth weights",
    lambda F, x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.2),
    LOGITS,
    HOLES,
    WEIGHT,
)
loss("cross_entropy soft", lambda F, x, t: F.cross_entropy(x, t), LOGITS, SOFT)
loss(
    "cross_entropy soft all", lambda F, x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.1), LOGITS, SOFT, WEIGHT
)
loss("cross_entropy one sample", lambda F, x, t: F.cross_entropy(x, t), LOGITS[0], np.array(2))
loss(
    "cross_entropy images",
    lambda F, x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.1),
    array(2, 4, 3),
    np.array([[0, 1, -100], [3, 2, 2]]),
    WEIGHT,
)
loss("nll_loss", lambda F, x, t, w: F.nll_loss(x, t, w), LOGITS, TARGET, WEIGHT)
loss("nll_loss none", lambda F, x, t: F.nll_loss(x, t, reduction="none"), LOGITS, HOLES)
loss("mse_loss", lambda F, x, t: F.mse_loss(x, t), LOGITS, SOFT)
loss("mse_loss sum", lambda F, x, t: F.mse_loss(x, t, reduction="sum"), LOGITS, SOFT)
loss("mse_loss weight", lambda F, x, t, w: F.mse_loss(x, t, weight=w), LOGITS, SOFT, SOFT)
