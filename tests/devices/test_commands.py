"""The command line: what it says, where, and with which exit status."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tensorx
from tensorx import __main__ as commands
from tensorx.devices import registry, report


def test_unknown_command_says_which_there_are(capsys):
    assert commands.main(["foo"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "must be one of devices, demo, tune, kernels; got 'foo'" in err


def test_no_command_and_help(capsys):
    assert commands.main([]) == 2
    assert capsys.readouterr().err.startswith("usage:")
    assert commands.main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("usage:")


def test_version(capsys):
    assert commands.main(["--version"]) == 0
    assert capsys.readouterr().out == f"tensorx {tensorx.__version__}\n"


@pytest.mark.parametrize("words", [["devices"], ["kernels", "tanh", "--dialect", "opencl"]])
def test_a_reader_that_leaves_is_no_error(words):
    with subprocess.Popen(
        [sys.executable, "-W", "ignore:The driver of ", "-m", "tensorx", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        command.stdout.close()  # before the first line
        assert not command.stderr.read()
        assert command.wait() == 141


def test_devices_refuses_a_variable_in_a_line(monkeypatch, capsys):
    monkeypatch.setenv("TENSORX_VISIBLE_DEVICES", "foo")
    if not any(d.kind not in ("cpu", "null", "meta") for k in registry.BACKENDS for d in _devices(k)):
        pytest.skip("nothing there that could be hidden")
    assert report.main([]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "TENSORX_VISIBLE_DEVICES: each word must be a device string; got 'foo'"
    ]


def _devices(kind):
    back = registry.backend(kind)
    return [] if back.available() else back.devices()
