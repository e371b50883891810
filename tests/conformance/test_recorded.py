"""Rows and their oracles against answers that PyTorch gave (``tests/data/record_rows.py``)."""

from __future__ import annotations

import pytest
from checking import recorded
from checking.sampling import DTYPES, Sampler, accepts, numpy_cpu

from tensorx.ops.table import OPS


@pytest.mark.parametrize("name", [name for name in recorded.rows() if name in OPS])
def test_recorded(name):
    recorded.check(OPS[name], recorded.rows()[name])


def test_most_rows_are_recorded():
    """The record follows the table: at most a quarter of the public rows may be missing."""
    public = [name for name, op in OPS.items() if not name.startswith("_") and op.kind.name == "ELEMENTWISE"]
    missing = [name for name in public if name not in recorded.rows()]
    assert len(missing) <= len(public) // 4, f"run tests/data/record_rows.py; missing: {missing}"


def test_every_row_is_called():
    """Samples that give no call would take a row out of every test."""
    with numpy_cpu():
        missing = [
            op.name
            for op in OPS.values()
            if op.samples and not any(op.samples(Sampler(op, d)) for d in DTYPES if accepts(op, d))
        ]
    assert missing == []
