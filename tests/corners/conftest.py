"""Corner cases: small programs with PyTorch's answers as data, and the witness rows of every kind of difficulty."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "conformance")]


@pytest.fixture
def tx(device):
    """The library, with the lane's device as the default one."""
    from lanes import default_device

    import tensorx

    with default_device(device):
        yield tensorx
