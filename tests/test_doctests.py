"""Every public name has a docstring with an example; examples of rows print the same on all lanes of the cpu."""

from __future__ import annotations

import doctest
import inspect

import pytest

import tensorx
from tensorx.ops import table

ROOMS = ("", "autograd", "data", "linalg", "nn", "nn.functional", "nn.init")
ROOMS += ("io", "io.safetensors", "serialization", "optim", "optim.lr_scheduler", "optim.swa_utils")
# PyTorch's tables of values, constants and submodules: nothing to call.
VALUES = ("default_generator",)


def public():
    """(full name, object) of every public function and class."""
    for room in ROOMS:
        module = tensorx
        for part in filter(None, room.split(".")):
            module = getattr(module, part)
        for name in getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]):
            value = getattr(module, name)
            ours = getattr(value, "__module__", "").startswith("tensorx") or value in ROW_FUNCTIONS
            if callable(value) and ours and name not in VALUES:
                yield f"tensorx.{room + '.' if room else ''}{name}", value


ROW_FUNCTIONS = list(tensorx.ops.FUNCTIONS.values())


@pytest.mark.parametrize(("name", "value"), [pytest.param(n, v, id=n) for n, v in public()])
def test_has_an_example(name, value):
    doc = inspect.getdoc(value)
    assert doc, "no docstring"
    assert ">>>" in doc, "no example"


@pytest.mark.parametrize("name", sorted(tensorx.ops.PUBLIC))
def test_examples_of_rows(name, device):
    if device.type != "cpu":  # examples are for the default device; lanes of the cpu must agree
        return
    test = doctest.DocTestParser().get_doctest(tensorx.ops.PUBLIC[name].__doc__, {}, name, None, None)
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)


def test_docstrings_say_what_a_row_is():
    doc = tensorx.tanh.__doc__
    assert doc.startswith("Hyperbolic tangent.\n\n    tanh(Tensor self) -> Tensor\n")
    assert "broadcast" in doc
    assert "Differentiable" in doc
    assert tensorx.Tensor.tanh_.__doc__.count("In place") == 1
    assert all(op.doc in tensorx.ops.FUNCTIONS[op.schema.name].__doc__ for op in table.OPS.values())
