"""Every combination of operands whose result's dtype PyTorch's rules decide."""

from __future__ import annotations

from types import ModuleType
from typing import Any

TENSORS = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]
ZERO_DIM = ["bool", "uint8", "int64", "float16", "float64", "complex64"]
NUMBERS = [True, 1, 1.0, 1j]
BINARY = [
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "maximum", "eq", "lt", "bitwise_and",
    "bitwise_left_shift", "atan2", "copysign",
]
INPLACE = ["add_", "sub_", "mul_", "div_", "floor_divide_", "pow_", "bitwise_or_", "eq_"]
UNARY = [
    "abs", "neg", "square", "sqrt", "exp", "floor", "sigmoid", "sign", "isnan", "logical_not", "bitwise_not", "relu",
    "sum", "mean", "prod", "amax", "argmin", "any", "all", "var", "std", "norm", "logsumexp0", "cumsum0", "cumprod0",
    "sort", "cummax0", "count_nonzero", "angle", "real",
]
#: (dtype,) for unary rows; (dtype, other) for binary ones: other is a dtype, a zero-dim tensor's "()dtype", or a number
CASES: list[tuple[Any, ...]] = [(a,) for a in TENSORS] + [
    (a, b) for a in TENSORS for b in (*TENSORS, *(f"(){z}" for z in ZERO_DIM), *NUMBERS)
]
#: where tensorx answers otherwise: complex32 does not exist here; numbers where PyTorch wants a tensor are taken
PERMISSIVE = "-"


def operand(module: ModuleType, kind: Any) -> Any:
    """One operand of a case."""
    if not isinstance(kind, str):
        return kind
    shape = () if kind.startswith("()") else (2,)
    return module.ones(shape, dtype=getattr(module, kind.removeprefix("()")))


def result_of(module: ModuleType, name: str, case: tuple[Any, ...]) -> str:
    """The result's dtype, or ``-`` if the call is refused."""
    args = [operand(module, kind) for kind in case]
    dims = [0] if name.endswith("0") else []
    if (len(case) == 1) != (name in UNARY):
        return "."
    try:
        result = getattr(args[0], name.rstrip("0"))(*args[1:], *dims)
    except (RuntimeError, TypeError):
        return "-"
    return str((result[0] if isinstance(result, tuple) else result).dtype).split(".")[-1]
