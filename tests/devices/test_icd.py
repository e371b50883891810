"""Runtimes from wheels are announced to the OpenCL loader, and nobody's settings are touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tensorx.devices import icd


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A prefix with Intel's library, a system folder with one vendor, no settings."""
    prefix, system = tmp_path / "prefix", tmp_path / "vendors"
    (prefix / "lib").mkdir(parents=True)
    (prefix / "lib" / "libintelocl.so").touch()
    system.mkdir()
    (system / "mesa.icd").write_text("libMesaOpenCL.so.1\n")
    monkeypatch.setattr(icd.sys, "prefix", str(prefix))
    monkeypatch.setattr(icd, "SYSTEM_FOLDER", system)
    monkeypatch.setattr(icd.site, "ENABLE_USER_SITE", False)
    for name in ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"):
        monkeypatch.delenv(name, raising=False)
    return prefix, system


def entries() -> dict[str, str]:
    folder = Path(os.environ["OCL_ICD_VENDORS"])
    return {path.name: path.read_text().strip() for path in folder.iterdir()}


def test_wheel_and_system_are_listed_together_and_the_folder_goes(machine):
    prefix, _ = machine
    with icd.announced():
        folder = Path(os.environ["OCL_ICD_VENDORS"])
        listed = {"libintelocl.icd": str(prefix / "lib" / "libintelocl.so"), "mesa.icd": "libMesaOpenCL.so.1"}
        assert entries() == listed
    assert "OCL_ICD_VENDORS" not in os.environ
    assert not folder.exists()


def test_the_users_choice_stays(machine, monkeypatch):
    monkeypatch.setenv("OCL_ICD_VENDORS", "/nowhere")
    with icd.announced():
        assert os.environ["OCL_ICD_VENDORS"] == "/nowhere"
    assert os.environ["OCL_ICD_VENDORS"] == "/nowhere"


def test_a_runtime_of_the_system_is_not_listed_twice(machine):
    _, system = machine
    (system / "intel.icd").write_text("/opt/intel/lib/libintelocl.so.2026\n")
    with icd.announced():
        assert "OCL_ICD_VENDORS" not in os.environ


def test_no_wheel_no_change(machine, monkeypatch, tmp_path):
    monkeypatch.setattr(icd.sys, "prefix", str(tmp_path))
    with icd.announced():
        assert "OCL_ICD_VENDORS" not in os.environ
