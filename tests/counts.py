"""What ran where: tests and conformance cases counted by lane, compared between lanes, shown as one table.

A case is a row of the op table with one dtype and one layout. It passed, failed, is one that the device's Capabilities
lack, or (TENSORX_COVER=changed) launches what it launches without the mask; together they are the same on every lane,
so a lane that quietly runs less than another one fails the run.

With TENSORX_REPORT=FOLDER/NAME.jsonl a test run adds its counts to the file, and ``python tests/counts.py FOLDER`` (the
last step of every tox environment) shows those of one call of tox together.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

OUTCOMES = ("passed", "failed", "lacking", "unchanged by the mask")
PASSED, FAILED, LACKING, UNCHANGED = range(len(OUTCOMES))

#: Cases of the test at hand, by outcome, and how they were chosen: only counts of the same choice compare.
_current = [0] * len(OUTCOMES)
_choice = ""
_noted = False


def cover(config: Any) -> str:
    """Which cases of conformance pytest was asked for."""
    return "full" if config.getoption("--full") or os.environ.get("TENSORX_COVER") == "full" else "everyday"


def changed_only() -> bool:
    """Whether cases are left out on which a mask has no influence."""
    return os.environ.get("TENSORX_COVER") == "changed"


def begin(choice: str) -> None:
    """The test at hand runs cases, perhaps none."""
    global _choice, _noted
    _choice, _noted = choice, True


def note(outcome: int) -> None:
    """One case of the test at hand."""
    _current[outcome] += 1


def take() -> tuple[str, list[int]] | None:
    """(choice, counts) of the test at hand, or None if it ran no cases; forgets them."""
    global _noted
    found = (_choice, list(_current)) if _noted else None
    _noted, _current[:] = False, [0] * len(OUTCOMES)
    return found


class Lane:
    """What ran on one lane in one run of pytest."""

    def __init__(self, name: str, driver: str = "") -> None:
        self.name, self.driver = name, driver
        self.tests: dict[str, int] = {}
        self.cases: dict[str, dict[str, list[int]]] = {}  # choice -> test of a row -> counts

    def add(self, outcome: str, test: str = "", cases: tuple[str, list[int]] | None = None) -> None:
        """One test's outcome and its cases."""
        self.tests[outcome] = self.tests.get(outcome, 0) + 1
        if cases is not None:
            self.cases.setdefault(cases[0], {})[test] = cases[1]

    def totals(self) -> list[int]:
        """Cases by outcome."""
        counts = [found for tests in self.cases.values() for found in tests.values()]
        return [sum(column) for column in zip(*counts, strict=True)] if counts else [0] * len(OUTCOMES)


def differences(lanes: Iterable[Lane]) -> list[str]:
    """Tests of a row that had another number of cases on one lane than on another, though chosen alike."""
    first: dict[tuple[str, str], tuple[Lane, list[int]]] = {}
    found = []
    for lane in lanes:
        for choice, tests in lane.cases.items():
            for test, counts in tests.items():
                other, wanted = first.setdefault((choice, test), (lane, counts))
                if sum(counts) != sum(wanted):
                    found.append(f"{test}: {sum(counts)} cases on {lane.name}, {sum(wanted)} on {other.name}")
    return found


def table(lanes: Iterable[Lane]) -> list[str]:
    """One line a lane: tests, cases, device and driver."""
    lines = []
    for lane in lanes:
        tests = ", ".join(f"{number} {outcome}" for outcome, number in sorted(lane.tests.items()))
        totals = zip(lane.totals(), OUTCOMES, strict=True)
        cases = ", ".join(f"{number} {outcome}" for number, outcome in totals if number) or "none"
        lines.append(f"{lane.name:22} tests: {tests}; cases: {cases}\n{'':22} {lane.driver}")
    return lines


def session() -> str:
    """The same for all environments of one call of tox, which gives each call a hash seed of its own."""
    return os.environ.get("PYTHONHASHSEED", "")


def save(file: Path, lanes: Iterable[Lane]) -> None:
    """Add lanes to a file; its lines of other sessions go."""
    lines = [line for line in read(file) if line["session"] == session()]
    mask, environment = os.environ.get("TENSORX_CAPS_MASK", ""), os.environ.get("TOX_ENV_NAME", "")
    for lane in lanes:
        lines.append({"session": session(), "environment": environment, "mask": mask, **vars(lane)})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def load(files: Iterable[Path]) -> list[Lane]:
    """The lanes of this session, named with what else tells them apart."""
    lanes = []
    for line in (line for file in files for line in read(file) if line["session"] == session()):
        name = line["name"] if line["environment"] in ("", line["name"]) else f"{line['environment']}: {line['name']}"
        lane = Lane(" ".join(filter(None, (name, line["mask"]))), line["driver"])
        lane.tests, lane.cases = line["tests"], line["cases"]
        lanes.append(lane)
    return lanes


def main(folder: str) -> int:
    """Show the files of a folder together."""
    lanes = load(sorted(Path(folder).glob("*.jsonl"), key=lambda file: file.stat().st_mtime))
    if not lanes:
        return 0
    print("what ran where", *table(lanes), sep="\n")
    unlike = differences(lanes)
    print(*(unlike[:20] or ["the same cases on each, but for what Capabilities lack"]), sep="\n")
    return 1 if unlike else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
