"""Channels shuffled (the file is named as PyTorch's, so that pickled names and imports fit)."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F

from .module import Module


class ChannelShuffle(Module):
    """The channels (dimension 1) of all ``groups`` in turn; RuntimeError where they are no multiple of ``groups``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ChannelShuffle(2)(tx.arange(4.0).reshape(1, 4, 1)).flatten()
        tensor([0., 2., 1., 3.])
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Any) -> Any:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
