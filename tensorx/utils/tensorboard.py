"""``torch.utils.tensorboard``: the writer is a package of its own."""

from __future__ import annotations

from typing import Any

_HINT = (
    "tensorboard: needs a writer of event files, which is not part of tensorx. "
    "Hint: pip install tensorboardX, and: from tensorboardX import SummaryWriter"
)


class SummaryWriter:
    """Raises ImportError with what to install."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise ImportError(_HINT)


FileWriter = SummaryWriter
__all__ = ["FileWriter", "SummaryWriter"]
