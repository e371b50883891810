"""``torch.testing``: comparing tensors, and making some to test with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorx as tx

#: dtype -> (rtol, atol), PyTorch's; others are compared exactly.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError unless ``actual`` and ``expected`` are close: tensors, numbers, and sequences and mappings of
    such.

    Close is ``|actual - expected| <= atol + rtol * |expected|``; the tolerances follow the dtype, and must both be
    given
    or none (ValueError). Shape, and unless told otherwise device and dtype, must agree.

    >>> import tensorx as tx
    >>> tx.testing.assert_close(tx.tensor([1.0, 2.0]), tx.tensor([1.0, 2.0 + 1e-7]))
    """
    if (rtol is None) != (atol is None):
        raise ValueError(f"rtol and atol must both be specified or both be unspecified, but got {rtol=} and {atol=}.")

    def fail(text: str, where: str) -> None:
        text += f"\n\nThe failure occurred for item {where}" if where else ""
        raise AssertionError(text if msg is None else msg(text) if callable(msg) else msg)

    def walk(a: Any, e: Any, where: str) -> None:
        if isinstance(a, tx.Tensor) and isinstance(e, tx.Tensor):
            problem = _differ(a, e, rtol, atol, equal_nan, (check_device, check_dtype, check_stride))
            if problem:
                fail(problem, where)
        elif isinstance(a, Mapping) and isinstance(e, Mapping):
            if a.keys() != e.keys():
                fail(f"The keys of the mappings do not match:\nactual: {list(a)}\nexpected: {list(e)}", where)
            for key in a:
                walk(a[key], e[key], f"{where}[{key!r}]")
        elif isinstance(a, Sequence) and isinstance(e, Sequence) and not isinstance(a, str):
            if len(a) != len(e):
                fail(f"The length of the sequences mismatch: {len(a)} != {len(e)}", where)
            for i, (x, y) in enumerate(zip(a, e, strict=True)):
                walk(x, y, f"{where}[{i}]")
        elif isinstance(a, (bool, int, float, complex)) and isinstance(e, (bool, int, float, complex)):
            if check_dtype and type(a) is not type(e) and bool in (type(a), type(e)):
                fail(f"The values for attribute 'dtype' do not match: {type(a)} != {type(e)}.", where)
            if not _number_close(a, e, rtol, atol, equal_nan):
                fail(f"Scalars are not close!\n\nExpected {e} but got {a}.", where)
        elif a is None and e is None:
            return
        else:
            raise TypeError(f"No comparison pair was able to handle inputs of type {type(a)} and {type(e)}.")

    walk(actual, expected, "")


def _number_close(a: Any, e: Any, rtol: float | None, atol: float | None, equal_nan: bool) -> bool:
    if a == e or (equal_nan and a != a and e != e):
        return True
    inexact = isinstance(a, (float, complex)) or isinstance(e, (float, complex))
    r, t = (rtol, atol) if rtol is not None else (1e-7, 1e-7) if inexact else (0.0, 0.0)
    apart = abs(a - e)
    return bool(math.isfinite(abs(e)) and apart <= (t or 0.0) + (r or 0.0) * abs(e))


def _differ(
    a: Any, e: Any, rtol: float | None, atol: float | None, equal_nan: bool, checks: tuple[bool, bool, bool]
) -> str:
    """What is wrong, or nothing."""
    device, dtype, stride = checks
    if a.shape != e.shape:
        return f"The values for attribute 'shape' do not match: {a.shape} != {e.shape}."
    if device and a.device != e.device:
        return f"The values for attribute 'device' do not match: {a.device} != {e.device}."
    if dtype and a.dtype is not e.dtype:
        return f"The values for attribute 'dtype' do not match: {a.dtype} != {e.dtype}."
    if stride and a.stride() != e.stride():
        return f"The values for attribute 'stride()' do not match: {a.stride()} != {e.stride()}."
    a, e = a.detach().to(e.device), e.detach()
    if rtol is None or atol is None:
        found = [_TOLERANCES.get(t.dtype.name, (0.0, 0.0)) for t in (a, e)]
        rtol, atol = max(r for r, _ in found), max(t for _, t in found)
    if a.dtype is not e.dtype:
        common = tx.promote_types(a.dtype, e.dtype)
        a, e = a.to(common), e.to(common)
    close = tx.isclose(a, e, rtol=rtol, atol=atol, equal_nan=equal_nan)
    wrong = a.numel() - int(close.sum().item())
    if not wrong:
        return ""
    apart = (a.to(e.dtype) ^ e if e.dtype is tx.bool else (a - e).abs()).masked_fill(close, 0)
    place = int(apart.to(tx.float32).flatten().argmax().item()) if e.dtype is not tx.bool else 0
    share = 100 * wrong / a.numel()
    where = tuple(int(i) for i in tx.unravel_index(tx.tensor(place), a.shape)) if a.dim() else ()
    return (
        f"Tensor-likes are not close!\n\nMismatched elements: {wrong} / {a.numel()} ({share:.1f}%)\n"
        f"Greatest absolute difference: {apart.flatten()[place].item()} at index {where} (up to {atol} allowed)\n"
        f"Tolerance: rtol={rtol}, atol={atol}"
    )


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """A tensor of random numbers in [low, high): by default [-9, 9), for integers [-9, 10), for uint8 [0, 10).

    >>> import tensorx as tx
    >>> tx.testing.make_tensor(2, 3, dtype=tx.float32, device="cpu").shape
    tensorx.Size([2, 3])
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    whole = (*sizes[:-1], 2 * sizes[-1]) if noncontiguous and sizes else sizes
    if dtype is tx.bool:
        made = tx.randint(0, 2, whole, device=device).to(dtype)
    elif dtype.is_complex:
        part = tx.float32 if dtype is tx.complex64 else tx.float64
        span = (-9.0 if low is None else low, 9.0 if high is None else high)
        real, imag = (tx.empty(whole, dtype=part, device=device).uniform_(*span) for _ in range(2))
        made = tx.complex(real, imag)
    elif dtype.is_floating_point:
        span = (-9.0 if low is None else low, 9.0 if high is None else high)
        made = tx.empty(whole, dtype=tx.float32, device=device).uniform_(*span).to(dtype)
    else:
        first = (-9 if dtype.is_signed else 0) if low is None else math.ceil(low)
        made = tx.randint(first, 10 if high is None else math.ceil(high), whole, device=device).to(dtype)
    if exclude_zero:
        made = tx.where(made == 0, tx.ones_like(made), made)
    if noncontiguous and sizes:
        made = made[..., ::2]
    return made.requires_grad_() if requires_grad else made


__all__ = ["assert_close", "make_tensor"]
