"""Operands for a row: from its ``samples`` if it has them, else derived from its schema and domain."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import math
import weakref
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.devices import registry
from tensorx.dtypes import BOOL, COMPLEX, INT
from tensorx.ops import schema as S
from tensorx.tensor import Tensor, from_host

CPU = registry.device("cpu")
#: Storages of matrices that repeated rows would make singular.
MATRICES: weakref.WeakSet[Any] = weakref.WeakSet()
#: Dtypes of users' operands; the wider unsigned ones join under ``--full``.
DTYPES = tuple(d for d in dtypes.ALL if d.code not in ("u16", "u32", "u64"))
UNSIGNED = tuple(d for d in dtypes.ALL if d.code in ("u16", "u32", "u64"))


@contextlib.contextmanager
def numpy_cpu():
    """``cpu`` without kernels for a while: samples are made there on every lane."""
    name = registry.resolve("cpu")
    usual = name.runtime
    plain = copy.copy(registry.backend("cpu").devices()[0])
    plain.capabilities = dataclasses.replace(plain.capabilities, compiler=False, host_callable=True, fp64=True)
    object.__setattr__(name, "runtime", plain)
    try:
        yield
    finally:
        object.__setattr__(name, "runtime", usual)


@dataclass(frozen=True)
class Case:
    """Arguments of a call; tensors live on the cpu."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def seed_of(op: Any, extra: int = 0) -> int:
    """A number that depends on the row alone."""
    return zlib.crc32(op.name.encode()) + extra


class Sampler:
    """What a row's ``samples`` gets: makes tensors of the dtype under test with values from the row's domain.

    ``shrink`` replaces every extent (and bound of indices) by a smaller one: 0 gives empty operands.
    """

    def __init__(self, op: Any, d: dtypes.dtype, seed: int = 0, shrink: dict[int, int] | None = None) -> None:
        self.op, self.dtype = op, d
        self.shrink = shrink or {}
        self.rng = np.random.default_rng(seed_of(op, seed))
        first = op.domain[0]
        self.domain = first if isinstance(first, tuple) else op.domain

    def _shape(self, shape: Any) -> tuple[int, ...]:
        return tuple(self.shrink.get(n, n) for n in shape)

    def values(self, shape: tuple[int, ...], low: float, high: float) -> Any:
        """Random values of the dtype under test in [low, high]."""
        d = self.dtype
        if d.kind == BOOL:
            return self.rng.integers(0, 2, shape).astype(bool)
        if d.kind == INT:
            low = low if d.is_signed else max(low, 0)
            return self.rng.integers(math.ceil(low), math.floor(high), shape, endpoint=True).astype(d.np)
        x = self.rng.uniform(low, high, shape)
        if d.kind == COMPLEX:
            x = x + 1j * self.rng.uniform(low, high, shape)
        return np.asarray(x).astype(d.np)

    def __call__(self, shape: Any, low: float | None = None, high: float | None = None) -> Tensor:
        """A tensor with values in the row's domain, or in [low, high]."""
        a, b = self.domain if low is None else (low, high)
        return from_host(np.asarray(self.values(self._shape(shape), a, b)), self.dtype, CPU)

    def mask(self, shape: Any) -> Tensor:
        """A bool tensor."""
        return from_host(self.rng.integers(0, 2, self._shape(shape)).astype(bool), dtypes.bool_, CPU)

    def index(self, shape: Any, n: int) -> Tensor:
        """int64 indices in [0, n); none, where there is nothing to index."""
        n = self.shrink.get(n, n)
        shape = self._shape(shape) if n else (0, *shape[1:])
        return from_host(self.rng.integers(0, max(n, 1), shape), dtypes.int64, CPU)

    def unique(self, k: int, n: int) -> Tensor:
        """``k`` different indices in [0, n)."""
        n, k = self.shrink.get(n, n), self.shrink.get(k, k)
        return from_host(self.rng.permutation(n)[:k], dtypes.int64, CPU)

    def unique_along(self, rows: int, cols: int) -> Tensor:
        """int64 [rows, cols] whose columns are permutations of the rows."""
        rows, cols = self._shape((rows, cols))
        columns = [self.rng.permutation(rows) for _ in range(cols)]
        return from_host(np.stack(columns, 1) if columns else np.zeros((rows, 0), np.int64), dtypes.int64, CPU)

    def invertible(self, n: int) -> Tensor:
        """A well-conditioned matrix."""
        n = self.shrink.get(n, n)
        made = from_host((np.eye(n) * 4).astype(self.dtype.np) + self.values((n, n), -1, 1), self.dtype, CPU)
        MATRICES.add(made._storage)
        return made


def tensor_params(op: Any) -> list[Any]:
    """The parameters that must be tensors."""
    return [p for p in op.schema.params if p.type == "Tensor" and not p.optional]


def _number(d: dtypes.dtype, domain: tuple[float, float]) -> Any:
    """A Python number from an interval, as weakly typed as the dtype needs."""
    if d.kind <= INT:
        return max(int(domain[1] * 0.75), 1)
    return domain[1] * 0.75


def _filled(op: Any, d: dtypes.dtype) -> dict[str, Any]:
    """Values for parameters that have no default and are neither tensors nor sampled."""
    values: dict[str, Any] = {
        "Scalar": 2 if d.kind <= INT else 1.5,
        "float": 0.5,
        "Device": CPU,
        "ScalarType": d,
        "Seed": 7,
    }
    return {p.name: values[p.type] for p in op.schema.params if p.default is S.REQUIRED and p.type in values}


def operand(op: Any, d: dtypes.dtype, i: int, shape: tuple[int, ...], seed: int = 0) -> Tensor:
    """Operand ``i`` in its part of the domain."""
    t = Sampler(op, d, seed + 17 * i)
    domain = op.domain[i] if isinstance(op.domain[0], tuple) else op.domain
    return t(shape, *domain)


SHAPES = {
    1: [((3, 4),), ((2, 3, 2),)],
    2: [((3, 4), (3, 4)), ((2, 1, 4), (3, 1))],
    3: [((3, 4),) * 3, ((3, 4), (4,), (3, 1))],
}


def derived(op: Any, d: dtypes.dtype, shapes: Any = None, seed: int = 0) -> list[Case]:
    """Calls of an elementwise row: its tensors from the domain, then a Python number for the second one."""
    n = len(tensor_params(op))
    rest = _filled(op, d)
    out = [
        Case(tuple(operand(op, d, i, s, seed) for i, s in enumerate(group)), rest) for group in (shapes or SHAPES[n])
    ]
    if n > 1 and shapes is None and d.kind != BOOL:
        domain = op.domain[1] if isinstance(op.domain[0], tuple) else op.domain
        out.append(
            Case(
                (operand(op, d, 0, (3, 4)), _number(d, domain), *(operand(op, d, i, (3, 4)) for i in range(2, n))), rest
            )
        )
    return out


def is_derived(op: Any) -> bool:
    """Whether operands follow from the schema and domain alone."""
    return op.samples is None


def cases(op: Any, d: dtypes.dtype, seed: int = 0, shrink: dict[int, int] | None = None) -> list[Case]:
    """Calls of the row with operands of dtype ``d``."""
    with numpy_cpu():
        if is_derived(op):
            return derived(op, d, seed=seed)
        return [_case(op, d, s) for s in op.samples(Sampler(op, d, seed, shrink))]


def _case(op: Any, d: dtypes.dtype, sample: tuple[Any, ...]) -> Case:
    named = dict(sample[-1]) if sample and isinstance(sample[-1], dict) else {}
    args = sample[:-1] if named or (sample and isinstance(sample[-1], dict)) else sample
    positional = [p for p in op.schema.params if not p.keyword]
    if len(args) > len(positional):  # seeds and the like, which the schema wants by name
        keyword = [p.name for p in op.schema.params if p.keyword]
        named |= dict(zip(keyword, args[len(positional) :], strict=False))
        args = args[: len(positional)]
    given = {p.name for p in positional[: len(args)]} | set(named)
    return Case(tuple(args), {**{k: v for k, v in _filled(op, d).items() if k not in given}, **named})


def accepts(op: Any, d: dtypes.dtype) -> bool:
    """Whether the row takes operands of the dtype."""
    return "bifc"[d.kind] in op.dtypes


def dtypes_of(op: Any, caps: Any, unsigned: bool = False) -> list[dtypes.dtype]:
    """The dtypes to test a row with on a device."""
    return [d for d in accepted(op, unsigned) if caps.supports(d.code)]


def accepted(op: Any, unsigned: bool = False) -> list[dtypes.dtype]:
    """The dtypes to test a row with where every dtype can be held."""
    return [d for d in (*DTYPES, *(UNSIGNED if unsigned else ())) if accepts(op, d)]
