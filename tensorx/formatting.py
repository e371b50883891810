"""How tensors print: PyTorch's format.

Widths follow the values that are nonzero and finite. Whole numbers print with a bare dot; values that span more than
three decades (or leave 1e-4 ... 1e8) print in scientific notation. Only the values shown travel from the device.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.devices import registry
from tensorx.tensor import Tensor, make


@dataclass(slots=True)
class Options:
    """What `set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES: dict[str, dict[str, float]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
options = Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print. None leaves an option as it is, but ``sci_mode=None`` means: choose by the values.

    Args:
        precision: digits after the point (default 4).
        threshold: tensors with more elements are summarised (1000).
        edgeitems: elements shown at both ends of each summarised dimension (3).
        linewidth: characters in a line (80).
        profile: ``"default"``, ``"short"`` or ``"full"``: a set of the four above. ValueError for another name.
        sci_mode: scientific notation always (True), never (False), or where values need it (None).

    >>> import tensorx
    >>> tensorx.set_printoptions(precision=2)
    >>> tensorx.tensor([3.14159, 1.])
    tensor([3.14, 1.00])
    >>> tensorx.set_printoptions(profile="default")
    """
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"set_printoptions: argument 'profile' must be one of {', '.join(PROFILES)}; got {profile!r}")
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in [*PROFILES.get(profile or "", {}).items(), *given.items()]:
        if value is not None:
            setattr(options, name, value)
    options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options now, as keyword arguments for `set_printoptions`.

    >>> import tensorx
    >>> tensorx.get_printoptions()["precision"]
    4
    """
    return asdict(options)


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """A context with other options; takes what `set_printoptions` takes.

    >>> import tensorx
    >>> with tensorx.printoptions(sci_mode=True):
    ...     tensorx.tensor(1.5)
    tensor(1.5000e+00)
    """
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


Array = np.ndarray[Any, Any]
Format = Callable[[Any], str]


def _float_format(values: Array) -> tuple[Format, int]:
    """How a floating-point array's values print, and the width that most of them have."""
    flat = values.reshape(-1)
    flat = flat[np.isfinite(flat) & (flat != 0)].astype(np.float64)
    if not flat.size:
        return _padded(1, _integral), 1
    size = np.abs(flat)
    low, high = float(size.min()), float(size.max())
    sci = (high / low > 1000 or high > 1e8 or low < 1e-4) if options.sci_mode is None else options.sci_mode
    if sci:
        return _widest(flat, f"{{:.{options.precision}e}}".format)
    if bool((flat == np.ceil(flat)).all()):
        return _widest(flat, _integral)
    return _widest(flat, f"{{:.{options.precision}f}}".format)


def _integral(value: float) -> str:
    """A whole number with the dot that says: a float."""
    return f"{value:.0f}" + ("." if math.isfinite(value) else "")


def _widest(flat: Array, form: Format) -> tuple[Format, int]:
    width = max(len(form(v)) for v in flat.tolist())
    return _padded(width, form), width


def _padded(width: int, form: Format) -> Format:
    return lambda value: form(value).rjust(width)


def _format_of(values: Array) -> tuple[Format, int]:
    """The format of one array's values, and the width of one of them."""
    if values.dtype.kind == "c":
        (real, real_width), (imag, imag_width) = _float_format(values.real), _float_format(values.imag)

        def form(value: complex) -> str:
            part = imag(value.imag).lstrip() + "j"
            return real(value.real) + (part if part[0] in "+-" else "+" + part)

        return form, real_width + imag_width + 1
    if values.dtype.kind in "biu":
        # Extremes are the longest numbers; False is longer than True.
        ends = [values.min(), values.max()] if values.size else []
        width = max((len(str(v)) for v in ends), default=1)
        return _padded(width, str), width
    return _float_format(values)


def _vector(values: list[Any], cut: bool, form: Format, width: int, indent: int) -> str:
    items = [form(v) for v in values]
    if cut:
        items.insert(options.edgeitems, " ...")
    per_line = max(1, (options.linewidth - indent) // (width + 2))
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _block(values: Any, cuts: list[bool], form: Format, width: int, indent: int) -> str:
    """Nested lists of values as text; ``cuts`` says of each remaining dimension whether its middle was left out."""
    if len(cuts) == 1:
        return _vector(values, cuts[0], form, width, indent)
    slices = [_block(v, cuts[1:], form, width, indent + 1) for v in values]
    if cuts[0]:
        slices.insert(options.edgeitems, "...")
    return "[" + ("," + "\n" * (len(cuts) - 1) + " " * (indent + 1)).join(slices) + "]"


def _edges(t: Tensor, cuts: list[bool], dim: int = 0) -> Array:
    """The values that are shown: both ends of each cut dimension."""
    if not any(cuts[dim:]):
        return t._host()
    if not cuts[dim]:
        return _edges(t, cuts, dim + 1)
    n, edge, strides = t._shape[dim], options.edgeitems, t._get_strides()
    shape = (*t._shape[:dim], edge, *t._shape[dim + 1 :])
    ends = (make(t._storage, shape, strides, t._offset + start * strides[dim], t.dtype) for start in (0, n - edge))
    return np.concatenate([_edges(end, cuts, dim + 1) for end in ends], axis=dim)


def _contents(t: Tensor, indent: int) -> str:
    edge = options.edgeitems
    summarise = t.numel() > options.threshold
    if summarise and not edge:
        return "[...]"
    cuts = [summarise and n > 2 * edge for n in t._shape]
    values = _edges(t, cuts)
    if t.dtype is dtypes.bfloat16:
        values = values.astype(np.float32)
    form, width = _format_of(values)
    return _block(values.tolist(), cuts, form, width, indent) if cuts else form(values.tolist())


def _history(t: Tensor) -> list[str]:
    try:
        node = t.grad_fn
    except RuntimeError:  # a view made under no_grad whose base was written in place has no history to show
        return ["grad_fn=<Invalid>"]
    if node is not None:
        return [f"grad_fn=<{node.name()}>"]
    return ["requires_grad=True"] if t.requires_grad else []


def _joined(text: str, suffixes: list[str], indent: int) -> str:
    """Suffixes behind the values, on a line of their own where the line would grow too long."""
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if column + len(suffix) + 2 > options.linewidth:
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text + ")"


def tensor_repr(t: Tensor) -> str:
    """The text of a tensor, as PyTorch prints it. Waits for the device.

    >>> import tensorx
    >>> tensorx.formatting.tensor_repr(tensorx.tensor([[1., 2.5], [float("nan"), -3.]], dtype=tensorx.float64))
    'tensor([[ 1.0000,  2.5000],\\n        [    nan, -3.0000]], dtype=tensorx.float64)'
    """
    parameter = False
    plain = type(t) is Tensor
    if not plain:
        from tensorx.nn.parameter import Parameter

        plain = type(t) is Parameter
        parameter = not plain and isinstance(t, Parameter)
    prefix = "tensor(" if plain else f"{type(t).__name__}("
    default = dtypes.get_default_dtype()
    # The cpu and the default device go without saying, so that a script's output does not depend on where it ran.
    home = t.device.type == "cpu" or (t.device is registry.resolve() and not t.is_meta)
    suffixes = [] if home else [f"device='{t.device}'"]
    size, empty = f"size={tuple(t._shape)}", t.numel() == 0
    if t.is_meta or (empty and t.ndim != 1) or (not empty and not options.edgeitems):
        suffixes.append(size)
    # Whole numbers and truth values tell their dtype by their looks; without values there is nothing to tell it by.
    shown = (default,) if t.is_meta or empty else (default, default.to_complex(), dtypes.int64, dtypes.bool_)
    if t.dtype not in shown:
        suffixes.append(f"dtype={t.dtype}")
    contents = "..." if t.is_meta else "[]" if empty else _contents(t, len(prefix))
    text = _joined(prefix + contents, suffixes + _history(t), len(prefix))
    return f"Parameter({text})" if parameter else text
