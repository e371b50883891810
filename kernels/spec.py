"""What a kernel is, before it is text: operands, a dialect-neutral body and the family whose template gives it loops.

A :class:`KernelSpec` names no device and no dialect.  :func:`tensorx.kernels.generator.render` turns a list of specs
into one :class:`Source`: the program's text, and the argument layout of every entry point in it.

Argument order, the same for every family: for each output then each input a buffer and an i64 element offset; the
error cell if the spec has one; the scalars; the sizes; then the strides, operand by operand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "ITEMSIZE",
    "Arg",
    "KernelSpec",
    "Operand",
    "Source",
    "arguments",
    "is_complex",
    "is_float",
    "is_int",
    "part",
]

#: Bytes of one element of every dtype code.
ITEMSIZE = {
    "b8": 1, "u8": 1, "i8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8,
    "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16,
}  # fmt: skip

FLOATS = frozenset({"f16", "bf16", "f32", "f64"})
COMPLEX = {"c64": "f32", "c128": "f64"}


def is_float(code: str) -> bool:
    """Whether ``code`` is a real floating dtype code.

    >>> is_float("bf16"), is_float("c64"), is_float("i32")
    (True, False, False)
    """
    return code in FLOATS


def is_complex(code: str) -> bool:
    """Whether ``code`` is a complex dtype code.

    >>> is_complex("c64"), is_complex("f64")
    (True, False)
    """
    return code in COMPLEX


def is_int(code: str) -> bool:
    """Whether ``code`` is an integer dtype code (bool is none).

    >>> is_int("u8"), is_int("b8"), is_int("f32")
    (True, False, False)
    """
    return code not in FLOATS and code not in COMPLEX and code != "b8"


def part(code: str) -> str:
    """The dtype code of the scalar that a body sees: the real and imaginary parts' code for a complex dtype.

    >>> part("c64"), part("i32")
    ('f32', 'i32')
    """
    return COMPLEX.get(code, code)


@dataclass(frozen=True)
class Operand:
    """One array argument: ``name`` is ``y0..`` for outputs and ``x0..`` for inputs (``i0..`` for index operands).

    ``dtype`` is the storage code, ``compute`` the code in which the body sees the element, ``access`` the family's
    access class (``'c'`` inner stride one, ``'b'`` one element for all, ``'s'`` general, ...).
    """

    name: str
    dtype: str
    compute: str
    access: str = "c"

    def __post_init__(self) -> None:
        for role, code in (("dtype", self.dtype), ("compute", self.compute)):
            if code not in ITEMSIZE:
                raise ValueError(
                    f"Operand: argument '{role}' must be a dtype code ({', '.join(ITEMSIZE)}); got {code!r}"
                )
        if self.compute in ("f16", "bf16"):
            raise ValueError(
                f"Operand: argument 'compute' must not be a 16-bit float; got {self.compute}. Hint: use f32"
            )
        if is_complex(self.dtype) and not is_complex(self.compute):
            raise ValueError(f"Operand: argument 'compute' must be complex for {self.dtype}; got {self.compute}")


@dataclass(frozen=True)
class KernelSpec:
    """A kernel of one family.

    ``body`` is straight-line C text over typedefs named by the dtype codes; it reads ``x0..`` (compute dtype), the
    scalars and, with ``uses_index``, ``idx`` (the linear logical index, u64), and assigns ``y0..``.  ``index`` is the
    integer type of sizes and strides, ``rank`` the number of merged axes, ``params`` the family's own settings.

    >>> x, y = Operand("x0", "f32", "f32"), Operand("y0", "f32", "f32")
    >>> [o.name for o in KernelSpec("elementwise", "square_f32", (y,), (x,), body="y0 = x0 * x0;").operands]
    ['y0', 'x0']
    """

    family: str
    entry: str
    outputs: tuple[Operand, ...]
    inputs: tuple[Operand, ...]
    scalars: tuple[tuple[str, str], ...] = ()
    body: str = ""
    index: str = "i64"
    rank: int = 1
    uses_index: bool = False
    params: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if self.index not in ("i32", "i64"):
            raise ValueError(f"KernelSpec: argument 'index' must be 'i32' or 'i64'; got {self.index!r}")
        if not self.entry.isidentifier():
            raise ValueError(f"KernelSpec: argument 'entry' must be a C identifier; got {self.entry!r}")

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Outputs, then inputs: the order of buffers and strides in the argument list."""
        return self.outputs + self.inputs

    def param(self, key: str, default: Any = None) -> Any:
        """The value of a family-specific setting.

        >>> KernelSpec("reduce", "s", (), (), params=(("combine", "sum"),)).param("combine")
        'sum'
        """
        for name, value in self.params:
            if name == key:
                return value
        return default


@dataclass(frozen=True)
class Arg:
    """One argument of an entry point: ``kind`` is ``'buffer'``, ``'scalar'`` or ``'local'``; ``code`` its dtype
    code."""

    name: str
    kind: str
    code: str


@dataclass(frozen=True)
class Source:
    """One program: its text, and ``(entry, arguments)`` for every kernel in it."""

    text: str
    entries: tuple[tuple[str, tuple[Arg, ...]], ...] = field(default=())

    def arguments(self, entry: str) -> tuple[Arg, ...]:
        """The argument layout of ``entry``; KeyError if the program has no such kernel."""
        return dict(self.entries)[entry]


def arguments(spec: KernelSpec, sizes: Iterable[str], strides: Iterable[str], error: bool = False) -> tuple[Arg, ...]:
    """The argument list in the fixed order, given the family's names of sizes and strides.

    >>> y = Operand("y0", "f32", "f32")
    >>> [a.name for a in arguments(KernelSpec("elementwise", "fill", (y,), (), (("s0", "f32"),)), ["n0"], [])]
    ['y0_p', 'y0_o', 's0', 'n0']
    """
    args: list[Arg] = []
    for operand in spec.operands:
        args += [Arg(operand.name + "_p", "buffer", operand.dtype), Arg(operand.name + "_o", "scalar", "i64")]
    if error:
        args.append(Arg("err_p", "buffer", "i64"))
    args += [Arg(name, "scalar", code) for name, code in spec.scalars]
    args += [Arg(name, "scalar", spec.index) for name in (*sizes, *strides)]
    return tuple(args)
