"""Conformance walks the op table: no op is named here, everything derives from rows.

``--full`` (or ``TENSORX_COVER=full``) runs every dtype with every layout on every lane; without it compiled lanes run a
pairwise cover that rotates with the row, and the NumPy lane, which compiles nothing, still runs them all.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """``--rows=I/N`` leaves out the rows of other parts."""
    if not config.getoption("--rows"):
        return
    from checking.sampling import seed_of

    part, parts = map(int, config.getoption("--rows").split("/"))
    others = []
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is not None and "op" in callspec.params and seed_of(callspec.params["op"]) % parts != part:
            others.append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in set(others)]


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether to run everything."""
    return request.config.getoption("--full") or os.environ.get("TENSORX_COVER") == "full"
