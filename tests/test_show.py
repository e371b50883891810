"""``python -m tensorx kernels``: the sources of an op."""

from __future__ import annotations

import pytest

import tensorx
from tensorx.__main__ import main
from tensorx.ops import show, table

DIALECTS = {"c": "#include <stdint.h>", "opencl": "__kernel", "cuda": "__global__"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect(dialect, capsys):
    assert main(["kernels", "tanh", "--dialect", dialect]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"// tanh, float32 on null:{list(DIALECTS).index(dialect)}: tx_tanh_")
    assert DIALECTS[dialect] in printed


def test_dtype_and_gradient(capsys):
    assert main(["kernels", "mul", "--dialect", "opencl", "--dtype", "f64", "--backward"]) == 0
    printed = capsys.readouterr().out
    assert "tx_mul_backward_" in printed
    assert "double" in printed


def test_twice_in_one_process():
    device = tensorx.device("null:opencl")
    assert show.text("exp", device) == show.text("exp", device)


def test_overloads(capsys):
    assert main(["kernels", "max", "--dialect", "c"]) == 0
    printed = capsys.readouterr().out
    assert "// max, " in printed
    assert "// max.dim, " in printed
    assert main(["kernels", "max.dim", "--dialect", "c"]) == 0
    assert "// max, " not in capsys.readouterr().out


def test_views_and_lapack_have_no_kernel(capsys):
    for name in ("transpose", "linalg_solve"):
        assert main(["kernels", name, "--dialect", "c"]) == 0
        assert "runs no kernel" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tanhh"], "did you mean tanh"),
        (["tanh", "--dtype", "float23"], "must be one of bool, uint8"),
        (["tanh", "--device", "null:98"], "python -m tensorx devices"),
    ],
)
def test_errors(arguments, said, capsys):
    assert main(["kernels", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_every_row_can_be_shown():
    """On ``null``, where nothing is compiled: every row's small call runs, and compute rows build something."""
    device = tensorx.device("null:opencl")
    silent = [op.name for op in table.OPS.values() if not show.sources(op, device)]
    assert not [n for n in silent if table.OPS[n].kind.name not in ("VIEW", "HOST", "COMPOSITE", "TRANSFER")]
