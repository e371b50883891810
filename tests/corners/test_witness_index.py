"""INDEX with duplicates: small and large (so that kernels run on the cpu too), deterministic or not, bad indices."""

from __future__ import annotations

import numpy as np
import pytest

import tensorx
from tensorx.autograd import gradcheck, gradgradcheck

SIZES = [7, 6000]  # the NumPy routine, and kernels


def draws(n, bound, shape=()):
    """Indices with duplicates, and small whole numbers (sums of which are exact in any order)."""
    rng = np.random.default_rng(n)
    return rng.integers(0, bound, n), rng.integers(-8, 9, (n, *shape)).astype(np.float32)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8"])
def test_index_put_accumulate(n, dtype, device):
    index, values = draws(n, 50)
    values = np.abs(values) % 2  # no sum passes what float16 and uint8 hold
    target = tensorx.zeros(50, dtype=getattr(tensorx, dtype), device=device)
    target.index_put_(
        (tensorx.tensor(index, device=device),), tensorx.tensor(values, device=device).to(target.dtype), accumulate=True
    )
    expected = np.zeros(50, np.int64)
    np.add.at(expected, index, values.astype(np.int64))
    assert target.tolist() == expected.tolist()


@pytest.mark.parametrize("n", SIZES)
def test_index_put_accumulate_rows(n, device):
    index, values = draws(n, 9, (4,))
    where = tensorx.tensor(index, device=device)
    target = tensorx.zeros(9, 4, device=device).t().contiguous().t()
    target.index_put_((where,), tensorx.tensor(values, device=device), accumulate=True)
    expected = np.zeros((9, 4), np.float32)
    np.add.at(expected, index, values)
    assert np.array_equal(target.cpu().numpy(), expected)
    negative = tensorx.zeros(9, 4, device=device)
    negative.index_put_((where - 9,), tensorx.tensor(values, device=device), accumulate=True)
    assert np.array_equal(negative.cpu().numpy(), expected)


def test_deterministic_mode_gives_the_same_sums(device):
    index, _ = draws(6000, 50)
    values = np.random.default_rng(1).normal(size=6000).astype(np.float32)
    where, what = tensorx.tensor(index, device=device), tensorx.tensor(values, device=device)

    def sums():
        return tensorx.zeros(50, device=device).index_put_((where,), what, accumulate=True).cpu().numpy()

    with tensorx.deterministic():
        first, second = sums(), sums()
    assert np.array_equal(first, second)
    expected = np.zeros(50)
    np.add.at(expected, index, values)
    assert np.allclose(first, expected, atol=1e-4) and np.allclose(sums(), expected, atol=1e-4)


@pytest.mark.parametrize("n", SIZES)
def test_embedding_gradient_adds_up(n, device):
    index, cotangent = draws(n, 11, (3,))
    weight = tensorx.zeros(11, 3, device=device, requires_grad=True)
    out = tensorx.nn.functional.embedding(tensorx.tensor(index, device=device), weight, padding_idx=4)
    out.backward(tensorx.tensor(cotangent, device=device))
    expected = np.zeros((11, 3), np.float32)
    np.add.at(expected, index, cotangent)
    expected[4] = 0
    assert np.array_equal(weight.grad.cpu().numpy(), expected)


def test_gather_scatter_and_select_gradients(device, need):
    need("f64")
    x = tensorx.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, 2.0]], dtype=tensorx.float64, device=device, requires_grad=True)
    v = tensorx.tensor([[2.0, 3.0], [5.0, -1.0]], dtype=tensorx.float64, device=device, requires_grad=True)
    twice = tensorx.tensor([[0, 0], [2, 2]], device=device)
    rows = tensorx.tensor([1, 1, 0], device=device)
    for function in (
        lambda a, b: a.gather(1, twice) * b,
        lambda a, b: a.scatter_add(1, twice, b) ** 2,
        lambda a, b: a.index_put((rows, rows), b.reshape(-1)[:3], accumulate=True) ** 2,
        lambda a, b: a.index_select(0, rows).sum() * b,
        lambda a, b: a.index_add(0, rows[:2], a[:2] * b.sum()),
        lambda a, b: a[rows, :2].sum() * b + a[a > 0].sum(),
        lambda a, b: a.masked_scatter(twice.new_tensor([True, False, True], dtype=tensorx.bool), b.reshape(-1)) ** 2,
    ):
        assert gradcheck(function, (x, v), fast_mode=True)
        assert gradgradcheck(function, (x, v), fast_mode=True)


@pytest.mark.parametrize("n", [3, 6000])
def test_bad_indices_raise_and_the_library_goes_on(n, device):
    x = tensorx.arange(5.0, device=device)
    index = tensorx.zeros(n, dtype=tensorx.int64, device=device)
    index[n - 1] = 5
    with pytest.raises(IndexError, match=r"index 5 is out of bounds for dimension.* with size 5"):
        x[index].tolist()
    with pytest.raises(RuntimeError, match="out of bounds"):  # PyTorch raises this class for gather
        x.gather(0, index).tolist()
    with pytest.raises(IndexError):
        x.index_put_((index - 11,), tensorx.tensor(1.0, device=device))
        tensorx.synchronize(device)
    assert x.tolist()[1:] == [1, 2, 3, 4]
    assert x[index.clamp(max=4)][-1].item() == 4


@pytest.mark.parametrize("n", [3, 6000])
def test_integer_division_by_zero_raises(n, device):
    x = tensorx.arange(n, device=device)
    divisor = tensorx.ones(n, dtype=tensorx.int64, device=device)
    assert (x // divisor).tolist() == list(range(n))
    divisor[n - 1] = 0
    for divide in (lambda a, b: a // b, lambda a, b: a % b, tensorx.fmod, lambda a, b: a.div(b, rounding_mode="trunc")):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            divide(x, divisor).tolist()
        with pytest.raises(ZeroDivisionError):
            divide(x, 0)
    assert (x.float() % 0).isnan().all().item()
    assert (x - x).sum().item() == 0


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_integer_corners(dtype, device):
    d = getattr(tensorx, dtype)
    low, bits = tensorx.iinfo(d).min, tensorx.iinfo(d).bits
    x = tensorx.tensor([low, low + 1, -7, 7], dtype=d, device=device)
    assert (x // -1).tolist() == [low, -(low + 1), 7, -7]  # the smallest integer wraps around
    assert (x % -1).tolist() == [0, 0, 0, 0]
    assert x.abs().tolist() == [low, -(low + 1), 7, 7] and (-x).tolist() == [low, -(low + 1), 7, -7]
    assert (x // 2).tolist()[2:] == [-4, 3] and (x % 4).tolist()[2:] == [1, 3]
    assert tensorx.fmod(x, 4).tolist()[2:] == [-3, 3]
    assert (x << bits).tolist() == [0] * 4 and (x << -1).tolist() == [0] * 4
    assert (x >> bits).tolist() == [-1, -1, -1, 0] == (x >> -1).tolist()
    assert (x**2).tolist()[2:] == [49, 49] and (x * 2)[0].item() == 0
