"""Record PyTorch's answers to the corner programs: ``python tests/data/record_corners.py [FILE ...]``.

Each ``tests/data/corners/*.json`` is a list of ``{"run": program, "gives": value}`` or ``{"run": program, "raises":
[classes]}`` (see ``tests/corners/programs.py``); this rewrites the answers with those of the installed PyTorch (2.13 on
the CPU). ``case`` is the number of a publicly reported failure. ``ours`` beside an answer is where tensorx differs on
purpose, with the reason in ``why``: it is kept. Also
writes ``result_types.json``: the dtype of every row's result for all pairs of operands (see `result_types`). Needs
PyTorch, which neither the library nor its tests do.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "corners")]

from programs import answer  # noqa: E402
from promotion import BINARY, CASES, INPLACE, UNARY, result_of  # noqa: E402


def record(path: Path) -> None:
    """Rewrite one file's answers, an entry a line."""
    entries = []
    for entry in json.loads(path.read_text()):
        found = answer(torch, entry["run"])
        if "raises" in found:
            found = {"raises": found["raises"][:1]}
        before, after = ({k: entry[k] for k in keys if k in entry} for keys in (("case", "run"), ("ours", "why")))
        entries.append({**before, **found, **after})
    path.write_text("[\n" + ",\n".join(json.dumps(e) for e in entries) + "\n]\n")


def result_types() -> None:
    """``{row: "code code ..."}``: the result's dtype for each of `CASES`, ``-`` where PyTorch refuses."""
    table = {name: " ".join(result_of(torch, name, case) for case in CASES) for name in (*BINARY, *INPLACE)}
    table |= {name: " ".join(result_of(torch, name, case) for case in CASES if len(case) == 1) for name in UNARY}
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in table.items())
    (HERE / "corners" / "result_types.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    chosen = [Path(name) for name in sys.argv[1:]] or sorted((HERE / "corners").glob("*.json"))
    for path in chosen:
        if path.name != "result_types.json":
            record(path)
    if not sys.argv[1:]:
        result_types()
