"""How tensors print, against texts recorded from PyTorch 2.13 (with its name replaced by ours)."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import tensorx

CASES = json.loads((Path(__file__).parent / "data" / "torch_reprs.json").read_text())


@pytest.fixture(autouse=True)
def default_options():
    yield
    tensorx.set_printoptions(profile="default")


def values_of(case):
    """``range``: 0, 1, 2 ...; ``tenth``: the same over ten; else the numbers themselves, odd ones as text."""
    values, dtype = case["values"], getattr(tensorx, case["dtype"])
    if values in ("range", "tenth"):
        flat = np.arange(math.prod(case["shape"]), dtype=np.float64)
        return tensorx.tensor((flat / 10 if values == "tenth" else flat).reshape(case["shape"])).to(dtype)

    def number(v):
        if isinstance(v, list):
            return [number(i) for i in v]
        return (complex(v) if dtype.is_complex else float(v)) if isinstance(v, str) else v

    return tensorx.tensor(number(values), dtype=dtype)


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['dtype']}-{str(c.get('shape', c['values']))[:30]}")
def test_as_recorded(case):
    with tensorx.printoptions(**case.get("options", {})):
        assert repr(values_of(case)) == case["text"]


def test_only_the_shown_ends_leave_a_device(device):
    t = (tensorx.arange(4000, device=device).to(tensorx.float32) / 10).view(40, 100).t()
    where = "" if device.type == "cpu" else f", device='{device}'"
    assert repr(t).splitlines()[0] == "tensor([[0.0000e+00, 1.0000e+01, 2.0000e+01,  ..., 3.7000e+02, 3.8000e+02,"
    assert repr(t)[:-1].endswith("3.9990e+02]]" + where)


def test_histories():
    x = tensorx.ones(2, requires_grad=True)
    assert repr(x) == "tensor([1., 1.], requires_grad=True)"
    assert repr(x + 1) == "tensor([2., 2.], grad_fn=<AddBackward0>)"
    assert repr(x.detach()) == "tensor([1., 1.])"
    assert repr(tensorx.nn.Parameter(tensorx.ones(1))) == "Parameter containing:\ntensor([1.], requires_grad=True)"


def test_without_data():
    assert repr(tensorx.empty(2, 3, device="meta")) == "tensor(..., device='meta', size=(2, 3))"
    whole = tensorx.empty(2, device="meta", dtype=tensorx.int64)
    assert repr(whole) == "tensor(..., device='meta', size=(2,), dtype=tensorx.int64)"


def test_a_long_suffix_starts_a_line():
    text = repr(tensorx.ones(14, dtype=tensorx.float64))
    assert text == "tensor([" + ", ".join(["1."] * 14) + "],\n       dtype=tensorx.float64)"


def test_subclasses_say_their_name():
    class Marked(tensorx.Tensor):
        pass

    x = tensorx.ones(1)
    x.__class__ = Marked
    assert repr(x) == "Marked([1.])"


def test_default_dtype_is_not_printed():
    try:
        tensorx.set_default_dtype(tensorx.float64)
        assert repr(tensorx.ones(1)) == "tensor([1.])"
        assert repr(tensorx.ones(1, dtype=tensorx.float32)) == "tensor([1.], dtype=tensorx.float32)"
        assert repr(tensorx.ones(1, dtype=tensorx.complex128)) == "tensor([1.+0.j])"
    finally:
        tensorx.set_default_dtype(tensorx.float32)


def test_options_are_restored_and_checked():
    with tensorx.printoptions(precision=1):
        assert repr(tensorx.tensor(0.25)) == "tensor(0.2)"
        assert tensorx.get_printoptions()["precision"] == 1
    assert tensorx.get_printoptions()["precision"] == 4
    with pytest.raises(ValueError, match="profile"):
        tensorx.set_printoptions(profile="long")
