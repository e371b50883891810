"""Recipes: what a call works out from shapes and strides alone, kept for the next call that has the same ones.

A training loop calls the same few hundred things again and again. Merging axes, choosing an access class, finding the kernel and its grid
take tens of microseconds in Python; filling memory and numbers into a recipe takes two or three.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from tensorx.autograd.modes import state
from tensorx.dtypes import dtype
from tensorx.size import is_contiguous
from tensorx.storage import Storage
from tensorx.tensor import Tensor, check_supported, key_of

T = TypeVar("T")
Ints = tuple[int, ...]


class Recipes(dict[Any, T], Generic[T]):
    """What is known of calls seen before, by what it depends on. Should shapes vary without end, the oldest go.

    >>> recipes = Recipes((i, "") for i in range(Recipes.most))
    >>> recipes.keep("new", "how")
    'how'
    >>> len(recipes) == Recipes.most, 0 in recipes, "new" in recipes
    (True, False, True)
    """

    most = 1024

    def __setitem__(self, key: Any, recipe: T) -> None:
        while len(self) >= self.most:
            self.pop(next(iter(tuple(self)), None), None)  # a copy: other threads may insert
        super().__setitem__(key, recipe)

    def keep(self, key: Any, recipe: T) -> T:
        """``recipe``, noted."""
        self[key] = recipe
        return recipe


class Layouts(Recipes[T]):
    """Recipes whose keys hold shapes: there may be many, of a kilobyte each."""

    most = 256


def layouts(tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    """Shapes and strides, as a part of a key."""
    return tuple([(t._shape, t._strides) for t in tensors])


def bare(storage: Storage, shape: Ints, strides: Ints | None, offset: int, d: dtype, key: int) -> Tensor:
    """`tensor.make` where the key is known and ``strides`` is None if they are contiguous."""
    out: Tensor = Tensor.__new__(Tensor)
    out._storage, out._shape, out.dtype, out.device, out._key = storage, shape, d, storage.device, key
    if strides is not None:
        out._strides = strides
    if offset:
        out._offset = offset
    if state.inference:
        out._inference = True
    return out


class Result:
    """A tensor to be made: uninitialised memory of this shape, dense in the order of its strides."""

    __slots__ = ("dtype", "key", "nbytes", "shape", "strides")

    def __init__(self, shape: Ints, d: dtype, device: Any, strides: Ints | None = None) -> None:
        check_supported(d, device)
        contiguous = strides is None or is_contiguous(shape, strides)
        self.shape, self.dtype, self.strides = shape, d, None if contiguous else strides
        self.key = key_of(d, device, not shape, contiguous)
        self.nbytes = d.itemsize
        for n in shape:
            self.nbytes *= n

    def make(self, runtime: Any, device: Any) -> Tensor:
        """A new tensor. Raises OutOfMemory."""
        return bare(Storage(runtime.alloc(self.nbytes), self.nbytes, device), self.shape, self.strides, 0, self.dtype, self.key)


class Launch:
    """A kernel with its grid and the arguments that follow memory and numbers: sizes and strides."""

    __slots__ = ("grid", "kernel", "tail")

    def __init__(self, kernel: Any, grid: Any, tail: Sequence[int]) -> None:
        self.kernel, self.grid, self.tail = kernel, grid, tuple(tail)

    def __call__(self, runtime: Any, outs: Sequence[Tensor], ins: Sequence[Tensor], numbers: Sequence[Any]) -> None:
        args: list[Any] = []
        for t in outs:
            args += (t._storage.handle(), t._offset)
        for t in ins:
            args += (t._storage.handle(), t._offset)
        args += numbers
        args += self.tail
        runtime.launch(self.kernel, self.grid, args)
