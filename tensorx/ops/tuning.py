"""Which tile a contraction runs with, and finding the best one by trying a few.

Untuned, a device gets :func:`tensorx.kernels.tiles.tile`. ``python -m tensorx tune`` (:mod:`tensorx.tune`) or
``TENSORX_TUNE=1`` (at the first contraction of each size class) runs a bounded list of tiles on operands like the
call's. What computes anything but the reference is rejected and reported; the fastest of the others is kept on disk
for the device and its driver, and later processes use it. ``TENSORX_TUNE=0`` uses none, ``TENSORX_TILE=N`` forces the
N-th tile of each list, so that tests can walk through them.
"""

from __future__ import annotations

import contextlib
import math
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorx import dtypes, locks
from tensorx.devices import registry
from tensorx.errors import TensorXError
from tensorx.kernels import contract, contraction
from tensorx.kernels.contraction import Call
from tensorx.kernels.tiles import VectorTile
from tensorx.locks import Lock
from tensorx.ops import build

if TYPE_CHECKING:
    from tensorx.kernels.tune import Winners
    from tensorx.ops.trials import Trial

#: Questions to the winners: which tile, and whether BLAS beats it; the latter's answer is one of both.
TILE, BLAS = "tile", "BLAS"
#: A tile must beat the default by so much: less is the clock's noise.
_MARGIN = 0.95
#: Operands of a trial are at most so large: what is larger is left as it is.
_MOST_BYTES = 1 << 30
#: Multiplications of a product that BLAS does whatever the shape.
_SMALL = 1 << 18
#: Calls whose choice is remembered.
_KEPT = 4096


@dataclass
class Outcome:
    """What a size class' trial found: seconds of each candidate that was right, and why the others were refused.

    ``tile`` is the best tile, ``winner`` that or BLAS; both are empty where no tile was right.
    """

    device: str
    place: str
    default: str
    tile: str = ""
    winner: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    rejected: dict[str, str] = field(default_factory=dict)
    kept: bool = True

    @property
    def gain(self) -> float:
        """How many times as fast as the default tile the winner is; 0 where the default was rejected."""
        return self.seconds.get(self.default, 0.0) / self.seconds[self.winner]

    def decide(self) -> None:
        """The winners, from the times: the default stays unless another one is clearly faster."""
        tiles = {name: s for name, s in self.seconds.items() if name != BLAS}
        best = min(tiles, key=tiles.__getitem__)
        usual = tiles.get(self.default, math.inf)
        self.tile = best if tiles[best] < _MARGIN * usual else self.default
        self.winner = BLAS if self.seconds.get(BLAS, math.inf) <= tiles[self.tile] else self.tile


_lock = Lock()
_chosen: dict[tuple[Any, Call], Call] = {}
_blas: dict[Any, bool] = {}
_outcomes: list[list[Outcome]] = []
_steps: list[Callable[[str], None]] = []


def forget() -> None:
    """Choose anew at the next call of each contraction: the environment, or a file of winners, has changed."""
    _chosen.clear()
    _blas.clear()
    winners.cache_clear()


@cache
def winners(fingerprint: str) -> Winners:
    """The winners of a device, read once."""
    from tensorx.kernels.tune import Winners

    return Winners(fingerprint)


@contextlib.contextmanager
def tuning(step: Callable[[str], None] = lambda name: None) -> Iterator[list[Outcome]]:
    """Try every size class that is met, once, whatever is known already; ``step`` is told of each candidate."""
    found: list[Outcome] = []
    _chosen.clear()
    _blas.clear()
    _outcomes.append(found)
    _steps.append(step)
    try:
        yield found
    finally:
        _outcomes.remove(found)
        _steps.remove(step)
        _chosen.clear()
        _blas.clear()


def choose(device: registry.device, call: Call) -> Call:
    """``call`` with the tile that it shall have on ``device``."""
    runtime = device.runtime or registry.open(device)
    found = _chosen.get((runtime, call))
    if found is None:
        name = _forced(runtime, call) or _winner(device, call)
        tiles = {repr(t): t for t in contraction.tilings(runtime.capabilities, call)}
        found = contraction.retile(runtime.capabilities, call, tiles[name]) if name in tiles else call
        if len(_chosen) >= _KEPT:
            _chosen.clear()
        _chosen[runtime, call] = found
    return found


def _forced(runtime: Any, call: Call) -> str | None:
    number = os.environ.get("TENSORX_TILE", "")
    if not number:
        return None
    if not number.isdigit():
        raise ValueError(f"TENSORX_TILE: must be the number of a tile, from 0; got {number!r}")
    tiles = contraction.tilings(runtime.capabilities, call)
    return repr(tiles[int(number) % len(tiles)])


def _winner(device: registry.device, call: Call, question: str = TILE) -> str | None:
    """The winner's name for a call, found now where that is asked for; None: the default."""
    asked = os.environ.get("TENSORX_TUNE", "")
    runtime = device.runtime
    assert runtime is not None
    if not _outcomes and asked == "0":
        return None
    known = winners(runtime.fingerprint)
    if not _outcomes and asked != "1" and not len(known):
        return None
    from tensorx.kernels.tune import size_class

    place = size_class(call)
    with _lock.mutex:
        done = any(o.place == place and o.device == str(device) for found in _outcomes for o in found)
        if (
            device.type != "null"
            and not done
            and (_outcomes or (asked == "1" and known.get(f"{TILE} {place}") is None))
        ):
            _tune(device, call, known, place)
        return known.get(f"{question} {place}")


def _tune(device: registry.device, call: Call, known: Winners, place: str) -> None:
    outcome = trial(device, call, place)
    if outcome is None:
        return
    if outcome.tile:
        outcome.kept = known.put(
            {f"{TILE} {place}": outcome.tile, f"{BLAS} {place}": BLAS if outcome.winner == BLAS else TILE}
        )
    for found in _outcomes:
        found.append(outcome)
    if not _outcomes:
        for name, why in outcome.rejected.items():
            warnings.warn(f"tune: {name} was rejected on {device} for {place}: {why}", RuntimeWarning, stacklevel=2)


def trial(device: registry.device, call: Call, place: str) -> Outcome | None:
    """Run every candidate on operands like the call's. None where these would be too large."""
    from tensorx.ops import trials

    runtime = registry.open(device)
    bare = contraction.plain(call)
    test = trials.Trial(bare)
    if test.nbytes > min(_MOST_BYTES, runtime.capabilities.max_alloc):
        return None
    buffers = [runtime.alloc(memory.nbytes) for memory in test.memory]
    for buffer, memory in zip(buffers[1:], test.memory[1:], strict=True):
        runtime.copy_in(buffer, 0, memory.view(np.uint8))
    outcome = Outcome(str(device), place, repr(call.spec.param("tile")))
    want, runs = test.reference(), {}
    for kind in contraction.tilings(runtime.capabilities, bare):
        for step in _steps:
            step(repr(kind))
        run = _prepare(
            device,
            contraction.retile(runtime.capabilities, bare, kind),
            buffers,
            test,
            want,
            outcome.rejected,
            repr(kind),
        )
        if run is not None:
            runs[repr(kind)] = run
    if runtime.capabilities.host_callable and (run := _with_blas(test, want, outcome.rejected)):
        runs[BLAS] = run
    outcome.seconds = trials.race(runs, runtime.synchronize)
    if any(name != BLAS for name in outcome.seconds):
        outcome.decide()
    return outcome


def _prepare(
    device: registry.device, call: Call, buffers: list[Any], test: Trial, want: Any, rejected: dict[str, str], name: str
) -> Callable[[], None] | None:
    """A launch of the candidate, once it has computed what it must; else None, and the reason in ``rejected``."""
    runtime = registry.open(device)
    try:
        kernel = build.kernel(device, call.spec)
        pairs = [(buffer, m.base) for buffer, m in zip(buffers, test.maps, strict=True)]
        arguments = [value for pair in pairs for value in pair] + list(call.numbers)
        runtime.copy_in(buffers[0], 0, test.memory[0].view(np.uint8))
        runtime.launch(kernel, call.grid, arguments)
        got = np.empty_like(want)
        runtime.copy_out(buffers[0], 0, got.view(np.uint8))
    except TensorXError as error:
        rejected[name] = str(error).split("\n", 1)[0]
        return None
    if not np.array_equal(got, want):
        rejected[name] = f"{int((got != want).sum())} of {want.size} numbers in the result's memory are wrong"
        return None
    return lambda: runtime.launch(kernel, call.grid, arguments)


def _with_blas(test: Trial, want: Any, rejected: dict[str, str]) -> Callable[[], None] | None:
    """The product by NumPy, where the call is one of floats."""
    from tensorx.ops.kinds.contract import blas_enabled, blas_product

    if not blas_enabled() or test.call.spec.param("acc") == "i64":
        return None
    try:
        out, a, b = test.strided()
    except ValueError:
        return None
    work = dtypes.FROM_CODE[test.call.spec.outputs[0].dtype].compute.np

    def run() -> None:
        r = blas_product(out, a, b, work)
        if r is not out:
            out[...] = r

    with locks.blas:
        run()
    if not np.array_equal(test.memory[0], want):
        rejected[BLAS] = "a wrong product"
        return None
    return run


def blas_wins(key: Any, device: registry.device, call: Callable[[], Call]) -> bool:
    """Whether a product on the cpu goes to BLAS: as a trial has found, else as :func:`_usually_blas` says.

    ``key`` stands for all that ``call``, which makes the Call, depends on.
    """
    found = _blas.get(key)
    if found is None:
        made, runtime = call(), registry.open(device)
        answer = TILE if _forced(runtime, made) else _winner(device, made, BLAS)
        found = answer == BLAS if answer else _usually_blas(made)
        if len(_blas) >= _KEPT:
            _blas.clear()
        _blas[key] = found
    return found


def _usually_blas(call: Call) -> bool:
    """Measured, one thread, 2048 x 2048: OpenBLAS takes 3 to 4 times as long for 2 to 8 rows, which the thin tiles read
    once, as long for one; 1.3 (512 x 512) to 17 times (one row) as long for 16-bit floats, which NumPy converts first.
    Small work is not worth a compiler's start.
    """
    if math.prod(contract.extents(call.spec, call.numbers)) < _SMALL:
        return True
    kind = call.spec.param("tile")
    few_rows = isinstance(kind, VectorTile) and kind.thin and kind.rows > 1
    return not few_rows and dtypes.FROM_CODE[call.spec.inputs[0].dtype].itemsize > 2
