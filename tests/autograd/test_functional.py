"""jacobian, hessian and products with them."""

import pytest

import tensorx as tx
from tensorx.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp


def point(*values):
    return tx.tensor(list(values), dtype=tx.float64)


X, V = (1.0, 2.0), (0.5, -1.0)


def test_jacobian_structures():
    assert jacobian(lambda x: x * x, point(*X)).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    (a, b), (c, d) = jacobian(lambda x, y: (x * y, (x + y).sum()), (point(*X), point(3.0, 4.0)))
    assert a.tolist() == [[3.0, 0.0], [0.0, 4.0]] and b.tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert c.tolist() == [1.0, 1.0] and d.tolist() == [1.0, 1.0]


def test_hessian_structures():
    assert hessian(lambda x: (x * x * x).sum(), point(*X)).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    (a, b), (c, d) = hessian(lambda x, y: (x * x * y).sum(), (point(*X), point(3.0, 4.0)))
    assert a.tolist() == [[6.0, 0.0], [0.0, 8.0]] and d.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert b.tolist() == c.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_products():
    v = point(*V)
    out, product = vjp(lambda x: x * x, point(*X), v)
    assert out.tolist() == [1.0, 4.0] and product.tolist() == [1.0, -4.0]
    out, product = jvp(lambda x: x * x, point(*X), v)
    assert out.tolist() == [1.0, 4.0] and product.tolist() == [1.0, -4.0]
    for f in (hvp, vhp):
        out, product = f(lambda x: (x * x * x).sum(), point(*X), v)
        assert out.item() == 9.0 and product.tolist() == [3.0, -12.0]


def test_create_graph_connects_to_the_inputs():
    x = point(*X).requires_grad_()
    jacobian(lambda x: x * x * x, x, create_graph=True).sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]
    x.grad = None
    vjp(lambda x: x * x, x, point(*V), create_graph=True)[1].sum().backward()
    assert x.grad.tolist() == [1.0, -2.0]
    assert not jacobian(lambda x: x * x, x).requires_grad


def test_independent_outputs():
    assert jacobian(lambda x: point(1.0, 2.0), point(*X)).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match="strict mode"):
        jacobian(lambda x: point(1.0), point(*X), strict=True)
    with pytest.raises(RuntimeError, match="strict mode"):
        jacobian(lambda x, y: x * x, (point(*X), point(*X)), strict=True)


def test_errors():
    with pytest.raises(RuntimeError, match="argument 'v' must be of shape"):
        vjp(lambda x: x * x, point(*X), point(1.0))
    with pytest.raises(RuntimeError, match="argument 'v' must be given"):
        jvp(lambda x: x * x, point(*X))
    with pytest.raises(RuntimeError, match="one tensor of one element"):
        hessian(lambda x: x * x, point(*X))
    with pytest.raises(TypeError, match="must be a tensor or a tuple"):
        jacobian(lambda x: 3, point(*X))
