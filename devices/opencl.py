"""OpenCL through pyopencl: every platform's devices, in an order that does not depend on the loader's.

Finding devices is here; :mod:`.opencl_device`, which needs the driver, is imported on first use.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorx.devices import icd
from tensorx.devices.driver import DriverBackend

if TYPE_CHECKING:
    from tensorx.devices.opencl_device import OpenCL

_INSTALL = "pip install 'tensorx-gpu[opencl]'"
#: What platforms call themselves; compared when a device string is parsed and nowhere else.
_ALIASES = {
    "intel": "Intel",
    "amd": "AMD",
    "nvidia": "NVIDIA",
    "pocl": "Portable Computing Language",
    "rusticl": "rusticl",
}


def _writable(folder: Path) -> bool:
    """Whether ``folder`` exists or can be made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _prepare_caches() -> None:
    """With a home that cannot be written PoCL shows no device, pyopencl's own cache cannot be opened, and Mesa warns on
    stderr: give them other places, or none.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    if _writable(home):
        return
    os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
    os.environ.setdefault("MESA_SHADER_CACHE_DISABLE", "true")
    if "POCL_CACHE_DIR" not in os.environ:
        folder = os.environ["POCL_CACHE_DIR"] = tempfile.mkdtemp(prefix="tensorx-pocl-")
        owner = os.getpid()
        atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)


class OpenCLBackend(DriverBackend):
    """All devices of all platforms: GPUs first, then accelerators, then CPUs; within a kind by platform name and
    version.
    """

    name, package, install = "opencl", "pyopencl", _INSTALL
    aliases = tuple(_ALIASES)

    def match(self, alias: str) -> int | None:
        """The first device whose platform has the alias in its name; else the first GPU that has it in its own.
        ``pocl@3.1``: of those whose driver's version starts so.
        """
        alias, _, version = alias.partition("@")
        word = _ALIASES.get(alias, alias).lower()
        found = [d for d in self._enumerate() if d.driver_version.startswith(version)]
        of_platform = [d.index for d in found if word in d.platform.lower()]
        of_gpu = [d.index for d in found if not d.cpu_like and word in d.vendor_and_name.lower()]
        return next(iter(of_platform + of_gpu), None)

    def _search(self) -> list[OpenCL]:
        _prepare_caches()
        import pyopencl as cl

        with icd.announced():
            try:
                platforms = cl.get_platforms()
            except cl.Error as error:  # the loader's way to say "none"
                self._reason = (
                    f"the OpenCL loader knows no platform ({error}); install the card's driver, or {_INSTALL} for PoCL"
                )
                return []
        from tensorx.devices.opencl_device import OpenCL

        kinds = cl.device_type
        rank = {kinds.GPU: 0, kinds.ACCELERATOR: 1, kinds.CPU: 2}
        entries: list[tuple[Any, ...]] = []
        for place, platform in enumerate(platforms):
            with contextlib.suppress(cl.Error):  # a platform without devices answers with an error
                for number, device in enumerate(platform.get_devices()):
                    order = min((rank[kind] for kind in rank if device.type & kind), default=3)
                    entries.append((order, platform.name, platform.version, place, number, device))
        if not entries:
            self._reason = (
                f"{len(platforms)} OpenCL platforms without a device; install the card's driver, or {_INSTALL} for PoCL"
            )
        return [OpenCL(index, entry[-1]) for index, entry in enumerate(sorted(entries, key=lambda e: e[:-1]))]


BACKEND = OpenCLBackend()
