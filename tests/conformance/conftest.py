"""Conformance walks the op table: no op is named here, everything derives from rows.

``--full`` (or ``TENSORX_COVER=full``) runs every dtype with every layout on every lane; without it compiled lanes run a
pairwise cover that rotates with the row, and the NumPy lane, which compiles nothing, still runs them all.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import counts
import pytest

from tensorx.ops.table import Op

sys.path.insert(0, str(Path(__file__).parent))
THIRDS = 3


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """``--rows=I/N`` leaves out the rows of other parts; so does being one of several OpenCL lanes, see `parts_of`."""
    from checking.sampling import seed_of

    lanes = dict.fromkeys(lane for item in items if (lane := parameters(item).get("device")))
    part_of = parts_of(list(lanes), config)
    others = set()
    for item in items:
        found = parameters(item)
        if isinstance(found.get("op"), Op):  # the hook sees the tests of every folder
            part, parts = part_of.get(found.get("device"), part_of[None])
            if seed_of(found["op"]) % parts != part:
                others.add(item)
    config.hook.pytest_deselected(items=list(others))
    items[:] = [item for item in items if item not in others]


def parameters(item: pytest.Item) -> dict[str, Any]:
    """What a test is parametrized with."""
    callspec = getattr(item, "callspec", None)
    return callspec.params if callspec is not None else {}


def parts_of(lanes: list[str], config: pytest.Config) -> dict[str | None, tuple[int, int]]:
    """Which part of the table each lane runs.

    Of several OpenCL lanes the last one runs all rows, the others a third that changes from day to day (PoCL takes
    0.16 s for a kernel, a quarter of an hour for all). A lane that is asked for alone, and ``--full``, runs all.
    """
    if config.getoption("--rows"):
        part, parts = map(int, config.getoption("--rows").split("/"))
        return {None: (part, parts)}
    alike = [lane for lane in lanes if lane.startswith("opencl")][:-1]
    thinned = alike if counts.cover(config) != "full" else []
    return {None: (0, 1)} | {lane: (turn() % THIRDS, THIRDS) for lane in thinned}


def turn() -> int:
    """A number that changes from day to day, or TENSORX_TURN."""
    return int(os.environ.get("TENSORX_TURN", time.time() // 86400))


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether to run everything."""
    return counts.cover(request.config) == "full"
