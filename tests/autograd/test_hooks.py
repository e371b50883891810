"""Hooks on tensors, leaves and nodes; retained gradients; removable handles."""

import gc
import weakref
from collections import OrderedDict

import pytest

import tensorx as tx
from tensorx.autograd import Function, grad
from tensorx.autograd.graph import register_multi_grad_hook
from tensorx.autograd.hooks import RemovableHandle


def leaf(*values):
    return tx.tensor(list(values), requires_grad=True)


def test_handle():
    hooks = OrderedDict()
    handle = RemovableHandle(hooks)
    hooks[handle.id] = print
    with handle:
        assert len(hooks) == 1
    assert not hooks
    handle.remove()
    ref = weakref.ref(hooks)
    del hooks
    gc.collect()
    assert ref() is None
    handle.remove()


def test_tensor_hooks_chain_and_replace():
    x = leaf(1.0, 2.0)
    y = x * 2.0
    seen = []
    y.register_hook(lambda g: g * 2.0)
    handle = y.register_hook(lambda g: seen.append(g.tolist()))
    y.sum().backward(retain_graph=True)
    assert seen == [[2.0, 2.0]] and x.grad.tolist() == [4.0, 4.0]
    handle.remove()
    y.sum().backward()
    assert len(seen) == 1


def test_hook_sees_the_whole_gradient_once():
    x = leaf(1.0)
    y = x * 2.0
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    (y + y + y).backward()
    assert seen == [3.0]


def test_leaf_hooks():
    x = leaf(1.0)
    seen = []
    x.register_hook(lambda g: g * 10.0)
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    (x * 2.0 + x).backward()
    assert x.grad.item() == 30.0 and seen == [30.0]
    assert grad(x * 2.0, x)[0].item() == 20.0
    assert seen == [30.0] and x.grad.item() == 30.0


def test_post_accumulate_hook_may_drop_the_gradient():
    x = leaf(1.0)

    def step(t):
        with tx.no_grad():
            t.add_(t.grad)
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 2.0).backward()
    assert x.grad is None and x.item() == 3.0


def test_hook_results_are_checked():
    for result, error, text in (
        (tx.ones(3), RuntimeError, "has changed the size of value"),
        (tx.ones(2, dtype=tx.float64), RuntimeError, "has changed the type of value"),
        (3, TypeError, "expected Variable, but hook returned 'int'"),
    ):
        y = leaf(1.0, 2.0) * 2.0
        y.register_hook(lambda g, result=result: result)
        with pytest.raises(error, match=text):
            y.sum().backward()


def test_registration_is_checked():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        tx.ones(3).register_hook(print)
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        tx.ones(3).retain_grad()
    with pytest.raises(RuntimeError, match="non-leaf"):
        (x * 2.0).register_post_accumulate_grad_hook(print)
    with pytest.raises(TypeError, match="callable"):
        x.register_hook(3)
    x.retain_grad()
    assert not x.retains_grad


def test_retain_grad_sees_hooked_value():
    x = leaf(1.0)
    y = x * 2.0
    y.retain_grad()
    y.register_hook(lambda g: g * 5.0)
    y.retain_grad()
    assert y.retains_grad
    y.backward(retain_graph=True)
    assert y.grad.item() == 5.0
    y.backward()
    assert y.grad.item() == 10.0


def test_node_hooks():
    x = leaf(1.0)
    y = x * 2.0
    seen = []
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 3.0,))
    y.grad_fn.register_hook(lambda gin, gout: seen.append((gin[0].item(), gout[0].item())))
    handle = y.grad_fn.register_hook(lambda gin, gout: (gin[0] * 2.0, *gin[1:]))
    y.backward(retain_graph=True)
    assert seen == [(6.0, 3.0)] and x.grad.item() == 12.0
    handle.remove()
    y.backward()
    assert x.grad.item() == 18.0


def test_node_hook_results_are_checked():
    y = leaf(1.0) * 2.0
    handle = y.grad_fn.register_prehook(lambda gs: 3)
    with pytest.raises(TypeError, match="expected tuple, but hook returned 'int'"):
        y.backward(retain_graph=True)
    handle.remove()
    y.grad_fn.register_prehook(lambda gs: (gs[0], gs[0]))
    with pytest.raises(RuntimeError, match=r"incorrect number of values \(got 2, but expected 1\)"):
        y.backward()


def test_accumulate_node_hook():
    x = leaf(1.0)
    y = x * 2.0
    node = y.grad_fn.next_functions[0][0]
    seen = []
    node.register_hook(lambda gin, gout: seen.append((gin, gout[0].item())))
    y.backward()
    assert seen == [((), 2.0)] and x.grad.item() == 2.0


class Nothing(Function):
    """Gives no gradient back."""

    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, g):
        return None


def test_undefined_gradients_reach_hooks_as_none():
    x = leaf(1.0)
    seen = []
    y = x * 2.0
    y.register_hook(seen.append)
    x.register_hook(seen.append)
    Nothing.apply(y).backward()
    assert seen == [None, None] and x.grad is None


def test_multi_grad_hook():
    x, w = leaf(1.0), leaf(2.0)
    seen = []
    register_multi_grad_hook([x, w], lambda gs: seen.append([g.item() for g in gs]))
    handle = register_multi_grad_hook([x, w], lambda g: seen.append("any"), mode="any")
    (x * w).backward()
    assert sorted(map(str, seen)) == ["[2.0, 1.0]", "any"]
    handle.remove()
    (x * w).backward()
    assert len(seen) == 3


def test_retained_gradient_follows_in_place_writes():
    x = leaf(1.0, 2.0)
    y = x * 2.0
    seen = []
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.retain_grad()
    y.mul_(3.0)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    (y * 5.0).sum().backward()
    assert y.grad.tolist() == [5.0, 5.0]
    assert seen == [("after", [5.0, 5.0]), ("before", [15.0, 15.0])]
    base = x * 1.0
    part = base[:1]
    part.retain_grad()
    part.mul_(3.0)
    (base * 5.0).sum().backward(retain_graph=True)
    assert part.grad is None  # nothing used the view after the write: the write is in the history of the base
    (part * 7.0).sum().backward()
    assert part.grad.tolist() == [7.0]
