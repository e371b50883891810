"""The table at the end: what ran is counted by lane, and a lane on which less ran fails the run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import counts
import pytest

ROOT = Path(__file__).parents[1]


def lane(name, **tests):
    found = counts.Lane(name, f"driver of {name}")
    for test, numbers in tests.items():
        found.add("passed", test, ("everyday compiled", numbers))
    return found


def test_equal_but_for_what_a_device_lacks():
    weak = lane("b", tanh=[4, 0, 1, 0], sin=[9, 0, 0, 0])
    assert not counts.differences([lane("a", tanh=[5, 0, 0, 0], exp=[2, 0, 0, 0]), weak])


@pytest.mark.parametrize("numbers", [[4, 0, 0, 0], [0, 0, 0, 0], [5, 0, 1, 0], [3, 0, 0, 1]])
def test_another_number_of_cases_is_found(numbers):
    assert counts.differences([lane("a", tanh=[5, 0, 0, 0]), lane("b", tanh=numbers)]) == [
        f"tanh: {sum(numbers)} cases on b, 5 on a"
    ]


def test_cases_chosen_otherwise_do_not_compare():
    other = counts.Lane("b")
    other.add("passed", "tanh", ("everyday interpreted", [60, 0, 0, 0]))
    assert not counts.differences([lane("a", tanh=[5, 0, 0, 0]), other])


def test_cases_of_one_test():
    counts.take()
    assert counts.take() is None
    counts.begin("compiled")
    assert counts.take() == ("compiled", [0, 0, 0, 0])
    counts.begin("compiled")
    counts.note(counts.PASSED)
    counts.note(counts.LACKING)
    assert counts.take() == ("compiled", [1, 0, 1, 0])


def test_environments_of_one_call_of_tox_are_shown_together(tmp_path, monkeypatch, capsys):
    def ran(session, environment, *lanes, mask=""):
        monkeypatch.setenv("PYTHONHASHSEED", session)
        monkeypatch.setenv("TOX_ENV_NAME", environment)
        monkeypatch.setenv("TENSORX_CAPS_MASK", mask)
        counts.save(tmp_path / f"{environment}.jsonl", lanes)

    ran("1", "cpu", lane("cpu", tanh=[7, 0, 0, 0]))
    ran("2", "cpu", lane("cpu", tanh=[5, 0, 0, 0]))
    ran("2", "masks", lane("opencl:intel", tanh=[4, 0, 1, 0]), mask="no_fp64")
    assert counts.main(str(tmp_path)) == 0
    shown = capsys.readouterr().out
    assert "masks: opencl:intel no_fp64" in shown and "4 passed, 1 lacking" in shown
    assert "driver of cpu" in shown and "7 passed" not in shown
    ran("2", "masks", lane("opencl:intel", tanh=[4, 0, 0, 0]), mask="no_fp16")
    assert counts.main(str(tmp_path)) == 1
    assert "tanh: 4 cases on masks: opencl:intel no_fp16, 5 on cpu" in capsys.readouterr().out
    assert counts.main(str(tmp_path / "nowhere")) == 0


PROGRAM = """
import os

def pytest_collection_modifyitems(items):
    from checking import checks
    from tensorx import dtypes

    def views(op, device):
        lost = os.environ["PLANT"] == "1" and str(device) == "null:1"
        return [checks.counted(op, lambda device: None, dtypes.float32)] * (1 if lost else 2)

    checks.views = views
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_lane_that_quietly_runs_less_fails_the_run(tmp_path, workers):
    (tmp_path / "program.py").write_text(PROGRAM)
    path = os.pathsep.join([str(tmp_path), str(ROOT / "tests"), *sys.path])
    report = tmp_path / "report.jsonl"
    env = os.environ | {"PYTHONPATH": path, "TENSORX_EXPECT": "", "TENSORX_REPORT": str(report), "TENSORX_COVER": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--device=null:c,null:opencl", *workers]
    command += ["-p", "program", "--rows=0/40", str(ROOT / "tests/conformance/test_forms.py"), "-k", "test_views"]
    for plant in (0, 1):
        done = subprocess.run(
            command, env=env | {"PLANT": str(plant)}, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == plant, done.stdout + done.stderr
        assert (": 1 cases on null:opencl, 2 on null:c" in done.stdout) == bool(plant)
        assert "cases: " in done.stdout and "renders opencl, none" in done.stdout
    assert len([json.loads(line) for line in report.read_text().splitlines()]) == 4
