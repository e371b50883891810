"""Random rows and generators.

A draw reserves one offset of its generator; (seed, offset, element index) decide every bit, on every device. The seed and offset are arguments
of the call, so a recorded call replays to the same bits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.devices import registry
from tensorx.dtypes import dtype as DType
from tensorx.errors import BadValue, DTypeError, ShapeError
from tensorx.locks import Lock
from tensorx.ops import expr as E
from tensorx.ops import factories, philox
from tensorx.ops.arguments import as_int, as_shape, checked, size_given
from tensorx.ops.dispatch import call
from tensorx.ops.families import elementwise, row
from tensorx.ops.kinds.create import CREATE
from tensorx.ops.table import KEEP, NONDIFF
from tensorx.tensor import Tensor, check_supported

_lock = Lock()  # of every generator's seed and offset


class Generator:
    """A source of random offsets. Draws depend on the seed and on how many draws came before, never on the device.

    >>> import tensorx
    >>> g = tensorx.Generator().manual_seed(7)
    >>> a = tensorx.rand(2, generator=g); b = tensorx.rand(2, generator=g.manual_seed(7)); (a == b).all().item()
    True
    """

    def __init__(self, device: Any = "cpu") -> None:
        self.device = registry.device(device)
        self._seed, self._offset, self._children = 67280421310721, 0, 0

    def manual_seed(self, seed: int) -> Generator:
        """Restart from ``seed`` (any 64-bit integer)."""
        if not -(2**63) <= int(seed) < 2**64:
            raise RuntimeError("Overflow when unpacking long")
        with _lock.mutex:
            self._seed, self._offset, self._children = int(seed) % 2**64, 0, 0
        return self

    def seed(self) -> int:
        """Restart from a new, unpredictable seed; returns it."""
        import secrets
        self.manual_seed(secrets.randbits(64) ^ (time.time_ns() & 0xFFFF))
        return self._seed

    def initial_seed(self) -> int:
        """The seed last set."""
        return self._seed

    def reserve(self) -> tuple[int, int]:
        """(seed, offset) for one draw."""
        with _lock.mutex:
            seed, offset = self._seed, self._offset
            self._offset = offset + 1
        return seed, offset

    def get_state(self) -> Tensor:
        """Seed and offset as a uint8 tensor."""
        with _lock.mutex:
            state = np.array([self._seed, self._offset], np.uint64)
        return factories.tensor(state.view(np.uint8), device="cpu")

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state that `get_state` gave."""
        seed, offset = new_state.numpy().view(np.uint64).tolist()
        with _lock.mutex:
            self._seed, self._offset, self._children = seed, offset, 0
        return self

    def child_seed(self) -> int:
        """A seed for other processes: another one each time, the same after the same seed and draws, and no draw itself."""
        import hashlib
        with _lock.mutex:
            place = (self._seed, self._offset, self._children)
            self._children += 1
        return int.from_bytes(hashlib.blake2b(repr(place).encode(), digest_size=8).digest()) >> 2

    def clone_state(self) -> Generator:
        """A new generator at the same place."""
        return Generator(self.device).set_state(self.get_state())


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Seed the default generator.

    >>> import tensorx
    >>> _ = tensorx.manual_seed(0); a = tensorx.rand(3); _ = tensorx.manual_seed(0); (a == tensorx.rand(3)).all().item()
    True
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seed the default generator unpredictably.

    >>> import tensorx
    >>> isinstance(tensorx.seed(), int)
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The default generator's seed.

    >>> import tensorx
    >>> _ = tensorx.manual_seed(3); tensorx.initial_seed()
    3
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The default generator's state.

    >>> import tensorx
    >>> s = tensorx.get_rng_state(); a = tensorx.rand(1); tensorx.set_rng_state(s); (a == tensorx.rand(1)).item()
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the default generator's state (see `get_rng_state`).

    >>> import tensorx as tx
    >>> state = tx.get_rng_state()
    >>> tx.set_rng_state(state)
    """
    default_generator.set_state(new_state)


def reserve(generator: Generator | None) -> tuple[int, int]:
    """(seed, offset) of a draw from ``generator`` or the default one."""
    return (generator or default_generator).reserve()


KEYS = "Seed seed, Seed offset, ScalarType dtype, Device device"
SHAPED = {"samples": lambda t: [((3, 4), 0.0, 1.0, 7, 3)]}


def _statistic(*args: Any, **kwargs: Any) -> Any:
    """Random rows are tested by distribution and by recorded bits, not by an oracle of values."""
    raise NotImplementedError("random rows have no value oracle")


_uniform = row(f"_uniform(int[] size, Scalar low, Scalar high, *, {KEYS}) -> Tensor", CREATE,
               lambda d, low, high, seed, offset: philox.uniform(d, seed, offset) * (high - low) + low, NONDIFF, ref=_statistic, dtypes="f",
               doc="Uniform numbers in [low, high).", **SHAPED)
_normal = row(f"_normal(int[] size, Scalar mean, Scalar std, *, {KEYS}) -> Tensor", CREATE,
              lambda d, mean, std, seed, offset: philox.normal(d, seed, offset) * std + mean, NONDIFF, ref=_statistic, dtypes="f",
              doc="Normal numbers.", **SHAPED)
_randint = row(f"_randint(int[] size, Seed low, Seed span, *, {KEYS}) -> Tensor", CREATE,
               lambda d, low, span, seed, offset: E.cast(E.cast(philox.integer(seed, offset, span) + low, dtypes.int64), d.compute), NONDIFF, ref=_statistic,
               dtypes="bif", samples=lambda t: [((3, 4), 0, 10, 7, 3)], doc="Integers in [low, low + span).")
_exponential = row(f"_exponential(int[] size, Scalar lambd, *, {KEYS}) -> Tensor", CREATE,
                   lambda d, lambd, seed, offset: philox.log(1 - philox.uniform(d.compute, seed, offset)) * -1.0 / lambd, NONDIFF, ref=_statistic, dtypes="f",
                   samples=lambda t: [((3, 4), 1.0, 7, 3)], doc="Exponential numbers of rate lambd.")
_bernoulli = elementwise("_bernoulli(Tensor p, Seed seed, Seed offset) -> Tensor",
                         lambda p, seed, offset: E.cast(E.cast(philox.uniform(p.dtype, seed, offset), p.dtype) < p, p.dtype), promote=KEEP, ref=_statistic,
                         dtypes="f", samples=lambda t: [(t((3, 4), 0, 1), 7, 3)], doc="1 with probability p, else 0.")
native_dropout = elementwise(
    "_dropout(Tensor self, float p, Seed seed, Seed offset) -> Tensor", lambda x, p, seed, offset: dropped(x, p, seed, offset),
    lambda g, out, x, p, seed, offset: dropped(g, p, seed, offset), ref=_statistic, dtypes="f", samples=lambda t: [(t((3, 4)), 0.5, 7, 3)],
    doc="Zero with probability p, the rest scaled by 1 / (1 - p); the mask is drawn again in backward, not saved.")


def _place(columns: E.Expr, rows: E.Expr, width: E.Expr, height: E.Expr, first: E.Expr) -> E.Expr:
    """The number within (..., height, width) of this element of (..., rows, columns), which begins at row ``first`` of each matrix."""
    line = E.floordiv(E.index(), columns)
    return (E.floordiv(line, rows) * height + first + E.remainder(line, rows)) * width + E.remainder(E.index(), columns)


dropout_part = elementwise(
    "_dropout_part(Tensor self, float p, Seed seed, Seed offset, Seed columns, Seed rows, Seed width, Seed height, Seed first) -> Tensor",
    lambda x, p, seed, offset, columns, rows, width, height, first: dropped(x, p, seed, offset, _place(columns, rows, width, height, first)),
    lambda g, out, x, p, seed, offset, columns, rows, width, height, first: dropped(g, p, seed, offset, _place(columns, rows, width, height, first)),
    ref=_statistic, dtypes="f", samples=lambda t: [(t((2, 3, 4)), 0.5, 7, 3, 4, 3, 5, 9, 2)],
    doc="_dropout of rows and columns of the last two dimensions of a tensor, drawn as for the whole.")


def dropped(x: E.Expr, p: E.Expr, seed: E.Expr, offset: E.Expr, at: E.Expr | None = None) -> E.Expr:
    """``x`` scaled, or 0 with probability ``p``; drawn for this element, or for that of number ``at`` (u64)."""
    keep = philox.uniform(dtypes.float32, seed, offset, at) >= E.cast(p, dtypes.float32)
    return E.where(keep, x * (1 / (1 - p)), 0.0)


@checked
def dropout(input: Tensor, p: float = 0.5, train: bool = True, *, inplace: bool = False) -> Tensor:
    """Zero elements with probability ``p`` and scale the rest by 1 / (1 - p). ValueError unless 0 <= p <= 1.

    >>> import tensorx
    >>> tensorx.dropout(tensorx.ones(4), 0.0, True)
    tensor([1., 1., 1., 1.])
    """
    if not 0 <= p <= 1:
        raise BadValue(f"dropout probability has to be between 0 and 1, but got {p}")
    if not train or p == 0 or not input.numel():
        return input if inplace else input.clone() if p == 0 and train else input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    args = (input, p, *reserve(None))
    return call(native_dropout, args, (input,) if inplace else None)


def _draw_complex(op: Any, shape: tuple[int, ...], keys: tuple[Any, ...], out: Tensor | None, requires_grad: bool) -> Tensor:
    """Real and imaginary parts drawn alike; the normal ones with variance 1/2 each, so that the numbers have variance 1."""
    from tensorx.ops.complexes import view_as_complex
    parts = (0, math.sqrt(0.5)) if op is _normal else (0, 1)
    drawn: Tensor = view_as_complex(call(op, ((*shape, 2), *parts, *keys)))
    drawn = drawn.clone() if out is None else out.resize_(shape).copy_(drawn)
    return drawn.requires_grad_() if requires_grad else drawn


def _draw(name: str, op: Any, first: Any, second: Any, summary: str) -> Callable[..., Tensor]:
    def f(*size: Any, generator: Generator | None = None, out: Tensor | None = None, dtype: DType | None = None, layout: Any = None, device: Any = None,
          requires_grad: bool = False, pin_memory: bool = False, **kw: Any) -> Tensor:
        shape = as_shape(name, size_given(name, size, kw))
        d, place = dtype or dtypes.get_default_dtype(), factories.resolve(device)
        check_supported(d, place, name)  # before numbers are reserved
        if d.kind == dtypes.COMPLEX:
            return _draw_complex(op, shape, (*reserve(generator), d.real, place), out, requires_grad)
        if d.kind != dtypes.FLOAT:
            raise DTypeError(f'"{name}" not implemented for \'{d.name}\'')
        keys = (*reserve(generator), d, place)
        result = call(op, (shape, first, second, *keys), None if out is None else (out,))
        return result.requires_grad_() if requires_grad else result
    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"{summary}\n\n    >>> import tensorx\n    >>> tensorx.{name}(2, 3).shape\n    tensorx.Size([2, 3])\n    "
    return checked(f)


rand = _draw("rand", _uniform, 0, 1, "Uniform numbers in [0, 1).")
randn = _draw("randn", _normal, 0, 1, "Standard normal numbers.")


def check_bounds(low: int, high: int, d: DType) -> None:
    """RuntimeError unless a dtype can hold both ends of a range of integers."""
    least, most = (0, 1) if d.kind == dtypes.BOOL else (int(np.iinfo(d.np).min), int(np.iinfo(d.np).max)) if d.kind == dtypes.INT else (low, high)
    for name, value in (("from", low), ("to - 1", high - 1)):
        if not least <= value <= most:
            raise RuntimeError(f"randint: {name} is out of bounds for {d.name}; got {value}. Hint: it holds {least} to {most}")


@checked
def randint(*args: Any, generator: Generator | None = None, out: Tensor | None = None, dtype: DType | None = None, layout: Any = None, device: Any = None,
            requires_grad: bool = False, pin_memory: bool = False, low: int | None = None, high: int | None = None, size: Any = None) -> Tensor:
    """``randint([low=0,] high, size)``: integers in [low, high). RuntimeError if the range is empty.

    >>> import tensorx
    >>> tensorx.randint(0, 10, (3,)).shape
    tensorx.Size([3])
    """
    values = list(args)
    if size is None:
        size = values.pop() if values else None
    if high is None:
        high = values.pop() if values else None
    low = values.pop() if values else (low or 0)
    if not isinstance(size, list | tuple):
        raise TypeError(f"randint: argument 'size' must be a tuple of ints; got {size!r} ({type(size).__name__}). Hint: randint(low, high, (n,))")
    low, high, shape = as_int("randint", "low", low), as_int("randint", "high", high), as_shape("randint", (size,))
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    d = dtype or dtypes.int64
    check_bounds(low, high, d)
    call_args = (shape, low, high - low, *reserve(generator), d, factories.resolve(device))
    return call(_randint, call_args, None if out is None else (out,))


@checked
def randperm(n: int, *, generator: Generator | None = None, out: Tensor | None = None, dtype: DType | None = None, layout: Any = None, device: Any = None,
             requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A random permutation of 0 .. n - 1: the order of n random 63-bit keys.

    >>> import tensorx
    >>> tensorx.randperm(4).sort().values
    tensor([0, 1, 2, 3])
    """
    if n < 0:
        raise ShapeError(f"randperm: argument 'n' must not be negative; got {n}")
    keys = call(_randint, ((n,), 0, 2**63 - 1, *reserve(generator), dtypes.int64, factories.resolve(device)))
    return keys.argsort(stable=True).to(dtype or dtypes.int64)


@checked
def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """1 with the probability that ``input`` holds (or the number ``p``), else 0. RuntimeError (at the next wait, on other devices than the cpu) for what is no
    probability.

    >>> import tensorx
    >>> tensorx.bernoulli(tensorx.tensor([0., 1.]))
    tensor([0., 1.])
    """
    if p is not None:
        drawn = bernoulli_(factories.empty_like(input), p, generator=generator)
        return drawn if out is None else out.resize_(drawn._shape).copy_(drawn)
    if input.dtype.kind == dtypes.FLOAT:
        from tensorx.ops.losses import check_unit
        check_unit("bernoulli", input)
    return call(_bernoulli, (input, *reserve(generator)), None if out is None else (out,))


def _check_std(std: float) -> None:
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")


@checked
def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, out: Tensor | None = None, dtype: DType | None = None,
           layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """Normal numbers with the given mean and standard deviation (numbers with ``size``, or tensors).

    >>> import tensorx
    >>> tensorx.normal(0.0, 1.0, (2,)).shape
    tensorx.Size([2])
    """
    for name, value in (("mean", mean), ("std", std)):
        if not isinstance(value, int | float | np.number | Tensor):
            raise TypeError(f"normal: argument '{name}' must be a number or a Tensor; got {value!r} ({type(value).__name__})")
    if not isinstance(std, Tensor):
        _check_std(std)
    elif std.device.type != "meta" and not bool((std.detach() >= 0).all()):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        like = mean if isinstance(mean, Tensor) else std
        from tensorx.ops.layout import broadcast_shapes
        shape = broadcast_shapes("normal", *(x._shape for x in (mean, std) if isinstance(x, Tensor)))
        drawn: Tensor = randn(shape, generator=generator, dtype=like.dtype, device=like.device) * std + mean
        return drawn if out is None else out.resize_(shape).copy_(drawn)
    args = (as_shape("normal", (size,)), mean, std, *reserve(generator), dtype or dtypes.get_default_dtype(), factories.resolve(device))
    result = call(_normal, args, None if out is None else (out,))
    return result.requires_grad_() if requires_grad else result


def _like(name: str) -> Callable[..., Tensor]:
    def f(input: Tensor, *, dtype: DType | None = None, layout: Any = None, device: Any = None, requires_grad: bool = False, generator: Any = None,
          pin_memory: bool = False, memory_format: Any = None) -> Tensor:
        made = factories.empty_like(input, dtype=dtype, layout=layout, device=device, memory_format=memory_format)
        drawn: Tensor = globals()[name](input._shape, dtype=made.dtype, device=made.device, generator=generator, out=None if made.is_contiguous() else made)
        return drawn.requires_grad_() if requires_grad else drawn
    f.__name__ = f.__qualname__ = name + "_like"
    f.__doc__ = f"`{name}` in the shape, dtype and device of ``input``.\n\n    >>> import tensorx\n    >>> tensorx.{name}_like(tensorx.zeros(2)).shape\n    tensorx.Size([2])\n    "
    return checked(f)


rand_like, randn_like = _like("rand"), _like("randn")


def _fill(name: str, op: Any, summary: str, check: Callable[..., None], *defaults: float) -> Any:
    names = {"uniform_": ("from", "to"), "normal_": ("mean", "std"), "exponential_": ("lambd",)}[name]

    def f(self: Tensor, *args: Any, generator: Generator | None = None, **kw: Any) -> Tensor:
        if self.dtype.kind < dtypes.FLOAT:
            raise DTypeError(f'"{name}" not implemented for \'{self.dtype.name}\'')
        if len(args) + len(kw) > len(names) or kw.keys() - set(names[len(args):]):
            raise TypeError(f"{name}: takes {', '.join(names)}; got {len(args)} positional arguments and {', '.join(kw) or 'no keywords'}")
        values = [*args, *(kw.get(n, d) for n, d in zip(names[len(args):], defaults[len(args):], strict=True))]
        check(*values)
        return call(op, (self._shape, *values, *reserve(generator), self.dtype, self.device), (self,))
    f.__doc__ = summary
    return f


def _check_interval(low: float, high: float) -> None:
    if not low <= high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}")


def _check_rate(lambd: float) -> None:
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")


DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24}  # floats hold all integers up to 2**digits


def random_(self: Tensor, *args: Any, generator: Generator | None = None, **kw: Any) -> Tensor:
    """``random_([from=0,] [to])``: integers in [from, to), by default up to what the dtype holds, in place. RuntimeError for an empty range, and for one
    that the dtype does not hold.
    """
    one = len(args) + len(kw) == 1 and "from" not in kw
    names = ("to",) if one else ("from", "to")
    given = dict(zip(names, args, strict=False)) | kw
    if len(args) > len(names) or given.keys() - set(names) or len(given) != len(args) + len(kw):
        raise TypeError("random_: takes 'to', or 'from' and 'to'")
    low, high = int(given.get("from", 0)), given.get("to")
    d = self.dtype
    top = int(np.iinfo(d.np).max) if d.kind == dtypes.INT else 1 if d.kind == dtypes.BOOL else 2 ** DIGITS.get(d.name, 53)
    least = int(np.iinfo(d.np).min) if d.kind == dtypes.INT else 0 if d.kind == dtypes.BOOL else -top
    if high is None:
        high = top + (d.kind == dtypes.BOOL)
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if d.kind < dtypes.FLOAT:
        for name, value in (("from", low), ("to - 1", int(high) - 1)):
            if not least <= value <= top:
                raise RuntimeError(f"random_: {name} is out of bounds for {d.name}")
    return call(_randint, (self._shape, low, int(high) - low, *reserve(generator), d, self.device), (self,))


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """1 with probability ``p`` (a number or a tensor), else 0, in place."""
    if not isinstance(p, Tensor) and not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    if isinstance(p, Tensor):
        return self.copy_(bernoulli(p.expand(self._shape), generator=generator))
    probability = factories.full(self._shape, float(p), dtype=dtypes.float32, device=self.device)
    return self.copy_(call(_bernoulli, (probability, *reserve(generator))))


METHODS = {
    "uniform_": _fill("uniform_", _uniform, "Uniform numbers in [from, to), in place.", _check_interval, 0.0, 1.0),
    "normal_": _fill("normal_", _normal, "Normal numbers with a mean and standard deviation, in place.", lambda mean, std: _check_std(std), 0.0, 1.0),
    "exponential_": _fill("exponential_", _exponential, "Exponential numbers of a rate, in place.", _check_rate, 1.0),
    "random_": random_, "bernoulli_": bernoulli_, "bernoulli": bernoulli,
}
