"""OpenCL C to SPIR-V, for queues that take no source text.

The compiler is Intel's opencl-clang, a library: ``libcommon_clang`` of the wheel ``intel-opencl-rt`` (the extra
``sycl`` brings it), or the ``libopencl-clang`` of Intel's GPU drivers. Its interface is one C function, whose result is
a C++ object; opencl_clang.h (https://github.com/intel/opencl-clang) fixes the order of that object's virtual functions.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
import re
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tensorx.devices import icd

INSTALL = "pip install intel-opencl-rt"
_WHEEL_LIBRARY = "libcommon_clang.so"
_SYSTEM_LIBRARIES = ("opencl-clang", "common_clang")
#: Plain SPIR-V: what extensions a consumer takes is not known here, and Intel's CPU runtime refuses some of the
#: compiler's own choice.
_EMIT = "-emit-spirv -spirv-ext=-all"
_OPENCL_C = b"120"
_MAGIC = (0x07230203).to_bytes(4, "little")


class Compiler:
    """The library. Calls take turns: versions differ in whether they may overlap."""

    def __init__(self, path: str) -> None:
        #: Distinguishes versions: the files' names do not.
        self.identity = f"{path} {os.path.getsize(path) if os.path.isfile(path) else ''}"
        self._lock = threading.Lock()
        self._compile = ctypes.CDLL(path).Compile
        text, size = ctypes.c_char_p, ctypes.c_size_t
        headers = (ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p)
        precompiled = (ctypes.c_void_p, size)
        self._compile.argtypes = [text, *headers, *precompiled, text, text, text, ctypes.POINTER(ctypes.c_void_p)]

    def __call__(self, text: str, options: str, extensions: Iterable[str] = ()) -> tuple[bytes, str]:
        """The module, empty if the text was refused, and the log. ``extensions`` are those of the device."""
        switches = ",".join(f"+{name}" for name in extensions)
        emit = f"{_EMIT} -cl-ext={switches}" if switches else _EMIT
        result = ctypes.c_void_p()
        words = (options.encode(), emit.encode(), _OPENCL_C)
        with self._lock:
            code = self._compile(text.encode(), None, 0, None, None, 0, *words, ctypes.byref(result))
        if not result:
            return b"", f"(opencl-clang gave error {code} for the options {options!r})"
        module, log = _take(result)
        accepted = code == 0 and module.startswith(_MAGIC)
        return (module, log) if accepted else (b"", log or f"(opencl-clang gave error {code} and no log)")


def _take(result: ctypes.c_void_p) -> tuple[bytes, str]:
    """Binary and log of an IOCLFEBinaryResult, which is released."""
    table = ctypes.cast(ctypes.cast(result, ctypes.POINTER(ctypes.c_void_p))[0], ctypes.POINTER(ctypes.c_void_p))

    def call(place: int, answer: Any) -> Any:
        return ctypes.CFUNCTYPE(answer, ctypes.c_void_p)(table[place])(result)

    try:
        size, start = call(0, ctypes.c_size_t), call(1, ctypes.c_void_p)
        name, log = ((call(place, ctypes.c_char_p) or b"").decode(errors="replace") for place in (2, 4))
        # The text's name is a running number, which would read as a line's.
        return ctypes.string_at(start, size) if start else b"", re.sub(rf"(?m)^{name}:", "line ", log).strip()
    finally:
        call(5, None)


def _paths() -> list[str]:
    wheels = [Path(folder, _WHEEL_LIBRARY) for folder in icd.wheel_folders()]
    system = [ctypes.util.find_library(name) for name in _SYSTEM_LIBRARIES]
    return [str(path) for path in wheels if path.is_file()] + [name for name in system if name]


@functools.cache
def find() -> Compiler | None:
    """The first library that loads, or None."""
    for path in _paths():
        try:
            return Compiler(path)
        except (OSError, AttributeError):  # of another architecture, or without that function
            continue
    return None
