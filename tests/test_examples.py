"""The scripts of docs/examples train on every lane: their loss falls within a few steps."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "examples"
# script -> (steps, more arguments, the part of the first loss below which the last must be)
SCRIPTS = {
    "digits_cnn": (12, [], 0.5),
    "vae": (25, [], 0.75),
    "gpt": (8, ["--write", "3"], 0.9),
    "lstm_text": (12, ["--write", "3"], 0.9),
    "dcgan": (12, [], 0.8),
}


def script(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", SCRIPTS)
def test_example_learns(name, device, capsys):
    steps, more, part = SCRIPTS[name]
    losses = script(name).main(["--device", str(device), "--steps", str(steps), "--seed", "1", *more])
    assert len(losses) == steps
    assert f"step {steps}: " in capsys.readouterr().out  # the last step is told, however few there are
    assert sum(losses[-3:]) / 3 < part * losses[0]


def test_every_example_is_tested():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(SCRIPTS)
