"""No compiler, a broken one, no OpenCL, neither: the cpu does all, and the rest says what to install."""

from __future__ import annotations

import stat

import pytest
from fresh import python, quiet

WORK = """
model = tx.nn.Sequential(tx.nn.Linear(20, 30), tx.nn.ReLU(), tx.nn.Dropout(0.2), tx.nn.Linear(30, 5))
opt = tx.optim.AdamW(model.parameters(), lr=0.05)
tx.manual_seed(0)
x, y = tx.randn(64, 20), tx.randint(0, 5, (64,))
for _ in range(40):
    opt.zero_grad()
    loss = tx.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
assert loss.item() < 1.0, loss
big = tx.rand(300_000)
for op in (tx.tanh, tx.sort, lambda t: t.cumsum(0), lambda t: t[tx.arange(0, 300_000, 7)], lambda t: t.reshape(600, 500) @ t.reshape(500, 600),
           lambda t: tx.softmax(t.reshape(500, 600), 1), tx.nonzero, lambda t: t.to(tx.bfloat16).sum(), lambda t: t.max(0)):
    op(big)
"""
NO_OPENCL = """
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pyopencl", "pocl", "dpctl", "pycuda"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Block())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name.split(".")[0] in ("pyopencl", "dpctl", "pycuda") else found(name, package)
"""
MESSAGES = """
from tensorx.errors import BackendUnavailable
for name, words in {"opencl": ["pip install 'tensorx-gpu[opencl]'"], "opencl:0": ["pip install 'tensorx-gpu[opencl]'"],
                    "opencl:pocl": ["pip install"], "cuda": ["pip install 'tensorx-gpu[cuda]'"], "sycl:0": ["pip install 'tensorx-gpu[sycl]'"]}.items():
    try:
        tx.ones(2, device=name)
    except BackendUnavailable as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(name)
assert str(tx.device("auto")) == "cpu"
assert (tx.ones(2, device="auto") + 1).tolist() == [2, 2]
import contextlib, io
from tensorx.__main__ import main
with contextlib.redirect_stdout(io.StringIO()) as text:
    main(["devices"])
assert "PASS  cpu" in text.getvalue() and "pip install 'tensorx-gpu[opencl]'" in text.getvalue(), text.getvalue()
"""


def test_neither_compiler_nor_opencl():
    quiet(NO_OPENCL + WORK + MESSAGES, "cpu-numpy", PATH="/nonexistent")


def test_no_compiler_on_the_path():
    """Not by TENSORX_CC=none: nothing is found. That is no error, and the device says what is missing."""
    code = "from tensorx.devices import registry\nd = registry.resolve('cpu').runtime\nprint(d.capabilities.compiler, d.driver)"
    text = quiet(WORK + code, PATH="/nonexistent", TENSORX_LANE="", CC="", TENSORX_CC="")
    if "ziglang" not in text.split(" alone: ")[0]:
        assert text.startswith("False NumPy")
        assert "pip install 'tensorx-gpu[jit]'" in text


def compiler(folder, *lines):
    """A script that passes for a C compiler."""
    path = folder / "mycc"
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize("name", ["/bin/false", "/nonexistent/cc"])
def test_a_compiler_that_was_ordered_must_work(name):
    for code in ("tx.ones(2) + 1", "tx.ones(100_000) + 1"):
        done = python(code, TENSORX_CC=name)
        assert done.returncode == 1
        last = done.stderr.splitlines()[-1]
        assert last.startswith("tensorx.errors.DeviceError: TENSORX_CC: must name a"), last
        assert name in last
        assert "Hint" in last


SURVIVES = """
from tensorx.errors import CompileError
import numpy as np
x = tx.from_numpy(np.ones(100_000, np.float32)).requires_grad_()
for _ in range(2):
    for use in (lambda: x.detach() + 1, lambda: x.detach().mul_(2), lambda: tx.softmax(x, 0), lambda: tx.rand(100_000)):
        try:
            use()
        except CompileError as error:
            assert "no room for you" in error.log and "tx_" in error.source and os.path.exists(error.path), vars(error)
            assert error.path in str(error)
            os.unlink(error.path)
        else:
            raise AssertionError("built without a compiler")
assert x._version == 0 and tx.is_grad_enabled()
assert (tx.ones(10) + 1).sum().item() == 20  # NumPy's share needs no compiler
assert (x.detach().numpy() == 1).all()
"""


def test_a_compiler_that_fails_later(tmp_path):
    """It answers but cannot build: each call that needs a kernel says so with the log; nothing falls back in silence."""
    broken = compiler(tmp_path, 'case "$*" in *-dM*|*-print-file-name*) exec cc "$@";; esac', "echo no room for you >&2", "exit 1")
    environment = {"TENSORX_CC": broken, "TENSORX_LANE": "", "TENSORX_CACHE_DIR": str(tmp_path / "cache")}
    quiet(SURVIVES, **environment)


def test_a_compiler_that_builds_rubbish(tmp_path):
    rubbish = compiler(tmp_path, 'case "$*" in *-dM*|*-print-file-name*) exec cc "$@";; esac',
                       'while [ "$1" != -o ]; do shift; done', 'cat > /dev/null; echo rubbish > "$2"')
    done = python("tx.ones(100_000) + 1", TENSORX_CC=rubbish, TENSORX_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert "CompileError" in done.stderr.splitlines()[-1]


def test_a_search_goes_past_a_broken_one(tmp_path):
    """CC is a wish, not an order: the next one that works is taken."""
    text = quiet("from tensorx.devices import registry\nprint(registry.resolve('cpu').runtime.driver)", CC=compiler(tmp_path, "exit 1"), TENSORX_CC="")
    assert "mycc" not in text
    assert "OpenMP" in text or "one thread" in text
