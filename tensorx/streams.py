"""Streams and events. Every device has one queue, in which work runs in the order of the calls: any stream is that
queue, so waiting of one
stream for another has nothing to do."""

from __future__ import annotations

from typing import Any

from tensorx.devices import registry
from tensorx.faults import synchronize


class Stream:
    """The queue of a device.

    >>> import tensorx
    >>> s = tensorx.Stream("cpu")
    >>> s.synchronize(); s.query(), s == tensorx.Stream("cpu")
    (True, True)
    """

    def __init__(self, device: Any = None, priority: int = 0, **other: Any) -> None:
        self.device = registry.resolve(device)
        self.priority = priority

    def synchronize(self) -> None:
        """Wait until all work of the device is done."""
        synchronize(self.device)

    def query(self) -> bool:
        """Whether all work of the device is done."""
        return bool(registry.open(self.device).event().done)

    def wait_stream(self, stream: Stream) -> None:
        """Work queued from now on runs after what ``stream`` has: it waits for another device, and is so anyway for the
        same.
        """
        if stream.device is not self.device:
            stream.synchronize()

    def wait_event(self, event: Event) -> None:
        """Work queued from now on runs after ``event``."""
        event.wait(self)

    def record_event(self, event: Event | None = None) -> Event:
        """Mark the present end of the queue."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.device is self.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class Event:
    """A point in a device's queue.

    >>> import tensorx
    >>> a, b = tensorx.Event("cpu", enable_timing=True), tensorx.Event("cpu", enable_timing=True)
    >>> a.record(); b.record(); b.synchronize(); a.elapsed_time(b) >= 0
    True
    """

    def __init__(
        self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        if interprocess:
            raise NotImplementedError(
                "Event: argument 'interprocess' must be False: events cannot be shared between processes."
            )
        self._device, self._timed = device, enable_timing
        self._mark: Any = None

    def record(self, stream: Stream | None = None) -> None:
        """Mark the present end of the queue (of the default device, if none was named)."""
        device = stream.device if stream is not None else registry.resolve(self._device)
        self._mark = registry.open(device).event()

    def query(self) -> bool:
        """Whether the work before the mark is done; True if nothing was marked."""
        return self._mark is None or bool(self._mark.done)

    def synchronize(self) -> None:
        """Wait until the work before the mark is done."""
        if self._mark is not None:
            self._mark.wait()

    def wait(self, stream: Stream | None = None) -> None:
        """Work queued from now on runs after the mark: with one queue a device it waits only across devices."""
        self.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to ``end_event``. Raises ValueError unless both have ``enable_timing``,
        RuntimeError if one was not recorded.
        """
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._mark is None or end_event._mark is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        end_event.synchronize()
        return float(self._mark.elapsed(end_event._mark))
