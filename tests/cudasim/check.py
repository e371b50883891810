"""Has the real nvcc accept every source that was compiled for the simulator, many to a call.

    python -m tests.cudasim.check [--arch sm_75 --arch sm_90]

nvcc takes 0.6 s a call before it looks at a kernel. Each source becomes a part of one file: macros expanded, in a
namespace of its own, its kernels renamed. Warnings are errors. Where a kernel does not say ``double``, its PTX must not
either: a literal without an f would bring a graphics card down to a thirty-second of its speed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import compiler

ARCHITECTURES = ("sm_75", "sm_90", "sm_100")
TOGETHER = 40
FLAGS = ["-fatbin", "-std=c++17", "-fmad=false", "-Werror", "all-warnings", "-Xptxas", "-O1"]
HEAD = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


def part(path: Path, number: int) -> str:
    """A source as one of many in a file."""
    text = compiler.preprocess(path.read_text(encoding="utf-8"), str(path.parent), [], "90", lines=False)
    for kernel in compiler.KERNEL.finditer(text):
        text = re.sub(rf"\b{kernel[3]}\b", f"{kernel[3]}_{number}", text)
    return f'#line 1 "{path.name}"\nnamespace part_{number} {{\n{text}\n}}\n'


def nvcc(text: str, architectures: list[str]) -> tuple[str, str]:
    """(what it says when it refuses, the PTX for the first architecture)."""
    with tempfile.TemporaryDirectory(prefix="cudasim-") as folder:
        source = Path(folder, "kernels.cu")
        source.write_text(text, encoding="utf-8")
        code = [f"-gencode=arch=compute_{a[3:]},code={a}" for a in architectures]
        command = [compiler.real_nvcc(), *FLAGS, *code, "--keep", "--keep-dir", folder, "-o", f"{folder}/out", source]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        if done.returncode:
            return done.stdout + done.stderr, ""
        first = architectures[0].replace("sm_", "compute_")
        made = sorted(Path(folder).glob("*.ptx"), key=lambda path: first not in path.name)
        return "", made[0].read_text(encoding="utf-8")


def body(text: str, start: int) -> str:
    """A function's text from ``start`` to its closing brace."""
    depth = 0
    for mark in re.finditer("[{}]", text[start:]):
        depth += 1 if mark[0] == "{" else -1
        if not depth:
            return text[start : start + mark.end()]
    return text[start:]


def refusal(sources: list[Path], architectures: list[str]) -> str:
    """Why nvcc does not take these; empty if it does."""
    text = HEAD + "".join(part(path, number) for number, path in enumerate(sources))
    said, ptx = nvcc(text, architectures)
    kernels = {kernel[3]: body(text, kernel.start()) for kernel in compiler.KERNEL.finditer(text)}
    single = {name for name, own in kernels.items() if not re.search(r"\bf64\b|\bdouble\b", own)}
    for entry, code in re.findall(r"\.entry (\w+)\((.*?)\n}", ptx, re.S):
        if entry in single and ".f64" in code:
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
    groups = [pending[first : first + TOGETHER] for first in range(0, len(pending), TOGETHER)]
    architectures = asked.arch or list(ARCHITECTURES)
    found: dict[Path, str] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each waits for its nvcc
        for number, refusals in enumerate(pool.map(lambda group: refused(group, architectures), groups), 1):
            found |= refusals
            print(f"\r{number} of {len(groups)}", end="", flush=True, file=sys.stderr)
    for path, said in found.items():
        print(f"\n{path}\n{said[-2000:]}")
    accepted = len(list(Path(compiler.cache_folder()).glob("*.accepted")))
    print(f"\n{len(pending)} sources seen now, {len(found)} refused; {accepted} accepted in all")
    return bool(found)


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    sys.exit(main())
