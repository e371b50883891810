"""All works, by family."""

from __future__ import annotations

import importlib
from pathlib import Path

from benchmarks.work import Work


def all_works() -> list[Work]:
    """What the modules here list as WORKS, in the order of their names."""
    stems = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")
    return [work for stem in stems for work in importlib.import_module(f"benchmarks.works.{stem}").WORKS]
