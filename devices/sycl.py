"""SYCL through dpctl: the devices that SYCL reaches over OpenCL, whose programs are the OpenCL dialect's text.

Finding devices is here; :mod:`.sycl_device`, which needs the driver, is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorx.devices import icd
from tensorx.devices.driver import DriverBackend

if TYPE_CHECKING:
    from tensorx.devices.sycl_device import Sycl

_INSTALL = "pip install 'tensorx-gpu[sycl]'"


class SyclBackend(DriverBackend):
    """GPUs first, then accelerators, then CPUs; within a kind in SYCL's order."""

    name, package, install = "sycl", "dpctl", _INSTALL

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


def _lacks(dpctl: Any, d: Any) -> str:
    """Why a device cannot be used, or "". Programs are made from source, which dpctl does for OpenCL devices alone."""
    if d.backend != dpctl.backend_type.opencl:
        return f"is reached over {d.backend.name}, where dpctl compiles no source"
    return "" if d.has_aspect_usm_device_allocations else "has no device memory in SYCL's sense (USM)"


BACKEND = SyclBackend()
