"""backward and grad: accumulation, captures, errors, freed graphs, order, memory, threads."""

import gc
import threading
import weakref

import pytest

import tensorx as tx
from tensorx.autograd import backward, grad
from tensorx.autograd.graph import get_gradient_edge
from tensorx.autograd.node import AccumulateGrad, Node, gradient_edge


def leaf(*values, dtype=None):
    return tx.tensor(list(values), dtype=dtype or tx.float32, requires_grad=True)


# accumulation


def test_diamond_accumulates_every_path():
    x = leaf(1.0, 2.0)
    y = x * x
    z = y + y * y + y
    z.sum().backward()
    assert x.grad.tolist() == [2 * 2 + 4 * 1, 2 * 4 + 4 * 8]


def test_many_uses_of_one_result():
    x = leaf(1.0, 2.0)
    y = x * 1.0
    z = y + 0.0
    for _ in range(5):
        z = z + y
    z.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_second_backward_accumulates_in_place():
    x = leaf(1.0, 2.0)
    (x * 3.0).sum().backward()
    first = x.grad
    alias = x.grad.detach()
    (x * 4.0).sum().backward()
    assert x.grad is first
    assert alias.tolist() == [7.0, 7.0]


def test_leaves_never_share_gradient_memory():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    z = x + y
    seed = tx.ones(2)
    z.backward(seed)
    (x * 1.0).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert y.grad.tolist() == [1.0, 1.0]
    assert seed.tolist() == [1.0, 1.0]


def test_gradient_of_expanded_is_dense():
    x = leaf(1.0, 2.0)
    x.sum().backward()
    assert x.grad.is_contiguous() and x.grad.stride() == (1,)
    (x * 2.0).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_hooked_gradients_are_not_taken_over():
    x = leaf(1.0, 2.0)
    kept = []
    y = x * 2.0
    y.register_hook(lambda g: kept.append(g.numpy()))
    (y * 1.0).backward(tx.ones(2))
    x.register_hook(lambda g: kept.append(g.numpy()))
    (x * 2.0).sum().backward()
    (x * 2.0).sum().backward()
    assert [k.tolist() for k in kept] == [[1.0, 1.0], [2.0, 2.0], [2.0, 2.0]]
    assert x.grad.tolist() == [6.0, 6.0]


def test_gradient_has_the_dtype_of_its_leaf():
    x = leaf(1.0, dtype=tx.float64)
    h = tx.tensor([2.0], dtype=tx.float16, requires_grad=True)
    (x * h).sum().backward()
    assert x.grad.dtype == tx.float64 and h.grad.dtype == tx.float16
    assert h.grad.tolist() == [1.0]


def test_complex_leaf():
    z = tx.tensor([1 + 2j], dtype=tx.complex128, requires_grad=True)
    (z * z).backward(tx.tensor([1 + 0j], dtype=tx.complex128))
    assert z.grad.tolist() == [2 - 4j]


def test_backward_of_a_leaf_itself():
    x = leaf(2.0)
    x.backward()
    assert x.grad.tolist() == [1.0]


def test_several_roots():
    x = leaf(1.0, 2.0)
    y = x * x
    backward([y, y, x * 3.0], [tx.ones(2), tx.ones(2), tx.ones(2)])
    assert x.grad.tolist() == [7.0, 11.0]


def test_root_gradient_is_cast():
    x = leaf(1.0, 2.0)
    (x * 2.0).backward(tx.ones(2, dtype=tx.float64))
    assert x.grad.dtype == tx.float32


# grad()


def test_grad_leaves_dot_grad_alone():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * w
    (gx,) = grad(y.sum(), x)
    assert gx.tolist() == [3.0, 4.0] and x.grad is None and w.grad is None


def test_grad_of_non_leaf_and_the_same_twice():
    x = leaf(1.0, 2.0)
    y = x * x
    z = (y * y).sum()
    gy, gx, again = grad(z, [y, x, x])
    assert gy.tolist() == [2.0, 8.0] and gx.tolist() == again.tolist() == [4.0, 32.0]


def test_grad_of_the_output_itself():
    y = leaf(1.0, 2.0) * 1.0
    s = y.sum()
    gs, gy = grad(s, [s, y])
    assert gs.item() == 1.0 and gy.tolist() == [1.0, 1.0]


def test_unused_inputs():
    x, w = leaf(1.0), leaf(2.0)
    y = x * 2.0
    with pytest.raises(RuntimeError, match="at index 1 appears to not have been used in the graph"):
        grad(y, [x, w], retain_graph=True)
    assert grad(y, [x, w], allow_unused=True, retain_graph=True)[1] is None
    assert grad(y, [x, w], materialize_grads=True, retain_graph=True)[1].tolist() == [0.0]
    with pytest.raises(ValueError, match="Expected allow_unused to be True"):
        grad(y, [x], allow_unused=False, materialize_grads=True)


def test_only_needed_nodes_run():
    ran = []
    x, w = leaf(1.0), leaf(2.0)
    a, b = x * 2.0, w * 3.0
    b.grad_fn.register_hook(lambda *_: ran.append("b"))
    a.grad_fn.register_hook(lambda *_: ran.append("a"))
    grad((a * b).sum(), x)
    assert ran == ["a"]


def test_backward_inputs():
    x, w = leaf(1.0), leaf(2.0)
    y = x * w
    z = y * y
    z.backward(inputs=[x, y])
    assert x.grad.tolist() == [8.0] and y.grad.tolist() == [4.0] and w.grad is None
    with pytest.raises(RuntimeError, match="cannot be empty"):
        z.backward(inputs=[])


def test_double_and_triple():
    x = tx.tensor([2.0, 3.0], dtype=tx.float64, requires_grad=True)
    (g1,) = grad((x * x * x).sum(), x, create_graph=True)
    (g2,) = grad(g1.sum(), x, create_graph=True)
    (g3,) = grad(g2.sum(), x)
    assert g1.tolist() == [12.0, 27.0] and g2.tolist() == [12.0, 18.0] and g3.tolist() == [6.0, 6.0]


def test_dot_grad_keeps_its_graph():
    x = leaf(2.0)
    (x * x * x).backward(create_graph=True)
    g, x.grad = x.grad, None
    assert g.requires_grad
    g.backward()
    assert x.grad.tolist() == [12.0]
    x.grad = None


def test_batched_grads():
    x = leaf(1.0, 2.0)
    (rows,) = grad(x * x, x, tx.tensor([[1.0, 0.0], [0.0, 1.0]]), is_grads_batched=True)
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_gradient_edges_stand_for_tensors():
    x = leaf(1.0, 2.0)
    y = x * 2.0
    edge = get_gradient_edge(y)
    z = (y * y).sum()
    del y
    (g,) = grad(z, edge)
    assert g.tolist() == [4.0, 8.0]
    y = x * 2.0
    assert grad(get_gradient_edge(y), x, tx.ones(2))[0].tolist() == [2.0, 2.0]
    assert get_gradient_edge(x).node.variable is x


# errors


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: (x * 2.0).backward(), RuntimeError, "grad can be implicitly created only for scalar outputs"),
        (lambda x: tx.ones(3).sum().backward(), RuntimeError, "element 0 of tensors does not require grad"),
        (lambda x: (x * 2.0).backward(tx.ones(3)), RuntimeError, r"Mismatch in shape: grad_output\[0\] has a shape of"),
        (lambda x: (x * 2.0).backward(tx.ones(2, dtype=tx.complex64)), RuntimeError, "For complex Tensors"),
        (lambda x: (x * 2.0).backward([1]), TypeError, "gradients can be either Tensors or None, but got"),
        (lambda x: grad(x.sum(), tx.ones(3)), RuntimeError, "differentiated Tensors does not require grad"),
        (lambda x: grad(x.sum(), []), RuntimeError, "cannot be empty"),
        (lambda x: backward([x.sum()], [None, None]), RuntimeError, "got 1 tensors and 2 gradients"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(leaf(1.0, 2.0))


def test_implicit_gradient_of_complex_output():
    z = tx.tensor([1 + 2j], dtype=tx.complex64, requires_grad=True)
    with pytest.raises(RuntimeError, match="only for real scalar outputs but got"):
        (z * z).backward()


def test_freed_graph():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_failed_backward_restores_the_modes():
    x = leaf(1.0)
    y = x * x
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.backward()
    assert tx.is_grad_enabled()
    (x * x).backward()
    assert x.grad.tolist() == [2.0]


# the graph


def test_next_functions_and_names():
    x = leaf(1.0)
    y = x * 2.0
    (edge, *rest) = y.grad_fn.next_functions
    assert isinstance(edge[0], AccumulateGrad) and edge[0].variable is x and edge[1] == 0
    assert all(node is None for node, _ in rest)
    assert y.grad_fn.name() == "MulBackward0" and "MulBackward0" in repr(y.grad_fn)
    assert edge[0].name() == "AccumulateGrad"


def test_newest_first_and_leaves_early():
    x = leaf(1.0)
    order = []
    a = x * 1.0
    b = x * 2.0
    c = a + b
    for name, t in zip("abc", (a, b, c)):
        t.grad_fn.register_hook(lambda *_, name=name: order.append(name))
    c.backward()
    assert order == ["c", "b", "a"]


def test_backward_inside_a_hook():
    x, w = leaf(3.0), leaf(1.0)
    y = x * x

    def hook(g):
        with tx.enable_grad():
            (w * 2.0).backward()
        assert not tx.is_grad_enabled()

    y.register_hook(hook)
    y.backward()
    assert x.grad.tolist() == [6.0] and w.grad.tolist() == [2.0]


def test_edges_must_be_older():
    class Bad(Node):
        def apply(self, grads, create_graph):
            return grads

    young = Bad()
    old = Bad((None,))
    young.edges = ((old, 0),)
    y = tx.ones(1)
    y._node, y._rg = young, True
    with pytest.raises(AssertionError, match="older"):
        y.backward()


# memory


class Pass(Node):
    """The cheapest node there is."""

    __slots__ = ()

    def apply(self, grads, create_graph):
        return grads


def bare_chain(x, length):
    edge = gradient_edge(x)
    for _ in range(length):
        edge = (Pass((edge,)), 0)
    y = x.detach()
    y._node, y._rg = edge[0], True
    return y


def test_long_chain_neither_recurses_nor_overflows():
    x = leaf(2.0)
    y = bare_chain(x, 100_000)
    y.backward()
    assert x.grad.tolist() == [1.0]
    del y
    y = bare_chain(x, 100_000)  # freed without a backward
    del y
    assert grad(bare_chain(x, 100_000), x, create_graph=True)[0].tolist() == [1.0]


def test_long_chain_of_operations():
    x = leaf(2.0)
    y = x
    for _ in range(5_000):
        y = y * 1.0
    (g,) = grad(y, x, create_graph=True)
    assert g.tolist() == [1.0]
    del y, g


def plain(x):
    y = (x * x).exp()
    y.retain_grad()
    return (y * y + x).sum()


def in_place(x):
    y = x * 1.0
    y.mul_(x)
    y[:1].mul_(2.0)
    y[1] = x[0]
    return y.reshape(-1)[:1].sum()


def hooked(x):
    y = x * 2.0
    y.register_hook(lambda g: g * 1.0)
    y.grad_fn.register_hook(lambda gin, gout: None)
    return y.sum()


def twice(x):
    (g,) = grad((x * x * x).sum(), x, create_graph=True)
    return (g * g).sum()


@pytest.mark.parametrize("function", [plain, in_place, hooked, twice])
def test_nothing_is_left_without_the_collector(function):
    x = leaf(1.0, 2.0)

    def step():
        z = function(x)
        z.backward()
        x.grad = None
        return weakref.ref(z.grad_fn)

    gc.collect()
    gc.disable()
    try:
        assert step()() is None
        step()
        before = len(gc.get_objects())
        for _ in range(50):
            step()
        assert len(gc.get_objects()) - before < 20
    finally:
        gc.enable()


def test_intermediate_gradients_die_during_backward():
    alive = []
    x = leaf(1.0)
    y = x
    for _ in range(20):
        y = y.exp() * 0.1
        y.register_hook(lambda g: alive.append(weakref.ref(g)) or None)
        y.register_hook(lambda g: counts.append(sum(ref() is not None for ref in alive)))
    counts = []
    y.backward()
    assert max(counts) <= 4


# threads


def run_threads(target, count=8):
    errors = []

    def guarded(i):
        try:
            target(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_threads_share_leaves():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)

    def work(i):
        for _ in range(25):
            (x * w + x).sum().backward()

    run_threads(work)
    assert x.grad.tolist() == [200 * 4.0, 200 * 5.0]
    assert w.grad.tolist() == [200 * 1.0, 200 * 2.0]


def test_threads_share_a_graph():
    x = leaf(1.0, 2.0)
    y = (x * x).exp()
    expected = grad(y.sum(), x, retain_graph=True)[0].tolist()
    results = {}

    def work(i):
        results[i] = grad(y.sum(), x, retain_graph=True)[0].tolist()

    run_threads(work)
    assert list(results.values()) == [expected] * 8


def test_backward_in_another_thread_with_grad_mode_off():
    x = leaf(1.0)
    y = x * x

    def work(i):
        with tx.no_grad():
            y.backward()

    run_threads(work, 1)
    assert x.grad.tolist() == [2.0]
