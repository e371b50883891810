"""Device strings."""

from __future__ import annotations

import copy
import pickle
import threading
from types import SimpleNamespace

import pytest

from tensorx.devices import registry
from tensorx.devices.registry import device as Device  # the fixture of that name is a lane
from tensorx.errors import BackendUnavailable, DeviceError


@pytest.fixture(autouse=True)
def _keep_default():
    yield
    registry.set_default(None)


def test_look_alike():
    assert (str(Device("opencl:1")), repr(Device("opencl", 1))) == ("opencl:1", "device(type='opencl', index=1)")
    assert (str(Device("cpu")), repr(Device("cpu")), Device("cpu").index) == ("cpu", "device(type='cpu')", None)
    assert Device("opencl:1") == Device("opencl", 1) != Device("opencl")
    assert Device("cpu") != "cpu"


def test_interned():
    one = Device("opencl:3")
    assert Device(one) is one
    assert pickle.loads(pickle.dumps(one)) is one
    assert copy.copy(one) is copy.deepcopy(one) is one
    assert {one: 1}[Device("opencl", 3)] == 1


def test_immutable():
    with pytest.raises(AttributeError, match="immutable"):
        Device("cpu").index = 1


@pytest.mark.parametrize(
    "text", ["", "gpu", "cpu:1", "opencl:", "opencl:-1", "opencl:1x", "opencl:²", "auto:0", "meta:2", ":0"]
)
def test_strings_that_name_nothing(text):
    with pytest.raises(DeviceError, match="device:"):
        Device(text)


@pytest.mark.parametrize("args", [("opencl:1", 1), ("cpu", -1)])
def test_arguments_that_disagree(args):
    with pytest.raises(DeviceError, match="device:"):
        Device(*args)


def test_types_that_are_no_name():
    with pytest.raises(TypeError, match="argument 'type'"):
        Device(1.5)


def test_resolve_gives_what_a_tensor_carries():
    assert registry.resolve("cpu:0") is Device("cpu")
    assert registry.resolve("null") is Device("null:0")
    assert registry.resolve("null:cuda").runtime.capabilities.dialect == "cuda"
    assert registry.resolve("meta").runtime.kind == "meta"


def test_default_and_context(monkeypatch):
    assert registry.default() is Device("cpu")
    with Device("meta"):
        assert registry.default() is Device("meta")
        seen = []
        thread = threading.Thread(target=lambda: seen.append(registry.default()))
        thread.start()
        thread.join()
        assert seen == [Device("cpu")]
    registry.set_default("null:1")
    assert registry.default() is Device("null:1")
    monkeypatch.setenv("TENSORX_DEVICE", "meta")
    registry.set_default(None)
    assert registry.default() is Device("meta")


def test_auto_is_never_opencl_on_a_cpu(monkeypatch):
    chosen = registry.resolve("auto")
    caps = chosen.runtime.capabilities
    assert chosen.type == "cpu" or (caps.long_loops and not caps.cpu_like)
    monkeypatch.setenv("TENSORX_VISIBLE_DEVICES", "")
    assert Device("auto") is Device("cpu")


def test_visible_devices(monkeypatch):
    class Fake:
        kind, index = "opencl", 2

    for text, seen in [
        ("opencl", True),
        ("opencl:2", True),
        ("cpu, opencl:2", True),
        ("opencl:1", False),
        ("", False),
        ("cpu", False),
    ]:
        monkeypatch.setenv("TENSORX_VISIBLE_DEVICES", text)
        assert registry.visible(Fake()) is seen, text
    monkeypatch.setenv("TENSORX_VISIBLE_DEVICES", "gpu")
    with pytest.raises(DeviceError, match="TENSORX_VISIBLE_DEVICES"):
        registry.visible(Fake())


def test_one_platform_twice_is_told_apart_by_version():
    from tensorx.devices.opencl import OpenCLBackend

    backend = OpenCLBackend()
    versions = ("3.0-rc2", "3.1+debian", "22.3.6")
    names = ("Portable Computing Language", "Portable Computing Language", "rusticl")
    backend._found = [
        SimpleNamespace(index=i, platform=name, driver_version=version, cpu_like=True)
        for i, (name, version) in enumerate(zip(names, versions))
    ]
    words = ("pocl", "pocl@3.0", "pocl@3.1", "pocl@4", "rusticl", "rusticl@22", "rusticl@3.1")
    assert [backend.match(word) for word in words] == [0, 0, 1, None, 2, 2, None]


def test_a_version_that_is_not_there():
    with pytest.raises(BackendUnavailable, match=r"'null:c@2' must match an installed platform or device"):
        Device("null:c@2")


def test_meta_has_no_data():
    meta = registry.resolve("meta").runtime
    buffer = meta.alloc(1 << 50)
    with pytest.raises(DeviceError, match="no data"):
        meta.copy_out(buffer, 0, None)
