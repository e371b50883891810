"""Every row on every lane: ``out=``, in-place, aliasing, views, and what must be refused."""

from __future__ import annotations

import pytest
from checking import checks, refusals

from tensorx.ops.table import OPS


@pytest.fixture(params=OPS.values(), ids=list(OPS))
def op(request):
    """Each row of the table."""
    return request.param


def test_out(op, device, full):
    checks.run(checks.out(op, device, full), device)


def test_aliased_out(op, device):
    checks.run(checks.aliased(op, device), device)


def test_inplace(op, device, full):
    checks.run(checks.inplace(op, device, full), device)


def test_views(op, device):
    checks.run(checks.views(op, device), device)


def test_errors(op, device):
    checks.run(refusals.errors(op, device), device)
