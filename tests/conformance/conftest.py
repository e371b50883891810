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


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether to run everything."""
    return request.config.getoption("--full") or os.environ.get("TENSORX_COVER") == "full"
