"""DLPack on the cpu, and views in place (``t_``, ``squeeze_``, ...)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx.autograd.modes import state
from tensorx.ops import factories, views
from tensorx.tensor import Tensor, key_of


def dlpack(self: Tensor, **options: Any) -> Any:
    """The DLPack capsule of a cpu tensor. BufferError for one that requires grad or lives elsewhere, unless the consumer asks for the cpu
    (``dl_device=(1, 0)``) and does not forbid a copy."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if self.device.type != "cpu" and options.get("dl_device") == (1, 0) and options.get("copy") is not False:
        return dlpack(self.to("cpu"), **options)
    if self.device.type != "cpu":
        raise BufferError(f"__dlpack__: the tensor must be on cpu; got {self.device}. Hint: use Tensor.cpu() first")
    return self.numpy().__dlpack__(**{k: v for k, v in options.items() if v is not None and k != "stream"})


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """DLPack's (device type, index): (1, 0) is the cpu. BufferError for other devices."""
    if self.device.type != "cpu":
        raise BufferError(f"__dlpack_device__: the tensor must be on cpu; got {self.device}. Hint: use Tensor.cpu() first")
    return 1, 0


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A cpu tensor that shares memory with an object that speaks DLPack.

    >>> import tensorx, numpy
    >>> tensorx.from_dlpack(numpy.arange(3))
    tensor([0, 1, 2])
    """
    return factories.from_numpy(np.from_dlpack(ext_tensor))


def array_wrap(self: Tensor, array: np.ndarray[Any, Any], context: Any = None, return_scalar: bool = False) -> Tensor:
    """What NumPy's functions of a tensor return: a tensor; truth values as uint8, as in PyTorch."""
    return factories.tensor(array.astype(np.uint8) if array.dtype == np.bool_ else array)


def _in_place(name: str) -> Any:
    def f(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        views.check_write(name + "_", self, state.grad and self.requires_grad)
        view = getattr(self, name)(*args, **kwargs)
        if self._view is not None:
            self._view = view._view
        self._node, self._nr, self._rg = view._node, view._nr, view._rg
        self._shape, self._strides, self._offset, self._arr = view._shape, view._get_strides(), view._offset, None
        self._key = key_of(self.dtype, self.device, not self._shape, view.is_contiguous())
        return self

    f.__name__ = f.__qualname__ = name + "_"
    f.__doc__ = f"`{name}` in place: this tensor looks at its memory that way from now on. RuntimeError for a leaf that requires grad."
    return f


METHODS: dict[str, Any] = {"__dlpack__": dlpack, "__dlpack_device__": dlpack_device, "__array_wrap__": array_wrap}
METHODS |= {f"{name}_": _in_place(name) for name in ("t", "transpose", "squeeze", "unsqueeze", "as_strided", "swapaxes")}
