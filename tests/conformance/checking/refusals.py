"""What the schema and the dtypes of a row say must be refused, with the classes that PyTorch users catch."""

from __future__ import annotations

from typing import Any

from checking.checks import Step, call, one_dtype, refused
from checking.layouts import Placed
from checking.sampling import cases, derived, is_derived, numpy_cpu, tensor_params
from tensorx import dtypes
from tensorx.ops import schema as S


def errors(op: Any, device: Any) -> list[Step]:
    """What the schema says must be refused is refused, with the class that PyTorch users catch."""
    return [
        lambda device: wrong_types(op, device),
        lambda device: wrong_dtypes(op, device),
        lambda device: wrong_shapes(op, device),
    ]


def wrong_types(op: Any, device: Any) -> None:
    """Every parameter given a thing of another type, one missing, one too many."""
    d = one_dtype(op, device)
    if d is None or not cases(op, d):
        return
    placed = Placed(op, cases(op, d)[0], device, "contiguous")
    args = dict(zip([p.name for p in op.schema.params], placed.bound(), strict=True))
    for p in op.schema.params:
        if p.type in ("Any", "Generator", "Device"):
            continue
        wrong = {**args, p.name: 3.5 if p.type == "str" else object()}
        refused(lambda wrong=wrong: op(**wrong), TypeError, f"{op.name}: argument '{p.name}' of another type")
        if p.default is S.REQUIRED:
            fewer = {k: v for k, v in args.items() if k != p.name}
            refused(lambda fewer=fewer: op(**fewer), TypeError, f"{op.name}: argument '{p.name}' missing")
    refused(lambda: op(**args, no_such_argument=1), TypeError, f"{op.name}: an unknown keyword")
    if not op.schema.varargs:
        refused(lambda: op(*args.values(), 1, 2), TypeError, f"{op.name}: too many arguments")


def wrong_dtypes(op: Any, device: Any) -> None:
    """Dtypes of a class that the row does not take, as the first operand that takes part in promotion."""
    if op.kind.name in ("COMPOSITE", "CREATE", "STEP", "BACKWARD"):
        return
    for letter, code in zip("bifc", ("b8", "i32", "f32", "c64"), strict=True):
        d = dtypes.FROM_CODE[code]
        if letter in op.dtypes or not device.runtime.capabilities.supports(code):
            continue
        if not cases(op, d):
            continue
        placed = Placed(op, cases(op, d)[0], device, "contiguous")
        weak = [a for p, a in zip(op.schema.params, placed.bound(), strict=True) if p.type in ("Scalar", "Tensor")]
        if op.kind.name == "ELEMENTWISE" and any(type(a) in (int, float) for a in weak):
            continue  # a Python number may lift the operands to a class that the row takes
        refused(lambda placed=placed: call(op, placed), RuntimeError, f"{op.name}: operands of {d.name}")


def wrong_shapes(op: Any, device: Any) -> None:
    """Operands whose shapes do not broadcast (elementwise rows)."""
    n = len(tensor_params(op))
    d = one_dtype(op, device)
    if n < 2 or not is_derived(op):
        return
    with numpy_cpu():
        case = derived(op, d, [((3, 4), (2, 1), (1,))[:n]])[0]
    placed = Placed(op, case, device, "contiguous")
    refused(lambda: call(op, placed), (RuntimeError, ValueError), f"{op.name}: shapes (3, 4) and (2, 1)")
