"""The corner programs of tests/data/corners on every lane (what they are and how answers were recorded:
tests/data/record_corners.py)."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from checking import building
from lanes import default_device
from programs import agrees, answer

import tensorx
from tensorx import nn  # noqa: F401  # programs name tensorx.nn

DATA = Path(__file__).parents[1] / "data" / "corners"
CHUNK = 60
#: NumPy arrays share memory with the cpu alone
HOST = ("np.", "numpy(", "pickle")
#: what asks for double precision: by name, as Python's float, or inside (powers, the optimisers' helper)
F64 = re.compile(r"float64|complex128|double|linalg|\bfloat\)|dtype=float\b|float_power|\bopt\(")


#: what was recorded where there is no such device
NO_CUDA = "autocast('cuda'"


def chunks() -> list[tuple[str, list[dict]]]:
    """Programs of one file, so many a test: their kernels are built together."""
    found = []
    for path in sorted(DATA.glob("*.json")):
        if path.stem != "result_types":
            entries = json.loads(path.read_text())
            found += [(f"{path.stem}{i // CHUNK}", entries[i : i + CHUNK]) for i in range(0, len(entries), CHUNK)]
    return found


def runs_on(text: str, device) -> bool:
    """Whether a program can run there: what needs host memory or float64 is left out elsewhere."""
    caps = device.runtime.capabilities
    if device.type == "cuda" and NO_CUDA in text:
        return False
    on_host = device.type == "cpu" or not any(word in text for word in HOST)
    return on_host and (caps.supports("f64") or not F64.search(text))


@pytest.mark.parametrize("entries", [pytest.param(e, id=name) for name, e in chunks()])
def test_programs(entries, device, request):
    entries = [e for e in entries if runs_on(e["run"], device)]
    full = request.config.getoption("--full", False) or os.environ.get("TENSORX_COVER") == "full"
    if device.runtime.capabilities.compiler and not full:  # kernels cost time: the reported failures, and every sixth program
        entries = [e for i, e in enumerate(entries) if "case" in e or i % 6 == 0]
    building.prime(device, [lambda d, e=e: attempt(e["run"], d) for e in entries])
    failures = []
    for entry in entries:
        got = attempt(entry["run"], device)
        if not agrees(got, entry.get("ours", entry)):
            failures.append(f"{entry['run']}\n    got  {got}\n    want { {k: v for k, v in entry.items() if k != 'run'} }")
    assert not failures, f"{len(failures)} of {len(entries)} programs:\n" + "\n".join(failures)


def attempt(text: str, device):
    """A program's answer with ``device`` as the default one."""
    with default_device(device):
        return answer(tensorx, text)
