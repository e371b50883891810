"""Compare gradients with finite differences.

Complex tensors are pairs of reals here: the Jacobian is the real one of the real and imaginary parts, which is what a
conjugate Wirtinger gradient (the convention of PyTorch) consists of.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .engine import grad
from .function import Function
from .hooks import is_tensor

Array = np.ndarray[Any, Any]


class GradcheckError(RuntimeError):
    """The gradients are wrong; the text shows where."""


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _differentiable(values: Any) -> tuple[Any, ...]:
    return tuple(value for value in _tuple(values) if is_tensor(value) and value.requires_grad)


def _host(tensor: Any) -> Array:
    """Return a double precision copy of the values."""
    wide = np.complex128 if tensor.is_complex() else np.float64
    return np.array(tensor.detach().cpu().numpy(), dtype=wide, order="C")


def _parts(values: Array) -> Array:
    """Return a flat real view: real and imaginary parts in turn."""
    return values.reshape(-1).view(np.float64)


def _like(values: Array, tensor: Any) -> Any:
    """Return a tensor of ``values`` in the dtype and on the device of ``tensor``."""
    from tensorx.tensor import from_host

    return from_host(values.astype(np.complex128 if tensor.is_complex() else np.float64), tensor.dtype, tensor.device)


def _write(tensor: Any, values: Array) -> None:
    """Set the values under the user's tensor: functions may refer to it by closure."""
    tensor.detach().copy_(_like(values, tensor))


def _difference(
    func: Callable[..., Any], inputs: tuple[Any, ...], tensor: Any, direction: Array, eps: float
) -> list[Array]:
    """Return the central difference of all outputs along ``direction`` (real parts), flat and real."""
    values = _host(tensor)
    sides = []
    try:
        for sign in (1, -1):
            moved = values.copy()
            _parts(moved)[:] += sign * eps * direction
            _write(tensor, moved)
            sides.append([_parts(_host(output)) for output in _tuple(func(*inputs)) if _continuous(output)])
    finally:
        _write(tensor, values)
    return [(plus - minus) / (2 * eps) for plus, minus in zip(*sides, strict=True)]


def _continuous(value: Any) -> bool:
    return is_tensor(value) and (value.dtype.is_floating_point or value.is_complex())


def _numerical(func: Callable[..., Any], inputs: tuple[Any, ...], tensor: Any, eps: float) -> list[Array]:
    """Return one Jacobian per output, of shape (real inputs, real outputs)."""
    size = _parts(_host(tensor)).size
    columns = [_difference(func, inputs, tensor, np.eye(1, size, index)[0], eps) for index in range(size)]
    return [np.stack(rows) for rows in zip(*columns, strict=True)]


def _cotangent(output: Any, parts: Array) -> Any:
    values = parts.astype(np.float64)
    values = values.view(np.complex128) if output.is_complex() else values
    return _like(values.reshape(tuple(output.shape)), output)


def _pull(output: Any, wanted: tuple[Any, ...], parts: Array, check_dtypes: bool) -> list[Array]:
    """Return the gradients of one output for a cotangent given by real parts, flat and real."""
    results = grad(output, wanted, _cotangent(output, parts), retain_graph=True, allow_unused=True)
    for index, (result, tensor) in enumerate(zip(results, wanted, strict=True)):
        if result is None:
            continue
        if tuple(result.shape) != tuple(tensor.shape):
            raise GradcheckError(
                f"Analytical gradient {index} has incorrect size: {result.shape} instead of {tensor.shape}"
            )
        if check_dtypes and result.dtype != tensor.dtype:
            raise GradcheckError(
                f"Analytical gradient {index} has dtype {result.dtype}, not that of its input, {tensor.dtype}"
            )
    return [
        _parts(_host(x)) * (r is not None) if r is None else _parts(_host(r))
        for r, x in zip(results, wanted, strict=True)
    ]


def _analytical(output: Any, wanted: tuple[Any, ...], nondet_tol: float, check_dtypes: bool) -> list[Array]:
    """Return one Jacobian per wanted input, of shape (real inputs, real outputs). Each backward runs twice."""
    size = _parts(_host(output)).size
    rows = []
    for index in range(size):
        basis = np.eye(1, size, index)[0]
        first, second = (_pull(output, wanted, basis, check_dtypes) for _ in range(2))
        for a, b in zip(first, second, strict=True):
            if a.size and not np.abs(a - b).max() <= nondet_tol and not np.array_equal(a, b, equal_nan=True):
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times"
                    " gives different"
                    f" values, although analytical gradient matches numerical gradient. The tolerance for"
                    f" nondeterminism was {nondet_tol}."
                )
        rows.append(first)
    return [np.stack(column, axis=1) for column in zip(*rows, strict=True)]


def _mismatch(i: int, o: int, numerical: Array, analytical: Array, note: str = "") -> GradcheckError:
    return GradcheckError(
        f"Jacobian mismatch for output {o} with respect to input"
        f" {i},\nnumerical:{numerical}\nanalytical:{analytical}\n{note}"
    )


def _compare_slow(func: Callable[..., Any], inputs: tuple[Any, ...], wanted: dict[int, Any], o: dict[str, Any]) -> None:
    numerical = {i: _numerical(func, inputs, tensor, o["eps"]) for i, tensor in wanted.items()}
    outputs = [output for output in _tuple(func(*inputs)) if _continuous(output)]
    for number, output in enumerate(outputs):
        if not output.requires_grad or output.numel() == 0:
            if any(jacobian[number].any() for jacobian in numerical.values() if jacobian):
                raise GradcheckError("Numerical gradient for function expected to be zero")
            continue
        results = _analytical(output, tuple(wanted.values()), o["nondet_tol"], o["check_grad_dtypes"])
        for (i, jacobians), result in zip(numerical.items(), results, strict=True):
            if jacobians and not np.allclose(result, jacobians[number], o["rtol"], o["atol"], equal_nan=True):
                raise _mismatch(i, number, jacobians[number], result)


def _compare_fast(func: Callable[..., Any], inputs: tuple[Any, ...], wanted: dict[int, Any], o: dict[str, Any]) -> None:
    """Compare v . J u for one random pair of vectors per input and output: one difference instead of one per
    element."""
    rng = np.random.default_rng(0)
    directions = {i: _unit(rng, _parts(_host(tensor)).size) for i, tensor in wanted.items()}
    numerical = {i: _difference(func, inputs, tensor, directions[i], o["eps"]) for i, tensor in wanted.items()}
    outputs = [output for output in _tuple(func(*inputs)) if _continuous(output)]
    for number, output in enumerate(outputs):
        size = _parts(_host(output)).size
        if not output.requires_grad or size == 0:
            continue
        vector = _unit(rng, size)
        results = _pull(output, tuple(wanted.values()), vector, o["check_grad_dtypes"])
        for (i, columns), result in zip(numerical.items(), results, strict=True):
            left, right = float(vector @ columns[number]), float(result @ directions[i])
            if not np.allclose(right, left, o["rtol"], o["atol"], equal_nan=True):
                note = "The above quantities relating the numerical and analytical jacobians are computed in fast mode."
                raise _mismatch(i, number, np.array(left), np.array(right), note)


def _unit(rng: np.random.Generator, size: int) -> Array:
    vector = rng.uniform(0.1, 1.0, size)
    return vector / max(float(np.linalg.norm(vector)), 1e-30)


class _Undefined(Function):
    """Passes its input on and no gradient back."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> None:
        return None


def _check_undefined(func: Callable[..., Any], inputs: tuple[Any, ...], wanted: Sequence[Any]) -> None:
    """Check that undefined cotangents (of all outputs, then of each) give undefined or zero gradients."""
    outputs = _differentiable(func(*inputs))
    cases = [set(range(len(outputs)))] + ([{index} for index in range(len(outputs))] if len(outputs) > 1 else [])
    for undefined in cases:
        outputs = _differentiable(func(*inputs))
        ends = [_Undefined.apply(output) if index in undefined else output for index, output in enumerate(outputs)]
        zeros = [_like(_host(output) * 0, output) for output in outputs]
        for result in grad(ends, list(wanted), zeros, allow_unused=True):
            if result is not None and _host(result).any():
                raise GradcheckError(
                    "Expected backward function to handle undefined output grads: they must count as zeros."
                )


def _check_batched(func: Callable[..., Any], inputs: tuple[Any, ...], wanted: Sequence[Any], o: dict[str, Any]) -> None:
    """Check that a batch of cotangents gives the batch of gradients."""
    rng = np.random.default_rng(0)
    for output in _differentiable(func(*inputs)):
        size = _parts(_host(output)).size
        if size == 0:
            continue
        rows = rng.uniform(-1, 1, (2, size))
        values = rows.view(np.complex128) if output.is_complex() else rows
        batch = _like(values.reshape((2, *output.shape)), output)
        results = grad(output, list(wanted), batch, retain_graph=True, allow_unused=True, is_grads_batched=True)
        single = [
            grad(output, list(wanted), _cotangent(output, row), retain_graph=True, allow_unused=True) for row in rows
        ]
        for result, *ones in zip(results, *single, strict=True):
            if result is not None and not np.allclose(
                _host(result), [_host(one) for one in ones], o["rtol"], o["atol"]
            ):
                raise GradcheckError(
                    "While computing batched gradients, got values that differ from those computed one by one."
                )


def _check_inputs(inputs: tuple[Any, ...]) -> dict[int, Any]:
    wanted = {i: x for i, x in enumerate(inputs) if is_tensor(x) and x.requires_grad}
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have"
            " requires_grad=True."
        )
    for i, x in wanted.items():
        if x.element_size() < (16 if x.is_complex() else 8):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check"
                f" will likely fail if"
                " all the inputs are not of double precision floating point or complex.",
                stacklevel=4,
            )
        if any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are"
                f" non-overlapping to be able to"
                " compute the numerical gradients correctly. You should call .contiguous on the input before passing"
                " it to gradcheck."
            )
    return wanted


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of ``func(*inputs)`` with central differences, for every input tensor that requires grad.

    Args:
        func: takes the inputs, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple; use float64 or complex128.
        eps: the step of the difference.
        atol, rtol: tolerances of the comparison.
        raise_exception: raise on a mismatch, instead of returning False.
        nondet_tol: how far two runs of one backward may differ.
        check_undefined_grad: check that undefined cotangents count as zeros.
        check_grad_dtypes: check that gradients have the dtype of their input.
        check_batched_grad: check ``is_grads_batched``.
        check_backward_ad: check the backward at all.
        fast_mode: compare one random projection instead of the whole Jacobian.
        masked: accepted for compatibility (it concerns sparse tensors).

    Returns True if all agree. Raises RuntimeError (GradcheckError) on a mismatch, ValueError if no input requires grad,
    NotImplementedError for the forward mode checks.

    >>> import tensorx as tx
    >>> gradcheck(lambda x: x * x, tx.tensor([1.0, 2.0], dtype=tx.float64, requires_grad=True))
    True
    """
    if check_forward_ad or check_batched_forward_grad:
        raise NotImplementedError("gradcheck: forward mode is not in this version. Hint: leave check_forward_ad=False.")
    options = {"eps": eps, "atol": atol, "rtol": rtol, "nondet_tol": nondet_tol, "check_grad_dtypes": check_grad_dtypes}
    values = _tuple(inputs)
    try:
        wanted = _check_inputs(values)
        if not check_backward_ad:
            return True
        (_compare_fast if fast_mode else _compare_slow)(func, values, wanted, options)
        if not _differentiable(func(*values)):
            return True
        if check_batched_grad:
            _check_batched(func, values, list(wanted.values()), options)
        if check_undefined_grad:
            _check_undefined(func, values, list(wanted.values()))
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare second derivatives with central differences of the first ones; arguments as in :func:`gradcheck`.

    ``grad_outputs`` are the cotangents to differentiate at (random ones by default); with
    ``gen_non_contig_grad_outputs`` the random ones are not contiguous.

    >>> import tensorx as tx
    >>> gradgradcheck(lambda x: x * x * x, tx.tensor([1.0, 2.0], dtype=tx.float64, requires_grad=True))
    True
    """
    if check_fwd_over_rev:
        raise NotImplementedError(
            "gradgradcheck: forward mode is not in this version. Hint: leave check_fwd_over_rev=False."
        )
    values = _tuple(inputs)
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        cotangents = tuple(_random(rng, out, gen_non_contig_grad_outputs) for out in _differentiable(func(*values)))
    else:
        cotangents = _tuple(grad_outputs)

    def first(*args: Any) -> Any:
        points, vectors = args[: len(values)], args[len(values) :]
        outputs = _differentiable(func(*points))
        results = grad(outputs, _differentiable(points), vectors, create_graph=True, allow_unused=True)
        return tuple(result for result in results if result is not None)

    return not check_rev_over_rev or gradcheck(
        first,
        values + cotangents,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        fast_mode=fast_mode,
        masked=masked,
    )


def _random(rng: np.random.Generator, output: Any, scattered: bool) -> Any:
    """Return a random cotangent that requires grad; ``scattered`` leaves gaps between its elements."""
    values = rng.uniform(-1, 1, _parts(_host(output)).size)
    values = (values.view(np.complex128) if output.is_complex() else values).reshape(tuple(output.shape))
    if scattered and values.ndim:
        return _like(np.repeat(values, 2, axis=-1), output)[..., ::2].requires_grad_()
    return _like(values, output).requires_grad_()
