"""PyTorch's recorded answers, and the check of a row and its oracle against them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

from checking.compare import oracle
from checking.gradients import Differentiation
from checking.layouts import Placed
from checking.sampling import CPU, Case, numpy_cpu
from tensorx import autograd, dtypes
from tensorx.tensor import from_host

FILE = Path(__file__).parents[2] / "data" / "torch_rows.json"
RTOL, ATOL = 1e-9, 1e-11


def cotangent(shape: Any, dtype: Any) -> Any:
    """The cotangents that gradients are recorded for: not all equal, and short."""
    x = (np.arange(int(np.prod(shape))) % 5 - 1.5).astype(dtype)
    return (x * (1 + 0.5j) if x.dtype.kind == "c" else x).reshape(tuple(shape))


def encode(value: Any) -> Any:
    """Plain JSON: arrays with their dtype code and shape, numbers to 14 digits, complex ones as pairs."""
    if isinstance(value, np.ndarray | np.generic):
        value = np.asarray(value)
        flat = np.ascontiguousarray(value).reshape(-1)
        flat = flat.view(np.float64) if flat.dtype.kind == "c" else flat
        numbers = [float(f"{x:.14g}") if flat.dtype.kind == "f" else x for x in flat.tolist()]
        return {"array": dtypes.of_numpy(value.dtype).code, "shape": list(value.shape), "values": numbers}
    if isinstance(value, dtypes.dtype):
        return {"dtype": value.code}
    if isinstance(value, tuple):
        return {"tuple": [encode(v) for v in value]}
    return {k: encode(v) for k, v in value.items()} if isinstance(value, dict) else value


def decode(value: Any) -> Any:
    """What `encode` was given; arrays become cpu tensors."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return from_host(array(value), dtypes.FROM_CODE[value["array"]], CPU)
    if "dtype" in value:
        return dtypes.FROM_CODE[value["dtype"]]
    if "tuple" in value:
        return tuple(decode(v) for v in value["tuple"])
    return {k: decode(v) for k, v in value.items()}


def array(value: dict[str, Any]) -> Any:
    """A recorded array."""
    d = dtypes.FROM_CODE[value["array"]]
    flat = np.array(value["values"], d.real.np)
    return (flat.view(d.np) if d.is_complex else flat).reshape(value["shape"])


@functools.cache
def rows() -> dict[str, Any]:
    """Recorded calls of each row."""
    return json.loads(FILE.read_text())["rows"]  # type: ignore[no-any-return]


def close(have: Any, want: Any) -> bool:
    """Equal to double precision."""
    return np.shape(have) == np.shape(want) and np.allclose(have, want, RTOL, ATOL, equal_nan=True)


def check(op: Any, entries: list[Any]) -> None:
    """The oracle's values, the row's values and dtypes, and its gradients are PyTorch's."""
    with numpy_cpu():
        for i, entry in enumerate(entries):
            _check(op, entry, f"{op.name} sample {i}")


def _check(op: Any, entry: dict[str, Any], label: str) -> None:
    case = Case(decode(entry["args"]), decode(entry["kwargs"]))
    wants = [array(r) for r in entry["results"]]
    for have, want in zip(oracle(op, Placed(op, case, CPU, "contiguous")), wants, strict=True):
        assert close(np.asarray(have), want), f"{label}: the oracle says\n{have}\nPyTorch\n{want}"
    call = Differentiation(op, case, CPU)
    args, kwargs = call.placed.map(lambda t: t)
    result = op(*args, **kwargs)
    results = list(result) if isinstance(result, tuple | list) else [result]
    for got, want, recorded in zip(results, wants, entry["results"], strict=True):
        assert got.dtype.code == recorded["array"], f"{label}: {got.dtype.name}, PyTorch gives {recorded['array']}"
        assert close(got._host(), want), f"{label}: got\n{got._host()}\nPyTorch\n{want}"
    if "grads" in entry:
        ends = [r for r in results[: entry.get("ends")] if r.requires_grad]
        cotangents = [from_host(cotangent(r.shape, r.dtype.np), r.dtype, r.device) for r in ends]
        grads = autograd.grad(ends, call.inputs, cotangents, allow_unused=True)
        for got, recorded in zip(grads, entry["grads"], strict=True):
            have = None if got is None else got._host()
            want = None if recorded is None else array(recorded)
            none = have is None or want is None
            same = (0 if have is None else have, 0 if want is None else want)
            assert not np.any(same[0]) and not np.any(same[1]) if none else close(*same), (
                f"{label}: gradient\n{have}\nPyTorch\n{want}"
            )
