"""SparseAdam, which needs sparse gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .optimizer import Optimizer


class SparseAdam(Optimizer):
    """Adam for sparse gradients. NotImplementedError: there are no sparse tensors here.

    Example:
        >>> import tensorx as tx
        >>> tx.optim.SparseAdam([tx.zeros(1, requires_grad=True)])
        Traceback (most recent call last):
            ...
        NotImplementedError: SparseAdam: gradients are dense here. Hint: use Adam; Embedding's are dense, too
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        raise NotImplementedError("SparseAdam: gradients are dense here. Hint: use Adam; Embedding's are dense, too")
