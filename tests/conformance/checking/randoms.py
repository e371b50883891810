"""Checks of random rows and generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from checking.checks import Step, call
from checking.compare import bits
from checking.layouts import Placed
from checking.sampling import Case, cases
from tensorx import dtypes


def is_random(op: Any) -> bool:
    """Whether a row draws: it takes a seed and an offset."""
    return {"seed", "offset"} <= {p.name for p in op.schema.params}


def _with(op: Any, case: Case, **keys: int) -> Case:
    """The case with other values of the seed or the offset."""
    names = [p.name for p in op.schema.params]
    args = tuple(keys.get(name, a) for name, a in zip(names, case.args, strict=False))
    return Case(args, {name: keys.get(name, value) for name, value in case.kwargs.items()})


def keys(op: Any, device: Any) -> list[Step]:
    """The same seed and offset give the same bits; another one of either gives others."""
    case = cases(op, dtypes.float32)[0]

    def step(device: Any) -> None:
        def draw(seed: int, offset: int) -> Any:
            return bits(call(op, Placed(op, _with(op, case, seed=seed, offset=offset), device, "contiguous"))[0])

        base = draw(7, 3)
        assert np.array_equal(draw(7, 3), base), f"{op.name}: one seed and offset gave two results"
        for seed, offset in ((8, 3), (7, 4), (7 + 2**32, 3), (7, 3 + 2**32)):
            assert not np.array_equal(draw(seed, offset), base), (
                f"{op.name}: seed {seed}, offset {offset} as seed 7, offset 3"
            )

    return [step]


def generator(make: Any) -> None:
    """Each draw reserves an offset of its own; a seed restarts, a state continues."""
    source = make().manual_seed(11)
    drawn = [source.reserve() for _ in range(5)]
    assert len(set(drawn)) == 5, f"reserve: five draws reserved {drawn}"
    assert [source.manual_seed(11).reserve() for _ in range(1)] == drawn[:1], "manual_seed: must restart"
    state = source.get_state()
    after = source.reserve()
    assert source.set_state(state).reserve() == after == drawn[1], "set_state: must continue where get_state was"
