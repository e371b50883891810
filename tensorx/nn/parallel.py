"""Modules spread over devices: here everything runs on one."""

from __future__ import annotations

from typing import Any

from tensorx import distributed
from tensorx.nn.modules.module import Module


class DataParallel(Module):
    """The module itself under ``.module``, on the device where its parameters are.

    PyTorch's splits batches over several CUDA devices, and with one or none does what this one does. Asking for several
    is a NotImplementedError.

    >>> import tensorx
    >>> model = DataParallel(tensorx.nn.Linear(3, 2))
    >>> model(tensorx.ones(4, 3)).shape, list(model.state_dict())
    (tensorx.Size([4, 2]), ['module.weight', 'module.bias'])
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        if device_ids is not None and len(device_ids) > 1:
            raise NotImplementedError(
                f"DataParallel: argument 'device_ids' must name one device in this version; got {device_ids}"
            )
        self.module, self.dim = module, dim
        self.device_ids = list(device_ids or ())

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(Module):
    """Needs a process group, which this version has not: `distributed.init_process_group` says what to do."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        distributed.init_process_group()
