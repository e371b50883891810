"""The op table and what is derived from it. Importing this registers every row."""

from __future__ import annotations

from typing import Any

from tensorx.ops import (
    arithmetic,
    bind,
    convert,
    determinism,
    factories,
    fused,
    indexing,
    joining,
    linalg,
    methods,
    normalization,
    ordering,
    products,
    random,
    recorder,
    reduction,
    table,
    unary,
    viewing,
)
from tensorx.ops.factories import ones_like, zeros_like
from tensorx.tensor import Tensor

FUNCTIONS: dict[str, Any] = {}
bind.install(FUNCTIONS)
for _methods in (convert.METHODS, methods.METHODS, indexing.METHODS, random.METHODS):
    for _name, _method in _methods.items():
        setattr(Tensor, _name, _method)
PUBLIC = {name: f for name, f in FUNCTIONS.items() if not name.startswith("_")} | random.PUBLIC

__all__ = ["FUNCTIONS", "PUBLIC", "arithmetic", "convert", "determinism", "factories", "indexing", "joining", "linalg", "methods", "ones_like", "ordering", "products",
           "fused", "random", "recorder", "reduction", "table", "unary", "viewing", "zeros_like"]
