"""Checks of gradient rules: against differences, twice, in f32, what is saved, and what overwriting does."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from checking.checks import Step, compiled, counted, numbered
from checking.compare import eps_of, outputs, same
from checking.layouts import Placed
from checking.sampling import CPU, Case, cases, numpy_cpu, seed_of
from tensorx import autograd, dtypes
from tensorx.autograd.graph import saved_tensors_hooks
from tensorx.errors import ShapeError
from tensorx.ops import expr as E
from tensorx.tensor import Tensor, from_host


def hermitian(t: Tensor) -> bool:
    """Whether a tensor holds exactly Hermitian matrices: ops of such read one triangle, rules share the gradient."""
    if len(t._shape) < 2 or t._shape[-1] != t._shape[-2] or t._shape[-1] < 2:
        return False
    x = np.asarray(t._host())
    return bool(np.array_equal(x, np.conj(np.swapaxes(x, -1, -2)))) and bool(np.any(x))


def underived(op: Any) -> set[int]:
    """Operands in which an elementwise row says that its derivative is not implemented."""
    if op.kind.name != "ELEMENTWISE" or not op.differentiable or set(op.extra) != {"Tensor"}:
        return set()
    n = len(op.extra)
    d = dtypes.float64 if "f" in op.dtypes else dtypes.complex128
    leaves = [E.arg(i, dtypes.bool_ if i < op.promote.skip else d) for i in range(n)]
    try:
        rules = op.vjp(E.arg(n, d), E.arg(n + 1, d), *leaves)
    except (TypeError, NotImplementedError):  # several results, or operands of other dtypes: such rows derive all
        return set()
    return {i for i, r in enumerate(rules if isinstance(rules, tuple) else (rules,)) if r is NotImplemented}


class Differentiation:
    """A call as a function of its floating-point tensors alone; of Hermitian ones along Hermitian directions."""

    def __init__(self, op: Any, case: Case, device: Any) -> None:
        self.op = op
        self.placed = Placed(op, case, device, "contiguous")
        without = underived(op)
        tensors = enumerate(self.placed.tensors())
        self.inputs = [t for i, t in tensors if t.dtype.kind >= dtypes.FLOAT and i not in without]
        self.paired = [hermitian(t) for t in self.inputs]
        for t in self.inputs:
            t.requires_grad_()

    def __call__(self, *inputs: Tensor) -> Any:
        """The row's differentiable results."""
        ready = [(x + x.mT.conj()) * 0.5 if paired else x for x, paired in zip(inputs, self.paired, strict=True)]
        replaced = dict(zip(map(id, self.inputs), ready, strict=True))
        args, kwargs = self.placed.map(lambda t: replaced.get(id(t), t))
        results = outputs(self.op(*args, **kwargs))
        return tuple(r for r in results if r.dtype.kind >= dtypes.FLOAT)

    def grads(self, results: Any = None) -> list[Any]:
        """Gradients of all inputs for random cotangents, as arrays; None where there is none."""
        results = self(*self.inputs) if results is None else results
        results = [r for r in results if r.requires_grad]
        rng = np.random.default_rng(5)
        cotangents = [
            from_host(rng.uniform(-1, 1, tuple(r.shape)).astype(r.dtype.np), r.dtype, r.device) for r in results
        ]
        found = autograd.grad(results, self.inputs, cotangents, allow_unused=True)
        return [None if g is None else np.array(g._host()) for g in found]


def differentiable(op: Any) -> bool:
    """Whether the row has a gradient: a rule, or (composites) operands and results that could have one."""
    return op.differentiable or (op.kind.name == "COMPOSITE" and ("f" in op.dtypes or "c" in op.dtypes))


def _usable(op: Any, case: Case, device: Any) -> bool:
    """Whether any result of the call has a gradient."""
    call = Differentiation(op, case, device)
    if not call.inputs:
        return False
    return any(r.requires_grad for r in call(*call.inputs))


def precisions(op: Any) -> list[Any]:
    """The double-precision dtypes that the row has (a device may lack them)."""
    return [d for d in (dtypes.float64, dtypes.complex128) if "bifc"[d.kind] in op.dtypes]


def gradcheck(op: Any, device: Any, full: bool = False) -> list[Step]:
    """Rules against central differences, once and twice."""
    if not differentiable(op):
        return []
    steps: list[Step] = []
    found = precisions(op)
    if compiled(device) and not full:
        found = found[seed_of(op) % max(len(found), 1) :][:1]
    for d in found:
        steps += [
            counted(op, _gradcheck_step(op, case, f"{op.name} {d.name} sample {i}", compiled(device)), d)
            for i, case in numbered(op, d, device, full)
        ]
    return steps


def _gradcheck_step(op: Any, case: Case, label: str, fast: bool) -> Step:
    def step(device: Any) -> None:
        with numpy_cpu():
            if not _usable(op, case, CPU):
                return
        call = Differentiation(op, case, device)
        if any(r.dtype.itemsize < 8 for r in call(*call.inputs)):
            return  # differences need double precision all the way
        try:
            autograd.gradcheck(call, tuple(call.inputs), fast_mode=fast)
            call = Differentiation(op, case, device)
            autograd.gradgradcheck(call, tuple(call.inputs), fast_mode=True)
        except RuntimeError as error:
            if type(error).__name__ != "GradcheckError":
                raise
            raise AssertionError(f"{label}: {error}") from error

    step.launches = lambda device: derive_twice(Differentiation(op, case, device))  # type: ignore[attr-defined]
    return step


def derive_twice(call: Differentiation) -> None:
    """Launch what a check of first and second derivatives launches, once each."""
    call.grads()
    results = [r for r in call(*call.inputs) if r.requires_grad]
    cotangents = [from_host(np.ones(tuple(r.shape), r.dtype.np), r.dtype, r.device).requires_grad_() for r in results]
    first = autograd.grad(results, call.inputs, cotangents, create_graph=True, allow_unused=True)
    first = [g for g in first if g is not None and g.requires_grad]
    ones = [from_host(np.ones(tuple(g.shape), g.dtype.np), g.dtype, g.device) for g in first]
    autograd.grad(first, [*call.inputs, *cotangents], ones, allow_unused=True)


def single(op: Any, device: Any) -> list[Step]:
    """Gradients in f32 on the device against those in f64 from the NumPy lane."""
    if not differentiable(op) or "f" not in op.dtypes or not compiled(device):
        return []
    narrow, wide = (cases(op, d) for d in (dtypes.float32, dtypes.float64))
    return [
        counted(op, _single_step(op, a, b, f"{op.name} gradient in float32 sample {i}"), dtypes.float32)
        for i, (a, b) in enumerate(zip(narrow, wide, strict=True))
    ][seed_of(op) % max(len(narrow), 1) :][:1]


def _single_step(op: Any, narrow: Case, wide: Case, label: str) -> Step:
    def step(device: Any) -> None:
        with numpy_cpu():
            if not _usable(op, wide, CPU):
                return
            want = Differentiation(op, wide, CPU).grads()
        have = Differentiation(op, narrow, device).grads()
        for h, w in zip(have, want, strict=True):
            assert (h is None) == (w is None), f"{label}: a gradient is missing on one of the lanes"
            if h is not None:
                off = np.abs(h - w) > 16 * op.ulp * eps_of(dtypes.float32) * max(np.abs(w).max(initial=0), 1)
                assert not off.any(), f"{label}: got {h[off][:4]}, in float64 {w[off][:4]}"

    return step


def _first_float(op: Any) -> Any:
    return next((d for d in (dtypes.float64, dtypes.complex128) if "bifc"[d.kind] in op.dtypes), None)


def _perturbed(t: Tensor, way: int) -> Tensor:
    """Other values of the same kind: indices among those that are there."""
    x = np.array(t._host())
    if t.dtype.kind == dtypes.BOOL:
        x = ~x
    elif t.dtype.kind == dtypes.INT:
        x = x * 0 + x.reshape(-1)[way] if x.size else x
    else:
        x = x * (-1.3, 2.3)[way] - 0.7
    return from_host(x, t.dtype, t.device)


def saved(op: Any, device: Any) -> list[Step]:
    """Every value that a call saves for backward matters: another value in its place gives another gradient."""
    d = _first_float(op)
    if d is None or not op.differentiable or compiled(device):
        return []
    return [counted(op, _saved_step(op, case, f"{op.name} sample {i}"), d) for i, case in enumerate(cases(op, d))]


def _grads_with(op: Any, case: Case, device: Any, changed: int, way: int = 0) -> tuple[list[Any], list[Any]]:
    """Gradients with the saved value number ``changed`` replaced (-1: none), and which values were saved."""
    found: list[Any] = []

    def pack(t: Tensor) -> tuple[int, Tensor]:
        found.append(t)
        return len(found) - 1, t

    call = Differentiation(op, case, device)
    with saved_tensors_hooks(pack, lambda x: _perturbed(x[1], way) if x[0] == changed else x[1]):
        results = call(*call.inputs)
    return call.grads(results), found


def _saved_step(op: Any, case: Case, label: str) -> Step:
    def step(device: Any) -> None:
        if not _usable(op, case, device):
            return
        base, found = _grads_with(op, case, device, -1)
        for i, t in enumerate(found):
            if all(same(_perturbed(t, way)._host(), t._host()) for way in (0, -1)):
                continue
            changed = [g for way in (0, -1) for g in _grads_with(op, case, device, i, way)[0]]
            assert any(
                (a is None) != (b is None) or (a is not None and not same(a, b))
                for a, b in zip(base * 2, changed, strict=True)
            ), f"{label}: value {i} of shape {tuple(t.shape)} is saved, but the gradient does not depend on it"

    return step


def overwritten(op: Any, device: Any) -> list[Step]:
    """Operands and results overwritten before backward: the gradient is right, or GradError; never silently wrong."""
    d = _first_float(op)
    if d is None or not differentiable(op) or compiled(device):
        return []
    return [counted(op, _overwritten_step(op, case, f"{op.name} sample {i}"), d) for i, case in enumerate(cases(op, d))]


def _overwritten_step(op: Any, case: Case, label: str) -> Step:
    def step(device: Any) -> None:
        if not _usable(op, case, device):
            return
        base = Differentiation(op, case, device).grads()
        n = len(Placed(op, case, device, "contiguous").tensors())
        for i in range(n + 1):
            call = Differentiation(op, case, device)
            results = call(*call.inputs)
            with autograd.no_grad():
                target = call.placed.tensors()[i] if i < n else results[0].detach()
                with contextlib.suppress(ShapeError):  # elements that share memory are not written
                    target.zero_()
            try:
                changed = call.grads(results)
            except RuntimeError as error:
                assert "modified by an inplace operation" in str(error), f"{label}: {error!r}"
                continue
            for a, b in zip(base, changed, strict=True):
                assert (a is None) == (b is None) and (a is None or same(a, b)), (
                    f"{label}: {f'operand {i}' if i < n else 'the result'} was overwritten before backward; "
                    f"the gradient is {b} instead of {a}"
                )

    return step


def undifferentiable(op: Any, device: Any) -> list[Step]:
    """Rows without a rule give results without a gradient."""
    d = _first_float(op)
    if d is None or op.differentiable or op.kind.name in ("COMPOSITE", "STEP", "BACKWARD") or compiled(device):
        return []

    def step(device: Any) -> None:
        for case in cases(op, d):
            call = Differentiation(op, case, device)
            assert not any(r.requires_grad for r in call(*call.inputs)), (
                f"{op.name}: has no rule, but its result requires grad"
            )

    return [counted(op, step, d)]


__all__ = ["Differentiation", "differentiable", "gradcheck", "overwritten", "saved", "single", "undifferentiable"]
