"""Rows under oclgrind: one call for each template, stage and set of access classes that the table's samples reach.

``python -m checking.grind [--plant]`` runs where oclgrind is the first OpenCL platform; ``--plant`` adds a call whose
strides lead out of bounds. What oclgrind finds is in its log.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import tensorx
from checking import building, checks
from checking.sampling import cases
from tensorx import dtypes
from tensorx.devices import registry
from tensorx.ops import layout
from tensorx.ops.table import OPS


def device() -> Any:
    """The simulator."""
    found = next(d for d in registry.backend("opencl").devices() if "oclgrind" in d.name.lower())
    return registry.resolve(f"opencl:{found.index}")


def signature(spec: Any) -> tuple[Any, ...]:
    """What makes a kernel's text another one: its template, stage and access classes."""
    stage = tuple(v for k, v in spec.params if k in ("stage", "accumulate", "deterministic", "form", "layout"))
    outs, ins = (tuple(sorted({o.access for o in operands})) for operands in (spec.outputs, spec.inputs))
    return spec.family, stage, outs, ins, spec.uses_index


def chosen(target: Any) -> list[tuple[str, Any]]:
    """Steps of value checks, in f32 and in every layout, that add a signature to those before."""
    twin = building.twin_of(target.runtime.capabilities)
    seen: set[Any] = set()
    steps = []
    for name, op in OPS.items():
        found = {d.code: d for d in checks.dtypes_of(op, target.runtime.capabilities)}
        d = found.get("f32") or next(iter(found.values()), None)
        for kind in layouts_of(op) if d is not None else ():
            for i, case in enumerate(cases(op, d)):
                label = f"{name} {d.name} {kind} sample {i}"
                step = checks._value_step(op, case, kind, label)
                with building.collecting(twin) as specs, contextlib.suppress(Exception):
                    step(twin)
                new = {signature(s) for s in specs} - seen
                # On the twin counts are 0, so that a row that waits for one launches nothing after it.
                if new or (op.kind.name == "DYNAMIC" and i == 0):
                    seen |= new
                    steps.append((label, step))
    return steps


def layouts_of(op: Any) -> tuple[str, ...]:
    """Where a row's operands may lie."""
    return checks.INPUTS[:1] if checks.depends_on_storage(op) else ("contiguous", "transposed", "stepped", "expanded")


def plant(target: Any) -> None:
    """A sum over an operand that is read with twice its strides."""
    usual = layout.expanded_strides
    layout.expanded_strides = lambda shape, strides, to: tuple(2 * s for s in usual(shape, strides, to))
    x = tensorx.ones(64, 3, dtype=dtypes.float32, device=target)
    (x.t() * 2).tolist()
    layout.expanded_strides = usual


def main(words: list[str]) -> None:
    target = device()
    steps = chosen(target)
    for label, step in steps:
        try:
            step(target)
        except (
            AssertionError
        ) as error:  # no failure: oclgrind 21.10 gives 255 for `(uchar)(x != 0)` in vectors of uchar
            print(f"{label}: {error}")
    if "--plant" in words:
        plant(target)
    print(f"{len(steps)} calls")


if __name__ == "__main__":
    main(sys.argv[1:])
