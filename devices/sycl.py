"""SYCL through dpctl. Programs are the OpenCL dialect's text on devices that SYCL reaches over OpenCL; over Level Zero
they pass through SPIR-V, where a compiler for it is found.

Finding devices is here; :mod:`.sycl_device`, which needs the driver, is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorx.devices import icd, spirv
from tensorx.devices.driver import DriverBackend

if TYPE_CHECKING:
    from tensorx.devices.sycl_device import Sycl

_INSTALL = "pip install 'tensorx-gpu[sycl]'"


class SyclBackend(DriverBackend):
    """GPUs first, then accelerators, then CPUs; see :func:`place`."""

    name, package, install = "sycl", "dpctl", _INSTALL

    def _search(self) -> list[Sycl]:
        with icd.announced():
            import dpctl

            seen = dpctl.get_devices()
        from tensorx.devices.sycl_device import Sycl

        lacking = {f"{str(d.name).strip()} {why}": None for d in seen if (why := lacks(dpctl, d))}
        usable = sorted((d for d in seen if not lacks(dpctl, d)), key=place)
        if not usable:
            found = "; ".join(lacking) or "SYCL finds no device"
            self._reason = f"{found}; install the card's OpenCL driver, or {_INSTALL} for Intel's CPU runtime"
        return [Sycl(index, d) for index, d in enumerate(usable)]


def place(d: Any) -> tuple[bool, ...]:
    """Where a device stands. SYCL shows one card over each driver that reaches it: those over OpenCL come first."""
    return (not d.is_gpu, d.is_cpu, d.backend.name != "opencl")


def lacks(dpctl: Any, d: Any) -> str:
    """Why a device cannot be used, or ""."""
    over = dpctl.backend_type
    if d.backend not in (over.opencl, over.level_zero):
        return f"is reached over {d.backend.name}, where dpctl builds no programs"
    if d.backend == over.level_zero and spirv.find() is None:
        return (
            "is reached over level_zero, which takes SPIR-V alone, and no compiler for that was found "
            f"({spirv.INSTALL}, or the libopencl-clang of the card's driver)"
        )
    return "" if d.has_aspect_usm_device_allocations else "has no device memory in SYCL's sense (USM)"


BACKEND = SyclBackend()
