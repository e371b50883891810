"""What errors say: the public name, the argument, what was expected; the same on every lane."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tensorx as tx
import tensorx.nn.functional as F
from tensorx.ops import table

# what is said -> what is called
WRONG = {
    "matmul: mat1 and mat2 shapes": lambda o: o(2, 3) @ o(2, 3),
    "matmul: expected all operands to have the same dtype": lambda o: o(2, 3) @ o(3, 2).half(),
    "mse_loss: The size of tensor a": lambda o: table.OPS["_mse_loss"](o(2, 3), o(2, 4)),
    "glu: ": lambda o: table.OPS["_gate"](o(2), o(3)),
    "cross_entropy: argument 'target' must be of dtype int64.*Hint: target.long": lambda o: F.cross_entropy(
        o(2, 3), o(2)
    ),
    "nll_loss: argument 'target' must be of dtype int64.*Hint: target.long": lambda o: F.nll_loss(o(2, 3), o(2)),
    "cross_entropy: Expected floating point type for target with class probabilities": lambda o: F.cross_entropy(
        o(2, 3), o(2, 3).long()
    ),
}


@pytest.mark.parametrize("says", WRONG)
def test_public_names(device, says):
    with pytest.raises(RuntimeError, match=f"^{says}"):
        WRONG[says](lambda *shape: tx.ones(shape, device=device))


def test_no_row_shows_an_internal_name():
    assert not [op.name for op in table.OPS.values() if op.public.startswith("_")]
    texts = {path.name: path.read_text() for path in Path(tx.ops.__path__[0]).rglob("*.py") if path.name != "table.py"}
    assert not [name for name, text in texts.items() if re.search(r"raise .*\bop\.schema\.name", text)]  # op.public


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (F.cross_entropy, "cross_entropy"),
        (lambda x, t: F.cross_entropy(x, t, weight=x[0].detach()), "cross_entropy"),
        (F.nll_loss, "nll_loss"),
        (F.multi_margin_loss, "multi_margin_loss"),
        (lambda x, t: F.multilabel_margin_loss(x, tx.stack((t, t, t), 1)), "multilabel_margin_loss"),
    ],
)
def test_a_bad_class(device, loss, says):
    x, target = tx.ones(2, 3, device=device), tx.tensor([1, 10], device=device)
    with pytest.raises(
        IndexError, match=rf"^{says}: argument 'target' must hold classes in \[0, 3\); got 10 at position"
    ):
        loss(x, target).tolist()


INDEX = {
    "index: index 5 is out of bounds for dimension 0 with size 2.*in \\[-2, 2\\)": lambda x, i: x[i],
    "index: index 5 is out of bounds for dimension 1 with size 3.*in \\[-3, 3\\)": lambda x, i: x[:, i],
    "gather: index 5 is out of bounds for dimension 1 with size 3.*in \\[0, 3\\)": lambda x, i: x.gather(
        1, i.view(1, 1)
    ),
    "index_select: index 5 is out of bounds for dimension 0 with size 2": lambda x, i: x.index_select(0, i),
    "index_put: index 5 is out of bounds for dimension 1 with size 3": lambda x, i: x.index_put((i * 0, i), x[0, 0]),
    "scatter: index 5 is out of bounds for dimension 0 with size 2": lambda x, i: x.scatter(0, i.view(1, 1), 1.0),
    "embedding: index 5 is out of bounds for dimension 0 with size 2": lambda x, i: F.embedding(i, x),
    "select: index 5 is out of bounds for dimension 1 with size 3": lambda x, i: x[0, 5],
    "select: index -4 is out of bounds for dimension 1 with size 3": lambda x, i: x[None, 0, ..., -4],
}


@pytest.mark.parametrize("says", INDEX)
def test_index_errors_tell_the_dimension(device, says):
    with pytest.raises(IndexError, match=f"^{says}"):
        INDEX[says](tx.ones(2, 3, device=device), tx.tensor([5], device=device)).tolist()


@pytest.mark.parametrize(
    "made",
    [
        lambda m: tx.jit.trace(m, tx.ones(1, 2)),
        tx.jit.script,
        lambda m: tx.jit.trace(lambda x: x + 1, tx.ones(1)),
        lambda m: tx.jit.script(lambda x: x),
    ],
)
def test_torchscript_files_say_that_there_are_none(made):
    with pytest.raises(NotImplementedError, match=r"Hint: tensorx\.save\(model\.state_dict\(\), f\)"):
        made(tx.nn.Linear(2, 2)).save("model.pt")
    with pytest.raises(NotImplementedError, match=r"Hint: tensorx\.save"):
        tx.jit.save(made(tx.nn.Linear(2, 2)), "model.pt")
    with pytest.raises(NotImplementedError, match="Hint"):
        tx.jit.load("model.pt")


@pytest.mark.parametrize("name", ["is_same_size", "resize_as_"])
def test_operands_that_are_no_tensors(name):
    with pytest.raises(TypeError, match=f"^{name}: argument '.*' must be a tensor; got int"):
        getattr(tx.ones(2), name)(3)


def test_a_save_of_ones_own_stays():
    class Own(tx.nn.Module):
        def save(self, f):
            return f

    assert tx.jit.script(Own()).save("x") == "x"
    assert tx.jit.script(len)([1]) == 1
