"""Window functions in their older form (hann_window, ...), and values spaced evenly on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorx import dtypes
from tensorx.dtypes import dtype as DType
from tensorx.ops import factories
from tensorx.ops.arguments import checked
from tensorx.tensor import Tensor


def _older(name: str, kind: str, *options: tuple[str, float]) -> Callable[..., Tensor]:
    def window(window_length: int, periodic: bool = True, *args: float, dtype: DType | None = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
               pin_memory: bool = False, **named: float) -> Tensor:
        from tensorx.signal import windows
        if window_length < 0:
            raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
        d = dtype or dtypes.get_default_dtype()
        if d.kind != dtypes.FLOAT:
            raise RuntimeError(f"{name} expects floating point dtypes, got: {d.name}")
        values = dict(options) | dict(zip([o for o, _ in options], args, strict=False)) | named
        if name == "hamming_window":
            made = windows.general_cosine(window_length, a=[values.pop("alpha"), values.pop("beta")], sym=not periodic, dtype=d.compute, device=device, **values)
        else:
            made = getattr(windows, kind)(window_length, sym=not periodic, dtype=d.compute, device=device, **values)
        made = made.to(d)
        return made.requires_grad_() if requires_grad else made
    window.__name__ = window.__qualname__ = name
    window.__doc__ = (f"The window of `tensorx.signal.windows.{kind}`, periodic unless ``periodic=False``. RuntimeError for a negative length.\n\n    >>> import tensorx\n"
                      f"    >>> tensorx.{name}(8).shape\n    tensorx.Size([8])\n    ")
    return checked(window)


hann_window, hamming_window = _older("hann_window", "hann"), _older("hamming_window", "hamming", ("alpha", 0.54), ("beta", 0.46))
blackman_window, bartlett_window = _older("blackman_window", "blackman"), _older("bartlett_window", "bartlett")
kaiser_window = _older("kaiser_window", "kaiser", ("beta", 12.0))


@checked
def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, out: Tensor | None = None, dtype: DType | None = None, layout: Any = None, device: Any = None,
             requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """Powers of ``base`` whose exponents are evenly spaced from start to end, both included.

    >>> import tensorx
    >>> tensorx.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    d = dtype or (out.dtype if out is not None else dtypes.get_default_dtype())
    device = out.device if out is not None else device
    work = d if d.kind >= dtypes.FLOAT else dtypes.get_default_dtype()
    exponents = factories.linspace(start, end, steps, dtype=work.compute, device=device)
    found: Tensor = exponents.new_full((), base).pow(exponents).to(d)
    if out is not None:
        return out.resize_(found._shape).copy_(found)
    return found.requires_grad_() if requires_grad else found


@checked
def scalar_tensor(s: Any, *, dtype: DType | None = None, layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A zero-dim tensor of a number, in the default dtype unless another is given.

    >>> import tensorx
    >>> tensorx.scalar_tensor(3)
    tensor(3.)
    """
    return factories.full((), s, dtype=dtype or dtypes.get_default_dtype(), device=device, requires_grad=requires_grad, layout=layout)
