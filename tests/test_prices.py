"""The two prices: an elementwise op is one row in one file, a backend is one file and one line of the registry."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
IGNORED = shutil.ignore_patterns("__pycache__", "_build")
BACKEND_NAMES = {"opencl", "cuda", "sycl"}


def run(folder: Path, *command: str, **environment: str) -> str:
    """A command of the running Python in ``folder``; its output, or a failure that shows it."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "TENSORX_EXPECT": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def checkout(tmp_path):
    """A copy of the library and its tests."""
    for name in ("tensorx", "kernels", "devices", "tests", "docs", "pyproject.toml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, symlinks=True, ignore=IGNORED)
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


ROW = """
probe_op = elementwise("probe_op(Tensor self) -> Tensor", lambda x: x / (1 + E.abs(x)), promote=TO_FLOAT, dtypes="bif",
                       vjp=lambda g, out, x: g / ((1 + E.abs(x)) * (1 + E.abs(x))), ref=lambda x: x / (1 + np.abs(x)),
                       doc="x / (1 + abs(x)).")
"""
USE_ROW = """
import numpy as np
import tensorx
from tensorx.autograd import gradcheck, gradgradcheck
data = np.linspace(-2, 2, 7)
right = data / (1 + abs(data))
x = tensorx.tensor(data, dtype=tensorx.float64)
out = tensorx.empty(7, dtype=tensorx.float64)
for result in (tensorx.probe_op(x), x.probe_op(), x.clone().probe_op_(), tensorx.probe_op(x, out=out), out):
    np.testing.assert_allclose(result.numpy(), right)
assert tensorx.probe_op(tensorx.ones(2, 3, dtype=tensorx.int32, device="meta")).dtype == tensorx.float32
x.requires_grad_()
assert gradcheck(tensorx.probe_op, (x,)) and gradgradcheck(tensorx.probe_op, (x,))
assert "abs" in tensorx.probe_op.__doc__
"""


def contents(folder: Path) -> dict[str, bytes]:
    """Every file outside caches."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "cache" not in str(path.relative_to(folder))
    }


def test_an_elementwise_op_is_one_row(checkout):
    """Function, method, in-place and out= forms, meta, gradients, source, stub, reference page and tests follow."""
    unary = checkout / "tensorx" / "ops" / "unary.py"
    unary.write_text(unary.read_text() + ROW)
    run(checkout, "-c", USE_ROW)
    for device in ("cpu", "null"):
        assert "probe_op" in run(checkout, "-m", "tensorx", "kernels", "probe_op", "--device", device)
    before = contents(checkout)
    run(checkout, "-m", "tensorx.ops.generate")
    after = contents(checkout)
    changed = {name for name in after if after[name] != before.get(name)}
    assert all(b"probe_op" in after[name] for name in changed)
    assert any(name.endswith(".pyi") for name in changed), changed
    assert any(name.startswith("docs/") for name in changed), changed
    report = run(checkout, "-m", "pytest", "-q", "--device", "cpu,cpu-numpy", "tests/conformance", "-k", "probe_op")
    for lane in ("cpu", "cpu-numpy"):
        assert re.search(rf"^{lane} +tests: \d+ passed", report, re.M), report


USE_TOY = """
import numpy as np
import tensorx
x = tensorx.tensor(np.arange(6, dtype=np.float32).reshape(2, 3), device="toy", requires_grad=True)
w = tensorx.ones(3, 2, device="toy")
loss = ((x @ w).tanh() + x.sum(1, keepdim=True)).mean()
loss.backward()
assert x.grad.device == tensorx.device("toy:0"), x.grad.device
same = x.detach().to("cpu").requires_grad_()
((same @ w.to("cpu")).tanh() + same.sum(1, keepdim=True)).mean().backward()
np.testing.assert_allclose(x.grad.to("cpu").numpy(), same.grad.numpy(), rtol=1e-6)
"""


def test_a_backend_is_one_file_and_one_line(checkout):
    shutil.move(checkout / "tests" / "toy_backend.py", checkout / "devices" / "toy.py")
    registry = checkout / "devices" / "registry.py"
    line = '    "cpu": "tensorx.devices.cpu",\n'
    text = registry.read_text()
    assert line in text
    registry.write_text(text.replace(line, line + '    "toy": "tensorx.devices.toy",\n'))
    run(checkout, "-c", USE_TOY)
    assert "toy" in run(checkout, "-m", "tensorx", "devices")
    run(checkout, "-m", "pytest", "-q", "--device", "toy", "tests/test_tiny.py")


def names_a_backend(node: ast.Compare) -> bool:
    """``something.type == "opencl"`` and the like."""
    inside = list(ast.walk(node))
    constants = {n.value for n in inside if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    about_a_device = any(isinstance(n, ast.Attribute) and n.attr in ("type", "kind") for n in inside)
    return about_a_device and bool(constants & BACKEND_NAMES)


def comparisons(tree: ast.AST):
    """All comparisons but those in PyTorch's own properties ``is_cuda`` and the like."""
    if isinstance(tree, ast.FunctionDef) and tree.name.removeprefix("is_") in BACKEND_NAMES:
        return
    if isinstance(tree, ast.Compare):
        yield tree
    for child in ast.iter_child_nodes(tree):
        yield from comparisons(child)


def test_nothing_else_names_a_backend():
    """Outside devices/ no code compares with a backend's name; cpu, meta and null have a meaning of their own."""
    links = [ROOT / "tensorx" / "kernels", ROOT / "tensorx" / "devices"]
    # PyTorch's own room for one backend may name it.
    named = [ROOT / "tensorx" / name for name in BACKEND_NAMES]
    rooms = (*links, *named)
    library = [p for p in (ROOT / "tensorx").rglob("*.py") if not any(p.is_relative_to(room) for room in rooms)]
    offences = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"
        for path in [*library, *(ROOT / "kernels").rglob("*.py")]
        for node in comparisons(ast.parse(path.read_text()))
        if names_a_backend(node)
    ]
    assert not offences, "\n".join(offences)
