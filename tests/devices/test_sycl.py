"""What of SYCL needs no SYCL device: dpctl's spellings, reasons, the way through SPIR-V (stand-ins for dpctl)."""

from __future__ import annotations

import enum
import sys
import types
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from device_programs import Arg, Grid, Source, download, python, upload

from tensorx.devices import spirv, sycl, sycl_build
from tensorx.errors import BackendUnavailable, CompileError, DeviceLost, KernelError

KERNEL = "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }\n"


class Refused(Exception):
    """dpctl raises without a text."""


def stand_in(refuses=()):
    """The functions of a dpctl module, which remember their calls."""
    calls = []

    def make(queue, program, options):
        calls.append((queue, program, options))
        if program in refuses:
            raise Refused
        return SimpleNamespace(made_from=program)

    return calls, make


OLD = ("create_program_from_source", "create_program_from_spirv", "SyclProgramCompilationError")
NEW = ("create_kernel_bundle_from_source", "create_kernel_bundle_from_spirv", "SyclKernelBundleCompilationError")


@pytest.mark.parametrize(
    ("module", "names"),
    [("dpctl.program", OLD), ("dpctl.program", NEW), ("dpctl.compiler", NEW), ("dpctl.compiler", OLD)],
)
def test_each_spelling_of_dpctl(monkeypatch, module, names):
    """New releases keep the old names and warn about them: warnings are errors here."""

    def deprecated(name):
        raise AssertionError(f"{name} was looked up")

    _, make = stand_in()
    found = types.ModuleType(module)
    vars(found).update({names[0]: make, names[1]: make, names[2]: Refused, "__getattr__": deprecated})
    if names is NEW:
        vars(found).update({OLD[0]: None, OLD[1]: None})
    for name in ("dpctl", "dpctl.program", "dpctl.compiler"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "dpctl", types.ModuleType("dpctl"))
    monkeypatch.setitem(sys.modules, module, found)
    assert sycl_build.api() == (make, make, Refused)


def test_a_dpctl_without_either(monkeypatch):
    for name in ("dpctl.program", "dpctl.compiler"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "dpctl", types.ModuleType("dpctl"))
    with pytest.raises(BackendUnavailable, match=r"create_kernel_bundle_from_source .* pip install 'dpctl>=0.18'"):
        sycl_build.api()


QUEUE = SimpleNamespace(
    sycl_device=SimpleNamespace(has_aspect_fp64=True, has_aspect_fp16=False, has_aspect_atomic64=True)
)


def front_end(text, options, extensions=()):
    front_end.saw = (options, list(extensions))
    return (b"", "line 1: no kernel") if "refused" in text else (b"module of " + text.encode(), "")


front_end.identity = "stand-in"


@pytest.fixture
def programs(monkeypatch):
    calls, make = stand_in(refuses=(b"rubbish", "refused"))
    monkeypatch.setattr(sycl_build, "api", lambda: sycl_build.Api(make, make, Refused))
    monkeypatch.setattr(spirv, "find", lambda: front_end)
    return lambda compiler: (calls, sycl_build.Programs(QUEUE, "the driver", "-exact", compiler))


def test_through_spirv(programs):
    calls, found = programs(front_end)
    blob = found.build("text")
    assert blob == b"module of text"
    assert front_end.saw == ("-w -exact", ["cl_khr_fp64", "cl_khr_int64_base_atomics"])
    assert found.load(blob).made_from == blob
    assert calls == [(QUEUE, blob, "-exact")], "built once for build and load"
    assert found.load(blob).made_from == blob, "as in another process"
    assert found.traits == "-exact stand-in"
    with pytest.raises(CompileError, match="the driver refused a program binary"):
        found.load(b"rubbish")


def test_from_source(programs):
    calls, found = programs(None)
    blob = found.build("text")
    assert (blob, found.load(blob).made_from) == (b"text", "text")
    assert calls == [(QUEUE, "text", "-w -exact")]
    assert not found.takes("refused")
    assert found.takes("text")


@pytest.mark.parametrize("compiler", [None, front_end])
def test_a_refusal_has_the_log_of_the_spirv_compiler(programs, compiler):
    _, found = programs(compiler)
    with pytest.raises(CompileError, match="the driver refused a kernel") as caught:
        found.build("refused")
    assert caught.value.log == "line 1: no kernel"
    Path(caught.value.path).unlink()


class Backend(enum.Enum):
    opencl, level_zero, cuda = range(3)


def sycl_device(backend, usm=True, gpu=True, name="Card"):
    return SimpleNamespace(
        backend=backend, has_aspect_usm_device_allocations=usm, is_gpu=gpu, is_cpu=not gpu, name=name
    )


def lacks(*args, **kwargs):
    return sycl.lacks(SimpleNamespace(backend_type=Backend), sycl_device(*args, **kwargs))


def test_reasons(monkeypatch):
    assert lacks(Backend.opencl) == ""
    assert lacks(Backend.opencl, usm=False) == "has no device memory in SYCL's sense (USM)"
    assert lacks(Backend.cuda) == "is reached over cuda, where dpctl builds no programs"
    monkeypatch.setattr(spirv, "find", lambda: front_end)
    assert lacks(Backend.level_zero) == ""
    monkeypatch.setattr(spirv, "find", lambda: None)
    text = lacks(Backend.level_zero)
    assert text.startswith("is reached over level_zero, which takes SPIR-V alone, and no compiler for that was found")
    assert "pip install intel-opencl-rt" in text


def test_a_card_seen_twice_is_first_the_one_that_takes_source():
    found = [sycl_device(backend, gpu=gpu) for gpu in (False, True) for backend in (Backend.level_zero, Backend.opencl)]
    order = sorted(found, key=sycl.place)
    assert [(d.is_gpu, d.backend) for d in order] == [
        (True, Backend.opencl),
        (True, Backend.level_zero),
        (False, Backend.opencl),
        (False, Backend.level_zero),
    ]


def test_without_dpctl():
    code = """
import sys
sys.modules["dpctl"] = None
import tensorx
try:
    tensorx.ones(2, device="sycl")
except tensorx.errors.BackendUnavailable as error:
    print(error)
"""
    assert "dpctl is not installed; pip install 'tensorx-gpu[sycl]'" in python(code).stdout


@pytest.fixture
def compiler():
    found = spirv.find()
    if found is None:
        pytest.skip("no opencl-clang library (pip install intel-opencl-rt)")
    return found


def test_the_spirv_compiler(compiler):
    module, log = compiler(KERNEL, "-w")
    assert module[:4] == bytes((3, 2, 0x23, 7))
    assert b"twice" in module
    assert log == ""


def test_what_the_spirv_compiler_refuses(compiler):
    module, log = compiler("__kernel void f() {\n  nothing();\n}\n", "-w")
    assert module == b""
    assert "line 2:3: error: use of undeclared identifier 'nothing'" in log or "line 2:3: error:" in log


def test_doubles_need_the_extension(compiler):
    text = "__kernel void f(__global double *x) { x[0] = exp(x[1]); }"
    assert compiler(text, "-w", ["cl_khr_fp64"])[0]
    assert not compiler(text, "-w")[0]


def test_a_device_that_takes_no_source(compiler):
    """As a Level-Zero queue: the real device, with programs through SPIR-V."""
    pytest.importorskip("dpctl")
    if reason := sycl.BACKEND.available():
        pytest.skip(reason)
    known = sycl.BACKEND.devices()[0]
    device = type(known)(0, known._device)
    device.takes_source = False
    source = Source(KERNEL, (("twice", (Arg("x0", "buffer", "f32"),)),))
    blob = device.build(source)
    assert blob[:4] == bytes((3, 2, 0x23, 7))
    assert device.fingerprint != known.fingerprint
    x = upload(device, np.arange(64, dtype=np.float32))
    for _ in range(2):  # the second from the binary alone
        device.launch(device.load(blob, source)["twice"], Grid((64,), (16,)), (x,))
    assert (download(device, x, 64) == 4 * np.arange(64)).all()


@pytest.mark.parametrize("lost", [False, True])
def test_a_lost_device(monkeypatch, lost):
    dpctl = pytest.importorskip("dpctl")
    from tensorx.devices import sycl_device

    def barrier():
        if lost:
            raise dpctl.SyclKernelSubmitError("Barrier submission to Sycl queue failed.")

    device = object.__new__(sycl_device.Sycl)
    vars(device).update(index=0, _queue_ref=0, _queue=SimpleNamespace(submit_barrier=barrier))
    kernel = SimpleNamespace(entry="tx_add", submit=lambda queue, grid, args: False)
    with pytest.raises(DeviceLost if lost else KernelError, match="'tx_add' was refused by sycl:0"):
        device.launch(kernel, Grid((64,), (64,)), ())
    monkeypatch.setattr(sycl_device, "copy", lambda queue, target, source, nbytes: None)
    with pytest.raises(DeviceLost if lost else KernelError, match="12 bytes were refused by sycl:0"):
        device.copy_out(SimpleNamespace(address=0), 0, np.zeros(3, np.float32))
