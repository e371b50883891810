"""The host's processor."""

from __future__ import annotations


def get_cpu_capability() -> str:
    """The widest vector instructions of this processor: ``DEFAULT``, ``AVX2`` or ``AVX512``.

    >>> get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
    True
    """
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = next((set(line.split()) for line in file if line.startswith("flags")), set())
    except OSError:
        flags = set()
    return "AVX512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "DEFAULT"
