"""Rows on the simulated card of tests/cudasim: one call a template and access class, no access out of bounds, no race;
and faults planted in the CUDA dialect and in the templates, each of which is noticed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tensorx.devices import registry

REASON = registry.backend("cuda").available()
DEVICES = [] if REASON else registry.backend("cuda").devices()
pytestmark = [
    pytest.mark.skipif(not any("cudasim" in d.driver for d in DEVICES), reason="there is no simulated card"),
    pytest.mark.slow,
]

WORK = """
import re, sys
import numpy as np
import tensorx as tx
from checking import grind
from tensorx.kernels import dialect, generator

def words(**changes):
    object.__setattr__(dialect.CUDA, "words", {**dialect.CUDA.words, **changes})
def rewrite(pattern, to):
    usual = generator._fill
    generator._fill = lambda name, **context: re.sub(pattern, to, usual(name, **context))
exec(sys.argv[1])
device = grind.device(cuda=True)
rng = np.random.RandomState(0)
x, y = rng.randn(64, 1000).astype(np.float32), rng.randn(1000, 80).astype(np.float32)
a, b = tx.from_numpy(x).to(device), tx.from_numpy(y).to(device)
e = np.exp(x - x.max(1, keepdims=True))
pairs = ((a * 2 + 1, x * 2 + 1), (a.sum(1), x.sum(1)), (a @ b, x @ y), (a.softmax(1), e / e.sum(1, keepdims=True)))
for got, want in pairs:
    np.testing.assert_allclose(got.cpu().numpy(), want, rtol=1e-4, atol=1e-3)
"""
#: What is planted, and what the end of stderr then says.
PLANTED = {
    "wrong word": ('words(TX_BARRIER="__syncthread()")', "CompileError"),
    "wrong axis": ("""rewrite(r"TX_LID_0 threadIdx.x", "TX_LID_0 threadIdx.y")""", "Error"),
    "no barrier": ('words(TX_BARRIER="")', "DeviceLost"),
    "store behind the end": (r"""rewrite(r"\(\(p\)\[i\] = \(v\)\)", "((p)[i] = (p)[(i) + 1] = (v))")""", "DeviceLost"),
    "store behind the end of shared memory": (
        r"""rewrite(r"(TX_LOCAL \w+ \w+\[)(\d+)\]", r"\1\2 - 1]")""",
        "DeviceLost",
    ),
}


def run(*command: str, **env: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = os.environ | {"PYTHONPATH": path, "CUDASIM_RACES": "1", **env}
    return subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("mode", ["eager", "lazy"])
def test_every_template_and_access_class(mode):
    done = run("-m", "checking.grind", "cuda", CUDASIM_MODE=mode)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    *differences, last = done.stdout.splitlines()
    assert not differences
    assert int(last.removesuffix(" calls")) > 50


def test_a_stray_read_would_be_found():
    done = run("-m", "checking.grind", "cuda", "--plant")
    assert done.returncode == 1
    assert "cudasim: " in done.stderr and "invalid read" in done.stderr and "DeviceLost" in done.stderr


def test_the_work_is_right():
    done = run("-c", WORK, "")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


@pytest.mark.parametrize("fault", PLANTED)
def test_the_fault_would_be_noticed(fault):
    plant, word = PLANTED[fault]
    done = run("-c", WORK, plant)
    assert done.returncode == 1
    assert word in done.stderr and "NameError" not in done.stderr and "SyntaxError" not in done.stderr, done.stderr
