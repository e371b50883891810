"""The end of the interpreter, and tensors that die in odd places: status 0 and nothing on stderr."""

from __future__ import annotations

import pytest
from fresh import python, quiet

ALIVE = """
x = tx.randn(200, 100, device=device, requires_grad=True)
i = tx.tensor([0, 5], device=device)
y = (x.tanh() * 2).softmax(1)
graph = (y[i] @ y.t()).sum()
opt = tx.optim.AdamW([x], lr=0.1)
graph.backward(retain_graph=True)
opt.step()

class Cycle:
    pass
cycle = Cycle()
cycle.me, cycle.tensor, cycle.graph = cycle, x.exp(), graph
x.register_hook(lambda g: g * 1 if cycle else g)
class Dies:
    def __del__(self, t=tx.ones(3, device=device)):
        self.t = t
dies = Dies()
import builtins
builtins.kept = x, graph, cycle, dies, tx.ones(10, device=device)  # outlives the modules
held = []
tx.Tensor.held = held
held.append(tx.ones(5, device=device))
pending = x.detach()
for _ in range(30):  # still in the queue when the interpreter ends
    pending = pending @ x.detach().t() @ x.detach() * 1e-5
"""
ENDS = {
    "plain": "",
    "thread": """
def forever():
    while True:
        z = tx.ones(1000, device=device) * 2
        z.sum().item()
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
import time
time.sleep(0.3)
""",
    "atexit": """
import atexit
atexit.register(lambda: (x.detach() + 1).sum().item())
""",
}


@pytest.mark.parametrize("end", ENDS)
def test_the_interpreter_ends(device, request, end):
    quiet(ALIVE + ENDS[end], request.node.callspec.params["device"], dev=end == "plain")


def test_an_exception_ends_it(device, request):
    done = python(ALIVE + "raise RuntimeError('mine')", request.node.callspec.params["device"])
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback") and done.stderr.endswith("RuntimeError: mine\n")
    assert done.stderr.count("Error") == 1


ELSEWHERE = """
import queue, weakref
seen, todo = [], queue.Queue()
def consumer():
    while (t := todo.get()) is not None:
        t = None
        gc.collect()
worker = threading.Thread(target=consumer)
worker.start()
for k in range(60):  # made here, dies there
    t = tx.ones(100 + k, device=device, requires_grad=True)
    y = (t * 2).sum()
    weakref.finalize(t, lambda: seen.append((tx.ones(2, device=device) + 1).sum().item()))  # a finalizer that computes
    todo.put((t, y))
    del t, y
todo.put(None)
worker.join()
gc.collect()
assert seen == [4.0] * 60, seen

class Loop:
    def __del__(self):
        seen.append(float(self.tensor.sum()))
def make():
    for k in range(40):  # garbage cycles with tensors, collected by whichever thread allocates next
        loop = Loop()
        loop.me, loop.tensor = loop, tx.full((50,), float(k), device=device)
threads = [threading.Thread(target=make) for _ in range(4)]
gc.set_threshold(20, 2, 2)
for t in threads: t.start()
for t in threads: t.join()
gc.collect()
assert sorted(seen[60:]) == sorted(50.0 * k for k in range(40) for _ in range(4))

def thread_that_leaves(): local.tensor = tx.ones(1000, device=device) * 3
local = threading.local()
for _ in range(10):
    t = threading.Thread(target=thread_that_leaves); t.start(); t.join()
"""


def test_tensors_die_in_other_threads(device, request):
    quiet(ELSEWHERE, request.node.callspec.params["device"])


def test_import_is_silent():
    quiet("import tensorx.nn, tensorx.optim, tensorx.data, tensorx.autograd; print(tx.__version__)", dev=True)
