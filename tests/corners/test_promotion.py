"""Result dtypes of mixed operands: tensors, zero-dim tensors and weak Python numbers, as recorded from PyTorch 2.13."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from promotion import BINARY, CASES, INPLACE, NUMBERS, UNARY, result_of

import tensorx

TABLE = json.loads((Path(__file__).parents[1] / "data" / "corners" / "result_types.json").read_text())
#: Where PyTorch refuses and tensorx does not, and why.
LOOSER = {
    "number": "a number where PyTorch wants a tensor counts as a weakly typed operand",
    "half": "float16 with a complex operand gives complex64, as there is no complex32: more ops work with it",
    "bool": "argmin of bool is defined, as max of bool is; x - True is x - 1",
}
#: Where tensorx refuses and PyTorch does not: complex statistics are not built, bool ** True has no use.
STRICTER = [("var", ("complex64",)), ("std", ("complex64",)), ("logsumexp0", ("complex64",)), ("pow", ("bool", True)), ("pow_", ("bool", True))]


@pytest.fixture
def meta():
    """Shapes and dtypes alone: the rules are the same for every lane."""
    before = tensorx.get_default_device()
    tensorx.set_default_device("meta")
    yield
    tensorx.set_default_device(before)


def looser(name: str, case: tuple) -> bool:
    """Whether tensorx may answer where PyTorch refuses (see `LOOSER`)."""
    number = len(case) == 2 and not isinstance(case[1], str) and name in ("maximum", "atan2", "copysign")
    half = case[0] == "float16" and len(case) == 2 and case[1] in ("()complex64", 1j)
    truth = (name == "argmin" and case == ("bool",)) or (name in ("sub", "sub_") and case[1:] == (True,) and case[1] is True)
    return number or half or truth


@pytest.mark.parametrize("name", [*BINARY, *INPLACE, *UNARY])
def test_result_types(name, meta):
    cases = [case for case in CASES if len(case) == 1] if name in UNARY else CASES
    wanted = [w.replace("complex32", "complex64") for w in TABLE[name].split()]
    wrong = [
        (case, got, want)
        for case, want in zip(cases, wanted, strict=True)
        if (got := result_of(tensorx, name, case)) != want and not (want == "-" and looser(name, case)) and (name, case) not in STRICTER
    ]
    assert not wrong, "\n".join(f"{case}: {got} instead of {want}" for case, got, want in wrong)


MIXES = [
    ("int8", "()int64", 1), ("uint8", "int8", -1), ("int32", 1.5, None), ("float16", "()float64", 0.1), ("bool", 2, None),
    ("bfloat16", "float16", 0.1), ("int64", "float16", 3), ("float32", "complex64", 1 - 2j),
]


@pytest.mark.parametrize("a,b,value", MIXES)
def test_mixed_values(a, b, value, device, need):
    """The result is that of converting both operands to the common dtype first."""
    need("f64" if "float64" in str(b) else "f32")
    x = tensorx.tensor([1, 0, 1] if a == "bool" else [1, 2, 3], dtype=getattr(tensorx, a), device=device)
    shape = () if str(b).startswith("()") else (3,)
    d = getattr(tensorx, str(b).removeprefix("()"), None)
    y = b if d is None else tensorx.full(shape, value, dtype=d, device=device)
    result = x + y
    both = [t.to(result.dtype) if isinstance(t, tensorx.Tensor) else t for t in (x, y)]
    assert result.tolist() == (both[0] + both[1]).tolist()
    assert (x - x + y).dtype is result.dtype if a != "bool" else True
    assert NUMBERS  # the table covers them
