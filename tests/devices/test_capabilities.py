"""Capabilities and their masks."""

from __future__ import annotations

import pytest

from tensorx.devices import probe
from tensorx.errors import DeviceError
from tensorx.kernels.capabilities import Capabilities

STRONG = Capabilities(
    "opencl",
    fp64=True,
    fp16=True,
    int64_atomics=True,
    float_atomics=True,
    subgroups=True,
    fast_fma=True,
    max_workgroup=1024,
    local_mem=1 << 16,
    max_alloc=1 << 30,
    total_mem=1 << 32,
)


def test_a_mask_takes_away():
    weak = STRONG.masked(
        "no_fp64, no_fp16,no_subgroups,no_int64_atomics,no_float_atomics,max_workgroup=64,local_mem=4K,"
        "no_fast_fma,no_event_times,no_long_loops"
    )
    assert not (weak.fast_fma or weak.event_times or weak.long_loops)
    assert not (weak.fp64 or weak.fp16 or weak.subgroups or weak.int64_atomics or weak.float_atomics)
    assert (weak.max_workgroup, weak.local_mem) == (64, 4096)
    assert (weak.max_alloc, weak.total_mem) == (STRONG.max_alloc, STRONG.total_mem)


def test_a_mask_never_adds():
    assert STRONG.masked("max_workgroup=1M,total_mem=100G") == STRONG


def test_one_buffer_is_never_larger_than_the_memory():
    assert STRONG.masked("total_mem=256M").max_alloc == 256 << 20


@pytest.mark.parametrize(
    "text", ["no_fp65", "max_workgroup", "max_workgroup=", "local_mem=4Q", "total_mem=-1", "max_alloc=0"]
)
def test_a_word_that_means_nothing_is_an_error(text):
    with pytest.raises(DeviceError, match="TENSORX_CAPS_MASK"):
        STRONG.masked(text)


@pytest.mark.parametrize(
    ("fma", "muladd", "fast", "turns"), [(60, 50, True, 12), (150, 50, False, 12), (900, 50, False, 3)]
)
def test_the_probe_for_fma_takes_the_best_of_each(fma, muladd, fast, turns):
    """A busy spell makes some runs slow."""
    calls = []

    def run(entry, n):
        calls.append(entry)
        busy = 10 if len(calls) % 5 == 1 else 1
        return busy * (fma if entry == "with_fma" else muladd)

    assert probe.fast_fma(run) is fast
    assert calls == ["with_fma", "with_muladd"] * turns


def test_the_variable_is_the_default(monkeypatch):
    monkeypatch.setenv("TENSORX_CAPS_MASK", "no_fp64")
    assert not STRONG.masked().fp64


def test_what_memory_can_hold():
    weak = STRONG.masked("no_fp64,no_fp16")
    assert [code for code in ("f16", "bf16", "f32", "c64", "i64", "f64", "c128") if not weak.supports(code)] == [
        "f64",
        "c128",
    ]
    with pytest.raises(ValueError, match="f33"):
        weak.supports("f33")
