"""SYCL through dpctl: the devices that SYCL reaches over OpenCL, whose programs are the OpenCL dialect's text.

Finding devices is here; :mod:`.sycl_device`, which needs the driver, is imported on first use.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import threading
from typing import TYPE_CHECKING, Any

from tensorx.devices import icd
from tensorx.devices.base import Backend, Device

if TYPE_CHECKING:
    from tensorx.devices.sycl_device import Sycl

_INSTALL = "pip install 'tensorx-gpu[sycl]'"


class SyclBackend(Backend):
    """GPUs first, then accelerators, then CPUs; within a kind in SYCL's order."""

    name = "sycl"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: list[Sycl] | None = None
        self._pid = 0
        self._reason = ""

    def available(self) -> str:
        if importlib.util.find_spec("dpctl") is None:
            return f"dpctl is not installed; {_INSTALL}"
        return "" if self._enumerate() else self._reason

    def devices(self) -> list[Device]:
        return list(self._enumerate())

    def _enumerate(self) -> list[Sycl]:
        with self._lock:
            if self._found is None:
                self._pid = os.getpid()
                self._found = self._search()
                atexit.register(self._close)
                if hasattr(os, "register_at_fork"):
                    os.register_at_fork(after_in_child=self._after_fork)
            return self._found

    def _search(self) -> list[Sycl]:
        with icd.announced():
            import dpctl

            seen = dpctl.get_devices()
        from tensorx.devices.sycl_device import Sycl

        lacking = {str(d.name).strip(): why for d in seen if (why := _lacks(dpctl, d))}
        usable = sorted((d for d in seen if not _lacks(dpctl, d)), key=lambda d: (not d.is_gpu, d.is_cpu))
        if not usable:
            found = "; ".join(f"{name} {why}" for name, why in lacking.items()) or "SYCL finds no device"
            self._reason = f"{found}; install the card's OpenCL driver, or {_INSTALL} for Intel's CPU runtime"
        return [Sycl(index, d) for index, d in enumerate(usable)]

    def _after_fork(self) -> None:
        """Use raises from now on."""
        from tensorx.devices.sycl_device import GATE

        GATE.forked = True
        self._lock = threading.Lock()
        for device in self._found or ():
            device.abandon()

    def _close(self) -> None:
        """Before the interpreter takes things apart in any order: finish the work."""
        if os.getpid() != self._pid or not self._found:
            return
        from tensorx.devices.sycl_device import GATE

        GATE.close()
        for device in self._found:
            device.close()


def _lacks(dpctl: Any, d: Any) -> str:
    """Why a device cannot be used, or "". Programs are made from source, which dpctl does for OpenCL devices alone."""
    if d.backend != dpctl.backend_type.opencl:
        return f"is reached over {d.backend.name}, where dpctl compiles no source"
    return "" if d.has_aspect_usm_device_allocations else "has no device memory in SYCL's sense (USM)"


BACKEND = SyclBackend()
