"""Numbers that are part of a plan: a call with one must not be answered by the plan of another."""

import numpy as np
import pytest

import tensorx

X = [0.25, 1.0, 4.0, 9.0]
#: exponent: powers of X, and their slopes.
POWERS = {
    2: ([0.0625, 1, 16, 81], [0.5, 2, 8, 18]),
    3: ([0.015625, 1, 64, 729], [0.1875, 3, 48, 243]),
    1: (X, [1, 1, 1, 1]),
    0.5: ([0.5, 1, 2, 3], [1, 0.5, 0.25, 1 / 6]),
    -0.5: ([2, 1, 0.5, 1 / 3], [-4, -0.5, -0.0625, -1 / 54]),
    -1: ([4, 1, 0.25, 1 / 9], [-16, -1, -0.0625, -1 / 81]),
    -2: ([16, 1, 0.0625, 1 / 81], [-128, -2, -0.03125, -2 / 729]),
    1.5: ([0.125, 1, 8, 27], [0.75, 1.5, 3, 4.5]),
}


@pytest.mark.parametrize("copies", [1, 20_000])
def test_powers_one_after_the_other(device, copies):
    x = tensorx.tensor(X * copies, device=device, requires_grad=True)
    for _ in range(2):
        for n, (value, slope) in POWERS.items():
            y = x**n
            (g,) = tensorx.autograd.grad(y.sum(), x)
            np.testing.assert_allclose(y.tolist(), value * copies, rtol=1e-6)
            np.testing.assert_allclose(g.tolist(), slope * copies, rtol=1e-6)


def test_second_slopes(device):
    x = tensorx.tensor(X, device=device, requires_grad=True)
    for n, second in {2: [2] * 4, 3: [1.5, 6, 24, 54], 0.5: [-2, -0.25, -0.03125, -1 / 108]}.items():
        (g,) = tensorx.autograd.grad((x**n).sum(), x, create_graph=True)
        (h,) = tensorx.autograd.grad(g.sum(), x)
        np.testing.assert_allclose(h.tolist(), second, rtol=1e-6)


def test_an_integer_and_a_float_exponent_are_two_calls(device):
    i = tensorx.arange(4, device=device)
    assert (i**2).dtype is tensorx.int64
    assert (i**2.0).dtype is tensorx.float32
    assert (i**3).tolist() == [0, 1, 8, 27]
    assert i.clone().pow_(2).tolist() == [0, 1, 4, 9]
    for n in (-1, -2):
        with pytest.raises(RuntimeError, match="negative integer powers"):
            i**n


def test_roots_of_zeros_and_infinities_are_those_of_sqrt(device):
    x = tensorx.tensor([-0.0, -float("inf"), float("inf"), -1.0] * 4, device=device)
    found, wanted = (x**0.5).tolist(), x.sqrt().tolist()
    np.testing.assert_array_equal(found, wanted)
