"""Run every spec of :mod:`specs` on a lane, in buffers that just fit: ``python cases.py oclgrind`` under the simulator,
or one of them with a planted fault: ``python cases.py oclgrind tx_mean barrier 0``, ``... tx_add store``."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np
import plants
from runner import CL, GPU, Program
from specs import SPECS

from tensorx.kernels.spec import ITEMSIZE

NUMPY = {
    "b8": np.uint8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": np.uint16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
}


def extents(spec, args):
    """Small sizes for the spec's size arguments: several tiles and groups, no round numbers."""
    sizes = [5, 7, 70] if spec.family == "elementwise" and spec.rank == 3 else [9, 150]
    counts = {
        "n": iter(sizes if spec.rank > 1 else [1100]),
        "m": iter([3, 130] if spec.param("reduced") == 2 else [300]),
    }
    if spec.family != "elementwise":
        counts["n"] = iter([2, 40])
    found = []
    for arg in args:
        kind = arg.name.rstrip("0123456789")
        if kind in counts and arg.name != kind:
            found.append((arg.name, next(counts[kind])))
        elif arg.name in ("splits", "total"):
            found.append((arg.name, 4 if arg.name == "splits" else 1000))
    return dict(found)


def operand_shape(spec, operand, sizes):
    """(shape, names of its stride arguments) of an operand as it lies in memory, dense, the unit-stride axis last."""
    kept = [v for k, v in sizes.items() if k[0] == "n"]
    row = [v for k, v in sizes.items() if k[0] == "m"]
    s, t = ([f"{operand.name}_{letter}{i}" for i in range(len(axes))] for letter, axes in (("s", kept), ("t", row)))
    if operand.access == "b":
        return [1], [""]
    if spec.family == "elementwise":
        return kept, s
    if operand.access == "row" or (spec.family == "reduce" and operand in spec.outputs):
        parts = [sizes["splits"]] if "splits" in sizes else []
        return kept + parts, s + [""] * len(parts)
    if operand.access == "k":
        return kept[:-1] + row + kept[-1:], s[:-1] + t + s[-1:]
    return kept + row, s + t


def arguments(spec, source, rng):
    """(values in argument order, sizes, arrays by name)."""
    args = source.arguments(spec.entry)
    sizes = extents(spec, args)
    values, arrays, steps = [], {}, {}
    for operand in spec.operands:
        shape, names = operand_shape(spec, operand, sizes)
        data = rng.standard_normal(shape) * 3
        array = np.array((data.view(float) if operand.dtype != "b8" else data > 0), NUMPY[operand.dtype]).reshape(-1)
        arrays[operand.name] = array
        steps |= {name: prod(shape[i + 1 :]) for i, name in enumerate(names)}
    for arg in args:
        stem = arg.name.split("_")[0]
        if arg.kind == "buffer":
            values.append(arrays[stem])
        elif arg.name.endswith("_o"):
            values.append(0)
        else:
            values.append(sizes.get(arg.name, steps.get(arg.name, 2)))
    assert all(a.itemsize == ITEMSIZE[o.dtype] for o, a in zip(spec.operands, arrays.values()))
    return values, list(sizes.values()), arrays


def run_all(lane, caps, specs=SPECS, plant=None):
    """Outputs of every spec, by entry."""
    program = Program(lane, specs, caps, plant)
    found = {}
    for spec in specs:
        values, sizes, arrays = arguments(spec, program.source, np.random.default_rng(5))
        program(spec.entry, *values, sizes=sizes)
        found[spec.entry] = [arrays[o.name] for o in spec.outputs]
    return found


def main(lane, entry="", fault="", number="0"):
    if fault:
        faults = {"barrier": partial(plants.without_barrier, number=int(number)), "store": plants.stores_off_by_one}
        run_all(lane, GPU, [spec for spec in SPECS if spec.entry == entry], faults[fault])
    else:
        run_all(lane, CL)
        run_all(lane, replace(GPU, max_workgroup=64, local_mem=4096))


if __name__ == "__main__":
    main(*sys.argv[1:])
