"""The demo learns on every lane, from the same start and along the same losses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tensorx as tx
from tensorx import demo

# The first 50 losses of: python -m tensorx demo --device cpu --losses FILE
RECORDED = Path(__file__).with_name("data") / "demo_losses.json"


def test_first_losses_are_the_recorded_ones(device):
    got = demo.train(device, seed=0, steps=50).losses
    np.testing.assert_allclose(got, json.loads(RECORDED.read_text())["losses"][:50], rtol=1e-3)


def test_learns(device):
    result = demo.train(device, epochs=2, seed=1)
    assert result.tested == 360
    assert result.accuracy > 0.95
    assert len(result.losses) == 2 * 23


def test_reaches_its_accuracy():
    """Where it is fast: every lane follows the same losses (above)."""
    assert demo.train("cpu", seed=0).accuracy >= 0.985


def test_start_is_the_same_bit_for_bit(device):
    def start(where):
        tx.manual_seed(5)
        net = demo.model(where)
        order = [int(y[0]) for _, y in demo.batches(demo.digits.load(where)[0], 5)]
        dropout = next(layer for layer in net if isinstance(layer, tx.nn.Dropout))
        mask = dropout(tx.ones(2, 256, device=where))
        return [p.tolist() for p in net.parameters()], mask.tolist(), order

    assert start(device) == start("cpu")


def test_command_line(tmp_path, capsys):
    losses = tmp_path / "losses.json"
    assert demo.main(["--device", "cpu", "--epochs", "1", "--seed", "3", "--losses", str(losses)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("test accuracy  ")
    assert "found in the cache" in out
    written = json.loads(losses.read_text())
    assert written["seed"] == 3
    assert len(written["losses"]) == 23


def test_command_line_refuses(capsys):
    with pytest.raises(SystemExit):
        demo.main(["--epochs", "0"])
    assert "at least 1" in capsys.readouterr().err


def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    demo.plot([demo.Result("cpu", 0, [2.0, 1.0])], str(tmp_path / "loss.png"))
    assert (tmp_path / "loss.png").stat().st_size > 1000


@pytest.mark.parametrize("words", ["foo", "cuda", "null:99", "opencl:nobody", "meta", "null", "null:opencl", ""])
def test_device_that_cannot_learn_is_one_line(words, capsys):
    assert demo.main(["--device", words]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert repr(words) in err


@pytest.mark.parametrize("option", ["--plot", "--losses"])
def test_files_are_checked_before_the_training(option, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "train", None)
    for path in (tmp_path / "none" / "x.png", tmp_path):
        with pytest.raises(SystemExit) as end:
            demo.main(["--device", "cpu", option, str(path)])
        assert end.value.code == 2
        assert f"argument {option}: must be a file" in capsys.readouterr().err


def test_plot_of_an_unknown_kind(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(demo, "train", None)
    with pytest.raises(SystemExit):
        demo.main(["--device", "cpu", "--plot", str(tmp_path / "loss.nothing")])
    assert "must end in one of" in capsys.readouterr().err
