"""Small programs with known answers: text that runs with any PyTorch-like module, and the answer as JSON.

A program is an expression, or statements that leave their result in ``r``. It sees ``T`` (the module), ``t`` (T.tensor),
``F``, ``nn``, ``np``, ``math``, ``inf``, ``nan``, the dtypes by name and `g` (gradients of a function).
"""

from __future__ import annotations

import copy
import io
import math
import pickle
import warnings
from types import ModuleType
from typing import Any

import numpy as np

DTYPES = [
    "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]


def plain(x: Any) -> Any:
    """A result as JSON: a tensor with dtype, shape, values and whether it requires grad; what is not finite as text."""
    if hasattr(x, "detach") and hasattr(x, "tolist"):
        return ["tensor", str(x.dtype).split(".")[-1], list(x.shape), plain(x.detach().tolist()), bool(x.requires_grad)]
    if isinstance(x, list | tuple):
        return [plain(v) for v in x]
    if isinstance(x, complex):
        return ["complex", plain(x.real), plain(x.imag)]
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    if x is None or isinstance(x, bool | int | float | str):
        return x
    return str(x).rsplit(".", 1)[-1]


def names(module: ModuleType) -> dict[str, Any]:
    """What a program sees."""

    def g(function: Any, *values: Any, dtype: Any = None) -> Any:
        """Gradients of ``function(*values).sum()``."""
        xs = [module.tensor(v, dtype=dtype or module.float32, requires_grad=True) for v in values]
        y = function(*xs)
        (y.sum() if y.dim() else y).backward()
        found = [x.grad.tolist() for x in xs]
        return found[0] if len(found) == 1 else found

    def opt(make: Any, steps: int = 3, start: float = 1.0, grads: Any = (1.0, -2.0, 0.5)) -> Any:
        """One parameter's values after each step with given gradients."""
        p = module.nn.Parameter(module.tensor([start], dtype=module.float64))
        optimizer, values = make([p]), []
        for step in range(steps):
            p.grad = module.tensor([grads[step]], dtype=module.float64)
            optimizer.step()
            values.append(round(p.item(), 10))
        return values

    def sch(make: Any, steps: int = 6, lr: float = 1.0) -> Any:
        """The learning rates that a schedule gives."""
        optimizer = module.optim.SGD([module.nn.Parameter(module.tensor([1.0]))], lr, momentum=0.9)
        schedule, rates = make(optimizer), [optimizer.param_groups[0]["lr"]]
        for _ in range(steps):
            optimizer.step()
            schedule.step()
            rates.append(optimizer.param_groups[0]["lr"])
        return [round(rate, 6) for rate in rates]

    seen = {"T": module, "t": module.tensor, "nn": module.nn, "F": module.nn.functional, "np": np, "math": math, "g": g}
    seen |= {"opt": opt, "sch": sch, "copy": copy, "io": io, "pickle": pickle}
    return seen | {"inf": math.inf, "nan": math.nan, "bool_": module.bool} | {d: getattr(module, d) for d in DTYPES}


def answer(module: ModuleType, text: str) -> dict[str, Any]:
    """``{"gives": value}``, or ``{"raises": [classes]}`` of the exception."""
    space = names(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if is_expression(text):
                return {"gives": plain(eval(text, space))}
            exec(text, space)
            if "r" not in space and hasattr(module, "synchronize"):
                module.synchronize()
            return {"gives": plain(space.get("r"))}
        except Exception as error:  # the class is part of the answer
            mro = [c.__name__.lstrip("_") for c in type(error).__mro__ if c not in (object, BaseException, Exception)]
            return {"raises": mro, "text": str(error)}


def is_expression(text: str) -> bool:
    """Whether a program is one expression."""
    try:
        compile(text, "", "eval")
    except SyntaxError:
        return False
    return True


def largest(x: Any) -> float:
    """The largest finite magnitude among the floats of an answer."""
    if isinstance(x, list):
        return max(map(largest, x), default=0.0)
    return abs(x) if type(x) is float and math.isfinite(x) else 0.0


def close(a: Any, b: Any, absolute: float | None = None) -> bool:
    """Equal answers; floats within what float32 and other orders of summation allow: two units of the largest one."""
    if absolute is None:
        absolute = 2e-6 + 2.4e-7 * largest(b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(close(x, y, absolute) for x, y in zip(a, b, strict=True))
    if type(a) in (int, float) and type(b) in (int, float):
        return a == b or (float in (type(a), type(b)) and math.isclose(a, b, rel_tol=2e-5, abs_tol=absolute))
    return type(a) is type(b) and a == b


def agrees(got: dict[str, Any], want: dict[str, Any]) -> bool:
    """Whether an answer is the recorded one: a value like it, or an exception that catching PyTorch's class catches."""
    if "raises" in want:
        return "raises" in got and want["raises"][0] in got["raises"]
    return "gives" in got and close(got["gives"], want["gives"])
