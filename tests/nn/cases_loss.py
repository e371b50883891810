"""Losses with parameters or several operands, embedding bags, distances: values and gradients."""

import numpy as np
from nn_cases import array, layer, loss

LOGITS = array(5, 4, seed=1)
TARGET = np.array([0, 3, 1, 1, 2])
BAGS = np.array([[0, 2, 1], [3, 3, 0]])
FLAT = np.array([0, 2, 1, 3, 3, 0])
STARTS = np.array([0, 2, 2, 5])
SIGNS = np.sign(array(5, 4, seed=4)).astype(np.float32)
PROBABILITIES = (1 / (1 + np.exp(-LOGITS))).astype(np.float32)
SOFT = (1 / (1 + np.exp(-array(5, 4, seed=3)))).astype(np.float32)


def bag(mode, **options):
    """An EmbeddingBag with gradients for its weight alone."""
    return lambda nn: nn.EmbeddingBag(4, 3, mode=mode, **options)


layer("prelu", lambda nn: nn.PReLU(4), LOGITS)
layer("bilinear", lambda nn: nn.Bilinear(4, 3, 5), LOGITS, array(5, 3, seed=2))
layer("bilinear without bias", lambda nn: nn.Bilinear(4, 4, 2, bias=False), LOGITS, array(5, 4, seed=2))
layer("cosine similarity", lambda nn: nn.CosineSimilarity(dim=1), LOGITS, array(5, 4, seed=2))
layer("pairwise distance", lambda nn: nn.PairwiseDistance(p=3.0), LOGITS, array(5, 4, seed=2))
layer("glu", lambda nn: nn.GLU(), LOGITS)
layer("linear cross entropy", lambda nn: nn.LinearCrossEntropyLoss(4, 6, bias=True, reduction="none"), LOGITS, TARGET)
layer(
    "linear cross entropy, smooth",
    lambda nn: nn.LinearCrossEntropyLoss(4, 6, label_smoothing=0.1, ignore_index=3, reduction="none"),
    LOGITS,
    TARGET,
)
for mode in ("sum", "mean", "max"):
    layer(f"embedding bag {mode}", bag(mode), BAGS)
    layer(f"embedding bag {mode} with offsets", bag(mode, padding_idx=3), FLAT, STARTS)
loss("l1_loss", lambda F, x, t: F.l1_loss(x, t), LOGITS, SOFT)
loss("smooth_l1_loss", lambda F, x, t: F.smooth_l1_loss(x, t, beta=0.5), LOGITS, SOFT)
loss("huber_loss", lambda F, x, t: F.huber_loss(x, t, delta=0.5), LOGITS, SOFT)
loss("binary_cross_entropy", lambda F, x, t: F.binary_cross_entropy(x, t), PROBABILITIES, SOFT)
loss(
    "binary_cross_entropy_with_logits",
    lambda F, x, t, w, p: F.binary_cross_entropy_with_logits(x, t, w, pos_weight=p),
    LOGITS,
    SOFT,
    SOFT[0],
    SOFT[1] + 1,
)
loss("kl_div", lambda F, x, t: F.kl_div(x, t, reduction="batchmean"), LOGITS, SOFT)
loss("poisson_nll_loss", lambda F, x, t: F.poisson_nll_loss(x, t * 5, full=True), LOGITS, SOFT)
loss("gaussian_nll_loss", lambda F, x, t, v: F.gaussian_nll_loss(x, t, v), LOGITS, SOFT, PROBABILITIES)
loss("hinge_embedding_loss", lambda F, x, t: F.hinge_embedding_loss(x, t), LOGITS, SIGNS)
loss("cosine_embedding_loss", lambda F, x, y, t: F.cosine_embedding_loss(x, y, t, 0.1), LOGITS, SOFT, SIGNS[:, 0])
loss("margin_ranking_loss", lambda F, x, y, t: F.margin_ranking_loss(x, y, t, 0.3), LOGITS, SOFT, SIGNS)
loss("soft_margin_loss", lambda F, x, t: F.soft_margin_loss(x, t), LOGITS, SIGNS)
loss("multi_margin_loss", lambda F, x, t: F.multi_margin_loss(x, t, p=2), LOGITS, TARGET)
loss("multilabel_soft_margin_loss", lambda F, x, t: F.multilabel_soft_margin_loss(x, t), LOGITS, SOFT)
loss(
    "triplet_margin_loss",
    lambda F, x, y, z: F.triplet_margin_loss(x, y, z, p=3, swap=True),
    LOGITS,
    SOFT,
    array(5, 4, seed=6),
)
loss(
    "ctc_loss",
    lambda F, x, t: F.ctc_loss(x.log_softmax(2), t, (6, 5, 3), (3, 2, 1)),
    array(6, 3, 4, seed=8),
    np.array([[1, 2, 2], [3, 1, 0], [2, 0, 0]]),
)
