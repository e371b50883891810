"""``python -m tensorx COMMAND``."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable

#: Command -> (module with ``main(argv) -> exit status``, what it does). Modules load only when their command is used.
COMMANDS = {
    "devices": ("tensorx.devices.report", "every backend: PASS, or why not"),
    "demo": ("tensorx.demo", "train a small network on handwritten digits"),
    "tune": ("tensorx.tune", "find the fastest tiles of products and convolutions on a device"),
    "kernels": ("tensorx.ops.show", "print the source generated for an op"),
}


def main(argv: list[str]) -> int:
    """Run a command; 2 and a usage text when there is none of that name."""
    if argv and argv[0] in COMMANDS:
        return _run(importlib.import_module(COMMANDS[argv[0]][0]).main, argv[1:])
    if argv and argv[0] in ("-V", "--version", "version"):
        from tensorx import __version__

        print(f"tensorx {__version__}")
        return 0
    usage = "usage: python -m tensorx COMMAND [options]\n\n" + "\n".join(
        f"  {name:8} {text}" for name, (_, text) in COMMANDS.items()
    )
    if argv and argv[0] in ("-h", "--help", "help"):
        print(usage)
        return 0
    if argv:
        usage += f"\n\ntensorx: argument 'COMMAND' must be one of {', '.join(COMMANDS)}; got {argv[0]!r}"
    print(usage, file=sys.stderr)
    return 2


def _run(command: Callable[[list[str]], int | None], argv: list[str]) -> int:
    """Run ``command``. A reader who has seen enough (``| head``) ends it, which is no error of ours."""
    try:
        status = command(argv) or 0
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more when it ends
        return 128 + 13  # as the shell says it of programs that SIGPIPE ended
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
