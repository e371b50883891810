"""What nvcc says of rendered kernels: many in one call, and no kernel twice (a verdict is kept by the text's hash)."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from checking import building, checks, gradients, grind
from tensorx.devices import cuda_compiler
from tensorx.devices.null import Null
from tensorx.kernels import cache
from tensorx.kernels.generator import render
from tensorx.ops.table import OPS

CHUNK = 64  # kernels a call
#: A name that is declared and not needed is no defect of generated text (177), as in the C lane's -Wno-unused.
FLAGS = ["-cubin", "--fmad=false", "-Werror", "all-warnings", "-diag-suppress=177"]


def real() -> str | None:
    """NVIDIA's own nvcc, past the stand-in of tests/cudasim."""
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if "cudasim" not in folder]
    return shutil.which("nvcc", path=os.pathsep.join(folders))


def card() -> Any:
    """A name without a device: kernels are rendered as for a large card."""
    runtime = Null(2, "cuda")
    runtime.capabilities = dataclasses.replace(
        runtime.capabilities, local_mem=48 << 10, compute_units=132, simd_width=32, correct_sqrt=True
    )
    return SimpleNamespace(runtime=runtime)


def everything(device: Any) -> list[Any]:
    """The specs of the kernels that the value and gradient checks of all rows launch."""
    twin = building.twin_of(device.runtime.capabilities)
    families: tuple[Callable[..., Any], ...] = (checks.values, checks.special, checks.empties, gradients.single)
    with building.collecting(twin) as specs:
        for family in families:
            for op in OPS.values():
                with contextlib.suppress(Exception):  # a row that this family does not fit
                    for step in family(op, twin):
                        checks.quietly(getattr(step, "launches", step), twin)
    return specs


def sample(device: Any) -> list[Any]:
    """One spec for each template, stage and set of access classes."""
    twin = building.twin_of(device.runtime.capabilities)
    with building.collecting(twin) as specs:
        for _, step in grind.chosen(device):
            checks.quietly(step, twin)
    return specs


@functools.cache
def _verdicts() -> Path | None:
    """Where accepted hashes are kept, beside the kernels' cache."""
    kernels = cache.folder()
    folder = kernels.parent / "nvcc" if kernels else None
    if folder:
        folder.mkdir(exist_ok=True)
    return folder


def refused(specs: Sequence[Any], caps: Any, arch: str) -> list[str]:
    """What nvcc objects to, warnings too. (That single precision is left nowhere, sources.py sees to.)"""
    nvcc = real() or ""
    version, folder = cuda_compiler.Nvcc(nvcc).version, _verdicts()
    problems: list[str] = []
    open_ = {}
    for spec in specs:
        source = render([spec], caps)
        key = hashlib.sha256("\0".join((source.text, arch, version, *FLAGS)).encode()).hexdigest()
        if folder is None or not (folder / key).exists():
            open_[spec.entry] = spec, key
    waiting = list(open_.values())
    for i in range(0, len(waiting), CHUNK):
        chunk = waiting[i : i + CHUNK]
        said = _compile(render([spec for spec, _ in chunk], caps).text, arch, nvcc)
        if said:
            problems.append(said)
        elif folder:
            for _, key in chunk:
                (folder / key).touch()
    return problems


def _compile(text: str, arch: str, nvcc: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernels.cu")
        source.write_text(text)
        command = [nvcc, *FLAGS, f"-arch={arch}", "-o", str(source.with_suffix(".cubin")), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stderr or done.stdout) if done.returncode or done.stderr else ""
