"""Rows of a matrix chosen by indices, and one-hot vectors."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.ops import domain
from tensorx.ops.indexing import embedding as embedding_row
from tensorx.warning import warn


def _check_indices(op: str, input: Any) -> None:
    if input.dtype not in (tx.int64, tx.int32):
        raise RuntimeError(
            f"{op}: Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            f"but got {input.dtype} instead"
        )


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Rows of ``weight`` (rows, dim) chosen by the integers ``input``; the result has shape ``(*input.shape, dim)``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.embedding(tx.tensor([2, 0]), tx.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        tensor([[5., 6.],
                [1., 2.]])
    """
    if sparse:
        raise NotImplementedError("embedding: argument 'sparse' must be False; there are no sparse gradients yet.")
    _check_indices("embedding", input)
    row = _padding_row(padding_idx, weight.size(0))
    if max_norm is not None:
        with tx.no_grad():
            _renorm_rows(weight, input, max_norm, norm_type)
    return tx.embedding(weight, input, -1 if row is None else row, scale_grad_by_freq, False)


def _padding_row(padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % rows


def _renorm_rows(weight: Any, input: Any, max_norm: float, norm_type: float) -> None:
    """Shrink the rows that ``input`` names to ``max_norm``, in place. A row named twice is written twice with the
    same value.
    """
    rows = input.reshape(-1)
    found = weight[rows]
    norm = found.norm(norm_type, 1, keepdim=True)
    weight[rows] = tx.where(norm > max_norm, found * (max_norm / (norm + 1e-7)), found)


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """int64 vectors of ``num_classes`` with a 1 at each index of ``tensor``; one more class than the largest if -1.

    RuntimeError for indices that are not int64, negative, or not below ``num_classes``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.one_hot(tx.tensor([2, 0]))
        tensor([[0, 0, 1],
                [1, 0, 0]])
    """
    if tensor.dtype is not tx.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not tensor.numel():
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return tx.empty((*tensor.shape, num_classes), dtype=tx.int64, device=tensor.device)
    if num_classes == -1:
        if tensor.min().item() < 0:
            raise RuntimeError("Class values must be non-negative.")
        num_classes = int(tensor.max().item()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif tensor.device.type != "meta":
        faults = ((tensor < 0) | (tensor >= num_classes)).to(tx.int32)
        domain.report(embedding_row, faults, "one_hot: Class values must be non-negative and smaller than num_classes.")
    return (tensor.unsqueeze(-1) == tx.arange(num_classes, device=tensor.device)).to(tx.int64)


def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """Sums, means or maxima of bags of rows of ``weight``.

    Args:
        input: indices, (B, L) for bags of one length, or (N) with ``offsets``.
        weight: (rows, dim).
        offsets: where each bag starts in a vector ``input``; with ``include_last_offset`` also where the last one ends.
        max_norm: renormalise in place the rows used to this norm, of order ``norm_type``.
        scale_grad_by_freq: divide a row's gradient by how often it is used.
        mode: 'sum', 'mean' or 'max'; an empty bag gives 0.
        per_sample_weights: a factor for each index (mode 'sum').
        padding_idx: this index adds nothing, nor does it count.

    The result has shape (B, dim). ValueError for shapes and modes that do not fit together, IndexError for an index out
    of range.

    Example:
        >>> import tensorx as tx
        >>> weight = tx.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        >>> tx.nn.functional.embedding_bag(tx.tensor([0, 1, 2]), weight, tx.tensor([0, 2]), mode="sum")
        tensor([[4., 6.],
                [5., 6.]])
    """
    if weight.dtype is tx.int64 and input.dtype.is_floating_point:
        message = "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)`"
        message += " is deprecated, and should now be `embedding_bag(input, weight, ...)`."
        warn(message)
        weight, input = input, weight
    _check_bags(input, weight, offsets, mode, scale_grad_by_freq, per_sample_weights)
    if sparse:
        raise NotImplementedError("embedding_bag: argument 'sparse' must be False; there are no sparse gradients yet.")
    row = -1
    if padding_idx is not None:
        if not -weight.shape[0] <= padding_idx < weight.shape[0]:
            raise RuntimeError(f"padding_idx must be within the number of embeddings; got {padding_idx}")
        row = padding_idx % weight.shape[0]
    if max_norm is not None:
        with tx.no_grad():
            _renorm_rows(weight, input, max_norm, norm_type)
    rows = tx.embedding(weight, input, row, scale_grad_by_freq, False)
    used = None if row < 0 else input != row
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    if input.dim() == 2:
        return _even_bags(rows, used, mode)
    bags = offsets.shape[0] - include_last_offset
    place = tx.arange(input.shape[0], device=input.device, dtype=offsets.dtype)
    bag = tx.searchsorted(offsets, place, right=True).long() - 1
    if include_last_offset:  # what comes behind the last bag is in none
        within = bag < bags
        used, bag = within if used is None else used & within, bag.clamp(max=max(bags - 1, 0))
    return _uneven_bags(rows, used, bag, bags, mode)


def _check_bags(
    input: Any, weight: Any, offsets: Any, mode: str, scale_grad_by_freq: bool, per_sample_weights: Any
) -> None:
    """ValueError, or what PyTorch raises, for arguments that do not fit together."""
    if per_sample_weights is not None and tuple(per_sample_weights.shape) != tuple(input.shape):
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({tuple(per_sample_weights.shape)}) is not None, then it must have "
            f"the same shape as the input ({tuple(input.shape)})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
            f"sequences. However, found offsets of type {type(offsets)}"
        )
    if input.dim() == 1 and (offsets is None or offsets.dim() != 1):
        raise ValueError(f"offsets has to be a 1D Tensor but got {None if offsets is None else offsets.dim()}")
    if input.dim() not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}')."
        )
    _check_indices("embedding_bag", input)
    if offsets is not None and offsets.device.type != "meta" and offsets.numel():
        _check_offsets(offsets, input.shape[0])


def _check_offsets(offsets: Any, n: int) -> None:
    """BadValue (at the next wait, on other devices than the cpu) unless bags start at 0 and end within the input."""
    first, last = offsets.narrow(0, 0, 1), offsets.narrow(0, offsets.shape[0] - 1, 1)
    text = "embedding_bag: offsets[0] has to be 0: the first sequence in the mini-batch has to start from 0."
    domain.report(embedding_row, (first != 0).to(tx.int32), text)
    text = f"embedding_bag: offsets[-1] can not be greater than input's length ({n})"
    domain.report(embedding_row, (last > n).to(tx.int32), text)
    if offsets.shape[0] > 1:
        falls = offsets.narrow(0, 1, offsets.shape[0] - 1) < offsets.narrow(0, 0, offsets.shape[0] - 1)
        domain.report(embedding_row, falls.to(tx.int32), "embedding_bag: offsets must not decrease")


def _even_bags(rows: Any, used: Any, mode: str) -> Any:
    """Bags of rows (B, L, dim)."""
    if mode == "max":
        if not rows.shape[1]:
            return rows.sum(1)
        if used is None:
            return rows.max(1)[0]
        best = rows.masked_fill(~used.unsqueeze(-1), -tx.inf).max(1)[0]
        return best.masked_fill(~used.any(1, keepdim=True), 0)
    if used is not None:
        rows = rows.masked_fill(~used.unsqueeze(-1), 0)
    if mode == "sum":
        return rows.sum(1)
    if used is None:
        return rows.mean(1) if rows.shape[1] else rows.sum(1)
    return rows.sum(1) / used.sum(1, keepdim=True).clamp(min=1).to(rows.dtype)


def _uneven_bags(rows: Any, used: Any, bag: Any, bags: int, mode: str) -> Any:
    """Bags of rows (N, dim); row i is in bag ``bag[i]``."""
    empty = rows.new_zeros((bags, rows.shape[1]))
    if mode == "max":
        return _uneven_maxima(rows, used, bag, empty)
    if used is not None:
        rows = rows.masked_fill(~used.unsqueeze(-1), 0)
    total = empty.index_add(0, bag, rows)
    if mode == "sum":
        return total
    each = rows.new_ones((rows.shape[0],)) if used is None else used.to(rows.dtype)
    return total / rows.new_zeros((bags,)).index_add(0, bag, each).clamp(min=1).unsqueeze(1)


def _uneven_maxima(rows: Any, used: Any, bag: Any, empty: Any) -> Any:
    """The first of the largest values has the gradient."""
    count = rows.shape[0]
    if not count or not empty.numel():
        return empty
    values = rows.detach() if used is None else rows.detach().masked_fill(~used.unsqueeze(-1), -tx.inf)
    where = bag.unsqueeze(1).expand(rows.shape)
    best = tx.full_like(empty, -tx.inf).scatter_reduce(0, where, values, "amax")
    place = tx.arange(count, device=rows.device).unsqueeze(1).expand(rows.shape)
    hit = (values == best[bag]) | values.isnan()
    hit = hit if used is None else hit & used.unsqueeze(-1)
    first = tx.full_like(empty, count, dtype=tx.int64)
    first = first.scatter_reduce(0, where, place.masked_fill(~hit, count), "amin")
    return rows.gather(0, first.clamp(max=count - 1)).masked_fill(first == count, 0)
