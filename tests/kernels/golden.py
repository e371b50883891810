"""Golden sources: ``python tests/kernels/golden.py --update`` rewrites them, without it says which are stale.

A diff of these files shows what a change of a template does to every dialect, types included.
"""

from __future__ import annotations

import sys
from pathlib import Path

from specs import GOLDEN

from tensorx.kernels.capabilities import Capabilities
from tensorx.kernels.generator import render, render_kernel

FOLDER = Path(__file__).parent / "golden"
CAPS = {
    "c": Capabilities("c", host_callable=True, cpu_like=True, fp64=True),
    "cl": Capabilities("opencl", fp64=True),
    "cu": Capabilities("cuda", fp64=True),
    "cpu.cl": Capabilities("opencl", cpu_like=True),
}


def texts() -> dict[str, str]:
    """File name -> text: kernels alone (the intrinsics have tests of their own), and one whole program a dialect."""
    found = {}
    for kind, caps in CAPS.items():
        for spec in GOLDEN:
            if spec.family == "attention" and not caps.cpu_like:
                continue
            if kind != "cpu.cl" or spec.family != "reduce":
                found[f"{spec.entry}.{kind}"] = render_kernel(spec, caps)[0]
        found[f"program.{kind}"] = render(GOLDEN[:3], caps).text
    return found


def stale() -> list[str]:
    """Names of files that differ from what is rendered now, are missing or left over."""
    now = texts()
    kept = {path.name: path.read_text() for path in FOLDER.glob("*")}
    return sorted(name for name in now.keys() | kept.keys() if now.get(name) != kept.get(name))


def main(argv: list[str]) -> int:
    changed = stale()
    if "--update" not in argv:
        print("\n".join(changed) or "golden sources are up to date")
        return 1 if changed else 0
    FOLDER.mkdir(exist_ok=True)
    now = texts()
    for name in changed:
        if name in now:
            (FOLDER / name).write_text(now[name])
        else:
            (FOLDER / name).unlink()
    print(f"{len(changed)} golden sources rewritten")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
