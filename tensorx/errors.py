"""Every error that tensorx raises on purpose.

One form: ``op: argument 'x' must be ...; got ... . Hint: ...``. Each class also derives from the class that PyTorch
raises in the same place, so ``except RuntimeError`` written for PyTorch keeps working.
"""

from __future__ import annotations


class TensorXError(Exception):
    """Base of all errors that tensorx raises on purpose."""


class ShapeError(TensorXError, RuntimeError, ValueError):
    """Shapes, strides or dimensions do not fit the operation."""


class DTypeError(TensorXError, NotImplementedError, TypeError):
    """A dtype does not fit the operation or the device."""


class BadIndex(TensorXError, IndexError, RuntimeError):
    """An index is out of bounds or of a dtype that cannot index."""


class BadValue(TensorXError, RuntimeError, ValueError):
    """A value that its dtype cannot hold, or outside of what the operation is defined for."""


class ZeroDivision(TensorXError, RuntimeError, ZeroDivisionError):
    """An integer was divided by zero."""


class DeviceError(TensorXError, RuntimeError):
    """Something about a device: absent, lost, out of memory, used after fork."""


class BackendUnavailable(DeviceError):
    """The backend of a device string cannot be used here; the text says why and what to install."""


class OutOfMemory(DeviceError, MemoryError):
    """The device has no room. ``asked``, ``used``, ``cached`` and ``limit`` are bytes.

    >>> import tensorx
    >>> try:
    ...     x = tensorx.empty(2**50)
    ... except tensorx.OutOfMemoryError as error:
    ...     print(error.asked)
    4503599627370496
    """

    def __init__(self, message: str, asked: int = 0, used: int = 0, cached: int = 0, limit: int = 0) -> None:
        super().__init__(message)
        self.asked, self.used, self.cached, self.limit = asked, used, cached, limit


class DeviceLost(DeviceError):
    """The device stopped answering; its tensors are gone, other devices go on."""


class KernelError(TensorXError, RuntimeError):
    """Something about a generated kernel."""


class RenderError(KernelError):
    """A template could not be rendered."""


class CompileError(KernelError):
    """The compiler refused a generated kernel; ``log``, ``source`` and ``path`` (where the source was kept) help to see
    why."""

    def __init__(self, message: str, log: str = "", source: str = "", path: str = "") -> None:
        super().__init__(message)
        self.log, self.source, self.path = log, source, path


class GradError(TensorXError, RuntimeError):
    """Differentiation is not possible as asked."""


class LinAlgError(TensorXError, RuntimeError):
    """A matrix without the answer asked for: singular, not positive definite, or an iteration does not converge.

    >>> import tensorx
    >>> try:
    ...     tensorx.linalg.inv(tensorx.zeros(2, 2))
    ... except LinAlgError:
    ...     print("singular")
    singular
    """
