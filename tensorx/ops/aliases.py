"""Second names of rows, as PyTorch has them: greater for gt, multiply for mul, arccos for acos, ..."""

from __future__ import annotations

from tensorx.ops import arithmetic, unary  # noqa: F401  their rows must be there
from tensorx.ops.families import row
from tensorx.ops.table import BY_NAME

NAMES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh",
    "divide": "div", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "multiply": "mul", "negative": "neg", "not_equal": "ne",
    "subtract": "sub",
}  # fmt: skip

for _alias, _name in NAMES.items():
    for _op in BY_NAME[_name]:
        row(_op.schema.text.replace(_name, _alias, 1), _op.kind, _op.body, _op.vjp, ref=_op.ref, promote=_op.promote, dtypes=_op.dtypes, domain=_op.domain,
            special=_op.special, samples=_op.samples, ulp=_op.ulp, doc=f"Another name of {_name}.")
