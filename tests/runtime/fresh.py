"""Code in an interpreter of its own, on a lane: nothing may be left on stderr."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import tensorx

HERE = Path(__file__).resolve().parent
WARNINGS = ("-W", "error", "-W", "ignore:The driver of ")  # which the lane's own process gives
#: Mesa 22.3 has no switch for it, and kernel arguments are uniform: "Treating load_kernel_arg in control flow as uniform".
OF_DRIVERS = "MESA: warning: Treating load_kernel_arg"
LANES = {"cpu": {"TENSORX_LANE": "kernels"}, "cpu-numpy": {"TENSORX_CC": "none"}}
START = "import gc, os, sys, threading\nimport tensorx as tx\nfrom tensorx.errors import DeviceError\ndevice = {!r}\n"


def python(code: str, lane: str = "cpu", *, dev: bool = False, timeout: float = 90, **env: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` with ``tx`` imported and ``device`` set; warnings are errors. ``dev``: Python's development mode."""
    name = "cpu" if lane in LANES else lane
    path = os.pathsep.join([str(Path(tensorx.__file__).parents[1]), str(HERE)])
    full = {**os.environ, "PYTHONPATH": path, **LANES.get(lane, {}), **env}
    command = [sys.executable, *["-X", "dev"] * dev, *WARNINGS, "-c", START.format(name) + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=full, check=False)


def quiet(code: str, lane: str = "cpu", *, dev: bool = False, **env: str) -> str:
    """What ``code`` printed; it must end with status 0 and an empty stderr."""
    done = python(code, lane, dev=dev, **env)
    said = "".join(line for line in done.stderr.splitlines(keepends=True) if not line.startswith(OF_DRIVERS))
    assert (done.returncode, said) == (0, ""), f"status {done.returncode}\n{done.stderr}"
    return done.stdout
