"""Rows of matrix products and convolutions with a tile that is not the default one; which one changes daily.

``TENSORX_TILE=3 pytest tests/conformance`` runs everything with the fourth tile of each list; tests/kernels/test_tuning
runs all tiles on a few calls.
"""

from __future__ import annotations

import os
import time

import pytest
from checking import checks
from checking.sampling import seed_of

from tensorx.ops import tuning
from tensorx.ops.table import OPS

ROWS = [op for op in OPS.values() if op.kind.name == "CONTRACT"]
#: More than any list has: numbers wrap around.
TILES = 24
TURN = int(os.environ.get("TENSORX_TURN", time.time() // 86400))


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_values_with_another_tile(op, device, monkeypatch):
    monkeypatch.setenv("TENSORX_TILE", str(1 + (TURN + seed_of(op)) % TILES))
    tuning.forget()
    try:
        checks.run(checks.values(op, device, False), device)
    finally:
        monkeypatch.undo()
        tuning.forget()
