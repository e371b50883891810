"""Work in threads that start together."""

from __future__ import annotations

import threading


def together(works):
    """What each callable returns, each in a thread of its own. Errors come out here."""
    results, errors, gate = [None] * len(works), [], threading.Barrier(len(works))

    def run(i):
        gate.wait()
        try:
            results[i] = works[i]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results
