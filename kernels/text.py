"""Text helpers of the templates: signatures, casts, and the accessors through which a kernel reaches memory.

``TX_LOAD_<storage>(p, i)`` and ``TX_STORE_<storage>(p, i, v)`` (prelude) move one element between memory and the dtype
in which it is held (f16 and bf16 as f32); :func:`load` and :func:`store` wrap them for an operand, with casts, and with
complex operands split into real and imaginary part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from .spec import Arg, Operand, is_complex, is_float, part

__all__ = [
    "address",
    "array",
    "cast",
    "close",
    "coords",
    "declare",
    "held",
    "is_complex",
    "keep",
    "kept",
    "load",
    "moved",
    "part",
    "pointer",
    "signature",
    "start",
    "store",
    "tasks",
    "tidy",
]

_SIZES = {"i8": 1, "u8": 1, "b8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8}


def held(code: str) -> str:
    """The dtype in which a loaded element is held: f32 for the 16-bit floats, the part's dtype for complex.

    >>> held("bf16"), held("c128"), held("i8")
    ('f32', 'f64', 'i8')
    """
    return "f32" if code in ("f16", "bf16") else part(code)


def cast(value: str, source: str, target: str) -> str:
    """``value`` of dtype ``source`` as ``target``; float to int goes through the intrinsic that defines the corners.

    >>> cast("v", "f32", "f32"), cast("v", "i32", "b8"), cast("v", "u8", "f32"), cast("v", "f32", "i16")
    ('v', '((v) != 0)', '((f32)(v))', 'tx_cast_f32_i16(v)')
    """
    if source == target:
        return value
    if target == "b8":
        return f"(({value}) != 0)"
    if is_float(source) and not is_float(target):
        return f"tx_cast_{source}_{target}({value})"
    return f"(({target})({value}))"


def signature(entry: str, args: Sequence[Arg]) -> str:
    """``entry(parameters)``; inputs are pointers to const.

    >>> signature("f", (Arg("x0_p", "buffer", "c64"), Arg("x0_o", "scalar", "i64")))
    'f(TX_GLOBAL const f32 *x0_p, i64 x0_o)'
    """
    words = []
    for arg in args:
        if arg.kind == "scalar":
            words.append(f"{held(arg.code)} {arg.name}")
        else:
            space = "TX_LOCAL" if arg.kind == "local" else "TX_GLOBAL"
            const = " const" if re.fullmatch(r"[xi]\d+_p", arg.name) else ""
            words.append(f"{space}{const} {part(arg.code)} *{arg.name}")
    return f"{entry}({', '.join(words)})"


def pointer(operand: Operand, name: str, offset: str) -> str:
    """Declare ``name`` as the operand's pointer moved by ``offset`` elements.

    >>> pointer(Operand("x0", "c64", "c64"), "x0_q", "i")
    'TX_GLOBAL const f32 *x0_q = x0_p + 2 * (i);'
    """
    return moved(operand, name, operand.name + "_p", offset)


def moved(operand: Operand, name: str, base: str, offset: str) -> str:
    """Declare ``name`` as the pointer ``base`` moved by ``offset`` elements.

    Wherever a loop is to become vectors, its index is added to a pointer alone: with wrapping 32-bit arithmetic a sum
    of two indices is no linear address, and gcc would gather.

    >>> moved(Operand("x0", "f32", "f32"), "x0_v", "x0_q", "i")
    'TX_GLOBAL const f32 *x0_v = x0_q + (i);'
    """
    const = " const" if operand.name[0] in "xi" else ""
    step = f"2 * ({offset})" if is_complex(operand.dtype) else f"({offset})"
    return f"TX_GLOBAL{const} {part(operand.dtype)} *{name} = {base} + {step};"


def start(operands: Iterable[Operand]) -> str:
    """Move every pointer to its first element: the element offset is an argument, there are no sub-buffers.

    >>> start([Operand("x0", "c64", "c64"), Operand("x1", "f32", "f32")])
    'x0_p += 2 * x0_o;\\nx1_p += x1_o;'
    """
    return "\n".join(f"{o.name}_p += {'2 * ' if is_complex(o.dtype) else ''}{o.name}_o;" for o in operands)


def load(operand: Operand, index: str, name: str = "", base: str = "") -> str:
    """Declare the operand's variable (``x0``, or ``x0r`` and ``x0i``; or ``name``) with the element at ``index`` of its
    pointer (or of the pointer ``base``).

    >>> load(Operand("x0", "f16", "f32"), "i")
    'f32 x0 = TX_LOAD_f16(x0_p, i);'
    >>> load(Operand("x0", "c64", "c64"), "i", base="x0_q")
    'f32 x0r = TX_LOAD_f32(x0_q, 2 * (i)), x0i = TX_LOAD_f32(x0_q, 2 * (i) + 1);'
    """
    name, base = name or operand.name, base or operand.name + "_p"
    want, have = part(operand.compute), held(operand.dtype)
    if is_complex(operand.dtype):
        real = cast(f"TX_LOAD_{have}({base}, 2 * ({index}))", have, want)
        imag = cast(f"TX_LOAD_{have}({base}, 2 * ({index}) + 1)", have, want)
        return f"{want} {name}r = {real}, {name}i = {imag};"
    value = cast(f"TX_LOAD_{operand.dtype}({base}, {index})", have, want)
    if is_complex(operand.compute):
        return f"{want} {name}r = {value}, {name}i = 0;"
    return f"{want} {name} = {value};"


def _sides(operand: Operand) -> list[str]:
    return [operand.name + "r", operand.name + "i"] if is_complex(operand.compute) else [operand.name]


def array(operand: Operand, size: int) -> str:
    """Declare room for ``size`` loaded elements of the operand.

    >>> array(Operand("x0", "c64", "c64"), 4)
    'f32 x0r_v[4], x0i_v[4];'
    """
    return f"{part(operand.compute)} {', '.join(f'{name}_v[{size}]' for name in _sides(operand))};"


def keep(operand: Operand, index: str) -> str:
    """Put the loaded element into that room.

    >>> keep(Operand("x0", "f32", "f32"), "k")
    'x0_v[k] = x0;'
    """
    return " ".join(f"{name}_v[{index}] = {name};" for name in _sides(operand))


def kept(operand: Operand, index: str) -> str:
    """Declare the operand's variable(s) from that room.

    >>> kept(Operand("x0", "f32", "f32"), "k")
    'const f32 x0 = x0_v[k];'
    """
    code = part(operand.compute)
    return " ".join(f"const {code} {name} = {name}_v[{index}];" for name in _sides(operand))


def declare(operand: Operand, name: str = "") -> str:
    """Declare an output's variable(s), for the body to assign.

    >>> declare(Operand("y0", "c64", "c64")), declare(Operand("y0", "f16", "f32"))
    ('f32 y0r, y0i;', 'f32 y0;')
    """
    name, code = name or operand.name, part(operand.compute)
    return f"{code} {name}r, {name}i;" if is_complex(operand.compute) else f"{code} {name};"


def store(operand: Operand, index: str, base: str = "") -> str:
    """Store the output's variable(s) at ``index`` of ``base``; a complex value stored as real keeps its real part.

    >>> store(Operand("y0", "bf16", "f32"), "i")
    'TX_STORE_bf16(y0_p, i, y0);'
    """
    name, base, have, want = operand.name, base or operand.name + "_p", part(operand.compute), held(operand.dtype)
    if is_complex(operand.dtype):
        values = [cast(name + side, have, want) for side in "ri"]
        places = [f"2 * ({index})", f"2 * ({index}) + 1"]
        return " ".join(f"TX_STORE_{want}({base}, {at}, {value});" for at, value in zip(places, values, strict=True))
    value = name + "r" if is_complex(operand.compute) else name
    return f"TX_STORE_{operand.dtype}({base}, {index}, {cast(value, have, want)});"


def tasks(grid: bool, count: str, work: str) -> str:
    """Open the block of one task. Dialect C loops over the tasks in parallel; elsewhere each is a work-group of one
    item.

    >>> tasks(True, "n", "n")
    '{ const i64 task = TX_GROUP(0);'
    """
    if grid:
        return "{ const i64 task = TX_GROUP(0);"
    return f"TX_PARALLEL({work})\nfor (i64 task = 0; task < {count}; ++task) {{"


def address(terms: Iterable[str]) -> str:
    """A sum of index terms, ``0`` if there are none.

    >>> address([]), address(["i * x0_s0", "j"])
    ('0', 'i * x0_s0 + j')
    """
    return " + ".join(terms) or "0"


def coords(linear: str, names: Sequence[str], sizes: Sequence[str], index: str) -> str:
    """Declare ``names`` as the row-major coordinates of ``linear`` (whose name is reused as scratch ``<linear>_q``).

    >>> coords("t", ["c0"], ["n0"], "i32")
    'const i32 c0 = t;'
    >>> print(coords("t", ["c0", "c1"], ["n0", "n1"], "i32"))
    i32 t_q = t;
    const i32 c1 = t_q % n1; t_q /= n1;
    const i32 c0 = t_q;
    """
    if not names:
        return ""
    if len(names) == 1:
        return f"const {index} {names[0]} = {linear};"
    lines = [f"{index} {linear}_q = {linear};"]
    for name, size in list(zip(names, sizes, strict=True))[:0:-1]:
        lines.append(f"const {index} {name} = {linear}_q % {size}; {linear}_q /= {size};")
    lines.append(f"const {index} {names[0]} = {linear}_q;")
    return "\n".join(lines)


def close(words: Mapping[str, str], used: Iterable[str]) -> dict[str, str]:
    """The part of a macro table that ``used`` needs, in the table's order, with what those macros mention in turn.

    >>> close({"TX_A(x)": "TX_B", "TX_B": "1", "TX_C": "2"}, {"TX_A"})
    {'TX_A(x)': 'TX_B', 'TX_B': '1'}
    """
    wanted, todo = set(), list(used)
    while todo:
        word = todo.pop()
        for key, value in words.items():
            name = key.split("(")[0]
            if key not in wanted and (name == word or (word.endswith("_") and name.startswith(word))):
                wanted.add(key)
                todo += re.findall(r"TX_\w+", value)
    return {key: value for key, value in words.items() if key in wanted}


def tidy(text: str) -> str:
    """Re-indent by braces, drop trailing blanks and runs of empty lines, so that templates may be laid out freely.

    >>> print(tidy("f() {\\n\\n\\nfor (;;) {\\na;\\n      }\\n}"), end="")
    f() {
    <BLANKLINE>
      for (;;) {
        a;
      }
    }
    """
    out, depth = [], 0
    for raw in text.strip().split("\n"):
        line = raw.strip()
        closing = len(line) - len(line.lstrip("}"))
        out.append("  " * max(0, depth - closing) + line if line and not line.startswith("#") else line)
        depth += line.count("{") - line.count("}")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)) + "\n" if text.strip() else ""
