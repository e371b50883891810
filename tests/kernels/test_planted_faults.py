"""Planted faults that checks on a lane must notice: a missing barrier, and a kernel kept for other capabilities.

Stores that are off by one: tests/conformance/test_of_tests.py; both under oclgrind: test_simulator.py.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from dataclasses import replace

import cases
import numpy as np
import plants
import pytest
from runner import GPU, available
from specs import SPECS

from tensorx.devices import registry
from tensorx.devices.null import Null
from tensorx.kernels import generator
from tensorx.kernels.capabilities import Capabilities
from tensorx.ops import build

MEAN = next(spec for spec in SPECS if spec.entry == "tx_mean")
MASKS = ("no_fp16", "max_workgroup=64", "max_workgroup=1", "local_mem=4K", "no_int64_atomics,no_float_atomics")
STRONG = Capabilities(
    "opencl", fp64=True, fp16=True, int64_atomics=True, float_atomics=True, subgroups=True, max_workgroup=256
)


@pytest.mark.parametrize("lane", ["pocl-gpu", "intel-gpu"])
def test_a_missing_barrier_changes_the_result(lane):
    if not available(lane):
        pytest.skip(f"capability: {lane} is not here")
    sound, planted = (
        cases.run_all(lane, GPU, [MEAN], plant)["tx_mean"][0]
        for plant in (None, functools.partial(plants.without_barrier, number=1))
    )
    again = cases.run_all(lane, GPU, [MEAN])["tx_mean"][0]
    assert np.array_equal(sound, again)
    assert not np.allclose(sound, planted, 1e-5)


def kept_texts():
    """Specs whose text for some capabilities depends on what was rendered before for others."""
    generator.render_kernel.cache_clear()
    everything = [STRONG, *(STRONG.masked(mask) for mask in MASKS)]
    shared = {(spec, caps): generator.render([spec], caps).text for caps in everything for spec in SPECS}
    wrong = set()
    for caps in everything:
        generator.render_kernel.cache_clear()
        wrong |= {spec.entry for spec in SPECS if generator.render([spec], caps).text != shared[spec, caps]}
    return wrong


def test_texts_are_not_kept_for_other_capabilities(monkeypatch):
    assert kept_texts() == set()
    usual, first = generator.render_kernel, {}

    def careless(spec, caps):
        return usual(spec, first.setdefault(spec, caps))

    careless.cache_clear = first.clear
    monkeypatch.setattr(generator, "render_kernel", careless)
    assert {"tx_mean", "tx_softmax"} <= kept_texts()


def reused(spec):
    """Whether a device whose capabilities are others now gets the kernel that was built before."""
    name = registry._intern("null", 2000)
    strong, weak = Null(2000, "opencl"), Null(2000, "opencl")
    weak.capabilities = strong.capabilities.masked("max_workgroup=64")
    object.__setattr__(name, "runtime", strong)
    build.kernel(name, spec)
    object.__setattr__(name, "runtime", weak)
    with build.watching() as sources:
        build.kernel(name, spec)
    assert not sources or sources[0].text == generator.render([spec], weak.capabilities).text
    return not sources


def test_kernels_are_not_kept_for_other_capabilities(monkeypatch):
    class ByName(dict):
        """Forgets which opened device a key is about."""

        def __getitem__(self, key):
            return super().__getitem__(key[1])

        def __setitem__(self, key, value):
            super().__setitem__(key[1], value)

        def __contains__(self, key):
            return super().__contains__(key[1])

        def get(self, key):
            return super().get(key[1])

    assert not reused(replace(MEAN, entry="tx_planted"))
    monkeypatch.setattr(build, "_kernels", ByName())
    assert reused(replace(MEAN, entry="tx_planted"))


PROGRAM = "from tensorx.devices import registry; print(registry.resolve({!r}).runtime.fingerprint)"


def fingerprint(device, mask):
    """What a program that starts now has in its keys of the disk cache."""
    env = os.environ | {"TENSORX_CAPS_MASK": mask, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PROGRAM.format(str(device))]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.strip()


def test_binaries_are_not_kept_for_other_capabilities(device, need):
    need(compiler=True)
    mask = os.environ.get("TENSORX_CAPS_MASK", "")
    assert fingerprint(device, mask) == device.runtime.fingerprint, "a run finds what the run before it built"
    assert fingerprint(device, f"{mask},no_fast_fma,max_workgroup=7") != device.runtime.fingerprint
