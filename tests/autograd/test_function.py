"""Custom functions."""

import gc
import weakref

import pytest

import tensorx as tx
from tensorx.autograd import Function, grad, gradcheck, gradgradcheck
from tensorx.autograd.function import once_differentiable
from tensorx.autograd.graph import disable_saved_tensors_hooks, saved_tensors_hooks


def leaf(*values, dtype=None):
    return tx.tensor(list(values), dtype=dtype or tx.float32, requires_grad=True)


class Mul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


class Exp(Function):
    """Saves its output."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


def make(backward, forward=None, name="F"):
    """A function of two arguments with the given backward."""
    body = {
        "forward": staticmethod(forward or (lambda ctx, a, b: a * 2.0)),
        "backward": staticmethod(backward),
    }
    return type(name, (Function,), body)


def test_gradients_to_second_order():
    a, b = leaf(1.0, 2.0, dtype=tx.float64), leaf(3.0, 4.0, dtype=tx.float64)
    assert gradcheck(Mul.apply, (a, b)) and gradgradcheck(Mul.apply, (a, b))
    assert gradcheck(Exp.apply, a) and gradgradcheck(Exp.apply, a)


def test_saving_the_output_makes_no_cycle():
    gc.collect()
    gc.disable()
    try:
        y = Exp.apply(leaf(1.0))
        ref = weakref.ref(y.grad_fn)
        del y
        assert ref() is None
    finally:
        gc.enable()


def test_node_name_and_attributes():
    def forward(ctx, a, b):
        ctx.note, ctx.seq, ctx.edges = "n", 7, "mine"
        return a * 2.0

    y = make(lambda ctx, g: (g * ctx.seq, None), forward, "Named").apply(leaf(1.0), 3)
    assert y.grad_fn.name() == "NamedBackward" and y.grad_fn.note == "n"
    y.backward()


def test_forward_is_not_recorded_and_grad_mode_is_kept():
    seen = []

    def forward(ctx, a, b):
        seen.append(tx.is_grad_enabled())
        return a * 2.0

    f = make(lambda ctx, g: (seen.append(tx.is_grad_enabled()), (g, None))[1], forward)
    x = leaf(1.0)
    grad(f.apply(x, 1), x)
    grad(f.apply(x, 1), x, create_graph=True)
    assert seen == [False, False, False, True]
    with tx.no_grad():
        assert not f.apply(x, 1).requires_grad
    assert not f.apply(tx.ones(1), 1).requires_grad


def test_setup_context_and_keywords():
    class Scale(Function):
        @staticmethod
        def forward(x, factor=2.0):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    x = leaf(1.0)
    Scale.apply(x, factor=5.0).backward()
    assert x.grad.item() == 5.0


def test_vjp_is_another_name_of_backward():
    class V(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def vjp(ctx, g):
            return g * 2.0

    x = leaf(1.0)
    V.apply(x).backward()
    assert x.grad.item() == 2.0


def test_several_outputs_and_undefined_gradients():
    seen = []

    class Two(Function):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            return x * 2.0, "text", x * 3.0

        @staticmethod
        def backward(ctx, g, text, h):
            seen.append((g, text, h))
            return g * 2.0, None

    x = leaf(1.0, 2.0)
    a, text, b = Two.apply(x, True)
    assert text == "text" and a.grad_fn is b.grad_fn and (a._nr, b._nr) == (0, 2)
    a.sum().backward()
    assert seen[0][1] is None and seen[0][2].tolist() == [0.0, 0.0]
    a, _, _ = Two.apply(x, False)
    a.sum().backward()
    assert seen[1][1:] == (None, None)


def test_non_differentiable_outputs():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 2.0, x * 3.0
            ctx.mark_non_differentiable(b)
            return a, b

        @staticmethod
        def backward(ctx, g, h):
            assert h.tolist() == [0.0]
            return g * 2.0

    x = leaf(1.0)
    a, b = Both.apply(x)
    assert a.requires_grad and not b.requires_grad
    (a + b).backward()
    assert x.grad.item() == 2.0


def test_needs_input_grad():
    seen = []
    f = make(lambda ctx, g: (seen.append(ctx.needs_input_grad), (g, g))[1])
    x, w = leaf(1.0), leaf(2.0)
    f.apply(x, tx.ones(1)).backward()
    grad(f.apply(x, w), w)
    assert seen == [(True, False), (False, True)]


def test_returning_an_input_gives_an_alias():
    f = make(lambda ctx, g: (g * 7.0, None), lambda ctx, a, b: a)
    x = leaf(1.0)
    y = f.apply(x, 0)
    assert y is not x and x.is_leaf
    y.backward()
    assert x.grad.item() == 7.0


def test_mark_dirty():
    def forward(ctx, a, b):
        ctx.mark_dirty(a)
        return a.mul_(b)

    f = make(lambda ctx, g: (g * 3.0, None), forward)
    x = leaf(2.0)
    y = x * 1.0
    z = f.apply(y, 3.0)
    assert z is y and y.item() == 6.0 and "FBackward" in y.grad_fn.name()
    (y * 1.0).backward()
    assert x.grad.item() == 3.0
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        f.apply(leaf(2.0), 3.0)

    def forgets(ctx, a, b):
        ctx.mark_dirty(a)
        return a * b

    with pytest.raises(RuntimeError, match="not returned as output"):
        make(lambda ctx, g: (g, None), forgets).apply(x * 1.0, 3.0)


def test_results_fit_their_inputs():
    x, h = leaf(1.0, 2.0), tx.tensor([1.0], dtype=tx.float64, requires_grad=True)
    f = make(lambda ctx, g: (g, g), lambda ctx, a, b: a * 2.0)
    f.apply(x, h).sum().backward()
    assert h.grad.dtype == tx.float64 and h.grad.tolist() == [2.0]


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (lambda g: g, r"incorrect number of gradients \(expected 2, got 1\)"),
        (lambda g: (g, None, g), r"incorrect number of gradients \(expected 2, got 3\)"),
        (lambda g: (3, None), r"expected Variable or None \(got int\)"),
        (lambda g: (tx.ones(5), None), r"invalid gradient at index 0 - got \[5\] but expected shape compatible with"),
        (lambda g: (g, g), "returned a gradient different than None at position 2"),
    ],
)
def test_wrong_results(result, error):
    f = make(lambda ctx, g: result(g))
    with pytest.raises(RuntimeError, match=error):
        f.apply(leaf(1.0, 2.0), 3).sum().backward()


def test_trailing_none_is_allowed():
    x = leaf(1.0)
    make(lambda ctx, g: (g, None, None, None)).apply(x, 3).backward()
    assert x.grad.item() == 1.0


def test_once_differentiable():
    f = make(once_differentiable(lambda ctx, g: (g * 2.0, None)))
    x = leaf(3.0)
    y = f.apply(x, 0)
    (g,) = grad((y * y).sum(), x, create_graph=True)
    assert g.item() == 24.0 and g.requires_grad
    with pytest.raises(RuntimeError, match="trying to differentiate twice"):
        g.backward()


def test_freed_and_overwritten_saved_tensors():
    x, w = leaf(1.0), leaf(2.0)
    y = Mul.apply(x, w)
    y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.grad_fn.saved_tensors
    y = Mul.apply(x, w)
    with tx.no_grad():
        w.add_(tx.ones(1))
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*is at version"):
        y.backward()


def test_misuse():
    with pytest.raises(NotImplementedError, match="must implement the forward"):
        Function.apply(leaf(1.0))
    with pytest.raises(RuntimeError, match="Legacy autograd function"), pytest.warns(DeprecationWarning):
        Mul()(leaf(1.0))

    class NoBackward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

    with pytest.raises(NotImplementedError, match="either the backward or vjp"):
        NoBackward.apply(leaf(1.0)).backward()
    f = make(lambda ctx, g: (g, None), lambda ctx, a, b: ctx.save_for_backward(3))
    with pytest.raises(TypeError, match="argument 0 is of type int"):
        f.apply(leaf(1.0), 1)


def test_saved_tensors_hooks():
    log = []

    def pack(t):
        log.append("pack")
        return t.tolist()

    def unpack(kept):
        log.append("unpack")
        return tx.tensor(kept, dtype=tx.float64)

    x = leaf(1.0, 2.0, dtype=tx.float64)
    with saved_tensors_hooks(pack, unpack):
        y = Exp.apply(Mul.apply(x, x))
    (g,) = grad(y.sum(), x, create_graph=True)
    assert log == ["pack"] * 3 + ["unpack"] * 3
    (gg,) = grad(g.sum(), x)
    expected = [(2 + 4 * v * v) * e for v, e in zip([1.0, 2.0], y.tolist())]
    assert gg.tolist() == pytest.approx(expected)
    refused = pytest.raises(RuntimeError, match="not here")
    with disable_saved_tensors_hooks("not here"), refused, saved_tensors_hooks(pack, unpack):
        pass
