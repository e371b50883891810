"""gradcheck and gradgradcheck find what is wrong, and nothing else."""

import pytest

import tensorx as tx
from tensorx.autograd import Function, gradcheck, gradgradcheck


def leaf(*values, dtype=None):
    return tx.tensor(list(values), dtype=dtype or tx.float64, requires_grad=True)


class Wrong(Function):
    """x * x with a wrong factor in its gradient."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * 2.01


class WrongTwice(Function):
    """x * x whose gradient is right but detached."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.detach() * 2.0


@pytest.mark.parametrize("fast", [False, True])
def test_right_and_wrong(fast):
    x, w = leaf(1.0, 2.0), leaf(3.0, 0.5)
    assert gradcheck(lambda x, w: (x * w, (x * x).sum()), (x, w), fast_mode=fast, check_batched_grad=True)
    assert gradgradcheck(lambda x, w: x * w * x, (x, w), fast_mode=fast)
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(Wrong.apply, x, fast_mode=fast)
    assert not gradcheck(Wrong.apply, x, raise_exception=False, fast_mode=fast)
    assert gradcheck(WrongTwice.apply, x, fast_mode=fast)
    assert not gradgradcheck(WrongTwice.apply, x, raise_exception=False, fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_complex(fast):
    z = leaf(1 + 2j, -0.5 + 1j, dtype=tx.complex128)
    x = leaf(1.0, 2.0)
    assert gradcheck(lambda z, x: z * z * x, (z, x), fast_mode=fast)
    assert gradgradcheck(lambda z: z * z * z, z, fast_mode=fast, gen_non_contig_grad_outputs=True)

    class Unconjugated(Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx, g):
            (z,) = ctx.saved_tensors
            return g * z * 2.0

    assert not gradcheck(Unconjugated.apply, z, raise_exception=False, fast_mode=fast)


def test_inputs_are_left_as_they_were():
    x = leaf(1.0, 2.0)
    assert gradcheck(lambda x: x * x, x)
    assert x.tolist() == [1.0, 2.0] and x.grad is None


def test_input_checks():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda x: x, tx.ones(2))
    with pytest.warns(UserWarning, match="not a double precision"):
        gradcheck(lambda x: x * 2.0, leaf(1.0, dtype=tx.float32), eps=1e-2, atol=1e-2)
    with pytest.raises(RuntimeError, match="stride 0"):
        gradcheck(lambda x: x * 2.0, leaf(1.0).expand(3))


def test_output_that_should_depend():
    assert gradcheck(lambda x: tx.ones(2, dtype=tx.float64), leaf(1.0, 2.0))
    with pytest.raises(RuntimeError, match="expected to be zero"):
        gradcheck(lambda x: (x * x).detach(), leaf(1.0, 2.0))


def test_backward_that_is_not_reentrant():
    calls = []

    class Drift(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            calls.append(0)
            return g * (1.0 + 1e-7 * len(calls))

    with pytest.raises(RuntimeError, match="not reentrant"):
        gradcheck(Drift.apply, leaf(1.0))
    assert gradcheck(Drift.apply, leaf(1.0), nondet_tol=1e-3)


def test_undefined_gradients_count_as_zeros():
    class Ones(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            return tx.ones(1, dtype=tx.float64) if g is None else g

    with pytest.raises(RuntimeError, match="undefined output grads"):
        gradcheck(Ones.apply, leaf(1.0))
    assert gradcheck(Ones.apply, leaf(1.0), check_undefined_grad=False)


def test_forward_mode_is_refused():
    with pytest.raises(NotImplementedError):
        gradcheck(lambda x: x, leaf(1.0), check_forward_ad=True)
    with pytest.raises(NotImplementedError):
        gradgradcheck(lambda x: x, leaf(1.0), check_fwd_over_rev=True)
