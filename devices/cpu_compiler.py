"""Generated C on the host: finding a compiler, building, loading.

The compiler is asked for its predefined macros once (about 10 ms, nothing is compiled). They say which vector
instructions ``-march=native`` means, whether fma is an instruction, and they are the part of the cache key that
changes with compiler and processor.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import itertools
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tensorx.devices.base import Source, raise_compile_error
from tensorx.errors import CompileError, DeviceError

#: Values are those of NumPy and of the other dialects: no contraction, no fast-math, signed overflow wraps, types
#: may be punned. Without errno and floating-point traps (nobody reads either) loops with sqrt and selections vectorise.
#: Of what -O3 adds to -O2, kernels gain by vectorisation and by unrolling short loops; with the rest GCC takes twice as
#: long for the same speed.
FLAGS = (
    *("-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic", "-fpeel-loops", "-fno-tree-pre"),
    *("-std=gnu11", "-fPIC", "-shared", "-w", "-Werror=implicit-function-declaration"),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fwrapv", "-fno-strict-aliasing"),
)

_CTYPES: dict[str, Any] = {
    "b8": ctypes.c_uint8, "u8": ctypes.c_uint8, "i8": ctypes.c_int8, "u16": ctypes.c_uint16, "i16": ctypes.c_int16,
    "u32": ctypes.c_uint32, "i32": ctypes.c_int32, "u64": ctypes.c_uint64, "i64": ctypes.c_int64,
    "f32": ctypes.c_float, "f64": ctypes.c_double,
}  # fmt: skip
_OPENMP_LIBRARIES = ("libgomp.spec", "libomp.so", "libomp.dylib")
_serial = itertools.count(1)


@dataclass(frozen=True)
class Compiler:
    """A C compiler that answered. ``features`` are its predefined macros, ``flags`` all that builds use."""

    command: tuple[str, ...]
    version: str
    features: dict[str, str]
    flags: tuple[str, ...]
    openmp: bool

    @property
    def simd_width(self) -> int:
        """f32 lanes of the widest vector."""
        for macro, lanes in (("__AVX512F__", 16), ("__AVX__", 8), ("__SSE__", 4), ("__ARM_NEON", 4)):
            if macro in self.features:
                return lanes
        return 1

    @property
    def fast_fma(self) -> bool:
        return "__FMA__" in self.features or "__FP_FAST_FMAF" in self.features

    @property
    def fingerprint(self) -> str:
        macros = "\n".join(f"{k} {v}" for k, v in sorted(self.features.items()))
        digest = hashlib.sha256(macros.encode()).hexdigest()
        return f"{' '.join(self.command)}|{self.version}|{' '.join(self.flags)}|{digest}"

    def build(self, source: Source) -> bytes:
        """The shared library's bytes; CompileError with the compiler's log otherwise."""
        with tempfile.TemporaryDirectory(prefix="tensorx-") as folder:
            path = Path(folder, "kernel.so")
            command = [*self.command, *self.flags, "-x", "c", "-", "-o", str(path), "-lm"]
            done = subprocess.run(command, input=source.text.encode(), capture_output=True, check=False)
            if done.returncode or not path.exists():
                raise_compile_error(" ".join(self.command), source.text, done.stderr.decode(errors="replace"), ".c")
            return path.read_bytes()


def _candidates() -> list[tuple[str, ...]]:
    """Compiler commands to try, best first. TENSORX_CC is an order: nothing else is tried, and it must exist."""
    forced = os.environ.get("TENSORX_CC", "")
    if forced == "none":
        return []
    if forced:
        command = tuple(shlex.split(forced))
        if shutil.which(command[0]) is None:
            raise DeviceError(
                f"TENSORX_CC: must name a C compiler or be 'none'; got {forced!r}, which is not found. "
                "Hint: unset it to search."
            )
        return [command]
    found = [tuple(shlex.split(text)) for text in (os.environ.get("CC", ""), "cc", "gcc", "clang") if text]
    found = [command for command in found if shutil.which(command[0])]
    if importlib.util.find_spec("ziglang"):
        found.append((sys.executable, "-m", "ziglang", "cc"))
    return found


def _ask(command: tuple[str, ...], *options: str) -> str | None:
    """What the compiler prints, or None when it fails. Where it reads a program, the program needs the C library."""
    try:
        done = subprocess.run(
            [*command, *options], input="#include <stdint.h>\n", capture_output=True, text=True, check=False
        )
    except OSError:  # found but cannot be executed
        return None
    return done.stdout if done.returncode == 0 else None


def _native(command: tuple[str, ...]) -> tuple[str, str] | None:
    """The option that means this processor, and the macros under it."""
    for option in ("-march=native", "-mcpu=native", "-O3"):
        macros = _ask(command, option, "-dM", "-E", "-x", "c", "-")
        if macros is not None:
            return option, macros
    return None


@functools.cache
def find() -> Compiler | None:
    """The first compiler that works, or None; asked once a process. DeviceError if TENSORX_CC names one that fails."""
    for command in _candidates():
        answer = _native(command)
        if answer is None:
            if os.environ.get("TENSORX_CC"):
                raise DeviceError(
                    f"TENSORX_CC: must name a working C compiler or be 'none'; got {' '.join(command)!r}, which cannot "
                    "preprocess '#include <stdint.h>'. Hint: unset it to search."
                )
            continue
        option, macros = answer
        lines = (line.split(" ", 2) for line in macros.splitlines() if line.startswith("#define "))
        features = {words[1]: words[2] if len(words) > 2 else "" for words in lines}
        # A compiler may accept -fopenmp and link against nothing (zig): ask where the library is. An answer without
        # a folder means nowhere.
        names = _OPENMP_LIBRARIES[1:] if "__clang__" in features else _OPENMP_LIBRARIES[:1]
        openmp = any(os.sep in (_ask(command, f"-print-file-name={name}") or "") for name in names)
        flags = (*FLAGS, option, "-fopenmp" if openmp else "-fopenmp-simd")
        return Compiler(command, features.get("__VERSION__", "").strip('"'), features, flags, openmp)
    return None


def missing() -> str:
    """Why there is no compiler and what to do about it."""
    if os.environ.get("TENSORX_CC") == "none":
        return "TENSORX_CC=none turns generated C off"
    return (
        "no working C compiler was found (TENSORX_CC, CC, cc, gcc, clang, the ziglang wheel): "
        "install gcc with the C library's headers, or pip install 'tensorx-gpu[jit]'"
    )


def load(blob: bytes) -> ctypes.CDLL:
    """A shared library from its bytes, never from a path that others could write to."""
    if not hasattr(os, "memfd_create"):
        return _load_from_folder(blob)
    fd = os.memfd_create("tensorx-kernel", os.MFD_CLOEXEC)
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(blob)
        # The loader takes a path that it has seen for the library it found there, and descriptors are used again:
        # spell each path differently.
        serial = next(_serial)
        spelling = "".join("./" if serial >> bit & 1 else "/" for bit in range(serial.bit_length()))
        return _open(f"/proc/self/fd/{spelling}{fd}") if _memory_executable() else _load_from_folder(blob)
    finally:
        os.close(fd)


@functools.cache
def _memory_executable() -> bool:
    """Some systems forbid executing memory files (vm.memfd_noexec=2) or hide /proc."""
    setting = Path("/proc/sys/vm/memfd_noexec")
    return Path("/proc/self/fd").exists() and not (setting.exists() and setting.read_text().strip() == "2")


def _load_from_folder(blob: bytes) -> ctypes.CDLL:
    """Through a private temporary folder; the mapping outlives the file."""
    with tempfile.TemporaryDirectory(prefix="tensorx-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, f"kernel{next(_serial)}.so")
        path.write_bytes(blob)
        return _open(str(path))


def _open(path: str) -> ctypes.CDLL:
    try:
        with _short_waits():
            return ctypes.CDLL(path)
    except OSError as error:
        raise CompileError(f"the system's loader refused a compiled kernel: {error}", log=str(error)) from error


@contextlib.contextmanager
def _short_waits() -> Iterator[None]:
    """gcc's OpenMP, which reads its settings when it is loaded, lets idle threads spin for milliseconds. Where other
    processes want the processors too, each kernel then waits out a time slice (16 ms measured against 50 us). So spin
    for about 30 us, which bridges the gap between two calls, unless the user has said otherwise.
    """
    if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = "400"
    try:
        yield
    finally:
        os.environ.pop("GOMP_SPINCOUNT", None)


def bind(library: ctypes.CDLL, source: Source) -> dict[str, Any]:
    """Entry name -> ctypes function that takes Buffers and Python numbers directly."""
    kernels = {}
    for entry, layout in source.entries:
        function = library[entry]
        function.argtypes = [ctypes.c_void_p if arg.kind == "buffer" else _CTYPES[arg.code] for arg in layout]
        function.restype = None
        kernels[entry] = function
    return kernels


def processor() -> str:
    """The processor's marketing name."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
