"""One function a property. Each is a generator of steps: functions of a device that raise AssertionError.

`run` primes a device with all steps' kernels, then runs them.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import counts
import numpy as np

from checking import building, layouts
from checking.compare import bits, check_value, magnitude, oracle, outputs, same
from checking.layouts import INPUTS, OUTPUTS, Placed, laid_out
from checking.sampling import (
    CPU,
    Case,
    Sampler,
    accepted,
    cases,
    derived,
    dtypes_of,
    is_derived,
    numpy_cpu,
    operand,
    seed_of,
    tensor_params,
)
from tensorx import dtypes
from tensorx.devices import registry
from tensorx.errors import ShapeError, TensorXError
from tensorx.ops import bind
from tensorx.ops import schema as S
from tensorx.tensor import Tensor

Step = Callable[[Any], None]
#: One dtype of each group in the everyday cover of compiled lanes.
GROUPS = (("f32",), ("f16", "bf16"), ("f64",), ("c64", "c128"), ("i32", "i64", "i16", "i8", "u8"), ("b8",))


def counted(op: Any, step: Step, d: Any, layout: str = "contiguous") -> Step:
    """The step as a case of the table at the end: its row with this dtype and layout."""
    step.case = (d.code, layout)  # type: ignore[attr-defined]
    step.needs = {d.code, op.promote.to or d.code}  # type: ignore[attr-defined]
    return step


def lacks(device: Any, step: Step) -> bool:
    """Whether the device cannot hold what the step is about: its operands, or what its row makes of them."""
    return not all(map(device.runtime.capabilities.supports, getattr(step, "needs", ())))


def run(steps: Iterable[Step], device: Any) -> None:
    """Build what the steps launch in few programs, then run them all; the first failures are shown together."""
    steps = list(steps)
    left_out = {step: counts.LACKING for step in steps if lacks(device, step)}
    if counts.changed_only():
        left_out |= {
            step: counts.UNCHANGED for step in steps if step not in left_out and not building.changes(step, device)
        }
    building.prime(device, [step for step in steps if step not in left_out])
    counts.begin("compiled" if compiled(device) else "interpreted")
    failures = []
    for step in steps:
        outcome = left_out.get(step, counts.FAILED)
        try:
            if step not in left_out:
                step(device)
                outcome = counts.PASSED
        except AssertionError as error:
            failures.append(str(error))
        finally:
            if hasattr(step, "case"):
                counts.note(outcome)
    assert not failures, f"{len(failures)} of {len(steps)} steps failed:\n" + "\n".join(failures[:5])


def quietly(step: Step, device: Any) -> None:
    """Run a step for what it launches."""
    with contextlib.suppress(Exception):
        step(device)


def call(op: Any, placed: Placed, out: Any = None) -> list[Tensor]:
    """Run the row."""
    return outputs(bind.run(op, placed.bound(), out))


def known_values(op: Any, placed: Placed) -> list[Any] | None:
    """What the oracle of values says (random rows have none)."""
    try:
        return oracle(op, placed)
    except NotImplementedError:
        return None


def depends_on_storage(op: Any) -> bool:
    """A view by storage geometry reads whatever layout its operand has; the oracle knows the dense one alone."""
    return any(p.name == "storage_offset" for p in op.schema.params)


def compiled(device: Any) -> bool:
    """Whether results come from kernels."""
    return bool(device.runtime.capabilities.compiler)


# value, dtype and shape


def cover(op: Any, device: Any, full: bool) -> list[tuple[Any, str]]:
    """(dtype, layout) pairs: all, or on compiled lanes one dtype a group with rotating layouts.

    A group of which the device can hold no dtype gives a pair all the same, which `run` counts as lacking.
    """
    caps, found = device.runtime.capabilities, accepted(op, full)
    kinds = INPUTS if not depends_on_storage(op) else INPUTS[:1]
    if full or not compiled(device):
        return list(itertools.product(found, kinds))
    turn = seed_of(op)
    pairs = []
    for i, group in enumerate(GROUPS):
        chosen = [d for d in found if d.code in group]
        chosen = [d for d in chosen if caps.supports(d.code)] or chosen
        if chosen:
            pairs.append((chosen[turn % len(chosen)], kinds[(turn + i) % len(kinds)]))
    if pairs and pairs[0][1] != "contiguous":
        pairs.append((pairs[0][0], "contiguous"))
    return pairs


def values(op: Any, device: Any, full: bool = False) -> list[Step]:
    """Results against the oracle; dtype and shape as on meta."""
    steps: list[Step] = []
    for turn, (d, layout) in enumerate(cover(op, device, full)):
        found = numbered(op, d, device, full, turn)
        steps += [
            counted(op, _value_step(op, case, layout, f"{op.name} {d.name} {layout} sample {i}"), d, layout)
            for i, case in found
        ]
    return steps


def numbered(op: Any, d: Any, device: Any, full: bool, turn: int = 0) -> list[tuple[int, Case]]:
    """The samples of a row with their numbers: all, or on compiled lanes one that rotates."""
    found = list(enumerate(cases(op, d)))
    if full or not compiled(device) or not found:
        return found
    return [found[(seed_of(op) + turn) % len(found)]]


def _value_step(op: Any, case: Case, layout: str, label: str) -> Step:
    def step(device: Any) -> None:
        placed = Placed(op, case, device, layout)
        try:
            results = call(op, placed)
        except ShapeError:
            if op.kind.name in ("VIEW", "COMPOSITE") and layout != "contiguous":
                return  # this layout has no such view, as the error says
            raise
        on_meta(op, case, layout, results, label)
        wants = known_values(op, placed)
        if wants is not None:
            assert len(wants) == len(results), f"{label}: {len(results)} results, the oracle has {len(wants)}"
            for got, want in zip(results, wants, strict=True):
                check_value(op, got, want, label, magnitude(placed))
        else:
            like_numpy(op, case, layout, results, label)

    return step


def on_meta(op: Any, case: Case, layout: str, results: list[Tensor], label: str) -> None:
    """The pure rules give the same shapes and dtypes. DYNAMIC rows refuse, HOST rows need values."""
    placed = Placed(op, case, registry.device("meta"), layout)
    try:
        expected = call(op, placed)
    except NotImplementedError:
        assert op.kind.name in ("DYNAMIC", "HOST", "TRANSFER", "COMPOSITE"), (
            f"{label}: {op.kind.name} rows must run on meta"
        )
        return
    for got, want in zip(results, expected, strict=True):
        assert (tuple(got.shape), got.dtype) == (tuple(want.shape), want.dtype), (
            f"{label}: {got.dtype.name} {tuple(got.shape)}, but meta says {want.dtype.name} {tuple(want.shape)}"
        )


def like_numpy(op: Any, case: Case, layout: str, results: list[Tensor], label: str) -> None:
    """Random rows: the same bits as in the NumPy lane."""
    with numpy_cpu():
        expected = call(op, Placed(op, case, CPU, layout))
        wanted = [bits(t) for t in expected]
    for got, want in zip(results, wanted, strict=True):
        assert np.array_equal(bits(got), want), f"{label}: the bits differ from the NumPy lane's"


# special values


def special(op: Any, device: Any) -> list[Step]:
    """The row's special points (all pairs for two operands) in the real floating-point dtypes."""
    if not op.special or not is_derived(op):
        return []
    codes = ("f32", "f64", "f16") if not compiled(device) else ("f32",)
    steps = []
    for d in (dtypes.FROM_CODE[c] for c in codes):
        if "f" not in op.dtypes:
            continue
        n = len(tensor_params(op))
        grid = np.array(list(itertools.product(op.special, repeat=n)), np.float64).T
        with numpy_cpu(), np.errstate(over="ignore"):
            case = Case(
                tuple(laid_out(row.astype(d.np), d, "contiguous", CPU) for row in grid),
                derived(op, d, [((1,),) * n])[0].kwargs,
            )
        steps.append(counted(op, _special_step(op, case, f"{op.name} {d.name} special values"), d))
    return steps


def _special_step(op: Any, case: Case, label: str) -> Step:
    def step(device: Any) -> None:
        placed = Placed(op, case, device, "contiguous")
        for got, want in zip(call(op, placed), oracle(op, placed), strict=True):
            check_value(op, got, want, f"{label} {[placed.oracle[id(t)] for t in placed.tensors()]}")

    return step


# empty and zero-dim


def empties(op: Any, device: Any) -> list[Step]:
    """Operands without elements, and zero-dim ones: the oracle and the row agree, also in refusing."""
    d = next((x for x in map(dtypes.FROM_CODE.get, ("f32", "i32", "b8")) if "bifc"[x.kind] in op.dtypes), None)
    if d is None or depends_on_storage(op):
        return []
    if is_derived(op):
        n = len(tensor_params(op))
        shapes = [((),) * n, ((0,),) * n, ((2, 0, 3),) * n] + (
            [((0, 3), (3,), (1,))[:n], ((), (2,), (2,))[:n]] if n > 1 else []
        )
        with numpy_cpu():
            found = derived(op, d, shapes)
    else:
        found = [] if op.name.startswith("_") else cases(op, d, shrink={3: 0})  # private rows take sizes on trust
        if op.kind.name in ("REDUCE", "ROWWISE", "SCAN", "SORT"):
            found += zero_dim(op, d)
    return [
        counted(op, _agree_step(op, case, f"{op.name} {d.name} {shapes_of(op, case)}"), d)
        for case in found
    ]


def shapes_of(op: Any, case: Case) -> list[tuple[int, ...]]:
    return [tuple(t.shape) for t in Placed(op, case, CPU, "contiguous").tensors()]


def zero_dim(op: Any, d: Any) -> list[Case]:
    """Rows along a dimension take zero-dim operands: as rows of one element."""
    with numpy_cpu():
        t = Sampler(op, d)
        n = len(tensor_params(op))
        dims = {p.name: 0 for p in op.schema.params if p.name == "dim"}
        if any(p.default is S.REQUIRED for p in op.schema.params[n:] if p.name not in dims):
            return []
        return [Case(tuple(t(()) for _ in range(n)), dims)]


def _agree_step(op: Any, case: Case, label: str) -> Step:
    def step(device: Any) -> None:
        placed = Placed(op, case, device, "contiguous")
        wants = refusal = None
        try:
            wants = oracle(op, _at_least_1d(placed)) if _dims_of_zero_dim(op, placed) else oracle(op, placed)
        except NotImplementedError:
            return
        except (ValueError, IndexError, TypeError, ZeroDivisionError, np.linalg.LinAlgError) as error:
            refusal = error
        try:
            results = call(op, placed)
        except (TensorXError, RuntimeError, IndexError, ValueError, NotImplementedError) as error:
            sized = any(p.type == "int[]" and p.name not in ("dim", "dims") for p in op.schema.params)  # not shrunk
            assert refusal is not None or sized, f"{label}: refused with {error!r}, but the oracle says {wants}"
            return
        assert refusal is None, f"{label}: gave {results}, but the oracle refuses: {refusal!r}"
        on_meta(op, case, "contiguous", results, label)
        for got, want in zip(results, wants, strict=True):
            check_value(
                op, got, np.reshape(want, tuple(got.shape)) if np.size(want) == 1 == got.numel() else want, label
            )

    return step


def _dims_of_zero_dim(op: Any, placed: Placed) -> bool:
    return any(p.name == "dim" for p in op.schema.params) and all(not t._shape for t in placed.tensors())


def _at_least_1d(placed: Placed) -> Placed:
    for key, array in placed.oracle.items():
        placed.oracle[key] = np.atleast_1d(array)
    return placed


# out= and in-place


def one_dtype(op: Any, device: Any) -> Any:
    found = {d.code: d for d in dtypes_of(op, device.runtime.capabilities)}
    return found.get("f32") or next(iter(found.values()), None)


def takes_out(op: Any) -> bool:
    """Whether the row has an ``out=`` form: views have none, and neither have lists."""
    return op.kind.name not in ("VIEW", "TRANSFER", "STEP", "BACKWARD") and not op.schema.returns_list


def out(op: Any, device: Any, full: bool = False) -> list[Step]:
    """``out=`` in every layout gives what the row gives, touches nothing else, and counts as a write."""
    d = one_dtype(op, device)
    if d is None or not takes_out(op):
        return []
    kinds = OUTPUTS if full or not compiled(device) else ("stepped", OUTPUTS[seed_of(op) % 2 * 3])
    return [
        counted(op, _out_step(op, case, kind, f"{op.name} {d.name} out= {kind} sample {i}"), d, kind)
        for kind in kinds
        for i, case in numbered(op, d, device, full)
    ]


def _out_step(op: Any, case: Case, kind: str, label: str) -> Step:
    def step(device: Any) -> None:
        placed = Placed(op, case, device, "contiguous")
        expected = call(op, placed)
        if any(t is r for t in placed.tensors() for r in expected) or shares(expected, placed.tensors()):
            return  # a composite that gives a view has no memory of its own to compare
        outs = tuple(laid_out(np.zeros(tuple(e.shape), e.dtype.np), e.dtype, kind, device) for e in expected)
        before, versions = [layouts.gaps(t) for t in outs], [t._version for t in outs]
        results = call(op, placed, outs if len(outs) > 1 else outs[0])
        for r, o, e, b, v in zip(results, outs, expected, before, versions, strict=True):
            assert r is o, f"{label}: out= must come back"
            assert same(o._host(), e._host()), f"{label}: got\n{o._host()}\nwithout out=\n{e._host()}"
            assert same(layouts.gaps(o), b), f"{label}: memory between the elements was written"
            assert o._version > v, f"{label}: the version did not rise"

    return step


def shares(results: list[Tensor], operands: list[Tensor]) -> bool:
    """Whether a result looks into an operand's storage."""
    return any(r._storage is t._storage for r in results for t in operands)


def aliased(op: Any, device: Any) -> list[Step]:
    """``out=`` that is an operand itself is right; one that overlaps an operand partly, or itself, is refused."""
    d = one_dtype(op, device)
    if d is None or op.kind.name != "ELEMENTWISE" or not is_derived(op) or len(op.schema.returns) > 1:
        return []

    def overlap(device: Any) -> None:
        flat = laid_out(np.asarray(Sampler(op, d).values((8,), 1, 2)), d, "contiguous", device)
        pieces = [flat.as_strided((6,), (1,), i) for i in (0, 1)]
        n = len(tensor_params(op))
        args = Case((pieces[0],) * n, derived(op, d, [((6,),) * n])[0].kwargs)
        bound = S.bind(op.schema, args.args, args.kwargs, True)
        if outputs(bind.run(op, bound, None))[0].dtype is not d:
            return
        refused(
            lambda: bind.run(op, bound, pieces[1]), RuntimeError, f"{op.name}: out= that overlaps an operand partly"
        )
        spread = laid_out(np.zeros((1,), d.np), d, "contiguous", device).as_strided((6,), (0,), 0)
        refused(lambda: bind.run(op, bound, spread), RuntimeError, f"{op.name}: out= whose elements share memory")
        expected = outputs(bind.run(op, bound, None))[0]._host().copy()
        result = bind.run(op, bound, pieces[0])
        assert same(result._host(), expected), (
            f"{op.name}: out= that is the operand itself gave {result._host()} instead of {expected}"
        )

    return [counted(op, overlap, d, "overlapping")]


def has_inplace(op: Any) -> bool:
    """Whether the row has the form ``x.name_()``."""
    return op.kind.inplace and op.schema.is_method and len(op.schema.returns) == 1


def inplace(op: Any, device: Any, full: bool = False) -> list[Step]:
    """In place equals out of place, for every layout of the target; the version rises; nothing else is written."""
    d = one_dtype(op, device)
    if d is None or not has_inplace(op):
        return []
    kinds = OUTPUTS if full or not compiled(device) else ("stepped", OUTPUTS[seed_of(op) % 2])
    return [
        counted(op, _inplace_step(op, case, kind, f"{op.name}_ {d.name} {kind} sample {i}"), d, kind)
        for kind in kinds
        for i, case in numbered(op, d, device, full)
    ]


def _inplace_step(op: Any, case: Case, kind: str, label: str) -> Step:
    def step(device: Any) -> None:
        placed = Placed(op, case, device, kind)
        target = placed.args[0]
        expected = call(op, placed)[0]
        if tuple(expected.shape) != tuple(target.shape) or not op.promote.fits(expected.dtype, target.dtype):
            refused(lambda: bind.run(op, placed.bound(), target), RuntimeError, label)
            return
        before, version = layouts.gaps(target), target._version
        result = bind.run(op, placed.bound(), target)
        assert result is target, f"{label}: must return its target"
        want = np.asarray(expected._host()).astype(target.dtype.np)
        assert same(target._host(), want), f"{label}: got\n{target._host()}\nout of place\n{want}"
        assert same(layouts.gaps(target), before), f"{label}: memory between the elements was written"
        assert target._version == version + 1, f"{label}: the version rose by {target._version - version} instead of 1"

    return step


# views


def views(op: Any, device: Any) -> list[Step]:
    """VIEW rows share the operand's storage and version."""
    d = one_dtype(op, device)
    if d is None or op.kind.name != "VIEW":
        return []
    return [counted(op, _view_step(op, case), d) for case in cases(op, d)]


def _view_step(op: Any, case: Case) -> Step:
    def step(device: Any) -> None:
        placed = Placed(op, case, device, "contiguous")
        base = placed.args[0]
        for v in call(op, placed):
            assert v._storage is base._storage, f"{op.name}: a view must share its operand's storage"
        base.zero_()
        for v in call(op, placed):
            assert v._version == base._version, f"{op.name}: a view must share its operand's version"
            assert not np.asarray(v._host()).astype(bool).any(), f"{op.name}: a view must see writes to its operand"

    return step


# errors


def refused(
    action: Callable[[], Any], error: type[BaseException] | tuple[type[BaseException], ...], label: str
) -> None:
    """AssertionError unless ``action`` raises ``error``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = action()
        except error:
            return
        except Exception as other:
            raise AssertionError(f"{label}: must raise {error}; raised {other!r}") from other
    raise AssertionError(f"{label}: must be refused; gave {result!r}")


__all__ = [
    "GROUPS",
    "aliased",
    "cover",
    "empties",
    "inplace",
    "operand",
    "out",
    "run",
    "special",
    "values",
    "views",
]
