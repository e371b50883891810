"""Lint templates and rendered sources: ``python -m tensorx.kernels.check`` prints what it finds and exits with 1.

Templates: no word of one API outside the prelude and the intrinsics' tables; no line that Mako would swallow or take
for a control line; no line continuation (Mako eats it).  Sources: a program without 64-bit floats never says
``double``, not even by a literal without suffix; no Python ``inf``, ``nan`` or ``True`` has leaked into it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from .generator import TEMPLATES
from .spec import KernelSpec, Source

__all__ = ["check_source", "check_template", "check_templates", "main"]

#: Files whose business the API words are.
API_FILES = ("prelude.mako", "intrinsics_")

_API = re.compile(
    r"\b(?:get_(?:global|local)_(?:id|size)|get_group_id|get_num_groups|mem_fence|barrier|CLK_\w+|__?(?:kernel|global|local|private|constant)"
    r"|__global__|__shared__|__device__|__syncthreads|__launch_bounds__|(?:thread|block)Idx|(?:block|grid)Dim"
    r"|atomic_\w+|atom_\w+|atomic[A-Z]\w+|v(?:load|store)_?\w+|as_(?:u?int|float|u?long|double)|__builtin_\w+|__sync_\w+|_Pragma|omp_\w+)\b"
    r"|^[ \t]*#[ \t]*pragma"
)
_CONTROL = re.compile(r"^\s*%\s*(?:if|elif|else|endif|for|endfor|while|endwhile)\b")
_STRAY = re.compile(r"^\s*%(?![%>])")
_PYTHON = re.compile(r"<%(?!doc).*?%>", re.S)
_DOC = re.compile(r"<%doc>.*?</%doc>|/\*.*?\*/|//[^\n]*", re.S)
_DOUBLE = re.compile(r"\bdouble\b|\bf64\b|(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=e))(?:e[-+]?\d+)?(?![\w.])")
_LEAKED = re.compile(r"\b(?:inf|nan|None|True|False)\b")


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """Replace matches by their newlines, so that line numbers stay."""
    return pattern.sub(lambda match: "\n" * match.group().count("\n"), text)


def check_template(name: str, text: str) -> list[str]:
    """Problems of one template, each as ``name:line: what``.

    >>> check_template("a.mako", "int i = get_global_id(0);\\n##gone")
    ['a.mako:1: API word get_global_id outside the prelude', 'a.mako:2: ## at line start vanishes']
    """
    problems = []
    for number, line in enumerate(_blank(_DOC, _blank(_PYTHON, text)).split("\n"), 1):
        at = f"{name}:{number}:"
        word = _API.search(line)
        if word and not name.startswith(API_FILES):
            problems.append(f"{at} API word {word.group().strip()} outside the prelude")
        if re.match(r"\s*##(?! )", line):  # "## text" is a comment that means to vanish
            problems.append(f"{at} ## at line start vanishes")
        if _STRAY.match(line) and not _CONTROL.match(line):
            problems.append(f"{at} stray % at line start")
        if line.lstrip().startswith("#") and line.endswith("\\"):
            problems.append(f"{at} Mako eats the line continuation")
    return problems


def check_templates(folder: Path = TEMPLATES) -> list[str]:
    """Problems of every template in a folder."""
    return [
        problem
        for path in sorted(folder.glob("*.mako"))
        for problem in check_template(path.name, path.read_text("utf-8"))
    ]


def _holds_doubles(spec: KernelSpec) -> bool:
    """Operands count, and numbers where no operand is a float (a mask that is drawn for f64): kernels over
    narrow floats that compute in f64 are what the lint is there to find.
    """
    held = {operand.dtype for operand in spec.operands}
    narrow = held & {"f16", "bf16", "f32", "c64"}
    return bool(held & {"f64", "c128"}) or (not narrow and any(code == "f64" for _, code in spec.scalars))


def check_source(source: Source, specs: list[KernelSpec]) -> list[str]:
    """Problems of a rendered program, each as ``line: what: text``.

    >>> check_source(Source("f32 y = 1.0;\\nf32 z = 1.0f;"), [])
    ['1: double precision in a program without f64: f32 y = 1.0;']
    """
    wide = any(_holds_doubles(spec) for spec in specs)
    problems: list[str] = []
    for number, line in enumerate(_blank(_DOC, source.text).split("\n"), 1):
        if not wide and _DOUBLE.search(line):
            problems.append(f"{number}: double precision in a program without f64: {line.strip()}")
        if _LEAKED.search(line):
            problems.append(f"{number}: a Python literal: {line.strip()}")
    return problems


def main() -> int:
    """Lint the installed templates."""
    problems = check_templates()
    print("\n".join(problems) or f"{len(list(TEMPLATES.glob('*.mako')))} templates are clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
