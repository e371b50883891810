"""Has the real nvcc accept every source that was compiled for the simulator, many to a call.

    python -m tests.cudasim.check [--arch sm_75 --arch sm_90]

nvcc takes 0.6 s a call however many kernels it gets. Each source becomes a part of one file: macros expanded, in a
namespace of its own, its kernels renamed. Warnings are errors. Where a source does not say ``double``, its PTX must not
either: a literal without an f would bring a graphics card down to a thirty-second of its speed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import compiler

ARCHITECTURES = ("sm_75", "sm_90", "sm_100")
TOGETHER = 40
HEAD = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


def part(path: Path, number: int) -> str:
    """A source as one of many in a file."""
    text = compiler.preprocess(path.read_text(encoding="utf-8"), str(path.parent), [], "90", lines=False)
    for kernel in compiler.KERNEL.finditer(text):
        text = re.sub(rf"\b{kernel[3]}\b", f"{kernel[3]}_{number}", text)
    return f'#line 1 "{path.name}"\nnamespace part_{number} {{\n{text}\n}}\n'


def nvcc(flags: list[str], text: str, output: str) -> tuple[str, str]:
    """(what it says when it refuses, what it made)."""
    with tempfile.TemporaryDirectory(prefix="cudasim-") as folder:
        source, made = Path(folder, "kernels.cu"), Path(folder, output)
        source.write_text(text, encoding="utf-8")
        command = [compiler.real_nvcc(), "-std=c++17", "-fmad=false", "-Werror", "all-warnings", *flags]
        done = subprocess.run([*command, "-o", made, source], capture_output=True, text=True, check=False)
        return (done.stdout + done.stderr, "") if done.returncode else ("", made.read_text(errors="replace"))


def refusal(sources: list[Path], architectures: list[str]) -> str:
    """Why nvcc does not take these; empty if it does."""
    parts = {path: part(path, number) for number, path in enumerate(sources)}
    code = [f"-gencode=arch=compute_{a[3:]},code={a}" for a in architectures]
    said, _ = nvcc(["-fatbin", *code], HEAD + "".join(parts.values()), "kernels.fatbin")
    if said:
        return said
    single = [text for text in parts.values() if not re.search(r"\bdouble\b", text)]
    if single:
        said, ptx = nvcc(["-ptx", f"-arch={architectures[0]}"], "".join(single), "kernels.ptx")
        for entry, body in re.findall(r"\.entry (\w+)\((.*?)\n}", ptx, re.S):
            if ".f64" in body:
                path = sources[int(entry.rpartition("_")[2])]
                said += f"{path.name}: float64 arithmetic in {entry}, which does not mention it\n"
    return said


def refused(sources: list[Path], architectures: list[str]) -> dict[Path, str]:
    """Those that nvcc does not take; the others are marked as accepted."""
    said = refusal(sources, architectures)
    named = [path for path in sources if path.name in said]
    if said and len(sources) > 1:
        first = named if 0 < len(named) < len(sources) else sources[: len(sources) // 2]
        rest = [path for path in sources if path not in first]
        return refused(first, architectures) | refused(rest, architectures)
    if said:
        return {sources[0]: said}
    for path in sources:
        path.rename(path.with_name(path.name.replace(".pending.cu", ".accepted")))
    return {}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cudasim.check", description=__doc__.splitlines()[0])
    parser.add_argument("--arch", action="append", metavar="sm_90", help=f"default: {' '.join(ARCHITECTURES)}")
    asked = parser.parse_args()
    if not compiler.real_nvcc():
        print("nvcc is not installed here: nothing was checked")
        return 0
    pending = sorted(Path(compiler.cache_folder()).glob("*.pending.cu"))
    found: dict[Path, str] = {}
    for first in range(0, len(pending), TOGETHER):
        found |= refused(pending[first : first + TOGETHER], asked.arch or list(ARCHITECTURES))
        print(f"\r{min(first + TOGETHER, len(pending))} of {len(pending)}", end="", flush=True, file=sys.stderr)
    for path, said in found.items():
        print(f"\n{path}\n{said[-2000:]}")
    accepted = len(list(Path(compiler.cache_folder()).glob("*.accepted")))
    print(f"\n{len(pending)} sources seen now, {len(found)} refused; {accepted} accepted in all")
    return bool(found)


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    sys.exit(main())
