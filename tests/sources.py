"""Every kernel that the tests render is linted where it is rendered: in passing, in all dialects, whatever the test.

A program may hold kernels of several dtypes, and one f64 kernel lets it say ``double``. So each kernel is linted as a
program of its own, once a process.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest

#: What was found, taken by the report of the test that rendered it (see conftest.py).
problems: list[str] = []


def watch(patch: pytest.MonkeyPatch) -> None:
    """Put the lint around `generator.render`; its ``__wrapped__`` is the plain one, for tests that render bad text."""
    from tensorx.kernels import check, generator

    usual, seen = generator.render, set()

    @functools.wraps(usual)
    def render(specs: Any, caps: Any) -> Any:
        source = usual(specs, caps)
        for spec in specs:
            if (spec, caps) not in seen:
                seen.add((spec, caps))
                alone = source if len(specs) == 1 else usual([spec], caps)
                where = f"{spec.family} kernel {spec.entry} in {caps.dialect}, line "
                problems.extend(where + found for found in check.check_source(alone, [spec]))
        return source

    patch.setattr(generator, "render", render)


def take() -> str:
    """What was found since the last time."""
    found, problems[:] = "\n".join(problems), []
    return found
