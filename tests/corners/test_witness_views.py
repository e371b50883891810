"""In-place writes through views of views, and results written over their operands."""

from __future__ import annotations

import pytest

import tensorx
from tensorx.autograd import gradcheck, gradgradcheck


def leaf(device, *shape):
    """0, 1, 2, ... with gradient."""
    n = 1
    for s in shape:
        n *= s
    return tensorx.arange(float(n), device=device).view(*shape).detach().requires_grad_()


def test_write_to_a_view_of_a_view(device):
    x = leaf(device, 3, 4)
    y = x * 1
    inner = y[1:].t()[::2]  # columns 0 and 2 of the last two rows
    inner.mul_(10)
    assert y.tolist() == [[0, 1, 2, 3], [40, 5, 60, 7], [80, 9, 100, 11]]
    assert inner.tolist() == [[40, 80], [60, 100]]
    (y * y).sum().backward()
    assert x.grad.tolist() == [[0, 2, 4, 6], [800, 10, 1200, 14], [1600, 18, 2000, 22]]
    assert type(y.grad_fn).__name__ == "CopySlices" and inner.grad_fn is not None


def test_write_to_the_base_reaches_the_view_of_a_view(device):
    x = leaf(device, 4)
    y = x.clone()
    view = y.view(2, 2)[1]
    y.mul_(3)
    (view * view).sum().backward()
    assert x.grad.tolist() == [0, 0, 36, 54]


def test_gradients_of_writes_to_views(device, need):
    need("f64")

    def write(t, v):
        y = t.clone()
        y.view(3, 2).t()[1].copy_(v * v)
        y[:2].mul_(v[:2])
        return y * y

    x = leaf(device, 6).double().detach().requires_grad_()
    v = tensorx.tensor([0.5, -1.0, 2.0], dtype=tensorx.float64, device=device, requires_grad=True)
    assert gradcheck(write, (x, v), fast_mode=True)
    assert gradgradcheck(write, (x, v), fast_mode=True)


def test_version_error(device):
    x = leaf(device, 3)
    y = x.exp()
    y.view(3)[:1].add_(1)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation") as caught:
        y.sum().backward()
    text = str(caught.value)
    assert "one of the variables needed for gradient computation" in text
    assert "is at version 1; expected version 0 instead" in text
    assert "which is output 0 of ExpBackward0" in text


def test_leaves_and_their_views_refuse(device):
    x = leaf(device, 2, 3)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        x[0][1:].add_(1)
    with tensorx.no_grad():
        x[0][1:].add_(1)
    assert x.tolist()[0] == [0, 2, 3]


def test_views_that_refuse(device):
    y = leaf(device, 2, 3) * 1
    first, _ = y.unbind(0)
    with pytest.raises(RuntimeError, match=r"is a view and is being modified inplace\. Such functions do not allow"):
        first[1:].mul_(2)
    with tensorx.no_grad():
        hidden = y.view(6)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        hidden.mul_(2)


def test_versions_are_shared_by_views_and_detach(device):
    x = tensorx.zeros(4, device=device)
    view, apart = x.view(2, 2)[0], x.detach()
    view.add_(1)
    apart.mul_(2)
    assert x._version == view._version == apart._version == 2
    assert x.data._version == 0
    assert x.tolist() == [2, 2, 0, 0]


# out= that overlaps its input


def test_out_is_an_operand(device):
    x = tensorx.arange(6.0, device=device)
    assert tensorx.add(x, 1, out=x) is x
    assert x.tolist() == [1, 2, 3, 4, 5, 6]
    tensorx.mul(x.view(2, 3), x.view(2, 3), out=x.view(2, 3))
    assert x.tolist() == [1, 4, 9, 16, 25, 36]


def test_partial_overlap_is_refused_and_leaves_all_as_it_was(device):
    x = tensorx.arange(6.0, device=device)
    for out, operand in ((x[1:], x[:-1]), (x[:-1], x[1:]), (x.view(2, 3).t(), x.view(3, 2))):
        with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer to a single memory"):
            tensorx.add(operand, 1, out=out)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory location"):
        x[:1].expand(3).add_(1)
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


def test_disjoint_views_of_one_storage_may_be_out(device):
    x = tensorx.arange(6.0, device=device)
    tensorx.add(x[::2], 10, out=x[1::2])
    assert x.tolist() == [0, 10, 2, 12, 4, 14]


def test_shifted_copies_go_through_a_temporary(device):
    x = tensorx.arange(6.0, device=device)
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3, 4]
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:] += x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3, 4]


def test_reductions_may_not_write_into_their_operand(device):
    x = tensorx.ones(3, device=device)
    with pytest.raises(RuntimeError, match="single memory location"):
        tensorx.sum(x, 0, out=x[0])
    assert tensorx.sum(x, 0, out=tensorx.empty(0, device=device)).item() == 3


def test_out_keeps_its_dtype_and_refuses_to_fall(device):
    x = tensorx.ones(2, device=device)
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type int64"):
        tensorx.add(x, 1, out=tensorx.zeros(2, dtype=tensorx.int64, device=device))
    assert tensorx.add(x, 1, out=tensorx.zeros(2, dtype=tensorx.float16, device=device)).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        tensorx.add(x.clone().requires_grad_(), 1, out=x)
