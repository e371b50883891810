"""The recorder: a mode of the door that keeps every call, and replays them to the same bits.

A record names tensors by number: a tensor that no recorded call made is an input of the recording and keeps its storage. Replaying a training
step (forward, backward, optimiser, random draws) on the same inputs gives the same results, because every primitive passes the door and random
draws carry their seed and offset. Compilation and export stand on this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tensorx.autograd.modes import no_grad, state
from tensorx.ops.dispatch import Mode, call
from tensorx.ops.table import Op
from tensorx.storage import Storage
from tensorx.tensor import Tensor, make


@dataclass
class Ref:
    """A tensor of a record: its storage's number and version, and its geometry there."""

    storage: int
    version: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: Any


@dataclass
class Call:
    """One recorded call: arguments, ``out`` and results with tensors as `Ref`."""

    op: Op
    args: tuple[Any, ...]
    out: Any
    results: tuple[Ref, ...]


class Recorder(Mode):
    """Record calls.

    >>> import tensorx
    >>> x = tensorx.ones(3)
    >>> with tensorx.ops.recorder.Recorder() as r:
    ...     y = (x * 2).sum()
    >>> [c.op.schema.name for c in r.calls]
    ['mul', 'sum']
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.breaks: list[int] = []  # positions in ``calls`` where a value left for Python
        self.storages: dict[int, int] = {}
        self.alive: list[Storage] = []  # keeps ids unique while recording
        self.made: set[int] = set()

    def number(self, storage: Storage) -> int:
        """The storage's number in this record."""
        found = self.storages.get(id(storage))
        if found is None:
            found = self.storages[id(storage)] = len(self.alive)
            self.alive.append(storage)
        return found

    def ref(self, t: Tensor) -> Ref:
        """How the record names a tensor."""
        return Ref(self.number(t._storage), t._storage.version, t._shape, t._get_strides(), t._offset, t.dtype)

    def handle(self, op: Op, args: tuple[Any, ...], out: Any, proceed: Callable[..., Any]) -> Any:
        """Keep the call, then run it."""
        refs = tuple(self._freeze(a) for a in args)
        out_refs = None if out is None else tuple(self.ref(t) for t in out)
        known = len(self.alive)
        result = proceed(op, args, out)
        results = tuple(self.ref(t) for t in (result if isinstance(result, tuple) else (result,)))
        self.made.update(range(known, len(self.alive)))
        self.calls.append(Call(op, refs, out_refs, results))
        return result

    def on_break(self, t: Tensor) -> None:
        """Note that a value was read."""
        self.breaks.append(len(self.calls))

    def _freeze(self, a: Any) -> Any:
        if isinstance(a, Tensor):
            return self.ref(a)
        return tuple(self._freeze(x) for x in a) if a.__class__ is tuple else a

    def inputs(self) -> list[Storage]:
        """Storages that the recorded calls read but did not make."""
        return [s for i, s in enumerate(self.alive) if i not in self.made]

    def replay(self, replace: dict[int, Storage] | None = None) -> list[tuple[Tensor, ...]]:
        """Run the calls again; answer each call's results.

        Inputs are the recorded storages unless ``replace`` maps ``id(storage)`` to another one (a copy of the values before the recording,
        where the calls wrote to them).
        """
        replace = replace or {}
        storages: dict[int, Storage] = {i: replace.get(id(s), s) for i, s in enumerate(self.alive) if i not in self.made}
        outputs = []
        stack, state.stack = state.stack, ()
        try:
            with no_grad():
                for c in self.calls:
                    out = None if c.out is None else tuple(self._thaw(r, storages) for r in c.out)
                    args = tuple(self._thaw(a, storages) for a in c.args)
                    result = call(c.op, args, out)
                    results = result if isinstance(result, tuple) else (result,)
                    for r, t in zip(c.results, results, strict=True):
                        storages.setdefault(r.storage, t._storage)
                    outputs.append(results)
        finally:
            state.stack = stack
        return outputs

    def _thaw(self, a: Any, storages: dict[int, Storage]) -> Any:
        if isinstance(a, Ref):
            return make(storages[a.storage], a.shape, a.strides, a.offset, a.dtype)
        return tuple(self._thaw(x, storages) for x in a) if a.__class__ is tuple else a
