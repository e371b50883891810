"""Every spec under oclgrind, whose log of bad accesses, races and divergence must stay empty."""

from __future__ import annotations

from pathlib import Path

import pytest
from oclgrind import simulate

CASES = Path(__file__).with_name("cases.py")
pytestmark = pytest.mark.oclgrind


def test_simulator_finds_nothing(tmp_path):
    assert simulate(tmp_path, CASES, "oclgrind", OCLGRIND_UNINITIALIZED="1") == ""


def test_simulator_finds_an_off_by_one_store(tmp_path):
    log = simulate(tmp_path, CASES, "oclgrind", "tx_add", "store")
    assert "Invalid write of size 4" in log


@pytest.mark.parametrize(("entry", "barriers"), [("tx_mean", 2), ("tx_softmax", 5)])
def test_simulator_finds_each_missing_barrier(tmp_path, entry, barriers):
    """softmax has a sixth, which would part its last reduction from a further one."""
    for number in range(barriers):
        log = simulate(tmp_path, CASES, "oclgrind", entry, "barrier", str(number))
        assert "data race" in log.lower(), f"barrier {number} of {barriers} can go unnoticed"
