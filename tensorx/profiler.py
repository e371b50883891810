"""``torch.profiler``: how often each primitive ran and how long it took, by a mode of the door.

Host time is from the call to its return; devices other than cpu work on after that. With `ProfilerActivity.CUDA` (or
XPU: any accelerator) every call waits
for its device, and that is the device time.
"""

from __future__ import annotations

import enum
import functools
import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tensorx.autograd.modes import state
from tensorx.devices import registry
from tensorx.ops.dispatch import Mode
from tensorx.ops.record import flat_tensors
from tensorx.ops.table import Op


class ProfilerActivity(enum.Enum):
    """What to time."""

    CPU, CUDA, XPU, MTIA, PrivateUse1 = range(5)


class ProfilerAction(enum.Enum):
    """What a schedule asks for in a step."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


@dataclass
class Event:
    """One call: times in microseconds."""

    name: str
    start: float
    host: float
    device: float = 0.0
    shapes: tuple[Any, ...] = ()
    user: bool = False  # of record_function: its time holds that of the calls inside


@dataclass
class Average:
    """All calls of one name (and, if grouped so, of the same shapes)."""

    key: str
    count: int = 0
    cpu_time_total: float = 0.0
    device_time_total: float = 0.0
    input_shapes: tuple[Any, ...] = ()
    user: bool = False

    @property
    def cpu_time(self) -> float:
        """Host time a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Device time a call."""
        return self.device_time_total / self.count if self.count else 0.0

    @property
    def self_cpu_time_total(self) -> float:
        """Host time; primitives hold no others."""
        return self.cpu_time_total

    @property
    def self_device_time_total(self) -> float:
        """Device time; primitives hold no others."""
        return self.device_time_total

    @property
    def cuda_time_total(self) -> float:
        """The older name of ``device_time_total``."""
        return self.device_time_total


class Averages(list[Average]):
    """What `profile.key_averages` gives; `table` prints it."""

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_name_column_width: int = 55, **other: Any
    ) -> str:
        """One line a name: calls, host and device time in total and a call. ``sort_by``: an attribute such as
        ``cpu_time_total``.
        """
        key = (sort_by or "cpu_time_total").replace("cuda_", "device_")
        rows = sorted(self, key=lambda a: -getattr(a, key))[: row_limit if row_limit >= 0 else None]
        total = sum(a.cpu_time_total for a in self if not a.user)

        def line(name: str, *columns: Any) -> str:
            cells = [f"{text:>{width}}" for text, width in zip(columns, (8, 12, 7, 12, 13, 12))]
            return " ".join([f"{name[:max_name_column_width]:{max_name_column_width}}", *cells])

        head = line("Name", "Calls", "CPU total", "CPU %", "CPU avg", "Device total", "Device avg")
        lines = ["-" * len(head), head, "-" * len(head)]
        for a in rows:
            share = f"{100 * a.cpu_time_total / total:.1f}%" if total and not a.user else ""
            host = (_time(a.cpu_time_total), share, _time(a.cpu_time))
            lines.append(line(a.key, a.count, *host, _time(a.device_time_total), _time(a.device_time)))
        return "\n".join([*lines, "-" * len(head), f"CPU time total: {_time(total)}", ""])

    def total_average(self) -> Average:
        """All primitives together."""
        own = [a for a in self if not a.user]
        return Average(
            "Total",
            sum(a.count for a in own),
            sum(a.cpu_time_total for a in own),
            sum(a.device_time_total for a in own),
        )


def _time(us: float) -> str:
    return f"{us:.3f}us" if us < 1000 else f"{us / 1000:.3f}ms" if us < 1e6 else f"{us / 1e6:.3f}s"


@dataclass
class _Timing(Mode):
    """The mode that sees each call while a profile records."""

    waits: bool
    shapes: bool
    events: list[Event] = field(default_factory=list)

    def handle(self, op: Op, args: tuple[Any, ...], out: Any, proceed: Callable[..., Any]) -> Any:
        start = time.perf_counter_ns()
        result = proceed(op, args, out)
        host = time.perf_counter_ns()
        tensors = flat_tensors(args)
        event = Event(
            op.name, start / 1e3, (host - start) / 1e3, shapes=tuple(t._shape for t in tensors) if self.shapes else ()
        )
        made = result[0] if isinstance(result, tuple) and result else result
        device = getattr(made, "device", None)
        if self.waits and device is not None and device.type not in ("cpu", "meta", "null"):
            registry.open(device).synchronize()
            event.device = (time.perf_counter_ns() - start) / 1e3
        self.events.append(event)
        return result


class profile:
    """Time the calls in the block.

    Args:
        activities: `ProfilerActivity` members; with CUDA or XPU every call waits for its device.
        schedule: says, from the step's number, whether to record it (see `schedule`); `step` counts.
        on_trace_ready: called with the profile when a recorded stretch ends.
        record_shapes: note the shapes of operands.
        profile_memory, with_stack, with_flops, with_modules, ...: accepted; not measured.

    Example:
        >>> import tensorx as tx
        >>> with tx.profiler.profile() as p:
        ...     y = tx.ones(2, 2) @ tx.ones(2, 2)
        >>> [a.count for a in p.key_averages() if a.key == "_product"]
        [1]
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        record_shapes: bool = False,
        **other: Any,
    ) -> None:
        asked = set(activities if activities is not None else ProfilerActivity)
        self._timing = _Timing(bool(asked - {ProfilerActivity.CPU}), record_shapes)
        self._schedule, self._ready, self.step_num = schedule, on_trace_ready, 0
        self._on = False

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self._schedule is None else self._schedule(self.step_num)

    def _switch(self, on: bool) -> None:
        if on and not self._on:
            state.stack = (*state.stack, self._timing)
        elif self._on and not on:
            state.stack = tuple(m for m in state.stack if m is not self._timing)
        self._on = on

    def start(self) -> None:
        """Begin."""
        self._switch(self._action() in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE))

    def stop(self) -> None:
        """End; ``on_trace_ready`` is called if there is something new."""
        was = self._on
        self._switch(False)
        if was and self._ready is not None:
            self._ready(self)

    def step(self) -> None:
        """The next step begins."""
        ended = self._action()
        self.step_num += 1
        if ended is ProfilerAction.RECORD_AND_SAVE:
            self._switch(False)
            if self._ready is not None:
                self._ready(self)
            self._timing.events.clear()
        self._switch(self._action() in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE))

    def __enter__(self) -> Any:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def events(self) -> list[Event]:
        """Every call."""
        return list(self._timing.events)

    def key_averages(self, group_by_input_shape: bool = False, **other: Any) -> Averages:
        """Calls by name, and by shapes if asked."""
        found: dict[Any, Average] = {}
        for e in self._timing.events:
            shapes = e.shapes if group_by_input_shape else ()
            a = found.setdefault((e.name, shapes), Average(e.name, input_shapes=shapes, user=e.user))
            a.count, a.cpu_time_total, a.device_time_total = (
                a.count + 1,
                a.cpu_time_total + e.host,
                a.device_time_total + e.device,
            )
        return Averages(found.values())

    def export_chrome_trace(self, path: str) -> None:
        """Write the calls as a file that chrome://tracing and Perfetto read."""
        events = [
            {
                "name": e.name,
                "ph": "X",
                "pid": os.getpid(),
                "tid": 0,
                "ts": e.start,
                "dur": max(e.host, e.device),
                "args": {"shapes": list(e.shapes)},
            }
            for e in self._timing.events
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)


class record_function:
    """Name a stretch of code: a context manager and a decorator; it appears in the profiles that record meanwhile.

    >>> with record_function("step"):
    ...     pass
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self._starts: list[int] = []

    def __enter__(self) -> record_function:
        self._starts.append(time.perf_counter_ns())
        return self

    def __exit__(self, *error: object) -> None:
        start = self._starts.pop()
        for mode in state.stack:
            if isinstance(mode, _Timing):
                mode.events.append(Event(self.name, start / 1e3, (time.perf_counter_ns() - start) / 1e3, user=True))

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def named(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return f(*args, **kwargs)

        return named


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Steps to leave out first, then cycles of ``wait`` idle, ``warmup`` and ``active`` recorded steps, ``repeat``
    times (0: without end).

    >>> f = schedule(wait=1, warmup=0, active=1)
    >>> f(0).name, f(1).name
    ('NONE', 'RECORD_AND_SAVE')
    """
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if wait and skip_first_wait:
            step += wait
        if repeat and step // cycle >= repeat:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if place == cycle - 1 else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """For ``on_trace_ready``: writes each trace as a file in ``dir_name``."""

    def write(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = (
            f"{worker_name or os.uname().nodename + '_' + str(os.getpid())}.{time.time_ns() // 1000000}.pt.trace.json"
        )
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return write


__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "tensorboard_trace_handler"]
