"""CONTRACT: the matmul family, and conv2d with stride, padding, dilation and groups in all three directions."""

from __future__ import annotations

import numpy as np
import pytest

import tensorx
from tensorx.autograd import gradcheck, gradgradcheck


def numbers(device, *shape, seed=0):
    """Small whole numbers: sums are exact, whatever their order."""
    host = np.random.default_rng([seed, *shape]).integers(-3, 4, shape).astype(np.float32)
    return host, tensorx.tensor(host, device=device)


SHAPES = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((4, 3), (3, 5)),
    ((2, 4, 3), (3, 5)),
    ((2, 4, 3), (2, 3, 5)),
    ((2, 1, 4, 3), (5, 3, 2)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((70, 130), (130, 33)),
]


@pytest.mark.parametrize("a,b", SHAPES, ids=str)
def test_matmul(a, b, device):
    (x, tx), (y, ty) = numbers(device, *a), numbers(device, *b, seed=1)
    assert np.array_equal((tx @ ty).cpu().numpy(), x @ y)


def test_matmul_family(device):
    (x, tx), (y, ty), (c, tc) = numbers(device, 3, 4, 5), numbers(device, 3, 5, 2, seed=1), numbers(device, 4, 2)
    assert np.array_equal(tensorx.bmm(tx, ty).cpu().numpy(), x @ y)
    assert np.array_equal(tensorx.addmm(tc, tx[0], ty[0], beta=2, alpha=-3).cpu().numpy(), 2 * c - 3 * (x[0] @ y[0]))
    assert np.array_equal(tensorx.mm(tx[1].t().t(), ty[1]).cpu().numpy(), x[1] @ y[1])
    assert np.array_equal(tensorx.mv(tx[0], ty[0, :, 1]).cpu().numpy(), x[0] @ y[0, :, 1])
    assert tensorx.dot(tx[0, 0], ty[0, :, 0]).item() == float(x[0, 0] @ y[0, :, 0])
    assert np.array_equal((tx.long() @ ty.long()).cpu().numpy(), (x @ y).astype(np.int64))
    assert np.array_equal((tx.half() @ ty.half()).float().cpu().numpy(), x @ y)
    with pytest.raises(RuntimeError, match="shape"):
        tx @ tx


@pytest.mark.parametrize("rows", [1, 16], ids=["in place", "packed"])
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_products_read_every_16_bit_number(name, rows, device):
    """One times each of them, which loads vectors of them. NaN and infinities stay; bfloat16's subnormals are also float32's,
    which a device may flush.
    """
    bits = np.arange(2**16 - 3, dtype=np.uint16)  # no multiple of a vector
    y = tensorx.tensor(bits.view(np.int16), device=device).view(getattr(tensorx, name))
    want = y.float().cpu().numpy()
    got = (tensorx.ones(rows, 1, dtype=y.dtype, device=device) @ y.reshape(1, -1)).float().cpu().numpy()
    normal = ~(abs(want) < np.finfo(np.float32).tiny)
    assert np.array_equal(got[:, normal], np.broadcast_to(want[normal], (rows, normal.sum())), equal_nan=True)


def test_matmul_gradients(device, need):
    need("f64")
    for a, b in [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (3, 2)), ((2, 1, 2, 3), (3, 3, 2))]:
        x, y = (numbers(device, *s)[1].double().requires_grad_() for s in (a, b))
        assert gradcheck(tensorx.matmul, (x, y), fast_mode=True)
        assert gradgradcheck(tensorx.matmul, (x, y), fast_mode=True)


# (input, weight, stride, padding, dilation, groups)
CONVOLUTIONS = [
    ((2, 3, 6, 5), (4, 3, 3, 2), 1, 0, 1, 1),
    ((1, 4, 7, 6), (6, 2, 3, 3), (2, 1), (1, 2), 1, 2),
    ((2, 2, 7, 7), (2, 1, 3, 2), 1, (0, 1), (2, 3), 2),
    ((1, 3, 5, 5), (3, 1, 1, 1), 2, 1, 1, 3),
]


def correlate(x, w, stride, padding, dilation, groups):
    """Straight from the definition."""
    (sh, sw), (ph, pw), (dh, dw) = ((v, v) if isinstance(v, int) else v for v in (stride, padding, dilation))
    x = np.pad(x, [(0, 0), (0, 0), (ph, ph), (pw, pw)])
    out, per, kh, kw = w.shape
    oh, ow = (x.shape[2] - dh * (kh - 1) - 1) // sh + 1, (x.shape[3] - dw * (kw - 1) - 1) // sw + 1
    y = np.zeros((x.shape[0], out, oh, ow), x.dtype)
    for o in range(out):
        first = o // (out // groups) * per
        for i, j in np.ndindex(oh, ow):
            rows, cols = slice(i * sh, i * sh + dh * (kh - 1) + 1, dh), slice(j * sw, j * sw + dw * (kw - 1) + 1, dw)
            y[:, o, i, j] = (x[:, first : first + per, rows, cols] * w[o]).sum((1, 2, 3))
    return y


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_conv2d_in_all_three_directions(case, device):
    shape, kernel, *window = case
    (x, tx), (w, tw) = numbers(device, *shape), numbers(device, *kernel, seed=1)
    b, tb = numbers(device, kernel[0])
    leaves = [t.requires_grad_() for t in (tx, tw, tb)]
    y = tensorx.nn.functional.conv2d(*leaves, *window)
    expected = correlate(x, w, *window) + b[:, None, None]
    assert np.array_equal(y.detach().cpu().numpy(), expected)
    g, tg = numbers(device, *expected.shape, seed=2)
    y.backward(tg)
    # Each gradient is the adjoint of the forward map: <g, conv(unit)> for a few unit vectors.
    for leaf, at in ((0, (0,) * 4), (0, tuple(n - 1 for n in shape)), (1, (0,) * 4), (1, tuple(n - 1 for n in kernel))):
        unit = np.zeros_like((x, w)[leaf])
        unit[at] = 1
        pushed = correlate(unit, w, *window) if leaf == 0 else correlate(x, unit, *window)
        assert leaves[leaf].grad[at].item() == (pushed * g).sum()
    assert tb.grad.tolist() == g.sum((0, 2, 3)).tolist()


@pytest.mark.parametrize("case", [CONVOLUTIONS[1], CONVOLUTIONS[2]], ids=str)
def test_conv2d_first_and_second_derivatives(case, device, need):
    need("f64")
    shape, kernel, *window = case
    x, w = (numbers(device, *s)[1].double().requires_grad_() for s in (shape, kernel))
    b = numbers(device, kernel[0])[1].double().requires_grad_()

    def convolve(*leaves):
        return tensorx.nn.functional.conv2d(*leaves, *window)

    assert gradcheck(convolve, (x, w, b), fast_mode=True)
    assert gradgradcheck(convolve, (x, w, b), fast_mode=True)


def test_conv2d_empty_batch(device):
    w = tensorx.ones(2, 3, 3, 3, device=device, requires_grad=True)
    x = tensorx.zeros(0, 3, 5, 5, device=device, requires_grad=True)
    tensorx.nn.functional.conv2d(x, w).sum().backward()
    assert tuple(x.grad.shape) == (0, 3, 5, 5) and not w.grad.any().item()
