"""Every spec under oclgrind, whose log of bad accesses, races and divergence must stay empty."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SIMULATOR = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")

pytestmark = pytest.mark.skipif(not SIMULATOR.exists(), reason="oclgrind is not installed")


def simulate(folder, *words):
    """Run cases.py under the simulator; returns its log."""
    (folder / "oclgrind.icd").write_text(f"{SIMULATOR}\n")
    log = folder / "log"
    env = os.environ | {
        "OCL_ICD_VENDORS": str(folder), "OCLGRIND_LOG": str(log), "OCLGRIND_DATA_RACES": "1", "OCLGRIND_CHECK_API": "1",
        "OCLGRIND_UNINITIALIZED": "1", "PYOPENCL_NO_CACHE": "1", "PYTHONPATH": os.pathsep.join(sys.path),
    }  # fmt: skip
    command = [sys.executable, Path(__file__).with_name("cases.py"), "oclgrind", *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return log.read_text() if log.exists() else ""


def test_simulator_finds_nothing(tmp_path):
    assert simulate(tmp_path) == ""


def test_simulator_would_find_a_stray_write(tmp_path):
    assert "Invalid write" in simulate(tmp_path, "broken")
