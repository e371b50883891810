"""Builds the stand-in driver, and PyCUDA against it, into the environment of the Python that runs this.

    python -m tests.cudasim.build            # 3 minutes the first time
    export TENSORX_NVCC=$PWD/tests/cudasim/bin/nvcc
    python -m pytest --device cuda:0

Needs g++ and CUDA's headers: those of a toolkit (CUDA_ROOT, the nvcc on PATH, /usr/local/cuda), else of NVIDIA's
wheels, which it installs. PyCUDA finds the driver by its run path: an environment built so never sees a real card.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Where the driver goes.
FOLDER = Path(sys.prefix) / "lib" / "cudasim"
PYCUDA = "pycuda==2026.1"
WHEELS = "nvidia-cuda-runtime>=13 nvidia-cuda-crt>=13 nvidia-cuda-profiler-api>=13 nvidia-cuda-cccl>=13".split()


def run(*command: object, **environment: str) -> None:
    """A command whose output is shown only when it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")


def toolkit() -> Path:
    """The folder that has ``include/cuda.h``."""
    nvcc = shutil.which("nvcc")
    places = [os.environ.get("CUDA_ROOT"), nvcc and Path(nvcc).resolve().parents[1], "/usr/local/cuda"]
    places += [Path(sysconfig.get_paths()["purelib"]) / "nvidia" / "cu13"]
    for place in filter(None, places):
        if (Path(place) / "include" / "cuda.h").exists():
            return Path(place)
    return Path()


def headers() -> Path:
    """The same, from NVIDIA's wheels where there is no toolkit."""
    if toolkit() == Path():
        run(sys.executable, "-m", "pip", "install", "-q", *WHEELS)
    found = toolkit()
    if found == Path():
        sys.exit("no cuda.h: install a CUDA toolkit, or set CUDA_ROOT to one")
    return found


def build_driver(root: Path) -> bool:
    """``libcuda.so.1``; whether it had to be built."""
    sources = sorted((HERE / "driver").glob("*.cpp"))
    texts = [path.read_bytes() for path in (*sources, *(HERE / "driver").glob("*.h"), HERE / "include/cudasim_abi.h")]
    digest = hashlib.sha256(b"".join(texts)).hexdigest()
    stamp = FOLDER / "stamp"
    if stamp.exists() and stamp.read_text() == digest:
        return False
    FOLDER.mkdir(parents=True, exist_ok=True)
    new = FOLDER / "new.so"
    flags = "-std=gnu++17 -O2 -fPIC -shared -fvisibility=hidden -Wall -Wextra -Werror -Wl,-soname,libcuda.so.1".split()
    run(os.environ.get("CXX", "g++"), *flags, "-I", root / "include", "-o", new, *sources, "-ldl")
    new.replace(FOLDER / "libcuda.so.1")
    link = FOLDER / "libcuda.so"
    link.unlink(missing_ok=True)
    link.symlink_to("libcuda.so.1")
    stamp.write_text(digest)
    return True


def build_pycuda(root: Path) -> None:
    """PyCUDA from its source distribution; its setup reads the options from the home folder."""
    with tempfile.TemporaryDirectory(prefix="cudasim-") as home:
        options = {
            "CUDA_ROOT": str(root),
            "CUDADRV_LIB_DIR": [str(FOLDER)],
            "CUDA_ENABLE_GL": False,
            "CUDA_ENABLE_CURAND": False,
            "CXXFLAGS": ["-O1", "-g0", "-w"],
            "LDFLAGS": [f"-Wl,-rpath,{FOLDER}"],
        }
        text = "".join(f"{key} = {value!r}\n" for key, value in options.items())
        Path(home, ".aksetup-defaults.py").write_text(text, encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-binary", "pycuda", "--no-cache-dir"]
        run(*pip, "--force-reinstall", "--no-deps", PYCUDA, HOME=home)
        run(sys.executable, "-m", "pip", "install", "-q", "pytools", "platformdirs", "mako", "numpy")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.cudasim.build", description=__doc__.splitlines()[0])
    parser.add_argument("--driver", action="store_true", help="the driver alone: PyCUDA is built already")
    alone = parser.parse_args().driver
    if sys.prefix == sys.base_prefix:
        sys.exit("run this with the Python of a virtual environment: it replaces PyCUDA's driver there")
    root = headers()
    built = build_driver(root)
    if not alone and (importlib.util.find_spec("pycuda") is None):
        build_pycuda(root)
    print(f"# {'built' if built else 'kept'} {FOLDER / 'libcuda.so.1'}, cuda.h of {root}")
    print(f"export TENSORX_NVCC={HERE / 'bin' / 'nvcc'}")


if __name__ == "__main__":
    main()
