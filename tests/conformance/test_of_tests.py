"""Tests of the tests: with a planted fault the check that guards against it fails; without it, it passes.

A toy row (a copy of no row in particular) carries most faults, so nothing here depends on what is in the table.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re

import counts
import masking
import numpy as np
import plants
import pytest
from checking import building, checks, gradients, layouts, randoms, recorded, refusals
from checking.sampling import CPU, Case, numpy_cpu

import tensorx
from tensorx import dtypes
from tensorx.kernels import generator
from tensorx.kernels.capabilities import Capabilities
from tensorx.ops import dispatch, layout, record
from tensorx.ops import expr as E
from tensorx.ops import schema as S
from tensorx.ops.kinds.create import CREATE
from tensorx.ops.kinds.elementwise import ELEMENTWISE
from tensorx.ops.kinds.view import VIEW
from tensorx.ops.table import NONDIFF, OPS, Op


def row(kind, schema, body, vjp, **fields):
    """A row that is not in the table."""
    op = Op(S.parse(schema), kind, body, vjp, doc="A toy.", **fields)
    kind.prepare(op)
    return op


def toy(**changes):
    """self * tanh(other): reads both operands in its rule."""
    fields = {
        "schema": "toy(Tensor self, Tensor other) -> Tensor",
        "body": lambda a, b: a * E.tanh(b),
        "vjp": lambda g, out, a, b: (g * E.tanh(b), g * a * (1 - E.tanh(b) * E.tanh(b))),
        "ref": lambda a, b: a * np.tanh(b),
        "dtypes": "f",
    }
    return row(ELEMENTWISE, **(fields | changes))


def exponential(**changes):
    """exp: its rule reads the result."""
    fields = {
        "schema": "toy_exp(Tensor self) -> Tensor",
        "body": E.exp,
        "vjp": lambda g, out, x: g * out,
        "ref": np.exp,
        "dtypes": "f",
    }
    return row(ELEMENTWISE, **(fields | changes))


@contextlib.contextmanager
def caught():
    """The check inside must fail."""
    with pytest.raises(AssertionError):
        yield


def on_numpy(check, op):
    with numpy_cpu():
        checks.run(check(op, CPU), CPU)


CHECKS = [checks.values, checks.out, checks.inplace, checks.aliased, checks.empties, refusals.errors]
CHECKS += [gradients.gradcheck, gradients.saved, gradients.overwritten]


@pytest.mark.parametrize("make", [toy, exponential])
@pytest.mark.parametrize("check", CHECKS, ids=lambda f: f.__name__)
def test_sound_rows_pass(make, check):
    on_numpy(check, make())


def test_wrong_body():
    with caught():
        on_numpy(checks.values, toy(body=lambda a, b: a * E.tanh(b) * 1.00001))


def test_wrong_body_in_one_dtype_only():
    with caught():
        on_numpy(checks.values, exponential(body=lambda x: E.exp(x) + (0.25 if x.dtype is dtypes.float64 else 0.0)))


def test_wrong_result_dtype():
    with caught():
        recorded.check(exponential(body=lambda x: E.cast(E.exp(x), dtypes.float32)), RECORDED)


def test_wrong_rule():
    with caught():
        on_numpy(gradients.gradcheck, toy(vjp=lambda g, out, a, b: (g * E.tanh(b), g * a)))


def test_wrong_second_derivative():
    """A rule that hides its dependence on an operand is right once, not twice."""
    with pytest.MonkeyPatch.context() as patch:
        usual = record.Saved.unpack

        def detached(self, node):
            t = usual(self, node)
            return t if self.nr >= 0 else t.detach()

        patch.setattr(record.Saved, "unpack", detached)
        with caught():
            on_numpy(gradients.gradcheck, toy())


X = np.array([-0.5, 0.25, 1.5])
RECORDED = [
    {
        "args": {"tuple": [recorded.encode(X)]},
        "kwargs": {},
        "results": [recorded.encode(np.exp(X))],
        "grads": [recorded.encode(np.exp(X) * recorded.cotangent((3,), np.float64))],
    }
]


def test_wrong_oracle_with_a_body_that_agrees():
    """Value checks cannot see it; PyTorch's recorded answers do."""
    wrong = exponential(ref=np.exp2, body=E.exp2)
    on_numpy(checks.values, wrong)
    with caught():
        recorded.check(wrong, RECORDED)
    recorded.check(exponential(), RECORDED)


def test_wrong_oracle():
    with caught():
        recorded.check(exponential(ref=np.exp2), RECORDED)


def test_saving_too_much():
    with caught():
        on_numpy(
            gradients.saved,
            toy(vjp=lambda g, out, a, b: (g * E.tanh(b) + 0 * out, g * a * (1 - E.tanh(b) * E.tanh(b)))),
        )


def test_saving_the_wrong_value(monkeypatch):
    usual = record.save_input
    monkeypatch.setattr(record, "save_input", lambda t, edge: usual(tensorx.zeros_like(t), edge))
    with caught():
        on_numpy(gradients.gradcheck, toy())


def test_missing_version_bump(monkeypatch):
    usual = dispatch._call_out

    def quiet(op, args, out):
        versions = [t._storage.version for t in out]
        result = usual(op, args, out)
        for t, version in zip(out, versions, strict=True):
            t._storage.version = version
        return result

    monkeypatch.setattr(dispatch, "_call_out", quiet)
    for check in (checks.inplace, checks.out, gradients.overwritten):
        with caught():
            on_numpy(check, toy())


def test_wrong_strides(device, monkeypatch):
    """On compiled lanes: kernels that walk an operand with other strides than it has."""
    if not checks.compiled(device):
        return
    usual = layout.expanded_strides

    def wrong(shape, strides, to):
        found = usual(shape, strides, to)
        return (*found[:-1], 1) if found and found[-1] == 2 else found

    def steps():  # of a new row each time: a row's launches are learned from its first calls
        return [checks._value_step(op, case, "stepped", "planted") for op, case in [stepped()]]

    checks.run(steps(), device)
    monkeypatch.setattr(layout, "expanded_strides", wrong)
    with caught():
        checks.run(steps(), device)


def stepped(**changes):
    with numpy_cpu():
        values = layouts.laid_out(np.arange(12, dtype=np.float32).reshape(3, 4), dtypes.float32, "contiguous", CPU)
    return toy(**changes), Case((values, values), {})


def test_stores_off_by_one(device, monkeypatch):
    """On compiled lanes: between the elements of ``out=`` lie words that a kernel must not touch."""
    if not checks.compiled(device):
        return
    usual = generator.render

    def planted(specs, caps):
        source = usual(specs, caps)
        # Dense results have no room behind them: on a card that would be the end of the context.
        entries = [f" {spec.entry}(" for spec in specs if all(o.access != "c" for o in spec.outputs)]
        kernels = re.split(r"(?=TX_KERNEL\()", source.text)
        changed = [plants.stores_off_by_one(k) if any(entry in k for entry in entries) else k for k in kernels]
        return dataclasses.replace(source, text="".join(changed))

    def steps(add):
        op, case = stepped(body=lambda a, b: a * E.tanh(b) + add, ref=lambda a, b: a * np.tanh(b) + add)
        return [checks._out_step(op, case, "stepped", "planted")]

    checks.run(steps(0.25), device)
    monkeypatch.setattr(generator, "render", planted)
    with pytest.raises(AssertionError, match=r"without out=|between the elements"):
        checks.run(steps(0.5), device)


def test_wrong_strides_of_a_view():
    """A view with other geometry than its oracle."""

    def turned(strides):
        return row(
            VIEW,
            "toy_turn(Tensor self) -> Tensor",
            lambda t: (t._shape[::-1], strides(t), t._offset),
            lambda g: g.permute(1, 0),
            ref=np.transpose,
            samples=lambda t: [(t((2, 3)),)],
        )

    on_numpy(checks.values, turned(lambda t: t._get_strides()[::-1]))
    with caught():
        on_numpy(checks.values, turned(lambda t: (0, 0)))


KEYS = "Seed seed, Seed offset, ScalarType dtype, Device device"


def drawing(body):
    return row(
        CREATE,
        f"toy_draw(int[] size, *, {KEYS}) -> Tensor",
        body,
        NONDIFF,
        ref=lambda *a, **k: None,
        samples=lambda t: [((16,), 7, 3)],
    )


def test_wrong_random_offset():
    from tensorx.ops import philox

    on_numpy(randoms.keys, drawing(philox.uniform))
    for wrong in (
        lambda d, seed, offset: philox.uniform(d, seed, offset & E.const(1, dtypes.uint64)),
        lambda d, seed, offset: philox.uniform(d, seed, E.cast(E.cast(offset, dtypes.uint32), dtypes.uint64)),
        lambda d, seed, offset: philox.uniform(d, E.const(7, dtypes.uint64), offset),
    ):
        with caught():
            on_numpy(randoms.keys, drawing(wrong))


def test_generator_that_does_not_move():
    class Stuck(tensorx.Generator):
        def reserve(self):
            return self._seed, self._offset

    with caught():
        randoms.generator(Stuck)


def test_write_outside_of_out(monkeypatch):
    """A kernel that writes between the elements of ``out=``."""
    usual = dispatch._call_out

    def spilling(op, args, out):
        result = usual(op, args, out)
        for t in out:
            t._storage.bytes().view(t.dtype.np)[-1] = 5
        return result

    monkeypatch.setattr(dispatch, "_call_out", spilling)
    with caught():
        on_numpy(checks.out, toy())


def doubles(x):
    return x.to(tensorx.float64) * 2


#: A mask, what runs under it, and whether the mask makes a difference to that.
MASKED = [
    ("max_workgroup=64", tensorx.sum, True),
    ("no_int64_atomics", tensorx.sum, False),
    ("max_alloc=1K", lambda x: x.expand(64, 3, 4) + 1, True),
    ("max_alloc=1K", lambda x: x + 1, False),
    ("no_fp64", doubles, True),
    ("no_fp64", lambda x: x * 2, False),
    ("no_fp16", tensorx.nonzero, True),  # reads a count back: what it does then is not known here
    ("no_fp16", lambda x: x.tolist(), False),
    ("", tensorx.sum, True),
]


@pytest.mark.parametrize(("mask", "body", "changed"), MASKED)
def test_what_a_mask_changes(mask, body, changed, monkeypatch):
    strong = Capabilities("opencl", fp64=True, fp16=True, int64_atomics=True, max_workgroup=1024)
    weak = strong.masked(mask)
    monkeypatch.setitem(masking._before, weak, strong)

    def step(device):
        body(tensorx.ones(3, 4, device=device))

    assert building.changes(step, building.twin_of(weak)) == changed


def test_cases_that_a_mask_does_not_change_are_left_out_and_counted(monkeypatch):
    ran = []
    monkeypatch.setattr(building, "changes", lambda step, device: step is not steps[1])
    steps = [checks.counted(OPS["neg"], lambda device, i=i: ran.append(i), dtypes.float32) for i in range(3)]
    for cover, expected in (("changed", [0, 2]), ("", [0, 1, 2])):
        monkeypatch.setenv("TENSORX_COVER", cover)
        counts.take()
        with numpy_cpu():
            checks.run(steps, CPU)
        assert (ran, counts.take()[1]) == (expected, [len(expected), 0, 0, 3 - len(expected)])
        ran.clear()
