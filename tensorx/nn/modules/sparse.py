"""Embedding (the file is named as PyTorch's, so that pickled names and imports fit)."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.nn import functional as F
from tensorx.nn import init
from tensorx.nn.parameter import Parameter

from .module import Module


class Embedding(Module):
    """Rows of ``weight`` (num_embeddings, embedding_dim), chosen by an integer tensor of any shape.

    The row ``padding_idx`` starts as zeros and gets no gradient. ``max_norm`` renormalises in place the rows that are
    used. An index out of range raises IndexError.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Embedding(10, 3, padding_idx=0)(tx.tensor([[1, 2, 0]]))[0, 2].tolist()
        [0.0, 0.0, 0.0]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = F._padding_row(padding_idx, num_embeddings)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _weight is None:
            data = tx.empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(data, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            if list(_weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draw the initial weights again."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with tx.no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input: Any) -> Any:
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        defaults = (("padding_idx", None), ("max_norm", None), ("norm_type", 2.0))
        parts += [f"{name}={getattr(self, name)}" for name, usual in defaults if getattr(self, name) != usual]
        parts += [f"{name}=True" for name in ("scale_grad_by_freq", "sparse") if getattr(self, name)]
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """An Embedding over a given weight of shape (num_embeddings, embedding_dim), not trained unless ``freeze`` is
        False.
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, cols = embeddings.shape
        return cls(
            rows, cols, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight=embeddings, _freeze=freeze
        )


class EmbeddingBag(Module):
    """Sums, means or maxima of bags of rows of ``weight`` (num_embeddings, embedding_dim).

    Shape: (B, L), or (N) with offsets (B), gives (B, embedding_dim). An index out of range raises IndexError; see
    :func:`tensorx.nn.functional.embedding_bag` for the arguments.

    Example:
        >>> import tensorx as tx
        >>> bags = tx.nn.EmbeddingBag(10, 3, mode="sum")
        >>> bags(tx.tensor([1, 2, 4, 5, 4, 3, 2, 9]), tx.tensor([0, 4])).shape
        tensorx.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.mode, self.sparse = scale_grad_by_freq, mode, sparse
        self.include_last_offset = include_last_offset
        self.padding_idx = F._padding_row(padding_idx, num_embeddings)
        if _weight is None:
            self.weight = Parameter(tx.empty((num_embeddings, embedding_dim), device=device, dtype=dtype))
            self.reset_parameters()
        else:
            if list(_weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight)

    def reset_parameters(self) -> None:
        """Draw the initial weights again."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with tx.no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        parts += [f"max_norm={self.max_norm}"] if self.max_norm is not None else []
        parts += [f"norm_type={self.norm_type}"] if self.norm_type != 2 else []
        parts += [f"scale_grad_by_freq={self.scale_grad_by_freq}"] if self.scale_grad_by_freq else []
        parts += [f"mode={self.mode!r}"]
        parts += [f"padding_idx={self.padding_idx}"] if self.padding_idx is not None else []
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """An EmbeddingBag over a given weight of shape (num_embeddings, embedding_dim), not trained unless ``freeze``
        is False.
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, cols = embeddings.shape
        made = cls(
            rows,
            cols,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            _weight=embeddings,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        made.weight.requires_grad = not freeze
        return made
