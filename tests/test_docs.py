"""What the documentation says is executed: doctest examples of the library, Python blocks of the pages, commands."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import tensorx

ROOT = Path(__file__).resolve().parent.parent
# Their ``python`` blocks are programs; a fragment's block is called ``py``.
PROGRAMS = ("README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")))
OPTIONAL = ("pyopencl", "dpctl", "pycuda")


def module_names() -> list[str]:
    found = pkgutil.walk_packages(tensorx.__path__, "tensorx.")
    return sorted(["tensorx", *(module.name for module in found if not module.name.endswith("__main__"))])


@pytest.mark.parametrize("name", module_names())
def test_examples_of_docstrings(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        pytest.skip(f"needs {error.name}")
    # A long result may be wrapped where it stands; how tensors are laid out has tests of its own.
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(module, optionflags=flags).failed == 0


def python_blocks() -> list[tuple[str, str]]:
    pages = [(page, (ROOT / page).read_text()) for page in PROGRAMS]
    return [(page, block) for page, text in pages for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)]


@pytest.mark.parametrize(("page", "block"), python_blocks())
def test_python_blocks_run_and_print_what_they_say(page, block, capsys):
    exec(compile(block, page, "exec"), {"__name__": "__main__"})
    said = re.findall(r"print\(.*\)  # (.*)", block)
    if said:
        assert capsys.readouterr().out.splitlines() == said


def test_links_between_pages_exist():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert not broken, "\n".join(broken)


def test_environment_variables_are_documented():
    """Every TENSORX_ variable of the library is on a page of the manual (or is the test suite's own)."""
    sources = [path for room in ("tensorx", "kernels", "devices") for path in (ROOT / room).rglob("*.py")]
    read = {name for path in sources for name in re.findall(r"[\"'](TENSORX_[A-Z_]+)[\"']", path.read_text())}
    pages = "".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))
    assert not [name for name in sorted(read) if name not in pages]
