"""The NumPy lane's fma against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tensorx.ops.expr_numpy import FUNCTIONS


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_rounding(dtype):
    random = np.random.RandomState(0)
    a, b = random.randn(2, 2000).astype(dtype)
    nearly = -(a * b) * random.choice([1, 1 + 1e-7, 1 + 1e-3], 2000).astype(dtype)  # most of the product cancels
    for c in (nearly, random.randn(2000).astype(dtype), np.zeros(2000, dtype)):
        got = FUNCTIONS["fma"](a, b, c)
        assert got.dtype == dtype
        want = [dtype(float(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)))) for x, y, z in zip(a, b, c)]
        np.testing.assert_array_equal(got, want)


def test_large_numbers():
    one = np.array([1e300, np.inf, np.nan, 1e300])
    with np.errstate(all="ignore"):  # as in `quietly`
        got = FUNCTIONS["fma"](one, np.array([2.0, 2.0, 2.0, 1e300]), np.ones(4))
    assert got[[0, 1, 3]].tolist() == [2e300, np.inf, np.inf]
    assert np.isnan(got[2])
