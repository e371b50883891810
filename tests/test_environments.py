"""The environments of tox.ini: which there are, that CONTRIBUTING names them, that none passes without its lane."""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = "cpu cpu-numpy opencl intel rusticl oclgrind sycl cudasim cuda masks full lint type docs wheel".split()
LANELESS = {"lint", "type", "docs"}


@pytest.fixture
def tox():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini")
    return parser


def test_names(tox):
    own = {section.removeprefix("testenv:") for section in tox.sections() if section.startswith("testenv:")}
    of_the_lane = {"cpu", "cpu-numpy"}  # [testenv] itself
    assert own | of_the_lane == set(NAMES)
    listed = {name.strip() for key in ("env_list", "labels") for name in tox["tox"][key].replace("=", ",").split(",")}
    assert set(NAMES) <= {word for name in listed for word in name.split()}
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert not [name for name in NAMES if f"`{name}`" not in text]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LANELESS])
def test_each_expects_its_lane(tox, name):
    section = dict(tox.items(f"testenv:{name}")) if tox.has_section(f"testenv:{name}") else {}
    settings = section.get("set_env", tox["testenv"]["set_env"])
    assert "TENSORX_EXPECT = " in settings
    assert "TENSORX_REPORT" in settings or "{[testenv]set_env}" in settings
    assert "commands_post" not in section, "the table at the end"


def run(*words, **variables):
    """(exit status, output) of a run of pytest."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), **variables}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(ROOT / "tests/test_tiny.py"), *words]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_an_absent_lane_fails_the_run_and_says_why():
    status, output = run("--device", "cpu", TENSORX_CC="none", TENSORX_EXPECT="cpu")
    assert status != 0 and "cpu: no C compiler" in output and "passed" not in output


@pytest.mark.slow
def test_a_lane_on_which_nothing_passed_fails_the_run():
    status, output = run("--device", "cpu-numpy", "-k", "shapes_without_memory", TENSORX_EXPECT="cpu-numpy")
    assert status == 1 and "1 passed" in output and "EXPECTED, but no test passed on it" in output
