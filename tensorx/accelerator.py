"""``torch.accelerator``: the device beside the host, whatever makes it. It is the default device if that is none of the
host's, else the
first real GPU (see the device string ``auto``), else there is none.

>>> import tensorx
>>> tensorx.accelerator.is_available() == (tensorx.accelerator.current_accelerator() is not None)
True
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tensorx import dtypes
from tensorx.devices import registry
from tensorx.devices.base import Device
from tensorx.errors import BackendUnavailable
from tensorx.faults import synchronize as _synchronize
from tensorx.streams import Stream

_NONE = ("cpu", "meta", "null")


def found() -> registry.device | None:
    """The current accelerator, opened, or None."""
    default = registry.default()
    device = default if default.type not in _NONE else registry.auto()
    return None if device.type in _NONE else registry.resolve(device)


def current_accelerator(check_available: bool = False) -> registry.device | None:
    """The accelerator's type as a device without index, or None."""
    device = found()
    return None if device is None else registry.device(device.type)


def is_available() -> bool:
    """Whether there is an accelerator."""
    return found() is not None


def device_count() -> int:
    """How many devices of the accelerator's type may be used; 0 without one."""
    device = found()
    return 0 if device is None else sum(map(registry.visible, registry.backend(device.type).devices()))


def chosen(device: Any = None) -> registry.device:
    """The device that the functions here mean: a device, an index, or by default the current accelerator.
    BackendUnavailable without one.
    """
    current = found()
    if device is None or isinstance(device, int):
        if current is None:
            raise BackendUnavailable(
                "accelerator: there is no accelerator on this machine. Hint: python -m tensorx devices"
            )
        return current if device is None or device < 0 else registry.resolve(f"{current.type}:{device}")
    return registry.resolve(device)


def runtime(device: Any = None) -> Device:
    """The opened device behind `chosen`."""
    return registry.open(chosen(device))


def current_device_index() -> int:
    """The index of the current accelerator."""
    return chosen().index or 0


current_device_idx = current_device_index


def set_device_index(device: Any) -> None:
    """Make this accelerator the default device."""
    registry.set_default(chosen(device))


set_device_idx = set_device_index


@contextmanager
def device_index(device: int | None) -> Iterator[None]:
    """In the block, this accelerator is the default device."""
    if device is None:
        yield
        return
    with chosen(device):
        yield


def synchronize(device: Any = None) -> None:
    """Wait until all work of the accelerator is done."""
    _synchronize(chosen(device))


def current_stream(device: Any = None) -> Stream:
    """The queue of the accelerator."""
    return Stream(chosen(device))


def set_stream(stream: Stream) -> None:
    """Make the stream's device the default device; it has one queue."""
    registry.set_default(stream.device)


def empty_cache() -> None:
    """Give freed memory, kept for reuse, back to the driver."""
    runtime().empty_cache()


def empty_host_cache() -> None:
    """Give freed host memory, kept for copies to the accelerator, back to the system."""
    runtime().staging.empty()


def get_device_capability(device: Any = None) -> dict[str, Any]:
    """``supported_dtypes``: the dtypes that the accelerator can hold."""
    caps = runtime(device).capabilities
    return {"supported_dtypes": {d for d in dtypes.ALL if caps.supports(d.code)}}


def memory_stats(device: Any = None) -> dict[str, int]:
    """Bytes, under the keys of PyTorch that exist here. Memory is counted in blocks, when it is reserved: the peak of
    what tensors hold is the peak of what is reserved, an upper bound.
    """
    stats = runtime(device).memory_stats()
    return {
        "allocated_bytes.all.current": stats["used"],
        "allocated_bytes.all.peak": stats["peak"],
        "reserved_bytes.all.current": stats["used"] + stats["cached"],
        "reserved_bytes.all.peak": stats["peak"],
    }


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors hold."""
    return memory_stats(device)["allocated_bytes.all.current"]


def memory_reserved(device: Any = None) -> int:
    """Bytes held from the driver: by tensors and for reuse."""
    return memory_stats(device)["reserved_bytes.all.current"]


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes held at once since the start or `reset_peak_memory_stats`."""
    return memory_stats(device)["reserved_bytes.all.peak"]


max_memory_allocated = max_memory_reserved


def reset_peak_memory_stats(device: Any = None) -> None:
    """Count peaks from now."""
    runtime(device).reset_peak()


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Nothing: no totals over time are counted."""


def get_memory_info(device: Any = None) -> tuple[int, int]:
    """(free, total) bytes; free is what this process does not hold."""
    stats = runtime(device).memory_stats()
    return stats["limit"] - stats["used"] - stats["cached"], stats["limit"]
