"""``python -m tensorx COMMAND``."""

from __future__ import annotations

import importlib
import sys

#: Command -> (module with ``main(argv) -> exit status``, what it does). Modules load only when their command is used.
COMMANDS = {
    "devices": ("tensorx.devices.report", "every backend: PASS, or why not"),
    "demo": ("tensorx.demo", "train a small network on handwritten digits"),
    "kernels": ("tensorx.ops.show", "print the source generated for an op"),
}


def main(argv: list[str]) -> int:
    """Run a command; 2 and a usage text when there is none of that name."""
    if argv and argv[0] in COMMANDS:
        return importlib.import_module(COMMANDS[argv[0]][0]).main(argv[1:]) or 0
    wanted_help = bool(argv) and argv[0] in ("-h", "--help", "help")
    usage = "usage: python -m tensorx COMMAND [options]\n\n" + "\n".join(
        f"  {name:8} {text}" for name, (_, text) in COMMANDS.items()
    )
    print(usage, file=sys.stdout if wanted_help else sys.stderr)
    return 0 if wanted_help else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
