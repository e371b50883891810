"""Rows under oclgrind: one call a template and access class; its log of bad accesses and races stays empty."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SIMULATOR = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")
pytestmark = [
    pytest.mark.skipif(not SIMULATOR.exists(), reason="oclgrind is not installed (apt install oclgrind)"),
    pytest.mark.slow,
]


def simulate(folder, *words):
    """Run the calls; returns the log."""
    (folder / "oclgrind.icd").write_text(f"{SIMULATOR}\n")
    log = folder / "log"
    here = Path(__file__).parent
    env = os.environ | {
        "OCL_ICD_VENDORS": str(folder),
        "OCLGRIND_LOG": str(log),
        "OCLGRIND_DATA_RACES": "1",
        "OCLGRIND_CHECK_API": "1",
        "TENSORX_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(here), *sys.path]),
    }
    command = [sys.executable, "-m", "checking.grind", *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return log.read_text() if log.exists() else ""


def test_every_template_and_access_class(tmp_path):
    assert simulate(tmp_path) == ""


def test_a_stray_read_would_be_found(tmp_path):
    assert "Invalid read" in simulate(tmp_path, "--plant")
