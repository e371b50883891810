"""Programs under oclgrind, an OpenCL device that checks every access: ``@pytest.mark.oclgrind`` and `simulate`."""

from __future__ import annotations

import functools
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

LANE = "oclgrind"  # also the marker of tests that run something under it
DRIVER = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")


def why_absent() -> str:
    """Empty if programs can run under oclgrind here, else the reason."""
    if not DRIVER.exists():
        return f"oclgrind is not installed (apt install oclgrind; looked for {DRIVER})"
    return "" if importlib.util.find_spec("pyopencl") else "pyopencl is not installed (extra opencl)"


@functools.cache
def version() -> str:
    """For the table at the end."""
    done = subprocess.run(["oclgrind", "--version"], capture_output=True, text=True, check=False)
    return next(filter(None, done.stdout.splitlines()), str(DRIVER))


def simulate(folder: Path, *command: Any, **settings: str) -> str:
    """Run a Python program where oclgrind is an OpenCL platform; returns its log, empty when it found nothing.

    ``folder`` is a temporary one. Raises AssertionError if the program fails.
    """
    (folder / "oclgrind.icd").write_text(f"{DRIVER}\n")
    log = folder / "log"
    log.unlink(missing_ok=True)
    env = os.environ | {
        "OCL_ICD_VENDORS": str(folder),
        "OCLGRIND_LOG": str(log),
        "OCLGRIND_DATA_RACES": "1",
        "OCLGRIND_CHECK_API": "1",
        "PYOPENCL_NO_CACHE": "1",
        "TENSORX_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run([sys.executable, *command], env=env | settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return log.read_text() if log.exists() else ""
