"""Who may enter a driver, and when."""

from __future__ import annotations

import threading
import time

from tensorx.devices.base import raise_forked


class Gate:
    """Who may enter the driver: nobody in a forked child, and at exit only the thread that ends the process.

    A thread that waits inside the driver has let go of the interpreter. Should the interpreter end meanwhile, it
    would end the thread at its return, in the middle of C++ frames, and C++ then aborts the process. So blocking
    calls pass here, and :meth:`close` waits for them.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.forked = False  # the parent had enumerated the platforms: a driver's threads do not exist in the child
        self._inside: dict[int, int] = {}  # thread -> how often: a finalizer may enter in the midst of an entry
        self._closer: int | None = None

    def check(self) -> None:
        if self.forked:
            raise_forked(self.kind)

    def __enter__(self) -> None:
        me = threading.get_ident()
        # Before looking, so that close() sees this thread or this thread sees close().
        self._inside[me] = self._inside.get(me, 0) + 1
        if self.forked or self._closer not in (None, me):
            self.__exit__()
            self.check()
            raise SystemExit  # in a thread: ends it without a word

    def __exit__(self, *exc: object) -> None:
        me = threading.get_ident()
        if self._inside[me] > 1:
            self._inside[me] -= 1
        else:
            del self._inside[me]

    def close(self) -> None:
        """Keep other threads out; wait up to ten seconds for those inside."""
        self._closer = threading.get_ident()
        for _ in range(10_000):
            if not self._inside.keys() - {self._closer}:
                break
            time.sleep(0.001)
