"""Layers and losses against recorded values."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from nn_cases import CASES

import tensorx as tx

HERE = Path(__file__).parent
for path in sorted(HERE.glob("cases_*.py")):
    importlib.import_module(path.stem)
GOLDEN = {}
for path in sorted(HERE.glob("golden_*.json")):
    GOLDEN |= json.loads(path.read_text())


def compare(got, want, where):
    if isinstance(want, dict):
        assert got.keys() == want.keys(), where
        for key in want:
            compare(got[key], want[key], f"{where}.{key}")
    elif want is None:
        assert got is None, where
    else:
        np.testing.assert_allclose(
            np.array(got, float), np.array(want, float), rtol=2e-4, atol=2e-5, equal_nan=True, err_msg=where
        )


def test_every_case_is_recorded():
    assert GOLDEN.keys() == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_golden(name, device):
    got = CASES[name](tx, device)
    for key, want in GOLDEN[name].items():
        if key == "inputs":
            assert len(got[key]) == len(want)
            for i, (a, b) in enumerate(zip(got[key], want)):
                compare(a, b, f"input {i}")
        else:
            compare(got[key], want, key)
