"""The Tensor interpreter of Expr: a traced rule runs as ops on Tensors, and so can be differentiated again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx.ops import expr as E
from tensorx.ops import expr_numpy, table


def evaluate(outputs: Sequence[E.Expr], tensors: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Each output as a Tensor (or a number, where it depends on no tensor)."""
    from tensorx.ops import convert
    from tensorx.ops.dispatch import call
    done: dict[E.Expr, Any] = {}
    for node in E.topological(outputs):
        if node.op == "arg":
            done[node] = convert.cast(tensors[node.attr], node.dtype)
        elif node.op == "scalar":
            done[node] = values[node.attr]
        elif node.op == "const":
            done[node] = node.attr
        elif node.op == "cast":
            done[node] = convert.cast(done[node.args[0]], node.dtype)
        elif not any(getattr(done[a], "_is_tensor", False) for a in node.args):
            done[node] = expr_numpy.FUNCTIONS[node.op](*(np.asarray(done[a], a.dtype.np) for a in node.args)).item()
        else:
            op = table.intrinsic_op(node.op)
            defaults = [p.default for p in op.schema.params[len(node.args):]]
            done[node] = call(op, (*(done[a] for a in node.args), *defaults))
    return [done[x] for x in outputs]
