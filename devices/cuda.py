"""CUDA through PyCUDA: NVIDIA's cards, in the driver's own order.

Finding devices is here; :mod:`.cuda_device`, which needs the driver, is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorx.devices import cuda_compiler
from tensorx.devices.driver import DriverBackend

if TYPE_CHECKING:
    from tensorx.devices.cuda_device import Cuda

_INSTALL = "pip install 'tensorx-gpu[cuda]'"


class CudaBackend(DriverBackend):
    """The cards that CUDA lists; CUDA_VISIBLE_DEVICES, which the driver reads, chooses and orders them."""

    name, package, install = "cuda", "pycuda", _INSTALL

    def _search(self) -> list[Cuda]:
        try:
            import pycuda.driver as drv
        except ImportError as error:  # pycuda is there: what it links to is not
            self._reason = f"pycuda does not load: {error}; install NVIDIA's driver, which brings libcuda"
            return []
        try:
            drv.init()
            found = [drv.Device(number) for number in range(drv.Device.count())]
        except drv.Error as error:
            self._reason = f"the driver says: {error}"
            return []
        compiler = cuda_compiler.find()
        if not found or compiler is None:
            lacking = "a compiler (NVRTC's wheel, TENSORX_NVCC or nvcc on the PATH)" if found else "a card"
            self._reason = f"the driver is there, {lacking} is not; {_INSTALL} brings NVRTC"
            return []
        from tensorx.devices.cuda_device import Cuda

        return [Cuda(index, device) for index, device in enumerate(found)]


BACKEND = CudaBackend()
