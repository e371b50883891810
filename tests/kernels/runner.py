"""Run rendered kernels without the library: gcc through ctypes, any OpenCL device through pyopencl.

Arrays go in as NumPy arrays in argument order and come back changed.  Skips are the caller's: see :func:`lanes`.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tensorx.devices.cpu_name import teach
from tensorx.kernels.capabilities import Capabilities
from tensorx.kernels.generator import render
from tensorx.kernels.geometry import geometry
from tensorx.kernels.spec import KernelSpec

C = Capabilities("c", host_callable=True, cpu_like=True, fp64=True, compute_units=2, fast_fma=True)
CL = Capabilities("opencl", cpu_like=True, fp64=True, int64_atomics=True, max_workgroup=4096, compute_units=2)
GPU = replace(CL, cpu_like=False, max_workgroup=256)
#: name -> (runner, capabilities): CPU-like and GPU-like forms, and weak devices.
LANES = {
    "c": ("gcc", C),
    "pocl": ("pocl", CL),
    "intel": ("intel", CL),
    "pocl-gpu": ("pocl", GPU),
    "intel-gpu": ("intel", GPU),
    "intel-64": ("intel", replace(GPU, max_workgroup=64, local_mem=4096)),
    "intel-1": ("intel", replace(GPU, max_workgroup=1, local_mem=4096)),
}
_PLATFORMS = {"pocl": "Portable Computing Language", "intel": "Intel(R) OpenCL", "oclgrind": "Oclgrind"}
_TYPES = {
    "b8": np.uint8, "u8": np.uint8, "i8": np.int8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32,
    "i64": np.int64, "u64": np.uint64, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
_FLAGS = [
    "-O3",
    "-march=native",
    "-ffp-contract=off",
    "-fwrapv",
    "-fopenmp",
    "-Wall",
    "-Wno-unused",
    "-Werror",
    "-shared",
    "-fPIC",
]


@functools.cache
def _folder() -> pathlib.Path:
    return pathlib.Path(tempfile.mkdtemp(prefix="tensorx-kernels-"))


@functools.cache
def device(name: str) -> Any:
    """(context, queue) of a platform's first device, or None."""
    try:
        import pyopencl as cl
    except ImportError:
        return None
    from tensorx.devices.icd import announced

    try:
        with announced():
            platforms = cl.get_platforms()
    except cl.LogicError:  # no platform at all
        return None
    for platform in platforms:
        if platform.name.startswith(_PLATFORMS[name]):
            context = cl.Context(platform.get_devices()[:1])
            return context, cl.CommandQueue(context)
    return None


def available(lane: str) -> bool:
    """Whether a lane can run here."""
    kind = LANES[lane][0]
    return shutil.which("gcc") is not None if kind == "gcc" else device(kind) is not None


class Program:
    """Some specs as one program on one lane."""

    def __init__(
        self,
        lane: str,
        specs: Sequence[KernelSpec],
        caps: Capabilities | None = None,
        plant: Callable[[str], str] | None = None,
    ) -> None:
        self.kind, self.caps = LANES.get(lane, (lane, GPU))
        self.caps = caps or self.caps
        self.specs = {spec.entry: spec for spec in specs}
        self.source = render(specs, self.caps)
        if plant is not None:
            self.source = replace(self.source, text=plant(self.source.text))
        self.built = self._gcc() if self.kind == "gcc" else self._opencl()

    def _gcc(self) -> ctypes.CDLL:
        name = hashlib.sha256(self.source.text.encode()).hexdigest()[:20]
        path, library = _folder() / f"{name}.c", _folder() / f"{name}.so"
        if not library.exists():
            path.write_text(self.source.text)
            subprocess.run(["gcc", *_FLAGS, "-o", str(library), str(path), "-lm"], check=True)
        loaded = ctypes.CDLL(str(library))
        ctypes.c_int.in_dll(loaded, "tx_threads").value = 2
        return loaded

    def _opencl(self) -> Any:
        import warnings

        import pyopencl as cl

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Optimised code holds `freeze`, which oclgrind's check of uninitialised values does not know.
            options = ["-cl-opt-disable"] if self.kind == "oclgrind" else []
            program = cl.Program(device(self.kind)[0], self.source.text)
            try:
                return program.build(options, cache_dir=False)
            except cl.RuntimeError as error:  # the driver may not know the processor's name
                if not all(teach(found.int_ptr, str(error)) for found in device(self.kind)[0].devices):
                    raise
            return cl.Program(device(self.kind)[0], self.source.text).build(options, cache_dir=False)

    def __call__(self, entry: str, *values: Any, sizes: Sequence[int]) -> None:
        """Launch with ``values`` in argument order, of which ``sizes`` are the size arguments (for the geometry)."""
        args = self.source.arguments(entry)
        assert len(args) == len(values), f"{entry} takes {[a.name for a in args]}; got {len(values)} values"
        for arg, value in zip(args, values):
            assert isinstance(value, np.ndarray) == (arg.kind == "buffer"), f"{arg.name} of {entry} got {value!r}"
        if self.kind == "gcc":
            plain = [
                ctypes.c_void_p(v.ctypes.data) if a.kind == "buffer" else np.ctypeslib.as_ctypes_type(_TYPES[a.code])(v)
                for a, v in zip(args, values)
            ]
            getattr(self.built, entry)(*plain)
        else:
            self._launch(entry, args, values, sizes)

    def _launch(self, entry: str, args: Any, values: Any, sizes: Sequence[int]) -> None:
        import pyopencl as cl

        context, queue = device(self.kind)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers: dict[int, Any] = {}
        plain = []
        for arg, value in zip(args, values):
            if arg.kind == "buffer":
                owner = value if value.base is None else value.base
                assert value.ctypes.data == owner.ctypes.data, "pass whole arrays and an offset"
                if id(owner) not in buffers:
                    whole = owner if owner.size else np.zeros(1)  # a buffer of no bytes is an error
                    buffers[id(owner)] = (whole, cl.Buffer(context, flags, hostbuf=whole))
                plain.append(buffers[id(owner)][1])
            else:
                plain.append(_TYPES[arg.code](value))
        kernel = cl.Kernel(self.built, entry)
        kernel.set_args(*plain)
        grid = geometry(self.specs[entry], self.caps, *sizes)
        cl.enqueue_nd_range_kernel(queue, kernel, grid.global_size, grid.local_size)
        for owner, buffer in buffers.values():
            cl.enqueue_copy(queue, owner, buffer)
        queue.finish()
