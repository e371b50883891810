"""Makes OpenCL runtimes that pip installed visible to the OpenCL loader.

A runtime announces itself by a file ``NAME.icd`` that holds the path of its library, in /etc/OpenCL/vendors or in the
folder that OCL_ICD_VENDORS names. Wheels cannot write to /etc, and the entry that ``intel-opencl-rt`` 2026.2 leaves
under ``sys.prefix`` still holds a path of the machine that built it. So ``pip install tensorx-gpu[intel]`` alone shows
no device. ``announced()`` gives the loader a temporary folder with the system's entries and one for each runtime found
beside the running Python.
"""

from __future__ import annotations

import os
import shutil
import site
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SYSTEM_FOLDER = Path("/etc/OpenCL/vendors")

# Library files of runtimes that wheels install into PREFIX/lib. PoCL needs no entry: pyopencl's loader also reads the
# folder that its own PoCL wheel fills.
WHEEL_RUNTIMES = ("libintelocl.so",)


def wheel_runtimes() -> list[Path]:
    """Paths of the OpenCL runtimes that pip installed for the running Python (empty if none).

    >>> all(path.is_file() for path in wheel_runtimes())
    True
    """
    paths = [folder / name for folder in wheel_folders() for name in WHEEL_RUNTIMES]
    return [path for path in paths if path.is_file()]


def wheel_folders() -> list[Path]:
    """Where wheels put shared libraries."""
    prefixes = dict.fromkeys((sys.prefix, site.getuserbase()) if site.ENABLE_USER_SITE else (sys.prefix,))
    return [Path(prefix, "lib") for prefix in prefixes]


def system_entries() -> list[Path]:
    """The ``.icd`` files of the system's own folder, sorted."""
    return sorted(SYSTEM_FOLDER.glob("*.icd")) if SYSTEM_FOLDER.is_dir() else []


def _library_name(entry: Path) -> str:
    return Path(entry.read_text(errors="replace").strip()).name.split(".so")[0] + ".so"


@contextmanager
def announced() -> Iterator[None]:
    """Shows the runtimes of wheels too. Enter it around the *first* enumeration: the loader reads its folders once.

    A user's own OCL_ICD_VENDORS or OPENCL_VENDOR_PATH is a choice and is left alone. A runtime that the system
    announces already is not announced twice.
    """
    known = system_entries()
    names = {_library_name(entry) for entry in known}
    found = [path for path in wheel_runtimes() if path.name not in names]
    if not found or os.environ.get("OCL_ICD_VENDORS") or os.environ.get("OPENCL_VENDOR_PATH"):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="tensorx-icd-") as folder:
        for entry in known:
            shutil.copy(entry, folder)
        for path in found:
            Path(folder, path.stem + ".icd").write_text(f"{path}\n")
        os.environ["OCL_ICD_VENDORS"] = folder
        try:
            yield
        finally:
            del os.environ["OCL_ICD_VENDORS"]
