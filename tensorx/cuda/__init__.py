"""``torch.cuda`` for scripts that were written for it.

`is_available` and `device_count` tell the truth about CUDA devices. What such scripts call besides (``synchronize``,
``memory_allocated``, ``Event``) acts
on the CUDA device if there is one, and else on the default device, so that timing and memory figures of a script are
right on any device.

>>> import tensorx
>>> device = tensorx.device("cuda" if tensorx.cuda.is_available() else "cpu")
>>> tensorx.cuda.synchronize()
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from tensorx import accelerator as _accelerator
from tensorx import faults as _faults
from tensorx import streams as _streams
from tensorx.devices import registry as _registry
from tensorx.errors import BackendUnavailable, OutOfMemory
from tensorx.ops import legacy as _legacy

from . import amp

OutOfMemoryError = OutOfMemory


def is_available() -> bool:
    """Whether there is a CUDA device that can be used."""
    return device_count() > 0


def device_count() -> int:
    """How many CUDA devices can be used."""
    if _registry.backend("cuda").available():
        return 0
    return sum(map(_registry.visible, _registry.backend("cuda").devices()))


def is_initialized() -> bool:
    """Whether there is a CUDA device: it is opened at its first use."""
    return is_available()


def init() -> None:
    """Nothing: devices are opened at their first use."""


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether bfloat16 can be used: on every device (its values are computed in float32), if there is one."""
    return is_available()


def is_current_stream_capturing() -> bool:
    """False: there are no CUDA graphs."""
    return False


def _cuda(device: Any, what: str) -> _registry.device:
    """A CUDA device; BackendUnavailable without one."""
    if not is_available():
        raise BackendUnavailable(
            f"cuda.{what}: there is no CUDA device. Hint: python -m tensorx devices shows what there is; test "
            "torch.cuda.is_available() first"
        )
    default = _registry.default()
    if device is None:
        return _registry.resolve(default if default.type == "cuda" else "cuda:0")
    return _registry.resolve(f"cuda:{device}" if isinstance(device, int) else device)


def _chosen(device: Any = None) -> _registry.device:
    """The CUDA device that is meant; without one the default device."""
    if is_available() or (device is not None and not isinstance(device, int)):
        return _cuda(device, "device") if not isinstance(device, _registry.device) else _registry.resolve(device)
    return _registry.resolve()


def current_device() -> int:
    """The index of the current CUDA device. BackendUnavailable (a RuntimeError) without one."""
    return _cuda(None, "current_device").index or 0


def set_device(device: Any) -> None:
    """Make a CUDA device the one that ``cuda`` without an index means. BackendUnavailable without one; a negative index
    is ignored.
    """
    if isinstance(device, int) and device < 0:
        return
    _registry.set_default(_cuda(device, "set_device"))


@contextlib.contextmanager
def device(device: Any) -> Iterator[None]:
    """In the block, this CUDA device is the current one; None or a negative index changes nothing."""
    if device is None or (isinstance(device, int) and device < 0):
        yield
        return
    with _cuda(device, "device"):
        yield


def device_of(obj: Any) -> Any:
    """`device` with the device of a tensor, if that is a CUDA device."""
    return device(obj.device.index if obj.device.type == "cuda" else None)


def get_device_name(device: Any = None) -> str:
    """The card's name. BackendUnavailable without one."""
    return str(_registry.open(_cuda(device, "get_device_name")).name)


class DeviceProperties(NamedTuple):
    """What `get_device_properties` tells."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Name, compute capability, memory and multiprocessors. BackendUnavailable without a card."""
    runtime = _registry.open(_cuda(device, "get_device_properties"))
    major, minor = get_device_capability(device)
    return DeviceProperties(
        runtime.name, major, minor, runtime.capabilities.total_mem, runtime.capabilities.compute_units
    )


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability, as (major, minor). BackendUnavailable without a card."""
    runtime = _registry.open(_cuda(device, "get_device_capability"))
    return getattr(runtime, "compute_capability", (0, 0))


def get_arch_list() -> list[str]:
    """Empty: kernels are compiled for the card at hand."""
    return []


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """False: copies between cards pass through the host."""
    return False


def synchronize(device: Any = None) -> None:
    """Wait until all work is done."""
    _faults.synchronize(_chosen(device))


def empty_cache() -> None:
    """Give freed memory, kept for reuse, back to the driver."""
    _registry.open(_chosen()).empty_cache()


def ipc_collect() -> None:
    """Nothing: memory is not shared between processes."""


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors hold."""
    return _accelerator.memory_allocated(_chosen(device))


def memory_reserved(device: Any = None) -> int:
    """Bytes held from the driver: by tensors and for reuse."""
    return _accelerator.memory_reserved(_chosen(device))


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes held at once since the start or `reset_peak_memory_stats`."""
    return _accelerator.max_memory_allocated(_chosen(device))


max_memory_reserved = max_memory_allocated
memory_cached, max_memory_cached = memory_reserved, max_memory_reserved  # their names before PyTorch 1.4


def reset_peak_memory_stats(device: Any = None) -> None:
    """Count peaks from now."""
    _accelerator.reset_peak_memory_stats(_chosen(device))


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def memory_stats(device: Any = None) -> dict[str, int]:
    """Bytes, under the keys of PyTorch that exist here."""
    return _accelerator.memory_stats(_chosen(device))


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """`memory_stats` as text."""
    return "\n".join(f"{name:28} {value:>16,}" for name, value in memory_stats(device).items())


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """(free, total) bytes; free is what this process does not hold."""
    return _accelerator.get_memory_info(_chosen(device))


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Not in this version; the variable TENSORX_CAPS_MASK (total_mem=4G) limits a device."""
    raise NotImplementedError(
        "cuda.set_per_process_memory_fraction: is not in this version. Hint: TENSORX_CAPS_MASK=total_mem=4G"
    )


def manual_seed(seed: int) -> None:
    """Seed CUDA's draws: there is one generator for all devices, so this seeds it if there is a CUDA device, and else
    does nothing.
    """
    if is_available():
        from tensorx.ops.random import manual_seed

        manual_seed(seed)


manual_seed_all = manual_seed


def seed() -> None:
    """Seed unpredictably, if there is a CUDA device."""
    if is_available():
        from tensorx.ops.random import seed

        seed()


seed_all = seed


def initial_seed() -> int:
    """The seed last set, of the one generator."""
    from tensorx.ops.random import initial_seed

    return initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """The state of the one generator."""
    from tensorx.ops.random import get_rng_state

    return get_rng_state()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Set the state of the one generator."""
    from tensorx.ops.random import set_rng_state

    set_rng_state(new_state)


def get_rng_state_all() -> list[Any]:
    """A state a CUDA device; empty without one, as in PyTorch."""
    return [get_rng_state() for _ in range(device_count())]


def set_rng_state_all(new_states: Any) -> None:
    """Set what `get_rng_state_all` gave."""
    for state in new_states:
        set_rng_state(state)


class Stream(_streams.Stream):
    """The queue of the CUDA device; without one that of the default device."""

    def __init__(self, device: Any = None, priority: int = 0, **other: Any) -> None:
        super().__init__(_chosen(device), priority)


class Event(_streams.Event):
    """A point in the queue of the CUDA device; without one of the default device."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        super().__init__(enable_timing=enable_timing, interprocess=interprocess)

    def record(self, stream: _streams.Stream | None = None) -> None:
        """Mark the present end of the queue."""
        super().record(current_stream() if stream is None else stream)


def current_stream(device: Any = None) -> Stream:
    """The device's queue."""
    return Stream(device)


default_stream = current_stream


class StreamContext:
    """A block in which work goes to ``stream``: to the one queue."""

    def __init__(self, stream: _streams.Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def stream(stream: _streams.Stream | None) -> StreamContext:
    """A block in which work goes to ``stream``: to the one queue."""
    return StreamContext(stream)


def set_stream(stream: _streams.Stream) -> None:
    """Nothing: a device has one queue."""


class ExternalStream:
    """Not in this version: the queue is the library's own."""

    def __init__(self, stream_ptr: int, device: Any = None) -> None:
        raise NotImplementedError("cuda.ExternalStream: queues of other libraries are not taken in this version.")


class CUDAGraph:
    """Not in this version."""

    def __init__(self, keep_graph: bool = False) -> None:
        raise NotImplementedError("cuda.CUDAGraph: recording and replaying a device's work is not in this version.")


def graph(*args: Any, **kwargs: Any) -> Any:
    """Not in this version."""
    raise NotImplementedError("cuda.graph: recording and replaying a device's work is not in this version.")


#: ``cuda.FloatTensor`` and its kin.
globals().update({name: _legacy.tensor_type(name, "cuda") for name in _legacy.TYPES})

__all__ = [
    name
    for name in dir()
    if not name.startswith("_") and name not in ("annotations", "contextlib", "Any", "Iterator", "NamedTuple")
]
