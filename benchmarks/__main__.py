"""``python -m benchmarks``: all; ``python -m benchmarks small_ops --device opencl:pocl``: one, on one device."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from benchmarks import harness

NOT_BENCHMARKS = ("__init__", "__main__", "harness")


def names() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_BENCHMARKS)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", choices=[[], *names()], help="which to run (default: all)")
    parser.add_argument("--device", action="append", help="device string, may be repeated")
    arguments = parser.parse_args()
    print(harness.machine())
    for name in arguments.name or names():
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n{name}: {module.__doc__.splitlines()[0]}")
        module.main(arguments.device or list(module.DEVICES))


if __name__ == "__main__":
    main()
