"""The stand-in for nvcc: CUDA C++ in, a module for the stand-in driver out (a shared object for this processor).

    compiler.py --cubin -arch sm_90 -o kernel.cubin kernel.cu

1. Where the real nvcc is present it has to accept the source: at once (CUDASIM_CHECK=each), or many sources together at
   the end (``batch``, the default: the source is laid aside for ``python -m tests.cudasim.check``), or never (``off``).
2. g++ preprocesses the source, compiles it behind ``include/cudasim.h`` with a call before each access of memory, and
   links it; the driver gives it what it calls. Results are kept by content under CUDASIM_CACHE.

A script of its own, without imports from the project: it starts for every source.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
INCLUDE = os.path.join(HERE, "include")
VERSION = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.0, cudasim {}"
#: Headers whose content cudasim.h has.
KNOWN = (
    r"(?:cuda_fp16|cuda_bf16|cuda_runtime|cuda|math_constants)\.h|"
    r"c?(?:math|stdint|stddef|stdio|assert|float|limits)(?:\.h)?"
)
FLAGS = [
    "-std=gnu++17", "-O1", "-fPIC", "-w", "-fsigned-char", "-fwrapv", "-fno-strict-aliasing", "-fno-math-errno",
    "-fno-delete-null-pointer-checks",  # an access at 0 is a fault to be reported, not unreachable
    "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics",
    "-fsanitize=kernel-address", "-fsanitize-sections=cudasim_shared", "--param", "asan-stack=0",
    "--param", "asan-instrumentation-with-call-threshold=0", "--param", "asan-globals=1",
]  # fmt: skip
#: Options whose value is the next word.
OWN_VALUE = (
    "-o -I -D -U -isystem -arch --gpu-architecture -code --gpu-code -gencode -std -Xcompiler -Xptxas -ccbin "
    "--compiler-bindir -maxrregcount -diag-suppress"
).split()


def parse(arguments):
    """(input, output, mode, macros and include folders, compute capability, whether a*b+c may be fused)."""
    source, output, mode, passed, arch, fused = None, None, "cubin", [], "90", True
    rest = iter(arguments)
    for word in rest:
        name, _, value = word.partition("=")
        if word in OWN_VALUE:
            value = next(rest)
        if name in ("-o", "--output-file"):
            output = value
        elif name in ("-arch", "--gpu-architecture"):
            arch = re.sub(r"\D", "", value.split(",")[0]) or arch
        elif name in ("-I", "-D", "-U", "-isystem"):
            passed += [name, value]
        elif word[:2] in ("-I", "-D", "-U"):
            passed.append(word)
        elif word in ("--preprocess", "-E"):
            mode = "preprocess"
        elif word in ("-cubin", "--cubin", "-ptx", "--ptx", "-fatbin", "--fatbin"):
            mode = "cubin"
        elif name in ("-fmad", "--fmad"):
            fused = value != "false"
        elif not word.startswith("-") and word.endswith((".cu", ".cpp", ".c")):
            source = word
    return source, output, mode, passed, arch, fused


def run(command, **options):
    """The text of a command's output; ends with its message if it fails."""
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, **options)
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        sys.exit(done.returncode)
    return done.stdout


def cxx():
    return os.environ.get("CUDASIM_CXX", "g++")


def preprocess(text, folder, passed, arch, lines=True):
    """The source with its macros expanded and CUDA's own words left alone."""
    text = re.sub(rf'^[ \t]*#[ \t]*include[ \t]*[<"](?:{KNOWN})[>"]', "", text, flags=re.M)
    macros = ["-D__CUDACC__", "-D__NVCC__", "-D__CUDACC_VER_MAJOR__=13", f"-D__CUDA_ARCH__={arch}0", "-DCUDASIM=1"]
    marks = [] if lines else ["-P"]
    return run([cxx(), "-E", "-x", "c++", "-std=gnu++17", *marks, *macros, *passed, "-I", folder, "-"], input=text)


BOUNDED = r"__launch_bounds__\s*\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"
KERNEL = re.compile(
    rf"__global__\s+((?:(?:{BOUNDED}|__attribute__\s*\(\(.*?\)\)|static|void|inline)\s+)+)(\w+)\s*\(", re.S
)
VARIABLE = re.compile(
    r"^\s*(?:static\s+|extern\s+)?(?:__device__|__constant__)\s+(?:const\s+)?[\w:]+(?:\s+[\w:]+)*?\s+(\w+)\s*"
    r"(?:\[[^;{=]*\])*\s*[;={]",
    re.M,
)
DYNAMIC = re.compile(
    r"extern\s+__shared__\s+(?:(?:__align__|__attribute__)\s*\(+[^;]*?\)+\s*)?([\w:\s]+?)\s*(\w+)\s*\[\s*\]\s*;"
)


def complete(text):
    """The preprocessed source as a translation unit: with the header before it and the table of kernels behind it."""
    kernels = [(m[3], (m[2] or "1024").split(",")[0]) for m in KERNEL.finditer(text)]
    variables = [m[1] for m in VARIABLE.finditer(text)]
    text = DYNAMIC.sub(r"\1 *const \2 = static_cast<\1 *>(cudasim_dynamic_shared);", text)
    rows = "".join(f'  cudasim::kernel<{name}>("{name}", {bound}),\n' for name, bound in kernels)
    names = "".join(f'"{name}", ' for name in variables)
    places = "".join(f"(void *)&{name}, " for name in variables)
    sizes = "".join(f"sizeof({name}), " for name in variables)
    return f"""#include "cudasim.h"
{text}
extern "C" char __start_cudasim_shared[] __attribute__((weak)), __stop_cudasim_shared[] __attribute__((weak));
static const cudasim_kernel cudasim_kernels[] = {{
{rows}  {{nullptr}}}};
static const char *const cudasim_global_names[] = {{{names}nullptr}};
static void *const cudasim_globals[] = {{{places}nullptr}};
static const unsigned long cudasim_global_sizes[] = {{{sizes}0}};
extern "C" __attribute__((visibility("default"))) const cudasim_module cudasim_module_table = {{
  CUDASIM_VERSION, {len(kernels)}, cudasim_kernels, &threadIdx, &blockIdx, &blockDim, &gridDim,
  __start_cudasim_shared, __stop_cudasim_shared, &cudasim_dynamic_shared, cudasim_global_names, cudasim_globals,
  cudasim_global_sizes, {len(variables)}}};
"""


def cache_folder():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.environ.get("CUDASIM_CACHE") or os.path.join(home, "cudasim")
    os.makedirs(folder, exist_ok=True)
    return folder


def fingerprint():
    """What a kept result depends on besides the source: the headers and the compiler."""
    digest = hashlib.sha256()
    for name in sorted(os.listdir(INCLUDE)):
        with open(os.path.join(INCLUDE, name), "rb") as file:
            digest.update(file.read())
    compiler = shutil.which(cxx()) or cxx()
    digest.update(f"{compiler} {os.path.getmtime(os.path.realpath(compiler))} {FLAGS}".encode())
    return digest


def compile_module(text, fused):
    """The path of the module for a translation unit, made if it is not kept."""
    flags = [*FLAGS, "-ffp-contract=fast" if fused else "-ffp-contract=off"]
    digest = fingerprint()
    digest.update((text + str(flags)).encode())
    kept = os.path.join(cache_folder(), digest.hexdigest()[:32] + ".cubin")
    if not os.path.exists(kept):
        with tempfile.TemporaryDirectory(prefix="cudasim-") as folder:
            made = os.path.join(folder, "module.so")
            command = [cxx(), *flags, "-I", INCLUDE, "-shared", "-x", "c++", "-", "-o", made]
            run([*command, "-x", "none", "-Wl,-Bsymbolic,-s", "-nostdlib", "-lm", "-lgcc", "-lc"], input=text)
            beside = kept + f".{os.getpid()}"
            shutil.copyfile(made, beside)
            os.replace(beside, kept)
    return kept


def real_nvcc():
    """The real compiler, or None."""
    named = os.environ.get("CUDASIM_NVCC")
    if named is not None:
        return named or None
    for folder in [*os.environ.get("PATH", "").split(os.pathsep), "/usr/local/cuda/bin"]:
        path = os.path.join(folder, "nvcc")
        if os.access(path, os.X_OK) and not os.path.realpath(path).startswith(HERE):
            return path
    return None


def marked(text, passed):
    """Where it is noted what the real nvcc says of a source, without the ending."""
    return os.path.join(cache_folder(), hashlib.sha256(f"{text} {passed}".encode()).hexdigest()[:32])


def accept(text, passed, arch, fused):
    """Have the real nvcc, if there is one, take the source now."""
    nvcc, mark = real_nvcc(), marked(text, passed)
    if not nvcc or os.path.exists(mark + ".accepted"):
        return
    with tempfile.TemporaryDirectory(prefix="cudasim-") as own:
        source = os.path.join(own, "kernel.cu")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        flags = ["-std=c++17", f"-arch=sm_{arch}", f"-fmad={str(fused).lower()}", "-Werror", "all-warnings"]
        run([nvcc, "--cubin", *flags, *passed, "-o", os.path.join(own, "kernel.cubin"), source])
    with open(mark + ".accepted", "w", encoding="utf-8"):
        pass


def lay_aside(text, passed):
    """Leave the source for check.py."""
    mark = marked(text, passed)
    if not real_nvcc() or os.path.exists(mark + ".accepted") or os.path.exists(mark + ".pending.cu"):
        return
    beside = f"{mark}.{os.getpid()}"
    with open(beside, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(beside, mark + ".pending.cu")


def main():
    arguments = sys.argv[1:]
    if {"--version", "-V"} & set(arguments):
        print(VERSION.format(fingerprint().hexdigest()[:8]))  # callers keep what they compiled under this text
        return
    source, output, mode, passed, arch, fused = parse(arguments)
    if source is None:
        sys.exit("nvcc fatal   : No input files specified; use option --help for more information")
    with open(source, encoding="utf-8") as file:
        text = file.read()
    folder = os.path.dirname(os.path.abspath(source))
    if mode == "preprocess":
        sys.stdout.write(preprocess(text, folder, passed, arch))
        return
    unit = complete(preprocess(text, folder, passed, arch))
    mode = os.environ.get("CUDASIM_CHECK", "batch")
    if mode == "each":
        accept(text, passed, arch, fused)
    kept = compile_module(unit, fused)
    if mode == "batch":
        lay_aside(text, passed)
    shutil.copyfile(kept, output or os.path.splitext(os.path.basename(source))[0] + ".cubin")


if __name__ == "__main__":
    main()
