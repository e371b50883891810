"""The benchmarks run: their figures are for people, on quiet machines."""

from __future__ import annotations

import json

import pytest

from benchmarks import peers, sizes, table
from benchmarks.__main__ import main
from benchmarks.works import all_works


def test_a_run(device, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out.json"
    words = ["--device", str(device), "--peers", "", "--only", "y + 1,sort(-1) of", "--rounds", "1", "--json", str(out)]
    monkeypatch.setattr("sys.argv", ["benchmarks", *words])
    main()
    works = json.loads(out.read_text())["works"]
    assert len(works) == 4
    assert all(0 < row["seconds"][str(device)] < 10 for row in works)
    assert "of the peak" in capsys.readouterr().out


def test_works_have_names_of_their_own():
    names = [(w.family, w.name) for w in all_works()]
    assert len(set(names)) == len(names) > 90


def test_a_summary(capsys):
    rows = [
        {"family": "f", "work": "a", "seconds": {"cpu": 1.0, "torch": 2.0}},
        {"family": "f", "work": "b", "seconds": {"cpu": 1.0, "torch": 0.5}},
        {"family": "g", "work": "c", "seconds": {"cpu": 1.0}},
    ]
    assert table.ratios(rows, "cpu", "torch") == {"f": {"a": 2.0, "b": 0.5}}
    table.summarise(rows, ["cpu"], ["torch"])
    assert "lowest 0.50 (b)" in capsys.readouterr().out


def test_a_page():
    rows = [
        {"family": "f", "work": "a", "seconds": {"cuda:0": 1e-3, "torch:cuda": 2e-3}},
        {"family": "f", "work": "b", "seconds": {"cuda:0": 1.5}},
    ]
    *_, head, rule, first, second = table.markdown(rows, "a machine").splitlines()
    assert (head, rule) == ("| Work | cuda:0 | torch:cuda |", "|---|---:|---:|")
    assert (first, second) == ("| f: a | 1 ms | 2 ms |", "| f: b | 1.5 s | - |")


def test_an_unknown_peer():
    with pytest.raises(SystemExit, match="must be among torch"):
        peers.installed(["abacus"])


def test_sizes(device, monkeypatch, capsys):
    """A curve a family, and the ratio by which an odd size is slower than its neighbour."""
    monkeypatch.setattr(sizes, "SIDES", (63, 64))
    monkeypatch.setattr(sizes, "FAMILIES", {name: sizes.FAMILIES[name] for name in ("sum(1), n x n",)})
    found = sizes.main([str(device)], [])
    assert set(found["sum(1), n x n"][str(device)]) == {63, 64}
    assert "at 63" in capsys.readouterr().out


def test_a_plot_of_sizes(tmp_path):
    pytest.importorskip("matplotlib")
    sizes.plot({"a": {"cpu": {63: 1.0, 64: 2.0}}, "b": {"cpu": {64: 1.0}}}, tmp_path / "sizes.png")
    assert (tmp_path / "sizes.png").stat().st_size > 1000
