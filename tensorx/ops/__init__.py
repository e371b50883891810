"""The op table and what is derived from it. Importing this registers every row."""

from __future__ import annotations

from typing import Any

from tensorx.ops import (
    activations,
    arithmetic,
    arranging,
    attention,
    batch_norm,
    bessel,
    bind,
    columns,
    complexes,
    contractions,
    convert,
    convolutions,
    copies,
    ctc,
    describe,
    determinism,
    differences,
    distances,
    dropouts,
    entropy,
    factories,
    factorings,
    fourier,
    fused,
    grids,
    indexing,
    interop,
    joining,
    layer_norm,
    legacy,
    linalg,
    losses,
    matrices,
    methods,
    mixing,
    normalization,
    numbers,
    ordering,
    pieces,
    pooling,
    pools,
    predicates,
    products,
    quantiles,
    random,
    recorder,
    recurrent,
    reduction,
    reflectors,
    resampling,
    sampling,
    scatters,
    searching,
    sets,
    shaping,
    shuffling,
    special,
    spectrogram,
    statistics,
    table,
    unary,
    unpooling,
    viewing,
    weight_norms,
)
from tensorx.ops.factories import ones_like, zeros_like
from tensorx.tensor import Tensor

FUNCTIONS: dict[str, Any] = {}  # of all rows
bind.install(FUNCTIONS)
METHODS: dict[str, Any] = {}  # those of Tensor that no row gives
for _module in (
    complexes,
    convert,
    copies,
    indexing,
    interop,
    legacy,
    methods,
    pieces,
    numbers,
    predicates,
    random,
    sampling,
    sets,
    special,
):
    METHODS |= _module.METHODS
for _name, _method in METHODS.items():
    setattr(Tensor, _name, _method)
PUBLIC = {name: f for name, f in FUNCTIONS.items() if describe.public_name(name) == f"tensorx.{name}"}  # what users find as tensorx.NAME


def namespace(name: str) -> dict[str, Any]:
    """The functions of ``tensorx.NAME``: of rows called NAME_...

    >>> from tensorx import ops
    >>> "solve" in ops.namespace("linalg")
    True
    """
    return {f.removeprefix(name + "_"): FUNCTIONS[f] for f in FUNCTIONS if f.startswith(name + "_")}


__all__ = [
    "FUNCTIONS",
    "METHODS",
    "PUBLIC",
    "activations",
    "arithmetic",
    "arranging",
    "attention",
    "bessel",
    "columns",
    "complexes",
    "contractions",
    "convert",
    "copies",
    "determinism",
    "differences",
    "distances",
    "dropouts",
    "entropy",
    "factories",
    "factorings",
    "fourier",
    "fused",
    "grids",
    "indexing",
    "joining",
    "linalg",
    "losses",
    "matrices",
    "methods",
    "mixing",
    "namespace",
    "ones_like",
    "ordering",
    "pieces",
    "pooling",
    "pools",
    "predicates",
    "products",
    "quantiles",
    "random",
    "recorder",
    "recurrent",
    "reduction",
    "reflectors",
    "resampling",
    "sampling",
    "scatters",
    "searching",
    "sets",
    "shuffling",
    "special",
    "spectrogram",
    "statistics",
    "table",
    "unary",
    "unpooling",
    "viewing",
    "zeros_like",
]
