"""Softmax over very many classes, the frequent ones first."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import tensorx as tx
from tensorx.nn import functional as F

from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-softmax over classes sorted by frequency: the rare ones are in clusters with smaller projections.

    "Efficient softmax approximation for GPUs" (Grave et al., 2017). ``cutoffs`` are the first class of each cluster; a
    cluster projects to ``in_features / div_value**i`` first.

    Shape: input (N, in_features) or (in_features), target (N) or (); gives (output, loss), the log-probabilities (N) or
    () of the targets and minus their mean. ValueError for cutoffs that do not rise between 1 and n_classes - 1,
    RuntimeError for targets outside of [0, n_classes).

    Example:
        >>> import tensorx as tx
        >>> m = tx.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10])
        >>> m(tx.zeros(2, 16), tx.tensor([0, 15])).output.shape, m.log_prob(tx.zeros(2, 16)).shape
        (tensorx.Size([2]), tensorx.Size([2, 20]))
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        rising = all(a < b for a, b in zip([0, *cutoffs], [*cutoffs, n_classes]))
        if not rising or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            hidden = int(in_features // (div_value ** (i + 1)))
            first = Linear(in_features, hidden, bias=False, device=device, dtype=dtype)
            self.tail.append(Sequential(first, Linear(hidden, high - low, bias=False, device=device, dtype=dtype)))

    def reset_parameters(self) -> None:
        """Draw the initial weights again."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> Any:
        rank = target_.dim()
        if rank > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if input_.dim() != rank + 1:
            raise RuntimeError(
                f"{rank}D target tensor expects {rank + 1}D input tensors, but found inputs with size {input_.shape}"
            )
        if rank and input_.shape[0] != target_.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        input, target = (input_, target_) if rank else (input_.unsqueeze(0), target_.unsqueeze(0))
        head = F.log_softmax(self.head(input), dim=1)
        column, parts, used = target, [], 0
        for i, (low, high) in enumerate(zip([0, *self.cutoffs], self.cutoffs)):
            inside = (target >= low) & (target < high)
            rows = inside.nonzero().squeeze(1)
            used += rows.numel()
            if i and rows.numel():
                column = column.masked_fill(inside, self.shortlist_size + i - 1)
                tail = F.log_softmax(self.tail[i - 1](input.index_select(0, rows)), dim=1)
                parts.append((rows, tail.gather(1, (target[rows] - low).unsqueeze(1)).squeeze(1)))
        if used != target.shape[0]:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        output = head.gather(1, column.unsqueeze(1)).squeeze(1)
        for rows, found in parts:
            output = output.index_add(0, rows, found)
        return _ASMoutput(output if rank else output.squeeze(0), -output.mean())

    def _whole(self, input: Any, head_output: Any) -> Any:
        """The log-probabilities of all classes."""
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            at = self.shortlist_size + i
            parts.append(F.log_softmax(cluster(input), dim=1) + head[:, at : at + 1])
        return tx.cat(parts, 1)

    def log_prob(self, input: Any) -> Any:
        """The log-probabilities of all classes, (N, n_classes), for an input (N, in_features)."""
        return self._whole(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """The most probable class of each row, (N), for an input (N, in_features)."""
        scores = self.head(input)
        best = scores.argmax(1)
        rare = best >= self.shortlist_size
        if not bool(rare.any()):
            return best
        rows = rare.nonzero().squeeze(1)
        chosen = self._whole(input.index_select(0, rows), scores.index_select(0, rows)).argmax(1)
        return best.index_copy(0, rows, chosen)
