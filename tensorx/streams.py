"""Streams and events. Every device has one queue, in which work runs in the order of the calls: any stream of a device
is that queue, so that one waits for another has nothing to do. Waiting for another device waits on the host.
"""

from __future__ import annotations

import time
from typing import Any, NoReturn

from tensorx.devices import registry
from tensorx.faults import synchronize

#: Seconds in which an idle queue reports a mark as passed.
_PROMPT = 0.002


class Stream:
    """The queue of a device.

    >>> import tensorx
    >>> s = tensorx.Stream("cpu")
    >>> s.synchronize(); s.query(), s == tensorx.Stream("cpu")
    (True, True)
    """

    stream_id = 0

    def __init__(self, device: Any = None, priority: int = 0, **other: Any) -> None:
        self.device = registry.resolve(device)
        self.priority = priority

    @property
    def device_index(self) -> int:
        """The index of the device; 0 for one without."""
        return self.device.index or 0

    @property
    def device_type(self) -> str:
        """The kind of device."""
        return self.device.type

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """The least and the greatest priority: there is one."""
        return 0, 0

    def synchronize(self) -> None:
        """Wait until all work of the device is done."""
        synchronize(self.device)

    def query(self) -> bool:
        """Whether all work of the device is done."""
        mark, until = registry.open(self.device).event(), time.perf_counter() + _PROMPT
        while not mark.done:  # the mark itself takes the queue a moment
            if time.perf_counter() > until:
                return False
        return True

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
        event = Event(self.device) if event is None else event
        event.record(self)
        return event

    def is_capturing(self) -> bool:
        """False: work cannot be recorded and replayed in this version."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.device is self.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"<tensorx.Stream device={self.device}>"

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
            self.ipc_handle()
        self._asked, self._timed = device, enable_timing
        self._mark: Any = None
        self.device: registry.device | None = None if device is None else registry.resolve(device)

    def record(self, stream: Stream | None = None) -> None:
        """Mark the present end of the queue (of the default device, if none was named)."""
        self.device = stream.device if stream is not None else registry.resolve(self._asked)
        self._mark = registry.open(self.device).event()

    def query(self) -> bool:
        """Whether the work before the mark is done; True if nothing was marked."""
        return self._mark is None or bool(self._mark.done)

    def synchronize(self) -> None:
        """Wait until the work before the mark is done."""
        if self._mark is not None:
            self._mark.wait()

    def wait(self, stream: Stream | None = None) -> None:
        """Work queued from now on (on ``stream``; else on the event's device) runs after the mark: with one queue a
        device that needs waiting across devices alone.
        """
        if stream is not None and stream.device is not self.device:
            self.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to ``end_event``. Raises ValueError unless both have ``enable_timing``,
        RuntimeError if one was not recorded, or on another device.
        """
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._mark is None or end_event._mark is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        if self.device is not end_event.device:
            raise RuntimeError(
                f"elapsed_time: argument 'end_event' must be an event of {self.device}; got one of {end_event.device}. "
                "Hint: the clocks of two devices have nothing in common"
            )
        end_event.synchronize()
        return float(self._mark.elapsed(end_event._mark))

    def ipc_handle(self) -> NoReturn:
        """NotImplementedError."""
        raise NotImplementedError(
            "Event: argument 'interprocess' must be False: events cannot be shared between processes."
        )

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: Any) -> NoReturn:
        """NotImplementedError."""
        raise NotImplementedError("Event.from_ipc_handle: events cannot be shared between processes.")
