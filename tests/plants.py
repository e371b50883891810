"""Faults to plant into the text of a program: a test that means to find such faults must find these."""

from __future__ import annotations

import re

_STORE = re.compile(r"(TX_STORE_\w+\(y\d+_\w+, )")


def without_barrier(text: str, number: int) -> str:
    """One barrier less, counted from the top."""
    parts = text.split("TX_BARRIER;")
    assert 0 <= number < len(parts) - 1, f"{len(parts) - 1} barriers"
    return "TX_BARRIER;".join(parts[: number + 1]) + ";" + "TX_BARRIER;".join(parts[number + 1 :])


def stores_off_by_one(text: str) -> str:
    """Every result is stored one element further on."""
    changed, count = _STORE.subn(r"\g<1>1 + ", text)
    assert count, "nothing is stored"
    return changed
