"""Views and in-place writes: histories are rebased, stale values are found, ambiguous writes are refused."""

import pytest

import tensorx as tx
from tensorx.autograd import Function, grad, gradcheck, gradgradcheck


def leaf(*values):
    return tx.tensor(list(values), dtype=tx.float64, requires_grad=True)


def matrix():
    return tx.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=tx.float64, requires_grad=True)


def test_write_to_a_view_of_a_view():
    def f(x):
        y = x * 1.0
        v = y[1]
        w = v[1:]
        w.mul_(x[0, 1:])
        return y * y, v * 3.0, w

    x = matrix()
    assert gradcheck(f, x) and gradgradcheck(f, x)
    (g,) = grad(f(x)[2].sum(), x)
    assert g.tolist() == [[0.0, 5.0, 6.0], [0.0, 2.0, 3.0]]


def test_view_follows_a_write_to_its_base():
    x = matrix()
    y = x * 1.0
    v = y.t()
    y.mul_(3.0)
    v.sum().backward()
    assert x.grad.tolist() == [[3.0] * 3] * 2


def test_views_follow_each_other():
    def f(x):
        y = x * 2.0
        a, b = y[0], y[:, :2]
        a.mul_(x[1])
        b.add_(x[0, :2])
        return y, a, b

    assert gradcheck(f, matrix()) and gradgradcheck(f, matrix())


def test_constant_base_takes_part_after_a_write_through_a_view():
    x = leaf(1.0, 2.0)
    b = tx.zeros(3, dtype=tx.float64)
    v = b[1:]
    assert not v.requires_grad
    v.copy_(x * 2.0)
    assert b.requires_grad and v.requires_grad and not b.is_leaf
    (b * b).sum().backward()
    assert x.grad.tolist() == [8.0, 16.0]


def test_setitem():
    def f(x, w):
        y = x * 1.0
        y[0, 1:] = w
        y[1] = 0.0
        return y

    assert gradcheck(f, (matrix(), leaf(7.0, 8.0))) and gradgradcheck(f, (matrix(), leaf(7.0, 8.0)))


def test_in_place_chain_and_operand_that_requires_grad():
    def f(x, w):
        y = x * 1.0
        y.mul_(w)
        y.add_(x)
        y.mul_(3.0)
        return y * y

    assert gradcheck(f, (leaf(1.0, 2.0), leaf(3.0, 0.5))) and gradgradcheck(f, (leaf(1.0, 2.0), leaf(3.0, 0.5)))


def test_broken_saved_value_is_found():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.add_(1.0)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*is at version 1; expected version 0"):
        y.sum().backward()
    y = x.exp()
    y.detach().add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = x.exp()
    y[:1].detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_data_does_not_share_the_version():
    x = leaf(1.0, 2.0)
    y = x * x
    version = x._version
    x.data.mul_(2.0)
    assert x._version == version
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_versions():
    x = tx.zeros(3)
    v = x[1:]
    v.add_(1.0)
    assert x._version == v._version == x.detach()._version == 1
    x[0] = 1.0
    assert v._version == 2


def test_leaf_in_place():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.mul_(2.0)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[:1].mul_(2.0)
    with tx.no_grad():
        x.mul_(2.0)
        x[:1].add_(1.0)
    assert x.tolist() == [3.0, 4.0] and x.is_leaf and x.requires_grad


def test_view_made_without_grad():
    y = leaf(1.0, 2.0) * 1.0
    with tx.no_grad():
        v = y[:1]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        v.mul_(2.0)
    with tx.no_grad():
        v.mul_(2.0)


def test_one_of_many_views():
    y = leaf(1.0, 2.0) * 1.0
    a, _ = y.unbind()
    with pytest.raises(RuntimeError, match="returns multiple views"):
        a.mul_(2.0)


class Halve(Function):
    """In place; twice the right gradient, to be told apart."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(0.5)

    @staticmethod
    def backward(ctx, g):
        assert ctx.needs_input_grad == (True,)
        return g


class First(Function):
    """Returns a view of its input."""

    @staticmethod
    def forward(ctx, x):
        return x[:1]

    @staticmethod
    def backward(ctx, g):
        return tx.cat([g * 5.0, g * 0.0])


def test_custom_function_writes_to_a_view():
    x = leaf(2.0, 4.0)
    y = x * 1.0
    v = y[:1]
    out = Halve.apply(v)
    assert out is v and y.tolist() == [1.0, 4.0]
    (g,) = grad((y * 3.0).sum(), x, retain_graph=True)
    assert g.tolist() == [3.0, 3.0]
    (v * 7.0).sum().backward()
    assert x.grad.tolist() == [7.0, 0.0]


def test_custom_function_returns_a_view():
    x = leaf(2.0, 4.0)
    v = First.apply(x * 1.0)
    v.sum().backward()
    assert x.grad.tolist() == [5.0, 0.0]
    v = First.apply(x * 1.0)
    with pytest.raises(RuntimeError, match="custom Function"):
        v.mul_(2.0)


def test_inference_tensors():
    with tx.inference_mode():
        t = tx.ones(2, dtype=tx.float64)
        t.mul_(2.0)
    assert t.is_inference() and not t.requires_grad
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        t.mul_(2.0)
    x = leaf(1.0, 2.0)
    (x + t).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * t
