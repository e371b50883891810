"""Sphinx settings: ``tox -e docs`` or ``sphinx-build -W docs docs/_build/html``."""

from __future__ import annotations

import importlib
import json
import re
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

project = "tensorx"
author = "the tensorx developers"
copyright = "2026, the tensorx developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "tensorx"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
autodoc_default_options = {"members": True, "exclude-members": "forward, extra_repr, update"}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures carry few types beyond Any; docstrings say what is expected
autosummary_generate = False


def differences() -> str:
    """Where an answer differs from PyTorch's on purpose: what the corner programs of the tests record as ``ours``."""
    rows = []
    for path in sorted((ROOT / "tests" / "data" / "corners").glob("*.json")):
        entries = json.loads(path.read_text())
        rows += [(entry["run"], entry["why"]) for entry in entries if isinstance(entry, dict) and "why" in entry]
    blocks = [f"{why[0].upper()}{why[1:]}:\n\n```py\n{run}\n```\n" for run, why in rows]
    return "\n".join(blocks)


def listed(names: list[str], directive: str) -> str:
    """One autodoc directive a name, with the lines around them that reStructuredText wants."""
    return "\n\n".join(f".. {directive}:: {name}" for name in names)


def members(module: str, kind: type) -> list[str]:
    """The full names of the public classes (or functions) of a module that come from tensorx."""
    found = importlib.import_module(module)
    names = sorted(n for n, v in vars(found).items() if isinstance(v, kind) and not n.startswith("_"))
    return [f"{module}.{n}" for n in names if getattr(found, n).__module__.startswith("tensorx")]


def fill_in(app: object, name: str, source: list[str]) -> None:
    """Put what is derived from other files into the pages that ask for it."""
    text = source[0].replace("<!-- differences -->", differences())
    for word, module, kind, directive in (
        (".. MODULES", "tensorx.nn", type, "autoclass"),
        (".. FUNCTIONS", "tensorx.nn.functional", types.FunctionType, "autofunction"),
        (".. OPTIMISERS", "tensorx.optim", type, "autoclass"),
        (".. DATA", "tensorx.data", type, "autoclass"),
        (".. DISTRIBUTIONS", "tensorx.distributions", type, "autoclass"),
    ):
        if word in text:
            text = text.replace(word, listed(members(module, kind), directive))
    source[0] = text


def escape_stars(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """``(*shape, 3)`` in a docstring is a shape, not the start of emphasised words."""
    star = re.compile(r"``.*?``|(?<![\w*\\])\*(?=\w)")
    for i, line in enumerate(lines):
        if ">>>" not in line:
            lines[i] = star.sub(lambda found: found[0] if found[0] != "*" else "\\*", line)


def setup(app: object) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", escape_stars)  # type: ignore[attr-defined]
    app.connect("source-read", fill_in)  # type: ignore[attr-defined]
