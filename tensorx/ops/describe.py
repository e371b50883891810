"""A row in words: the docstrings of functions made from rows, and what the reference pages say."""

from __future__ import annotations

from collections.abc import Sequence

from tensorx.ops import schema as S
from tensorx.ops._examples import EXAMPLES
from tensorx.ops.table import NONDIFF, Op

#: What holds for the shapes of a kind's rows, and which errors follow.
SHAPES = {
    "ELEMENTWISE": "Tensors broadcast to one shape, numbers are weakly typed. ShapeError where shapes do not broadcast.",
    "REDUCE": "The dimensions ``dim`` (all, if none are given) go, or stay with extent 1 if ``keepdim``. IndexError for a dimension out of range.",
    "ROWWISE": "The result has the shape of the operand. IndexError for a dimension out of range.",
    "SCAN": "The result has the shape of the operand. IndexError for a dimension out of range.",
    "SORT": "The results have the shape of the operand. IndexError for a dimension out of range.",
    "SEARCH": "The result has the shape of the values. RuntimeError where the rows of boundaries do not fit them.",
    "INDEX": "Negative indices count from the end. IndexError for one out of range: at once on the cpu, at the next wait elsewhere.",
    "CONTRACT": "f16 and bf16 are summed in f32. ShapeError where the shapes do not fit.",
    "POOL": "The last dimensions become ``size``, the others stay. f16 and bf16 are summed in f32; sums have a fixed order.",
    "COLUMNS": "The last dimensions become ``size``, or windows of ``kernel`` elements each; the others stay.",
    "RESAMPLE": "The last dimensions become ``size``, the others stay. f16 and bf16 are summed in f32; sums have a fixed order.",
    "VIEW": "The result shares memory with the operand. ShapeError or IndexError where the geometry does not fit.",
    "JOIN": "ShapeError where the shapes differ elsewhere than along ``dim``.",
    "DYNAMIC": "The shape of the result depends on the values: the call waits for the device.",
    "LOOP": "Runs many kernels as one op. ShapeError where the shapes do not fit.",
    "HOST": "Runs on the host (LAPACK); other devices' operands travel there and back. ShapeError where the shapes do not fit.",
}
RESULTS = {
    "float": "bool and integer operands give the default float dtype.",
    "long": "bool and integer operands give int64.",
    "bool": "The result is bool.",
    "keep": "The result has the first operand's dtype.",
}
WORDS = {"b": "bool", "i": "integer", "f": "floating-point", "c": "complex"}
NAMESPACES = ("fft", "linalg", "special")  # rows called linalg_solve are functions of tensorx.linalg


def listed(words: Sequence[str], last: str = "and") -> str:
    """``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def public_name(name: str) -> str:
    """Where users find a row's function: ``tensorx.linalg.solve`` for linalg_solve; empty for internal rows."""
    head, _, rest = name.partition("_")
    if head in NAMESPACES:
        return f"tensorx.{head}.{rest}"
    return "" if name.startswith("_") else f"tensorx.{name}"


def takes(op: Op) -> str:
    """Which dtypes, and what the result's is."""
    return f"Operands are {listed([WORDS[c] for c in op.dtypes], 'or')} (DTypeError for others). {RESULTS.get(op.promote.name, '')}".strip()


def gradient(op: Op) -> str:
    """Whether the row is differentiable."""
    if op.kind.name == "COMPOSITE":
        return "Differentiable where the ops it is made of are."
    return "Not differentiable." if op.vjp is NONDIFF else "Differentiable, any number of times."


def has_inplace(op: Op) -> bool:
    """Whether there is ``x.name_()``."""
    return op.kind.inplace and op.schema.is_method and len(op.schema.returns) == 1


def has_out(op: Op) -> bool:
    """Whether results can be written into ``out=``: not those that share their operand's memory, nor lists."""
    return op.kind.name != "VIEW" and not op.schema.returns_list


def forms(op: Op) -> list[str]:
    """How the row can be called beside its function."""
    name, out = op.schema.name, []
    if op.schema.is_method:
        out.append(f"``x.{name}(...)``")
    if has_inplace(op):
        out.append(f"``x.{name}_(...)`` in place")
    if has_out(op):
        out.append("``out=``")
    return out


def docstring(name: str, ops: Sequence[Op]) -> str:
    """The docstring of the function or in-place form ``name`` of these rows."""
    inplace = name != ops[0].schema.name
    parts = [" ".join(dict.fromkeys(o.doc for o in ops))]
    if inplace:
        parts.append(f"In place: writes to ``self`` and returns it. RuntimeError for a leaf that requires grad. See `{ops[0].schema.name}`.")
    parts.append("\n".join(f"    {signature(o, inplace)}" for o in ops))
    parts.append(" ".join(filter(None, (SHAPES.get(ops[0].kind.name, ""), takes(ops[0]), gradient(ops[0])))))
    if name in EXAMPLES:
        parts.append(EXAMPLES[name])
    return "\n\n".join(parts) + "\n"


def signature(op: Op, inplace: bool = False) -> str:
    """The schema, with the name of the in-place form if asked for."""
    return op.schema.text.replace(op.schema.name, op.schema.name + "_", 1) if inplace else op.schema.text


def default(p: S.Param) -> str:
    """A parameter's default as source text."""
    return repr(p.default)
