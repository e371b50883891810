"""Locks that a forked child finds open.

A child has one thread; a lock that another thread of the parent held at the fork would stay shut there for ever. What
these locks guard is consistent after every statement (a counter, a dictionary entry), so the child may go on.
"""

from __future__ import annotations

import os
import threading
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


_all: weakref.WeakSet[Lock] = weakref.WeakSet()


def _after_fork() -> None:
    for lock in _all:
        lock.mutex = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
