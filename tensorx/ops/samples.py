"""Small calls of a row with round numbers: what its documented example and `python -m tensorx kernels` run.

Conformance draws random operands instead; here values should read well and be the same every time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.devices import registry
from tensorx.dtypes import BOOL, COMPLEX, INT
from tensorx.ops import schema as S
from tensorx.ops.table import Op
from tensorx.tensor import Tensor, from_host

SMALL = 18  # elements of an operand that are written out
CPU = registry.device("cpu")


class Round:
    """What a row's ``samples`` gets: makes tensors of dtype ``d`` with evenly spaced, short numbers in the row's domain."""

    def __init__(self, op: Op, d: dtypes.dtype, shift: int = 0) -> None:
        first = op.domain[0]
        self.dtype, self.shift = d, shift
        self.domain: tuple[float, float] = first if isinstance(first, tuple) else op.domain

    def values(self, shape: Sequence[int], low: float, high: float) -> np.ndarray[Any, Any]:
        """Numbers of one decimal in [low, high], in an order that is not sorted."""
        n, d = math.prod(shape), self.dtype
        flat: np.ndarray[Any, Any]
        step = next((m for m in (5, 3, 7) if math.gcd(m, n) == 1 and m % n > 1), -1) if n else 1
        order = (np.arange(n) * step + self.shift) % max(n, 1)
        if d.kind == BOOL:
            flat = order % 2
        elif d.kind == INT:
            low = low if d.is_signed else max(low, 0)
            flat = math.ceil(low) + order % (math.floor(high) - math.ceil(low) + 1)
        else:
            even = np.linspace(low + self.shift * (high - low) / 20, high, n + 2)[1:-1] if n else np.zeros(0)
            halves = n < 7 and high - low > 3 and self.shift < 3
            flat = np.clip(np.round(even * 2) / 2 if halves else np.round(even, 1), low, high)[order]
            flat = flat + 1j * flat[::-1] if d.kind == COMPLEX else flat
        return np.asarray(flat).astype(d.np).reshape(tuple(shape))

    def __call__(self, shape: Sequence[int], low: float | None = None, high: float | None = None) -> Tensor:
        """A tensor with values in the row's domain, or in [low, high]."""
        a, b = self.domain if low is None or high is None else (low, high)
        return from_host(self.values(shape, a, b), self.dtype, CPU)

    def mask(self, shape: Sequence[int]) -> Tensor:
        """Truth values, some of each."""
        return from_host((np.arange(math.prod(shape)) % 3 == self.shift % 3).reshape(tuple(shape)), dtypes.bool_, CPU)

    def index(self, shape: Sequence[int], n: int) -> Tensor:
        """int64 indices in [0, n), with duplicates."""
        return from_host((np.arange(math.prod(shape)) * 2 % n).reshape(tuple(shape)), dtypes.int64, CPU)

    def unique(self, k: int, n: int) -> Tensor:
        """``k`` different indices in [0, n)."""
        return from_host(np.arange(n)[::-1][:k].copy(), dtypes.int64, CPU)

    def unique_along(self, rows: int, cols: int) -> Tensor:
        """int64 [rows, cols] whose columns are permutations of the rows."""
        return from_host((np.arange(rows)[:, None] + np.arange(cols)) % rows, dtypes.int64, CPU)

    def invertible(self, n: int) -> Tensor:
        """A well-conditioned matrix."""
        return from_host(np.eye(n) * 4 + np.tri(n), self.dtype, CPU)


def default_dtype(op: Op) -> dtypes.dtype:
    """The dtype that a row is best shown with."""
    by_kind = {"f": dtypes.float32, "i": dtypes.int64, "c": dtypes.complex64, "b": dtypes.bool_}
    usual = [d for kind, d in by_kind.items() if kind in op.dtypes]
    if op.samples is None:
        return usual[0]
    return next(d for d in (*usual, dtypes.float16, dtypes.bfloat16) if op.samples(Round(op, d)))


def _missing(op: Op, d: dtypes.dtype) -> dict[str, Any]:
    """Values for parameters without a default that samples leave out."""
    fill: dict[str, Any] = {"Scalar": 2, "float": 0.5, "Device": CPU, "ScalarType": d, "Seed": 7}
    return {p.name: fill[p.type] for p in op.schema.params if p.default is S.REQUIRED and p.type in fill}


def call_of(op: Op, d: dtypes.dtype | None = None, shift: int = 0) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments (on the cpu) of one small call: the row's first small sample, or operands from its domain."""
    d = d or default_dtype(op)
    if op.samples is None:
        return _derived(op, d, shift)
    calls = [tuple(sample) for sample in op.samples(Round(op, d, shift))]
    sample = next((call for call in calls if all(x.numel() <= SMALL for x in call if isinstance(x, Tensor))), calls[0])
    named: dict[str, Any] = {}
    if sample and isinstance(sample[-1], dict):
        *rest, named = sample
        sample = tuple(rest)
    positional = [p for p in op.schema.params if not p.keyword]
    keyword = [p for p in op.schema.params if p.keyword]
    extra = {p.name: v for p, v in zip(keyword, sample[len(positional):], strict=False)}
    sample = sample[: len(positional)]
    given = {p.name for p in positional[: len(sample)]}
    filled = {k: v for k, v in _missing(op, d).items() if k not in given}
    return sample, {**filled, **extra, **named}


def _derived(op: Op, d: dtypes.dtype, shift: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    tensors = [p for p in op.schema.params if p.type == "Tensor" and not p.optional]
    operands = []
    for i, _ in enumerate(tensors):
        low, high = op.domain[i] if isinstance(op.domain[0], tuple) else op.domain
        operands.append(Round(op, d, shift + i)((4,), low, high))
    return tuple(operands), _missing(op, d)


def moved(x: Any, device: Any) -> Any:
    """A sample's tensors (and the device it names) on a device; all else as it is."""
    if isinstance(x, Tensor):
        return x.to(device)
    if isinstance(x, registry.device):
        return device
    if isinstance(x, list | tuple):
        return tuple(moved(i, device) for i in x)
    return {k: moved(v, device) for k, v in x.items()} if isinstance(x, dict) else x
