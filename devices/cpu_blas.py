"""The number of threads of the BLAS libraries that NumPy and SciPy load (OpenBLAS under its several names, MKL)."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

_PREFIXES = ("scipy_openblas_", "openblas_")
_SUFFIXES = ("64_", "", "64")


def _loaded() -> list[str]:
    """Files of BLAS libraries that this process has loaded (Linux)."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            paths = {line.split(maxsplit=5)[5].strip() for line in maps if line.count("/")}
    except OSError:
        return []
    return sorted(p for p in paths if "openblas" in p.rpartition("/")[2] or "libmkl_rt" in p)


def _functions(verb: str) -> Iterator[ctypes._NamedFuncPointer]:
    names = [f"{p}{verb}_num_threads{s}" for p in _PREFIXES for s in _SUFFIXES]
    names.append(f"MKL_{verb.capitalize()}_{'Num' if verb == 'set' else 'Max'}_Threads")
    for path in _loaded():
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(path)
            found = next((getattr(library, n) for n in names if hasattr(library, n)), None)
            if found is not None:
                yield found


def set_threads(count: int) -> None:
    """Let every loaded BLAS use up to ``count`` threads."""
    for function in _functions("set"):
        function.argtypes, function.restype = [ctypes.c_int], None
        function(count)


def get_threads() -> list[int]:
    """What each loaded BLAS uses.

    >>> all(n >= 1 for n in get_threads())
    True
    """
    return [int(function()) for function in _functions("get")]
