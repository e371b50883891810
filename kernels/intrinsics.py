"""Definitions of the ``tx_NAME_CODE`` helper functions in the dialects ``c``, ``opencl`` and ``cuda``.

Kernel bodies are dialect-neutral: besides plain operators they call only these functions. :func:`define` returns the
text of the ones that a program uses, with their dependencies, in dependency order. The regular families (casts, bit
casts, selections, polynomials) are generated here; all others are read from the tables ``templates/intrinsics_*.c``,
whose notation is:

- ``//@ c opencl cuda | f32 f64`` opens a section: the dialects and the dtype codes for which its functions are written;
- functions are separated by blank lines; ``$T`` is the dtype code, ``$U`` and ``$S`` are the unsigned and signed
  integer of its width, ``$BITS`` is that width;
- ``1.5_T`` is a literal of the right type, ``$INF`` and ``$NAN`` are constants, ``$m.sqrt(x)`` is the dialect's library
  function;
- ``$c.name`` and ``$p.name(x)`` are a constant and a polynomial of ``polynomials.py``, ``$k.name(x)`` is a series of
  ``chebyshev.py``;
- ``TX_FMA_$T(a, b, c)`` is one fma where that is one instruction, else ``a * b + c``, and ``TX_MULERR_$T(a, b, p)`` is
  the exact rounding error of ``p = a * b``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tensorx.errors import RenderError

from .chebyshev import SERIES
from .polynomials import CONSTANTS, POLYNOMIALS

if TYPE_CHECKING:
    from .capabilities import Capabilities

SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
FLOATS = ("f32", "f64")
CODES = ("b8", *UNSIGNED, *SIGNED, *FLOATS)
DIALECTS = ("c", "opencl", "cuda")

_QUALIFIER = {
    "c": "static inline __attribute__((always_inline))",
    "opencl": "static inline",
    "cuda": "static __device__ __forceinline__",
}
_CONSTANTS = {  # (infinity, NaN) by dialect and code
    ("c", "f32"): ("__builtin_inff()", '__builtin_nanf("")'),
    ("c", "f64"): ("__builtin_inf()", '__builtin_nan("")'),
    ("opencl", "f32"): ("as_float(0x7f800000)", "as_float(0x7fc00000)"),
    ("opencl", "f64"): ("as_double(0x7ff0000000000000L)", "as_double(0x7ff8000000000000L)"),
    ("cuda", "f32"): ("__int_as_float(0x7f800000)", "__int_as_float(0x7fc00000)"),
    ("cuda", "f64"): ("__longlong_as_double(0x7ff0000000000000LL)", "__longlong_as_double(0x7ff8000000000000LL)"),
}
_NAME = re.compile(r"\btx_\w+")
_LITERAL = re.compile(r"(?<![\w.])(0x[0-9a-fA-F.]+p[-+]?\d+|\d+\.\d*(?:e[-+]?\d+)?)_T\b")
_LIBRARY = re.compile(r"\$m\.(\w+)")
_CONSTANT = re.compile(r"\$c\.(\w+)")
_HEAD = re.compile(r"^(?!//|static|#)[^\n(=]*?\b(tx_\w+)\(", re.M)


def define(names: Iterable[str], dialect: str, caps: Capabilities) -> str:
    """Return the definitions of ``names`` and of all that they use, each once, dependencies first.

    Raises RenderError for a name that the dialect does not have, and for a float64 function on a device without fp64.

    >>> from tensorx.kernels.capabilities import Capabilities
    >>> print(define({"tx_where_u8"}, "opencl", Capabilities("opencl")))
    static inline u8 tx_where_u8(b8 c, u8 a, u8 b) { return c ? a : b; }
    """
    done: dict[str, str] = {}
    for name in sorted(set(names)):
        _collect(name, done, dialect, caps)
    return "\n".join(done.values())


def used(text: str, dialect: str) -> set[str]:
    """Return the names of the intrinsics that occur in ``text``; other ``tx_`` words are left out.

    >>> sorted(used("y0 = tx_exp_f32(tx_max_f32(x0, x1)); tx_other(y0);", "c"))
    ['tx_exp_f32', 'tx_max_f32']
    """
    return {name for name in _NAME.findall(text) if name in table(dialect)}


def _collect(name: str, done: dict[str, str], dialect: str, caps: Capabilities) -> None:
    if name in done:
        return
    text, needed, double = _entry(name, dialect, caps.fast_fma)
    if double and not caps.fp64:
        raise RenderError(f"define: {name} needs float64 arithmetic; the device has none (fp64=False)")
    for other in needed:
        _collect(other, done, dialect, caps)
    done[name] = text


@cache
def _entry(name: str, dialect: str, fast_fma: bool) -> tuple[str, tuple[str, ...], bool]:
    """(text, the intrinsics it calls, whether it mentions float64)."""
    known = table(dialect)
    if name not in known:
        raise RenderError(f"define: argument 'names' must hold intrinsics of the {dialect} dialect; got {name!r}")
    text = _spell_fma(known[name], dialect, fast_fma)
    needed = tuple(other for other in dict.fromkeys(_NAME.findall(text)) if other != name and other in known)
    return text, needed, re.search(r"\bf64\b", text) is not None


def _spell_fma(text: str, dialect: str, fast: bool) -> str:
    """Spell ``TX_FMA_*`` and ``TX_MULERR_*`` (see the module's text) for a device with or without fma."""
    for code in FLOATS:
        text = text.replace(f"TX_FMA_{code}(", (_library("fma", dialect, code) if fast else f"tx_muladd_{code}") + "(")
        text = text.replace(f"TX_MULERR_{code}(", f"tx_mulerr_{'fma' if fast else 'split'}_{code}(")
    return text


@cache
def table(dialect: str) -> dict[str, str]:
    """All intrinsics of a dialect: name -> text."""
    entries: dict[str, str] = {}
    for name, text in [*_regular(dialect), *_written(dialect)]:
        if name in entries:
            raise RenderError(f"table: {name} is defined twice in the {dialect} dialect")
        entries[name] = text
    return entries


# ---------------------------------------------------------------------------------------------------- regular families


def _function(dialect: str, result: str, name: str, arguments: str, body: str) -> tuple[str, str]:
    return name, f"{_QUALIFIER[dialect]} {result} {name}({arguments}) {{ {body} }}"


def _regular(dialect: str) -> list[tuple[str, str]]:
    out = []
    for code in CODES:
        out.append(_function(dialect, code, f"tx_where_{code}", f"b8 c, {code} a, {code} b", _where_body(code)))
        for target in CODES:
            out.append(_function(dialect, target, f"tx_cast_{code}_{target}", f"{code} x", _cast_body(code, target)))
    for real, whole in (("f32", "u32"), ("f32", "i32"), ("f64", "u64"), ("f64", "i64")):
        for source, target in ((real, whole), (whole, real)):
            name = f"tx_bits_{source}_{target}"
            out.append(_function(dialect, target, name, f"{source} x", _bits_body(dialect, source, target)))
    for name, by_code in POLYNOMIALS.items():
        for code, coefficients in by_code.items():
            body = f"return {_horner(code, coefficients)};"
            out.append(_function(dialect, code, f"tx_poly_{name}_{code}", f"{code} x", body))
    for name, series in SERIES.items():
        for code in FLOATS:
            out.append(_function(dialect, code, f"tx_series_{name}_{code}", f"{code} x", _clenshaw(code, series)))
    return out


def _where_body(code: str) -> str:
    """C widens narrow integers to int before it chooses. Where the sign is what is widened, LLVM 15's code generator
    crashes for processors with AVX-512 (rusticl's vectors of eight i8): unsigned, the bits are the same.
    """
    if code not in ("i8", "i16"):
        return "return c ? a : b;"
    return f"return ({code})(c ? (u{code[1:]})a : (u{code[1:]})b);"


def _clenshaw(code: str, series: tuple[float, ...]) -> str:
    """Clenshaw's recurrence, which loses no digits where a polynomial in powers would.

    For float32 the sum ends with the last term above its precision.
    """
    suffix = "f" if code == "f32" else ""
    if code == "f32":
        floor = max(map(abs, series)) * 4e-9
        series = series[: max(i for i, c in enumerate(series) if abs(c) > floor) + 1]
    lines, names = [f"{code} t = x + x, a = {series[-1]!r}{suffix}, b = 0.0{suffix};"], ["b", "a"]
    for c in series[-2:0:-1]:
        lines.append(f"{names[0]} = TX_FMA_{code}(t, {names[1]}, {c!r}{suffix} - {names[0]});")
        names.reverse()
    return " ".join([*lines, f"return TX_FMA_{code}(x, {names[1]}, {series[0]!r}{suffix} - {names[0]});"])


def _horner(code: str, coefficients: tuple[float, ...]) -> str:
    suffix = "f" if code == "f32" else ""
    text = f"{coefficients[-1]!r}{suffix}"
    for value in coefficients[-2::-1]:
        text = f"TX_FMA_{code}({text}, x, {value!r}{suffix})"
    return text


def _cast_body(source: str, target: str) -> str:
    """The text of a cast.

    C leaves float -> integer undefined outside the target's range. Here it is what x86, and so NumPy and PyTorch, does:
    out of range and NaN give the most negative int32 or int64, narrower targets keep the low bits of that.
    """
    if source == target:
        return "return x;"
    if target == "b8":
        return "return x != 0;"
    if source == "b8" and target in FLOATS:  # gcc makes vectors of a selection, not of a conversion from bytes
        return "return x ? 1.0f : 0.0f;" if target == "f32" else "return x ? 1.0 : 0.0;"
    if source not in FLOATS or target in FLOATS:
        return f"return ({target})x;"
    suffix = "f" if source == "f32" else ""
    if target in ("i32", "i64"):
        bound = f"{2.0 ** (int(target[1:]) - 1)!r}{suffix}"
        return f"{source} t = (x >= -{bound} && x < {bound}) ? x : -{bound}; return ({target})t;"
    if target == "u64":
        half, full = f"{2.0**63!r}{suffix}", f"{2.0**64!r}{suffix}"
        return f"return (x >= {half} && x < {full}) ? (u64)x : (u64)tx_cast_{source}_i64(x);"
    through = "i64" if target == "u32" else "i32"
    return f"return ({target})tx_cast_{source}_{through}(x);"


def _bits_body(dialect: str, source: str, target: str) -> str:
    if dialect == "opencl":
        kind = {"f32": "float", "f64": "double", "u32": "uint", "i32": "int", "u64": "ulong", "i64": "long"}[target]
        return f"return as_{kind}(x);"
    if dialect == "c":
        return f"{target} r; __builtin_memcpy(&r, &x, sizeof r); return r;"
    real, word, cast = ("float", "int", "int") if source[1:] == "32" else ("double", "longlong", "long long")
    return f"return ({target})__{real}_as_{word}(x);" if source in FLOATS else f"return __{word}_as_{real}(({cast})x);"


# ------------------------------------------------------------------------------------------------------ written tables


def _written(dialect: str) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    for path in sorted((Path(__file__).parent / "templates").glob("intrinsics_*.c")):
        for dialects, codes, block in _blocks(path.read_text(encoding="utf-8")):
            if dialect in dialects:
                out += [_expand(block, code, dialect) for code in codes]
    return out


def _blocks(text: str) -> Iterable[tuple[list[str], list[str], str]]:
    """Yield (dialects, codes, function text) of each function of a table."""
    for section in re.split(r"^//@", text, flags=re.M)[1:]:
        head, _, rest = section.partition("\n")
        dialects, codes = (part.split() for part in head.split("|"))
        for block in re.split(r"\n\s*\n", rest):
            code = "\n".join(line for line in block.strip().splitlines() if not line.startswith("//"))
            if code:
                yield dialects, codes, code


def _expand(block: str, code: str, dialect: str) -> tuple[str, str]:
    width = "8" if code == "b8" else code[1:]
    infinity, nan = _CONSTANTS.get((dialect, code), ("", ""))
    text = block.replace("$T", code).replace("$U", "u" + width).replace("$S", "i" + width)
    text = text.replace("$BITS", width).replace("$INF", infinity).replace("$NAN", nan)
    text = _LITERAL.sub(r"\1f" if code == "f32" else r"\1", text)
    text = _LIBRARY.sub(lambda match: _library(match[1], dialect, code), text)
    text = _CONSTANT.sub(lambda match: CONSTANTS[match[1]][code], text)
    text = re.sub(r"\$p\.(\w+)", rf"tx_poly_\1_{code}", text)
    text = re.sub(r"\$k\.(\w+)", rf"tx_series_\1_{code}", text)
    head = _HEAD.search(text)
    if head is None:
        raise RenderError(f"table: no function in {block!r}")
    return head[1], f"{text[: head.start()]}{_QUALIFIER[dialect]} {text[head.start() :]}"


def _library(name: str, dialect: str, code: str) -> str:
    if dialect == "opencl":
        return name
    return ("__builtin_" if dialect == "c" else "") + name + ("f" if code == "f32" else "")
