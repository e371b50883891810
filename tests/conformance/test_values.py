"""Every row on every lane: values, dtypes, shapes, layouts, special values, empty and zero-dim operands."""

from __future__ import annotations

import pytest
from checking import checks

from tensorx.ops.table import OPS


@pytest.fixture(params=OPS.values(), ids=list(OPS))
def op(request):
    """Each row of the table."""
    return request.param


def test_values(op, device, full):
    checks.run(checks.values(op, device, full), device)


def test_special_values(op, device):
    checks.run(checks.special(op, device), device)


def test_empty_and_zero_dim(op, device):
    checks.run(checks.empties(op, device), device)
