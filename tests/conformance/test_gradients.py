"""Every row with a gradient on every lane."""

from __future__ import annotations

import pytest
from checking import gradients
from checking.checks import run

from tensorx.ops.table import OPS


@pytest.fixture(params=OPS.values(), ids=list(OPS))
def op(request):
    """Each row of the table."""
    return request.param


def test_gradcheck(op, device, full):
    run(gradients.gradcheck(op, device, full), device)


def test_float32_gradients(op, device):
    run(gradients.single(op, device), device)


def test_what_is_saved_matters(op, device):
    run(gradients.saved(op, device), device)


def test_overwriting_is_noticed(op, device):
    run(gradients.overwritten(op, device), device)


def test_rows_without_rule(op, device):
    run(gradients.undifferentiable(op, device), device)
