"""Every kind of difficulty met once, by name, on every lane (issue: the witness rows)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tensorx
from tensorx.autograd import gradcheck, gradgradcheck

nan, inf = math.nan, math.inf


def doubles(values, device, grad=True):
    """A float64 leaf on the device."""
    return tensorx.tensor(values, dtype=tensorx.float64, device=device, requires_grad=grad)


def both_checks(function, *inputs):
    """First and second derivatives against finite differences."""
    assert gradcheck(function, inputs, fast_mode=True)
    assert gradgradcheck(function, inputs, fast_mode=True)


# a complex op with gradient


def test_complex_gradient(device, need):
    need("c128", "f64")
    z = tensorx.tensor([1 + 2j, -0.5 + 0.3j], dtype=tensorx.complex128, device=device, requires_grad=True)
    w = tensorx.tensor([2 - 1j, 0.5j], dtype=tensorx.complex128, device=device, requires_grad=True)
    assert gradcheck(lambda a, b: (a * b.conj()).exp(), (z, w), fast_mode=True)
    assert gradcheck(lambda a: a.abs(), (z,), fast_mode=True)


def test_complex_gradient_is_the_conjugate_wirtinger_one(device):
    z = tensorx.tensor([3 + 4j], device=device, requires_grad=True)
    (z.real**2 + z.imag**2).sum().backward()
    assert z.grad.tolist() == [6 + 8j]  # 2 z, the direction of steepest ascent
    zero = tensorx.tensor([0j], device=device, requires_grad=True)
    zero.abs().sum().backward()
    assert zero.grad.tolist() == [0j]


def test_parts_of_a_complex_tensor_are_views(device):
    z = tensorx.zeros(2, dtype=tensorx.complex64, device=device)
    z.real.copy_(tensorx.tensor([1.0, 2.0], device=device))
    tensorx.view_as_real(z)[1, 1] = 5
    assert z.tolist() == [1 + 0j, 2 + 5j]


# bfloat16 and float16


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_computes_in_float32_and_rounds_once(dtype, device):
    d = getattr(tensorx, dtype)
    x = tensorx.linspace(-2, 2, 33, device=device).to(d)
    wide = x.float()
    assert (x * x + 0).tolist() == (wide * wide).to(d).tolist()
    assert tensorx.sigmoid(x).tolist() == tensorx.sigmoid(wide).to(d).tolist()
    assert tensorx.ones(4096, dtype=d, device=device).sum().item() == 4096


def test_half_gradient(device):
    x = tensorx.tensor([1.0, 2.0], dtype=tensorx.float16, device=device, requires_grad=True)
    y = (x.float() * 3 + x).sum()
    y.backward()
    assert x.grad.dtype is tensorx.float16
    assert x.grad.tolist() == [4.0, 4.0]


def test_half_limits(device):
    x = tensorx.tensor([65504.0, 65519.0, 65520.0, 6e-8], device=device).half()
    assert x.tolist() == [65504.0, 65504.0, inf, 2.0**-24]
    assert tensorx.tensor([1.00390625, 1.01171875, nan], device=device).bfloat16().isnan().tolist() == [False, False, True]


# two outputs, with a choice of gradient


def test_max_dim_gradient_of_values_alone(device, need):
    need("f64")
    x = doubles([[1.0, 3.0, 2.0], [5.0, -1.0, 4.0]], device)
    values, indices = x.max(1)
    assert indices.tolist() == [1, 0] and not indices.requires_grad and indices.dtype is tensorx.int64
    values.sum().backward()
    assert x.grad.tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    both_checks(lambda t: t.max(1).values, x)
    both_checks(lambda t: t.min(0, keepdim=True)[0] ** 2, x)


def test_max_takes_the_first_tie_and_nan(device):
    x = tensorx.tensor([[2.0, 2.0, 1.0], [nan, 3.0, nan]], device=device, requires_grad=True)
    values, indices = x.max(1)
    assert indices.tolist() == [0, 0] and values[1].isnan().item()
    values[0].backward()
    assert x.grad.tolist()[0] == [1.0, 0.0, 0.0]


# DYNAMIC


def test_nonzero(device):
    x = tensorx.tensor([[0.0, -0.0, nan], [inf, 0.0, 1.0]], device=device)
    assert x.nonzero().tolist() == [[0, 2], [1, 0], [1, 2]]
    assert x.t().nonzero().tolist() == [[0, 1], [2, 0], [2, 1]]
    assert x[:, ::2].nonzero().tolist() == [[0, 1], [1, 0], [1, 1]]
    assert tuple(tensorx.zeros(0, 3, device=device).nonzero().shape) == (0, 2)
    assert tuple(tensorx.tensor(7, device=device).nonzero().shape) == (1, 0)
    big = tensorx.arange(10_000, device=device)
    assert (big % 1000 == 999).nonzero().flatten().tolist() == list(range(999, 10_000, 1000))


def test_nonzero_has_no_shape_without_values():
    with pytest.raises(NotImplementedError, match="nonzero"):
        tensorx.ones(3, device="meta").nonzero()


# HOST


def test_solve_gradients(device, need):
    need("f64")
    a = doubles([[4.0, 1.0], [2.0, 3.0]], device)
    both_checks(tensorx.linalg.solve, a, doubles([[1.0, 2.0], [0.5, -1.0]], device))
    both_checks(tensorx.linalg.solve, a, doubles([1.0, 2.0], device))
    both_checks(lambda x, y: tensorx.linalg.solve(x, y, left=False), a, doubles([[1.0, 2.0]], device))


def test_solve_says_what_is_wrong(device):
    with pytest.raises(RuntimeError, match="singular"):
        tensorx.linalg.solve(tensorx.zeros(2, 2, device=device), tensorx.ones(2, device=device))
    with pytest.raises(RuntimeError, match="square"):
        tensorx.linalg.solve(tensorx.zeros(2, 3, device=device), tensorx.ones(2, device=device))


# SORT


def test_sort_is_stable_and_puts_nan_last(device):
    x = tensorx.tensor([2.0, nan, 1.0, 2.0, -inf, nan, 1.0], device=device)
    values, order = x.sort(stable=True)
    assert order.tolist() == [4, 2, 6, 0, 3, 1, 5]
    assert values[:5].tolist() == [-inf, 1.0, 1.0, 2.0, 2.0] and values[5:].isnan().all().item()
    assert x.sort(descending=True, stable=True).indices.tolist() == [1, 5, 0, 3, 2, 6, 4]


def test_sort_long_rows(device):
    rng = np.random.default_rng(0)
    host = rng.integers(0, 50, (3, 1000)).astype(np.float32)
    values, order = tensorx.tensor(host, device=device).sort(1, stable=True)
    assert np.array_equal(order.cpu().numpy(), np.argsort(host, 1, kind="stable"))
    assert np.array_equal(values.cpu().numpy(), np.sort(host, 1))


def test_sort_gradient(device, need):
    need("f64")
    both_checks(lambda t: t.sort(0).values * doubles([1.0, 2.0, 3.0], device, False), doubles([3.0, 1.0, 2.0], device))


# SCAN


@pytest.mark.parametrize("values", [[2.0, 0.0, 3.0, 0.0, 5.0], [0.0, 2.0, 3.0], [1.0, 2.0, 4.0]])
def test_cumprod_with_zeros(values, device, need):
    need("f64")
    both_checks(lambda t: t.cumprod(0), doubles(values, device))
    x = doubles(values, device)
    x.cumprod(0).sum().backward()
    n = len(values)
    expected = [sum(math.prod(values[j] for j in range(i + 1) if j != k) for i in range(k, n)) for k in range(n)]
    assert x.grad.tolist() == expected


# ROWWISE


def test_log_softmax(device, need):
    x = tensorx.tensor([[1e4, 0.0, -1e4], [-inf, 0.0, 0.0]], device=device)
    assert np.allclose(x.log_softmax(1).cpu().numpy(), [[0.0, -1e4, -2e4], [-inf, -math.log(2), -math.log(2)]])
    assert tensorx.tensor([-inf, -inf], device=device).log_softmax(0).isnan().all().item()
    wide = tensorx.linspace(-5, 5, 3 * 700, device=device).view(700, 3).t()
    assert np.allclose(wide.log_softmax(1).exp().sum(1).cpu().numpy(), 1, atol=1e-5)
    need("f64")
    both_checks(lambda t: t.log_softmax(-1), doubles([[0.1, 2.0, -1.0], [3.0, 0.0, 0.5]], device))
    both_checks(lambda t: t.log_softmax(0), doubles([[0.1, 2.0, -1.0], [3.0, 0.0, 0.5]], device))


# a composite


def test_composite_is_recorded_by_what_it_calls(device, need):
    x = tensorx.tensor([[1.0, 2.0], [3.0, 4.0]], device=device, requires_grad=True)
    y = tensorx.stack([x, x.t()], -1).flatten(1)
    assert y.tolist() == [[1.0, 1.0, 2.0, 3.0], [3.0, 2.0, 4.0, 4.0]]
    (y * y).sum().backward()
    assert x.grad.tolist() == [[4.0, 8.0], [12.0, 16.0]]
    need("f64")
    both_checks(lambda t: t.norm(p=3, dim=0), doubles([[1.0, -2.0], [3.0, 0.5]], device))


# a choice among narrow integers (LLVM 15 crashed on the sign-extended one on AVX-512: rusticl)


@pytest.mark.parametrize("name", ["int8", "uint8", "int16"])
def test_narrow_integers_are_chosen(name, device):
    dtype = getattr(tensorx, name)
    numbers = np.arange(-20, 21).astype(name)
    x = tensorx.tensor(numbers.tolist(), dtype=dtype, device=device)
    low, high = np.array([2, 9]).astype(name)
    assert x.relu().tolist() == np.maximum(numbers, 0).tolist()
    assert x.clamp(2, 9).tolist() == np.clip(numbers, low, high).tolist()
    assert tensorx.where(x > 3, x, 7).tolist() == np.where(numbers > 3, numbers, 7).tolist()
    assert (x.max().item(), x.min().item()) == (numbers.max(), numbers.min())
