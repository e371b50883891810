"""Sequences of several lengths: padded to one, or packed step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import tensorx as tx


class _Packed(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(_Packed):
    """Sequences, longest first, stored step by step: what :func:`pack_padded_sequence` gives and recurrent layers take.

    Fields:
        data: (total number of steps, ...).
        batch_sizes: on the cpu, int64: how many sequences reach each step; does not grow.
        sorted_indices, unsorted_indices: the order that sorted the sequences and its inverse, or None.

    Example:
        >>> import tensorx as tx
        >>> packed = tx.nn.utils.rnn.pack_sequence([tx.tensor([1, 2, 3]), tx.tensor([4])])
        >>> packed.data, packed.batch_sizes
        (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """

    __slots__ = ()

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> PackedSequence:
        if batch_sizes is None:  # the old form: a pair
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("PackedSequence: argument 'data' alone must be a pair (data, batch_sizes).")
            data, batch_sizes = data
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. "
                "They should be instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn."
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """``data`` by ``Tensor.to``; the indices follow to its device. The same object if nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        sorted_indices, unsorted_indices = (
            None if i is None else i.to(data.device) for i in (self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(data, self.batch_sizes, sorted_indices, unsorted_indices)

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """On the cpu."""
        return self.to("cpu")

    def cuda(self, device: Any = None, *args: Any, **kwargs: Any) -> PackedSequence:
        """On a CUDA device."""
        return self.to("cuda" if device is None else device)

    def double(self) -> PackedSequence:
        """``data`` as float64."""
        return self.to(dtype=tx.float64)

    def float(self) -> PackedSequence:
        """``data`` as float32."""
        return self.to(dtype=tx.float32)

    def half(self) -> PackedSequence:
        """``data`` as float16."""
        return self.to(dtype=tx.float16)

    def long(self) -> PackedSequence:
        """``data`` as int64."""
        return self.to(dtype=tx.int64)

    def int(self) -> PackedSequence:
        """``data`` as int32."""
        return self.to(dtype=tx.int32)

    def short(self) -> PackedSequence:
        """``data`` as int16."""
        return self.to(dtype=tx.int16)

    def char(self) -> PackedSequence:
        """``data`` as int8."""
        return self.to(dtype=tx.int8)

    def byte(self) -> PackedSequence:
        """``data`` as uint8."""
        return self.to(dtype=tx.uint8)

    def pin_memory(self) -> PackedSequence:
        """The same sequences in page-locked memory (see `Tensor.pin_memory`)."""
        indices = (None if i is None else i.pin_memory() for i in (self.sorted_indices, self.unsorted_indices))
        return type(self)(self.data.pin_memory(), self.batch_sizes, *indices)

    @property
    def is_cuda(self) -> bool:
        """Whether ``data`` is on a CUDA device."""
        return self.data.device.type == "cuda"

    def is_pinned(self) -> bool:
        """Whether ``data`` is in page-locked memory."""
        return bool(self.data.is_pinned())


def invert_permutation(permutation: Any) -> Any:
    """The permutation that undoes ``permutation``; None for None.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.utils.rnn.invert_permutation(tx.tensor([2, 0, 1]))
        tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    places = tx.arange(permutation.numel(), device=permutation.device, dtype=permutation.dtype)
    return tx.empty_like(permutation).scatter_(0, permutation, places)


def _lengths(lengths: Any) -> list[int]:
    if not isinstance(lengths, tx.Tensor):
        return [int(n) for n in lengths]
    if lengths.device.type != "cpu":
        got = f"{lengths.dim()}D {lengths.device} tensor"
        raise RuntimeError(f"'lengths' argument should be a 1D CPU int64 tensor, but got {got}")
    return lengths.tolist()


def _picked(data: Any, index: list[int]) -> Any:
    return data.index_select(0, tx.tensor(index, dtype=tx.int64, device=data.device))


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack sequences that are padded to one length.

    Args:
        input: (T, B, ...), or (B, T, ...) with ``batch_first``.
        lengths: of each sequence: a list or a cpu tensor.
        enforce_sorted: the sequences come longest first; else they are sorted here.

    Raises RuntimeError for lengths that are not positive, not sorted, or not one a sequence.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.utils.rnn.pack_padded_sequence(tx.tensor([[1, 3], [2, 0]]), [2, 1]).data
        tensor([1, 3, 2])
    """
    sizes = _lengths(lengths)
    sorted_indices = None
    batch = 0 if batch_first else 1
    if input.dim() < 2:
        raise IndexError(f"pack_padded_sequence: argument 'input' must have 2 dimensions or more; got {input.dim()}.")
    if not enforce_sorted:
        order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
        sizes = [sizes[i] for i in order]
        sorted_indices = tx.tensor(order, dtype=tx.int64, device=input.device)
        input = input.index_select(batch, sorted_indices)
    steps, count = (input.shape[1], input.shape[0]) if batch_first else input.shape[:2]
    if len(sizes) != count:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={count})"
        )
    if min(sizes, default=1) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if sizes != sorted(sizes, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    if sizes and sizes[0] > steps:
        raise RuntimeError(f"Expected sequence length to be at most {steps}; got {sizes[0]}.")
    batch_sizes = [sum(n > t for n in sizes) for t in range(max(sizes, default=0))]
    flat = input.reshape(-1, *input.shape[2:])
    index = [b * steps + t if batch_first else t * count + b for t, n in enumerate(batch_sizes) for b in range(n)]
    data = _picked(flat, index)
    return PackedSequence(data, tx.tensor(batch_sizes, dtype=tx.int64, device="cpu"), sorted_indices, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Any]:
    """The inverse of :func:`pack_padded_sequence`: (padded sequences (T, B, ...), lengths as a cpu tensor).

    ``total_length`` pads further; ValueError if the longest sequence is longer.

    Example:
        >>> import tensorx as tx
        >>> packed = tx.nn.utils.rnn.pack_sequence([tx.tensor([1, 2]), tx.tensor([3])])
        >>> tx.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        (tensor([[1, 2],
                [3, 0]]), tensor([2, 1]))
    """
    data, sizes = sequence.data, sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    steps = longest if total_length is None else total_length
    count, starts = (sizes[0] if sizes else 0), [0]
    for n in sizes:
        starts.append(starts[-1] + n)
    padding = starts[-1]
    table = [[starts[t] + b if t < longest and b < sizes[t] else padding for b in range(count)] for t in range(steps)]
    rows = [list(column) for column in zip(*table)] if batch_first else table
    source = tx.cat([data, tx.full((1, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)])
    shape = (count, steps) if batch_first else (steps, count)
    padded = _picked(source, [i for row in rows for i in row]).reshape(*shape, *data.shape[1:])
    lengths = tx.tensor([sum(n > b for n in sizes) for b in range(count)], dtype=tx.int64, device="cpu")
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return padded, lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """One tensor (T, B, ...) of sequences (L, ...) of several lengths, padded to the longest.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.utils.rnn.pad_sequence([tx.ones(2), tx.ones(1)], batch_first=True, padding_value=9.0)
        tensor([[1., 1.],
                [1., 9.]])
    """
    if not isinstance(sequences, Iterable):
        got = f"got arg of type: {type(sequences)}"
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but {got}")
    sequences = tuple(sequences.unbind(0)) if isinstance(sequences, tx.Tensor) else tuple(sequences)
    if not sequences:
        raise RuntimeError("pad_sequence: received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"pad_sequence: argument 'padding_side' must be 'left' or 'right'; got '{padding_side}'.")
    longest = max(s.shape[0] for s in sequences)
    padded = []
    for s in sequences:
        if s.shape[1:] != sequences[0].shape[1:]:
            raise RuntimeError(
                "pad_sequence: all sequences must have the same trailing dimensions; got "
                f"{tuple(sequences[0].shape)} and {tuple(s.shape)}."
            )
        missing = longest - s.shape[0]
        if missing:
            fill = tx.full((missing, *s.shape[1:]), padding_value, dtype=s.dtype, device=s.device)
            s = tx.cat([fill, s] if padding_side == "left" else [s, fill])
        padded.append(s)
    return tx.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences (L, ...) of a padded tensor.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.utils.rnn.unpad_sequence(tx.tensor([[1, 3], [2, 0]]), tx.tensor([2, 1]))
        [tensor([1, 2]), tensor([3])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [s[:n] for s, n in zip(padded_sequences.unbind(0), lengths.tolist())]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences (L, ...) of several lengths.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.utils.rnn.pack_sequence([tx.tensor([1]), tx.tensor([2, 3])], enforce_sorted=False).sorted_indices
        tensor([1, 0])
    """
    lengths = [s.size(0) for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The sequences of a PackedSequence, in their original order.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.utils.rnn.unpack_sequence(tx.nn.utils.rnn.pack_sequence([tx.tensor([1, 2]), tx.tensor([3])]))
        [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
