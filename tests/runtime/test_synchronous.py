"""TENSORX_SYNC=1: every launch is waited for, so the call that causes an error raises it."""

from __future__ import annotations

from fresh import quiet

BAD_INDEX = """
x = tx.arange(10, device=device)
try:
    x[tx.tensor([3, 12], device=device)]
except IndexError as error:
    assert "index 12" in str(error), error
else:
    raise AssertionError("not raised by the call")
assert x[tx.tensor([3, 9], device=device)].tolist() == [3, 9]
"""
FAULT = """
from tensorx.errors import KernelError
runtime = x.device.runtime
wait = type(runtime).synchronize
def fail(self):
    raise RuntimeError("CL_OUT_OF_RESOURCES")
type(runtime).synchronize = fail
try:
    tx.arange(100_000, device=device) * 3
except KernelError as error:
    assert "launch: kernel 'tx_" in str(error) and "CL_OUT_OF_RESOURCES" in str(error), error
else:
    raise AssertionError("not raised by the call")
type(runtime).synchronize = wait
assert (x * 3).tolist()[-1] == 27
"""


def test_the_call_raises(device, request):
    lane = request.node.callspec.params["device"]
    quiet(BAD_INDEX + (FAULT if device.type != "cpu" else ""), lane, TENSORX_SYNC="1")
