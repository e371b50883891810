"""The UCI optical digits: 1797 images of 8 x 8 pixels, packed into the wheel.

Source: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits" (1998), UCI Machine Learning Repository,
https://doi.org/10.24432/C50P49, licence CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/). These are the 1797
images of its test part, as scikit-learn ships them (``load_digits``), repacked as unsigned bytes; values are unchanged.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

import tensorx as tx

from .dataset import TensorDataset


def arrays() -> tuple[Any, Any]:
    """(images, labels) as NumPy arrays: uint8 of shape (1797, 8, 8) with values 0 to 16, and uint8 of shape (1797,).

    Example:
        >>> from tensorx.data import digits
        >>> images, labels = digits.arrays()
        >>> images.shape, int(images.max()), int(labels[0])
        ((1797, 8, 8), 16, 0)
    """
    with files("tensorx.data").joinpath("digits.npz").open("rb") as file, np.load(file) as packed:
        return packed["images"], packed["labels"]


def load(device: Any = None, every: int = 5) -> tuple[TensorDataset, TensorDataset]:
    """(train, test) on ``device``: float32 images (N, 1, 8, 8) in [0, 1] and int64 labels (N,).

    The test set is every ``every``-th image, starting with the first.
    """
    images, labels = arrays()
    x = (images.astype(np.float32) / 16)[:, None]
    y = labels.astype(np.int64)
    test = np.arange(len(x)) % every == 0
    parts = ((x[chosen], y[chosen]) for chosen in (~test, test))
    train, held = (TensorDataset(tx.tensor(a, device=device), tx.tensor(b, device=device)) for a, b in parts)
    return train, held
