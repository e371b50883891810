"""The Tensor interpreter of Expr: a traced rule runs as ops on Tensors, and so can be differentiated again."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx.dtypes import dtype
from tensorx.ops import expr as E
from tensorx.ops import expr_numpy, table
from tensorx.ops.program import Program


def evaluate(outputs: Sequence[E.Expr], tensors: Sequence[Any], values: Sequence[Any], scalars: Sequence[dtype] = (), shape: tuple[int, ...] = (),
             device: Any = None) -> list[Any]:
    """Each output as a Tensor (or a number, where it depends on no tensor).

    ``values`` are the run-time numbers, of dtypes ``scalars``. What depends on the element's index alone (a random mask) is drawn over
    ``shape`` on ``device`` by one kernel.
    """
    from tensorx.ops import convert
    from tensorx.ops.dispatch import call
    done: dict[E.Expr, Any] = {}

    def value(node: E.Expr) -> Any:
        if node not in done:
            done[node] = _drawer(node, tuple(scalars)).run([], values, shape, device)[0]
        return done[node]

    drawn = index_only(outputs)
    for node in E.topological(outputs):
        if node in drawn:
            continue
        if node.op == "arg":
            done[node] = convert.cast(tensors[node.attr], node.dtype)
        elif node.op == "scalar":
            done[node] = values[node.attr]
        elif node.op == "const":
            done[node] = node.attr
        elif node.op == "cast":
            done[node] = convert.cast(value(node.args[0]), node.dtype) if _is_tensor(value(node.args[0])) else value(node.args[0])
        elif not any(_is_tensor(value(a)) for a in node.args):
            done[node] = expr_numpy.FUNCTIONS[node.op](*(np.asarray(done[a], a.dtype.np) for a in node.args)).item()
        else:
            op = table.intrinsic_op(node.op)
            defaults = [p.default for p in op.schema.params[len(node.args):]]
            done[node] = call(op, (*(value(a) for a in node.args), *defaults))
    return [value(x) for x in outputs]


def _is_tensor(x: Any) -> bool:
    return getattr(x, "_is_tensor", False)


def index_only(outputs: Sequence[E.Expr]) -> set[E.Expr]:
    """The nodes that depend on the element's index and on no tensor."""
    reads: dict[E.Expr, bool] = {}
    indexed: dict[E.Expr, bool] = {}
    for node in E.topological(outputs):
        reads[node] = node.op == "arg" or any(reads[a] for a in node.args)
        indexed[node] = node.op == "index" or any(indexed[a] for a in node.args)
    return {node for node, found in indexed.items() if found and not reads[node]}


@functools.lru_cache(maxsize=256)
def _drawer(node: E.Expr, scalars: tuple[dtype, ...]) -> Program:
    return Program("drawn", [node], [], [node.dtype], scalars)
