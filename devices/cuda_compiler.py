"""CUDA C to machine code: NVRTC from its wheel, or nvcc.

TENSORX_NVCC is an order: the nvcc that it names is used and must work. Without it NVRTC is taken (it is a library:
no process, no host compiler), else the nvcc on the PATH.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from tensorx.errors import DeviceError

#: Products and sums are fused only where a kernel says so. Warnings are for the tests, which ask for them.
FLAGS = ("--fmad=false", "-w")


class Refused(Exception):
    """A compiler's log."""


class Nvcc:
    """The compiler driver of a CUDA toolkit."""

    def __init__(self, path: str) -> None:
        self.path = path
        shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        self.version = "nvcc " + (shown.strip().splitlines() or ["of no version"])[-1]

    def compile(self, text: str, capability: tuple[int, int]) -> bytes:
        """Machine code for the compute capability. Raises Refused."""
        with tempfile.TemporaryDirectory(prefix="tensorx-nvcc-") as folder:
            source, target = Path(folder, "kernels.cu"), Path(folder, "kernels.cubin")
            source.write_text(text, encoding="utf-8")
            command = [self.path, "-cubin", f"-arch={_arch('sm', capability)}", *FLAGS, "-o", str(target), str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode or not target.exists():
                raise Refused(done.stderr + done.stdout or f"nvcc ended with status {done.returncode}")
            return target.read_bytes()


class Nvrtc:
    """NVIDIA's compiler as a library."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.version = f"NVRTC {major.value}.{minor.value}"
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        known = (ctypes.c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", known)
        self._newest = max(divmod(number, 10) for number in known)

    def _call(self, name: str, *args: object) -> None:
        status = getattr(self._library, name)(*args)
        if status:
            explain = self._library.nvrtcGetErrorString
            explain.restype = ctypes.c_char_p
            raise Refused(f"{name}: {explain(status).decode()}")

    def compile(self, text: str, capability: tuple[int, int]) -> bytes:
        """Machine code; for a card newer than this NVRTC PTX, which the driver translates. Raises Refused."""
        what, arch = ("CUBIN", _arch("sm", capability))
        if capability > self._newest:
            what, arch = ("PTX", _arch("compute", self._newest))
        options = [f"--gpu-architecture={arch}", *FLAGS]
        program = ctypes.c_void_p()
        self._call("nvrtcCreateProgram", ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None)
        try:
            words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            try:
                self._call("nvrtcCompileProgram", program, len(options), words)
            except Refused as refusal:
                log = self._text("nvrtcGetProgramLog", program).decode(errors="replace")
                raise Refused(log or str(refusal)) from None
            return self._text(f"nvrtcGet{what}", program)
        finally:
            self._call("nvrtcDestroyProgram", ctypes.byref(program))

    def _text(self, name: str, program: ctypes.c_void_p) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"{name}Size", program, ctypes.byref(size))
        room = ctypes.create_string_buffer(size.value)
        self._call(name, program, room)
        return room.raw.rstrip(b"\0") if name == "nvrtcGetProgramLog" else room.raw


def _arch(kind: str, capability: tuple[int, int]) -> str:
    return f"{kind}_{capability[0]}{capability[1]}"


def _wheels() -> list[Path]:
    """NVRTC as wheels install it (nvidia/cu13/lib, nvidia/cuda_nvrtc/lib), the newest first."""
    spec = importlib.util.find_spec("nvidia")
    folders = spec.submodule_search_locations or () if spec else ()
    found = [path for folder in folders for path in Path(folder).glob("*/lib/libnvrtc.so.*")]
    versions = {path: int(tail[0]) for path in found if (tail := re.findall(r"so\.(\d+)$", path.name))}
    return sorted(versions, key=versions.__getitem__, reverse=True)


@functools.cache
def find() -> Nvcc | Nvrtc | None:
    """The compiler in use, or None. Raises DeviceError if TENSORX_NVCC names something else than a working nvcc."""
    ordered = os.environ.get("TENSORX_NVCC")
    if ordered:
        try:
            return Nvcc(ordered)
        except (OSError, subprocess.CalledProcessError) as error:
            raise DeviceError(
                f"TENSORX_NVCC: must name an nvcc that runs; got {ordered!r}: {error}. Hint: unset it to use NVRTC."
            ) from error
    for path in _wheels():
        try:
            return Nvrtc(ctypes.CDLL(str(path)))
        except (OSError, AttributeError, Refused):  # of another machine, too old, or without its other half
            continue
    found = shutil.which("nvcc")
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        return Nvcc(found) if found else None
    return None
