"""Dropout."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.ops.dropouts import check_probability
from tensorx.warning import warn


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """With ``training``: each element becomes zero with probability ``p``, the others are divided by ``1 - p``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.dropout(tx.ones(3), p=0.5, training=False)
        tensor([1., 1., 1.])
    """
    check_probability(p)
    return tx.dropout(input, p, training, inplace=inplace)


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Dropout for SELU: an element becomes its negative limit with probability ``p``; mean and variance stay.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.alpha_dropout(tx.ones(3), p=0.5, training=False)
        tensor([1., 1., 1.])
    """
    return (tx.alpha_dropout_ if inplace else tx.alpha_dropout)(input, p, training)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """With ``training``: a channel of (N, C, L) or (C, L) becomes zero with probability ``p``, the others are scaled.

    RuntimeError for other ranks.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.dropout1d(tx.ones(1, 2, 2), training=False).shape
        tensorx.Size([1, 2, 2])
    """
    check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    return _channels(input, p, training, inplace, input.dim() == 3)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """With ``training``: a channel of (N, C, H, W) becomes zero with probability ``p``, the others are scaled.

    Other ranks warn; three dimensions are taken for (N, C, L).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.dropout2d(tx.ones(1, 2, 2, 2), training=False).shape
        tensorx.Size([1, 2, 2, 2])
    """
    check_probability(p)
    if input.dim() not in (3, 4):
        _warn_of_rank("dropout2d", input.dim(), "dropout", 2, "(i.e. 3D or 4D inputs)")
    if input.dim() == 3:
        message = (
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
            "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To "
            "maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead."
        )
        warn(message)
    return _channels(input, p, training, inplace, True)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """With ``training``: a channel of (N, C, D, H, W) or (C, D, H, W) becomes zero with probability ``p``.

    The others are scaled. Other ranks warn.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.dropout3d(tx.ones(1, 2, 1, 1, 1), training=False).shape
        tensorx.Size([1, 2, 1, 1, 1])
    """
    check_probability(p)
    if input.dim() not in (4, 5):
        _warn_of_rank("dropout3d", input.dim(), "dropout", 3, "(i.e. 4D or 5D inputs)")
    return _channels(input, p, training, inplace, input.dim() == 5)


def feature_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """With ``training``: alpha dropout of whole channels of (N, C, ...).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.feature_alpha_dropout(tx.ones(1, 2, 2), training=False).shape
        tensorx.Size([1, 2, 2])
    """
    return (tx.feature_alpha_dropout_ if inplace else tx.feature_alpha_dropout)(input, p, training)


def _warn_of_rank(name: str, rank: int, kind: str, spatial: int, ranks: str) -> None:
    message = (
        f"{name}: Received a {rank}-D input to {name}, which is deprecated and will result in an error in a future "
        f"release. To retain the behavior and silence this warning, please use {kind} instead. Note that {name} exists "
        f"to provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel dimension, and an "
        f"optional batch dimension {ranks}."
    )
    warn(message)


def _channels(input: Any, p: float, training: bool, inplace: bool, batched: bool) -> Any:
    """Dropout of channels, with a batch dimension added for the while if there is none."""
    whole = input if batched else input.unsqueeze(0)
    result = (tx.feature_dropout_ if inplace else tx.feature_dropout)(whole, p, training)
    return result if batched else input if inplace else result.squeeze(0)
