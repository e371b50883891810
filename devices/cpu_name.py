"""A processor name for drivers whose compiler does not know the processor it runs on.

PoCL hands the name that LLVM detects to clang, which takes every name but "generic", LLVM's answer for a processor
newer than itself (https://github.com/pocl/pocl/issues/1049; PoCL 3.0 with LLVM 14 on Zen 5). No option overrides it:
the device builds nothing at all. Once its compiler has said so, the word in the driver's device record that points to
the refused name is made to point to the x86-64 level of this processor; nothing else is touched.
"""

from __future__ import annotations

import ctypes
import os
import re

import numpy as np

#: Where in a device record the name is looked for, in bytes.
_RECORD_BYTES = 4096
_WORD = ctypes.sizeof(ctypes.c_void_p)
#: Records point to the names for as long as the process lives.
_NAMES: dict[str, ctypes.Array[ctypes.c_char]] = {}


def level() -> str:
    """The x86-64 psABI level that NumPy's own dispatch finds."""
    simd = np.show_config("dicts")["SIMD Extensions"]
    has = {*simd.get("baseline", ()), *simd.get("found", ())}
    if has & {"X86_V4", "AVX512_SKX"}:
        return "x86-64-v4"
    return "x86-64-v3" if has & {"X86_V3", "AVX2"} else "x86-64"


def teach(record: int, log: str) -> str:
    """The name put in place of the one that ``log`` refuses, or "" where ``record`` points to no such name.

    Memory is read through the kernel, which answers with an error where there is none.
    """
    refused = re.search(r"unknown target CPU '(generic)'", log)
    if refused is None:
        return ""
    old, new = refused[1].encode() + b"\0", level()
    try:
        memory = os.open("/proc/self/mem", os.O_RDONLY)
    except OSError:
        return ""
    try:
        for place in range(record, record + _RECORD_BYTES, _WORD):
            if _text(memory, place, len(old)) == old:
                name = _NAMES.setdefault(new, ctypes.create_string_buffer(new.encode()))
                ctypes.c_void_p.from_address(place).value = ctypes.addressof(name)
                return new
    finally:
        os.close(memory)
    return ""


def _text(memory: int, place: int, length: int) -> bytes:
    """What the pointer at ``place`` points to."""
    try:
        return os.pread(memory, length, int.from_bytes(os.pread(memory, _WORD, place), "little"))
    except (OSError, OverflowError):
        return b""
