"""Forked children: device tensors raise at once, the cpu goes on with one thread."""

from __future__ import annotations

import pytest
from fresh import WARNINGS, quiet

PARENT = """
import copy, pickle
x = tx.randn(100, 30, device=device, requires_grad=True)
i = tx.tensor([0, 1, 2], device=device)
loss = (x.tanh() * 2).sum()
plain, host = x.detach(), tx.randn(3000)
big = tx.randn(300, 300, requires_grad=True)
plain[i], plain.sort(), plain @ plain.t()
(big @ big).exp().sum().backward()
before = big.grad.sum().item()

def child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException as error:
            print(type(error), error, file=sys.stderr)
            os._exit(1)
        sys.exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""

COMPUTES = """
def compute():
    for n in (10, 2_000_000):  # NumPy and kernels, the second one split over threads in the parent
        assert (tx.ones(n) + 1).sum().item() == 2 * n
    big.grad = None
    (big @ big).exp().sum().backward()
    assert big.grad.sum().item() == before or abs(big.grad.sum().item() / before - 1) < 1e-5
    tx.manual_seed(0)
    a = tx.rand(100_000)
    tx.softmax(a.reshape(100, 1000), 1), a.sort(), a[tx.randperm(1000)], tx.nn.functional.dropout(a)
    tx.synchronize("cpu")
"""

REFUSED = """
def refused():
    uses = dict(
        item=loss.item, repr=lambda: repr(x), tolist=x.tolist, cpu=x.cpu, bool=lambda: bool(plain[0, 0]), number=lambda: plain + 1,
        tensor=lambda: plain + plain, unary=plain.exp, in_place=lambda: plain.add_(1), reduce=x.sum, rows=lambda: tx.softmax(x, 1),
        product=lambda: x @ x.t(), take=lambda: x[i], put=lambda: plain.index_put_((i,), plain[0]), assign=lambda: plain.__setitem__(0, 1.0),
        sort=x.sort, scan=lambda: x.cumsum(0), nonzero=x.nonzero, backward=loss.backward, zeros=lambda: tx.zeros(3, device=device),
        random=lambda: tx.rand(3, device=device), data=lambda: tx.tensor([1.0], device=device), move=lambda: host.to(device),
        wait=lambda: tx.synchronize(device), copy=lambda: host.copy_(plain.reshape(-1)), cat=lambda: tx.cat([x, x]), clone=x.clone,
        deepcopy=lambda: copy.deepcopy(plain), pickle=lambda: pickle.dumps(plain), nothing=lambda: tx.empty(0, device=device),
    )
    for name, use in uses.items():
        try:
            use()
        except DeviceError as error:
            assert "fork" in str(error) and "spawn" in str(error), name
        else:
            raise AssertionError(name + " did not raise")
    assert x.grad is None and plain._version == 0
    del uses
    for name in ("x", "i", "loss", "plain"):
        del globals()[name]
    gc.collect()
"""


def test_a_child(device, request):
    lane = request.node.callspec.params["device"]
    code = PARENT + COMPUTES
    code += REFUSED + "child(refused)\n" if device.type != "cpu" else ""
    code += "child(compute)\nchild(lambda: None)\n"  # the last never touches anything
    quiet(code + "assert loss.item() == loss.item(); (x + 1).sum().item()", lane)


LOCKED = """
from importlib import import_module
from tensorx.locks import _all
from tensorx.devices import registry
from tensorx.kernels import cache
tx.ones(100_000) + 1
for name in ("faults", "tensor", "ops.build", "ops.expr", "ops.random", "autograd.node"):  # the locks that there should be
    import_module("tensorx." + name)
assert len(_all) >= 6
held, go = threading.Event(), threading.Event()
def hold():
    for lock in [*(lock.mutex for lock in _all), cache._lock, registry._lock]:
        lock.acquire()
    held.set()
    go.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
pid = os.fork()
if pid == 0:
    w = tx.rand(50_000, requires_grad=True)
    (w.sin() * w)[tx.tensor([1, 2])].sum().backward()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
go.set()
thread.join()
"""


def test_locks_that_other_threads_held():
    quiet(LOCKED)


LOADER = """
import multiprocessing as mp, warnings

def work(args):
    seed, batch = args
    tx.manual_seed(seed)
    x = batch.reshape(10, -1)
    return (x @ x.t() + tx.rand(10, 10)).sum(0)

if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of fork in a process with threads
    on_device = tx.ones(20, device=device) * 2
    jobs = [(n, tx.full((100,), float(n))) for n in range(6)]
    expected = [work(job) for job in jobs]
    with mp.get_context(METHOD).Pool(2) as pool:
        for result, want in zip(pool.map(work, jobs), expected):
            assert result.device.type == "cpu" and (result == want).all(), (result, want)
        pool.close()
        pool.join()
    assert on_device.sum().item() == 40
    sent = pickle.loads(pickle.dumps(on_device))
    assert sent.device == on_device.device and sent.tolist() == on_device.tolist()
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(device, request, tmp_path, method):
    """As data loaders use them: the parent computes on the device, the workers on the cpu."""
    script = tmp_path / "loader.py"
    lane = request.node.callspec.params["device"]
    if (lane, method) == ("cpu-numpy", "spawn"):  # as cpu
        return
    head = f"import pickle\nimport tensorx as tx\ndevice, METHOD = {str(device)!r}, {method!r}\n"
    script.write_text(head + LOADER)
    quiet(f"import runpy; sys.argv = [{str(script)!r}]; runpy.run_path({str(script)!r}, run_name='__main__')" if method == "fork" else
          f"import subprocess; done = subprocess.run([sys.executable, '-X', 'dev', *{WARNINGS!r}, {str(script)!r}]); sys.exit(done.returncode)", lane)


def test_the_child_may_open_what_the_parent_did_not(device, request):
    if device.type == "cpu":
        return
    quiet("""
tx.ones(100_000) + 1
pid = os.fork()
if pid == 0:
    assert (tx.ones(5, device=device) * 3).sum().item() == 15
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert (tx.ones(5, device=device) * 3).sum().item() == 15
""", request.node.callspec.params["device"])


def test_threads_stay_at_one():
    quiet("""
import warnings
from tensorx.devices import cpu
pid = os.fork()
if pid == 0:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        cpu.set_num_threads(2)
    assert len(seen) == 1 and cpu.get_num_threads() == 1
    assert (tx.ones(1_000_000) + 1).sum().item() == 2_000_000
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
""")


BUSY = """
stop = False
def busy():
    w = tx.ones(150, 150, requires_grad=True)
    while not stop:
        ((w @ w).tanh() + tx.rand(150, 150)).sum().backward()
        w.grad = None
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
try:
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            import faulthandler
            faulthandler.dump_traceback_later(30, exit=True)
            a = tx.rand(200, 200, requires_grad=True)
            ((a @ a).exp().sum() * 1e-3).backward()
            a[tx.tensor([1, 2])].sort(), tx.rand(100_000).sum().item()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
finally:
    stop = True
    for thread in threads:
        thread.join()
"""


@pytest.mark.parametrize("blas", ["0", "1"])
def test_forks_while_other_threads_compute(blas):
    """BLAS has locks of its own: a fork waits until nobody is inside."""
    quiet(BUSY, "cpu-numpy" if blas == "1" else "cpu", TENSORX_BLAS=blas)
