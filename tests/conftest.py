"""Lanes: which backends the tests run on.

``pytest --device cpu --device opencl:pocl,opencl:intel`` picks lanes; without it every lane that is present runs. A
test that takes the ``device`` fixture runs once a lane. ``TENSORX_EXPECT=cpu,opencl:pocl`` (CI) makes the absence of a
lane a failure. The end of the output says what was really exercised.

Lanes: ``cpu`` (generated C, also for small tensors), ``cpu-numpy`` (the NumPy interpreter alone, as with
TENSORX_CC=none), any other device string; what is marked ``oclgrind`` counts as a lane of that name. A skip of a test
with ``device`` must derive from Capabilities (``need``), every other skip counts as a failure, and so do counts of
conformance cases that differ between lanes otherwise (counts.py), and a test that renders a kernel which the lint
refuses (sources.py).
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import os
import sys
from pathlib import Path

import pytest

# Helpers beside the tests, under every import mode; last the root, for benchmarks: an installed tensorx comes first.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.extend(sorted({str(path.parent) for path in Path(__file__).parent.rglob("*.py")}))
sys.path.append(str(Path(__file__).parents[1]))

import counts
import masking
import oclgrind
import sources

# The default device is the tests' business, not the shell's.
os.environ.pop("TENSORX_DEVICE", None)
#: Where to add what ran; not for the runs of pytest that tests start.
_report = os.environ.pop("TENSORX_REPORT", "")

DEFAULT_LANES = ("cpu", "cpu-numpy", "opencl:pocl", "opencl:intel")
CAPABILITY_SKIP = "capability: "

_drivers: dict[str, str] = {}
_exercised: dict[str, counts.Lane] = {}
_lanes_key = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        action="append",
        default=[],
        metavar="LANE",
        help="cpu, cpu-numpy, opencl:pocl, null ...: repeat or separate by commas; default: every lane that is present",
    )
    parser.addoption("--rows", default="", metavar="I/N", help="conformance: only the I-th of N parts of the table")
    parser.addoption("--full", action="store_true", help="conformance: every dtype with every layout on every lane")


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def why_absent(lane: str) -> str:
    """Empty if tests can run on ``lane``, else the reason."""
    from tensorx.devices import registry
    from tensorx.errors import DeviceError

    if lane == "cpu-numpy":
        return ""
    if lane == oclgrind.LANE:
        return oclgrind.why_absent()
    try:
        runtime = registry.open(registry.device(lane))
    except (DeviceError, ImportError) as error:
        return str(error)
    return "" if lane != "cpu" or runtime.capabilities.compiler else "no C compiler (TENSORX_CC, CC, cc, gcc, clang)"


def pytest_configure(config: pytest.Config) -> None:
    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    sources.watch(patch)
    masking.watch(patch)
    chosen = [lane for text in config.getoption("--device") for lane in words(text)]
    expected = words(os.environ.get("TENSORX_EXPECT", ""))
    absent = {lane: why_absent(lane) for lane in dict.fromkeys([*(chosen or DEFAULT_LANES), *expected])}
    missing = [f"{lane}: {absent[lane]}" for lane in dict.fromkeys([*chosen, *expected]) if absent[lane]]
    if missing:
        raise pytest.UsageError("asked for, but not present on this machine:\n  " + "\n  ".join(missing))
    config.stash[_lanes_key] = list(dict.fromkeys(chosen)) or [lane for lane in DEFAULT_LANES if not absent[lane]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        # Session scope lets pytest order the tests by lane.
        metafunc.parametrize("device", metafunc.config.stash[_lanes_key], indirect=True, scope="session")


@functools.cache
def cpu_runtime(lane: str):
    """``cpu`` as the lane wants it: every kernel in C (a user's small tensors take the NumPy path), or none."""
    from tensorx.devices import cpu, cpu_compiler, registry

    if lane == "cpu":
        runtime = copy.copy(registry.backend("cpu").devices()[0])
        runtime.capabilities = dataclasses.replace(runtime.capabilities, host_callable=False)
        return runtime
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENSORX_CC", "none")
        cpu_compiler.find.cache_clear()
        runtime = cpu.Cpu()
    cpu_compiler.find.cache_clear()
    return runtime


@contextlib.contextmanager
def cpu_opened_as(lane: str):
    """Point the name ``cpu`` at the lane's runtime for a while."""
    from tensorx.devices import registry

    name = registry.resolve("cpu")
    usual = name.runtime
    object.__setattr__(name, "runtime", cpu_runtime(lane))
    forget_ways()
    try:
        yield
    finally:
        object.__setattr__(name, "runtime", usual)
        forget_ways()


def forget_ways() -> None:
    """Drop what calls have learned: an entry of the short way goes to the runtime it was learned on."""
    from tensorx.ops.table import OPS

    for op in OPS.values():
        op.fast.clear()


@pytest.fixture
def device(request: pytest.FixtureRequest):
    """The device of the lane at hand, opened (``device.runtime`` is the backend's Device)."""
    from tensorx.devices import registry

    lane = request.param
    on_cpu = lane in ("cpu", "cpu-numpy")
    with cpu_opened_as(lane) if on_cpu else contextlib.nullcontext():
        resolved = registry.resolve("cpu" if on_cpu else lane)
        _drivers[lane] = f"{resolved.runtime.name}, {resolved.runtime.driver}"
        yield resolved


@pytest.fixture
def need(device):
    """``need("f64")``, ``need(subgroups=True)``: skip where the device's Capabilities lack it."""

    def check(*codes: str, **fields: object) -> None:
        caps = device.runtime.capabilities
        lacking = [code for code in codes if not caps.supports(code)]
        lacking += [f"{name}={value}" for name, value in fields.items() if getattr(caps, name) != value]
        if lacking:
            pytest.skip(f"{CAPABILITY_SKIP}{device} lacks {', '.join(lacking)}")

    return check


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker(oclgrind.LANE):
        if why := oclgrind.why_absent():
            pytest.skip(CAPABILITY_SKIP + why)
        _drivers[oclgrind.LANE] = oclgrind.version()


def lane_of(item: pytest.Item) -> str | None:
    if item.get_closest_marker(oclgrind.LANE):
        return oclgrind.LANE
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("device") if callspec else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    lint, cases = sources.take(), counts.take()
    if lint:
        report.outcome, report.longrepr = "failed", f"a kernel that was rendered here is refused by the lint:\n{lint}"
    lane = lane_of(item)
    if lane is None:
        return report
    if report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not reason.startswith(CAPABILITY_SKIP):
            report.outcome = "failed"
            report.longrepr = f"a skip on a lane must derive from Capabilities (fixture `need`); got: {reason}"
    # These travel with the report to pytest-xdist's controller.
    report.lane, report.driver, report.test = lane, _drivers.get(lane, ""), counted_as(item)
    report.cases = (f"{counts.cover(item.config)} {cases[0]}", cases[1]) if cases and report.test else None
    return report


def counted_as(item: pytest.Item) -> str:
    """What to count a conformance test's cases under: its name and its row's."""
    op = item.callspec.params.get("op") if hasattr(item, "callspec") else None
    return f"{item.originalname}[{op.name}]" if hasattr(op, "schema") else ""  # a row, not the name of a kernel's op


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    name = getattr(report, "lane", None)
    if name is not None and (report.when == "call" or report.outcome != "passed"):
        lane = _exercised.setdefault(name, counts.Lane(name))
        lane.add(report.outcome, report.test, report.cases)
        lane.driver = report.driver or lane.driver


def unexercised() -> list[str]:
    expected = words(os.environ.get("TENSORX_EXPECT", ""))
    return [name for name in expected if name not in _exercised or not _exercised[name].tests.get("passed")]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if hasattr(session.config, "workerinput"):  # of pytest-xdist: it sees a part of the tests
        return
    if exitstatus == 0 and (unexercised() or counts.differences(_exercised.values())):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if _report:
        counts.save(Path(_report), _exercised.values())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _exercised:
        terminalreporter.section("backends exercised")
    for line in counts.table(_exercised.values()):
        terminalreporter.write_line(line)
    for name in unexercised():
        terminalreporter.write_line(f"{name:22} EXPECTED, but no test passed on it", red=True)
    for line in counts.differences(_exercised.values())[:20]:
        terminalreporter.write_line(line, red=True)
