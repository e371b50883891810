"""A device without double precision: what asks it for float64 or complex128 is told what there is; all else works."""

from __future__ import annotations

from fresh import quiet

#: The device has none, the cpu has.
WEAK = """
import dataclasses
import numpy as np
from tensorx.devices import registry
from tensorx.errors import DTypeError
runtime = registry.open(tx.ones(1, device=device).device)
runtime.capabilities = dataclasses.replace(runtime.capabilities, fp64=False)
D, C = tx.float64, tx.complex128
x, i, z = tx.ones(4, device=device), tx.arange(4, device=device), tx.ones(4, dtype=tx.complex64, device=device)
def linear(**k): return tx.nn.Linear(4, 2, **k)
"""

REFUSED = WEAK + """
from tensorx.nn.functional import softmax
def by_default(f):
    def g():
        tx.set_default_dtype(D)
        try:
            f()
        finally:
            tx.set_default_dtype(tx.float32)
    return g
asked = {D: [
    lambda: tx.empty(3, dtype=D, device=device), lambda: tx.ones(3, dtype=D, device=device), lambda: tx.full((3,), 1, dtype=D, device=device),
    lambda: tx.arange(3, dtype=D, device=device), lambda: tx.linspace(0, 1, 3, dtype=D, device=device), lambda: tx.eye(3, dtype=D, device=device),
    lambda: tx.rand(3, dtype=D, device=device), lambda: tx.randint(0, 9, (3,), dtype=D, device=device), lambda: tx.tensor([1.5], dtype=D, device=device),
    lambda: tx.zeros_like(x, dtype=D), lambda: tx.randn_like(x, dtype=D), lambda: x.new_ones(3, dtype=D), lambda: x.new_tensor([1.5], dtype=D),
    lambda: tx.tensor(np.ones(3), device=device), lambda: tx.as_tensor(np.ones(3), device=device), lambda: tx.tensor(np.float64(3), device=device),
    lambda: tx.asarray(np.ones(3), device=device),
    lambda: x.to(D), lambda: x.double(), lambda: x.type(D), lambda: i.double(), lambda: x.type(tx.float64), lambda: x.view(D), lambda: z.view(D),
    lambda: x.sum(dtype=D), lambda: i.mean(dtype=D), lambda: x.cumsum(0, dtype=D), lambda: softmax(x, 0, dtype=D), lambda: tx.linalg.vector_norm(x, dtype=D),
    lambda: x.float_power(2), lambda: i.float_power(2),
    by_default(lambda: i / 2), by_default(lambda: i.sqrt()), by_default(lambda: i * 1.5), by_default(lambda: tx.ones(3, device=device)),
    by_default(lambda: tx.tensor([1.5], device=device)), by_default(lambda: linear(device=device)),
    lambda: linear(device=device).double(), lambda: linear(device=device).to(D), lambda: linear(device=device, dtype=D),
], C: [
    lambda: tx.zeros(3, dtype=C, device=device), lambda: tx.randn(3, dtype=C, device=device), lambda: tx.tensor(np.ones(3, complex), device=device),
    lambda: x.to(C), lambda: z.cdouble(), lambda: z.sum(dtype=C), lambda: z.view(C), by_default(lambda: i * 1j),
]}
far, wide = tx.ones(4, dtype=D), tx.ones(4, dtype=C)
asked[D] += [lambda: far.to(device), lambda: far.to(device, non_blocking=True), lambda: tx.from_numpy(np.ones(3)).to(device),
             lambda: tx.zeros_like(far, device=device), lambda: linear().double().to(device), lambda: linear().to(device, D), lambda: far.to(x.device),
             lambda: i + far[0], lambda: x + far[0]]
asked[C] += [lambda: wide.to(device)]
for d, calls in asked.items():
    for k, f in enumerate(calls):
        try:
            result = f()
        except DTypeError as error:
            text = str(error)
            assert f"got {d.name.split('.')[-1]}" in text and "can hold: bool, uint8" in text and str(x.device) in text, text
            assert "float32, complex64" in text.split(";")[0] and "float64" not in text.split(";")[0] and "complex128" not in text.split(";")[0], text
            assert ("Hint: use float32, or .to('cpu')" if d is D else "Hint: use complex64, or .to('cpu')") in text, text
        else:
            raise AssertionError(f"{d} {k} gave {result!r}")
model = linear(device=device)  # one that was refused keeps its parameters
try:
    model.double()
except DTypeError:
    pass
assert all(p.dtype is tx.float32 for p in model.parameters()) and model(x).shape == (2,)
"""


def test_double_precision_is_refused(device, request):
    if device.type == "cpu":  # a processor always has it
        return
    quiet(REFUSED, request.node.callspec.params["device"])


CONVERTED = WEAK + """
far, wide = tx.tensor([0.1, 2, 3, 4], dtype=D), tx.tensor([0.1, 2, 3j, 4], dtype=C)
narrow = far.float().tolist()
assert far.to(device, tx.float32).tolist() == narrow and far.to(x).tolist() == narrow
assert far.to(device, tx.int64).tolist() == [0, 2, 3, 4]  # as many bytes
assert far.to(device, tx.complex64).tolist() == narrow and wide.to(device, tx.complex64).tolist() == wide.to(tx.complex64).tolist()
assert x.clone().copy_(far).tolist() == narrow and i.clone().copy_(far).tolist() == [0, 2, 3, 4]
y = x.clone()
y[:] = far
assert y.tolist() == narrow
y[1:3] = np.array([0.1, 5.0])
assert y[1:3].tolist() == tx.tensor([0.1, 5.0]).tolist()
y[0], y[1], y[tx.tensor([2, 3], device=device)] = np.float64(0.1), far[0], far[0]
assert y.tolist() == narrow[:1] * 4
assert (x + np.float64(1)).tolist() == [2] * 4 and (x * far[1].item()).tolist() == [2] * 4
model, other = linear(device=device), linear().double()
model.load_state_dict(other.state_dict())
assert model.weight.dtype is tx.float32 and model.weight.tolist() == other.weight.float().tolist()
assert x.to("cpu", D).dtype is D and x.cpu().double().sum().item() == 4  # the other way it goes first
w = tx.tensor([0.1, 2, 3, 4], dtype=D, requires_grad=True)
(w.to(device, tx.float32) * 2).sum().backward()
assert w.grad.dtype is D and w.grad.tolist() == [2] * 4
"""


def test_what_can_be_narrowed_is_narrowed_before_the_way(device, request):
    if device.type == "cpu":  # without another device nothing comes in double precision
        return
    quiet(CONVERTED, request.node.callspec.params["device"])
