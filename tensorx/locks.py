"""What a fork must not find in the wrong state: our locks, and libraries with threads and locks of their own.

A child has one thread; a lock that another thread of the parent held at the fork would stay shut there for ever. What
our locks guard is consistent after every statement (a counter, a dictionary entry), so the child gets new ones. BLAS
has locks that we do not see: a fork waits until no thread is inside.
"""

from __future__ import annotations

import os
import threading
import time
import weakref


class Lock:
    """Holds a reentrant ``mutex`` for ``with``, a new one in forked children.

    The mutex is the interpreter's own object: ``with`` enters it and its block without a gap in which Ctrl-C could
    leave it locked.

    >>> lock = Lock()
    >>> with lock.mutex, lock.mutex:
    ...     pass
    """

    __slots__ = ("__weakref__", "mutex")

    def __init__(self) -> None:
        self.mutex = threading.RLock()
        _all.add(self)


class Section:
    """Work that a fork in another thread waits for, ten seconds at most; the work waits while a fork is under way.

    >>> section = Section()
    >>> with section, section:
    ...     pass
    """

    __slots__ = ("_forks", "_inside")

    def __init__(self) -> None:
        self._inside: list[int] = []  # threads; appending to and removing from a list are atomic
        self._forks: list[int] = []

    def __enter__(self) -> None:
        me = threading.get_ident()
        self._inside.append(me)  # before looking: this thread sees the fork or the fork sees this thread
        while self._forks and self._inside.count(me) == 1:
            self._inside.remove(me)
            time.sleep(0.0005)
            self._inside.append(me)

    def __exit__(self, *error: object) -> None:
        self._inside.remove(threading.get_ident())

    def before_fork(self) -> None:
        """Keep others out and wait for those inside."""
        me = threading.get_ident()
        self._forks.append(me)
        end = time.monotonic() + 10
        while any(thread != me for thread in list(self._inside)) and time.monotonic() < end:
            time.sleep(0.0005)

    def after_in_parent(self) -> None:
        """Let others in again."""
        self._forks.remove(threading.get_ident())

    def after_in_child(self) -> None:
        """No other thread is there."""
        me = threading.get_ident()
        self._forks, self._inside = [], [thread for thread in self._inside if thread == me]


_all: weakref.WeakSet[Lock] = weakref.WeakSet()
#: NumPy's and SciPy's BLAS and LAPACK.
blas = Section()


def _after_fork() -> None:
    for lock in _all:
        lock.mutex = threading.RLock()
    blas.after_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=blas.before_fork, after_in_parent=blas.after_in_parent, after_in_child=_after_fork)
