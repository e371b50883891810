"""Rows under oclgrind: one call a template and access class; its log of bad accesses and races stays empty."""

from __future__ import annotations

import pytest
from oclgrind import simulate

pytestmark = [pytest.mark.oclgrind, pytest.mark.slow]


def test_every_template_and_access_class(tmp_path):
    assert simulate(tmp_path, "-m", "checking.grind") == ""


def test_a_stray_read_would_be_found(tmp_path):
    assert "Invalid read" in simulate(tmp_path, "-m", "checking.grind", "--plant")
