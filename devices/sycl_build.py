"""Programs of the SYCL backend: from source text where the queue takes it, else through SPIR-V.

dpctl names the functions in two ways and has them in two modules; both are looked for. It keeps no log of a refused
program, so the log is that of the SPIR-V compiler.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from tensorx.devices import spirv
from tensorx.devices.base import raise_compile_error
from tensorx.errors import BackendUnavailable, CompileError

_MODULES = ("dpctl.compiler", "dpctl.program")
#: The names of releases after 0.22, which still have the old ones but warn about them, and those of 0.22.
_NAMES = (
    ("create_kernel_bundle_from_source", "create_kernel_bundle_from_spirv", "SyclKernelBundleCompilationError"),
    ("create_program_from_source", "create_program_from_spirv", "SyclProgramCompilationError"),
)
_QUIET = "-w"
#: What kernels may use beyond the core language, by the aspect that tells whether a device has it.
_EXTENSIONS = {
    "cl_khr_fp64": "has_aspect_fp64",
    "cl_khr_fp16": "has_aspect_fp16",
    "cl_khr_int64_base_atomics": "has_aspect_atomic64",
}


class Api(NamedTuple):
    """What dpctl makes programs with, and what it raises when it cannot."""

    from_source: Any
    from_spirv: Any
    refusal: type[Exception]


def api() -> Api:
    """dpctl's program functions, under whichever of their names. Raises BackendUnavailable if there are none."""
    modules = []
    for name in _MODULES:
        try:
            modules.append(importlib.import_module(name))
        except ImportError:
            continue
    for module in modules:
        for names in _NAMES:
            if all(name in vars(module) for name in names):
                return Api(*(getattr(module, name) for name in names))
    raise BackendUnavailable(
        f"sycl: dpctl must have {_NAMES[0][0]} or {_NAMES[1][0]} in {' or '.join(_MODULES)}; it has neither. "
        "Hint: pip install 'dpctl>=0.18'"
    )


class Programs:
    """The programs of one queue. With a ``compiler`` they pass through SPIR-V, which is what is kept on disk; without
    one dpctl takes the text, and gives nothing to keep but that.
    """

    def __init__(self, queue: Any, driver: str, options: str, compiler: spirv.Compiler | None) -> None:
        self._queue, self._driver, self._options, self._compiler = queue, driver, options, compiler
        self._api = api()
        self._built: dict[bytes, Any] = {}  # and not yet loaded
        #: What decides whether a binary of another process may be used.
        self.traits = f"{options} {compiler.identity if compiler else 'source'}"

    def takes(self, text: str) -> bool:
        """Whether ``text`` can be built with these options."""
        try:
            return bool(self._make(self._blob(text)[0]))
        except self._api.refusal:
            return False

    def build(self, text: str) -> bytes:
        """What :meth:`load` takes. The program is kept for the load that follows. Raises CompileError."""
        blob, log = self._blob(text)
        try:
            self._built[blob] = self._make(blob)
        except self._api.refusal as error:
            raise_compile_error(self._driver, text, str(error) or log or self._log(text), ".cl")
        return blob

    def load(self, blob: bytes) -> Any:
        """The program of :meth:`build`, also of another process. Raises CompileError."""
        try:
            return self._built.pop(blob, None) or self._make(blob)
        except self._api.refusal as error:
            reason = str(error) or "dpctl keeps no log"
            raise CompileError(f"load: {self._driver} refused a program binary: {reason}") from error

    def _blob(self, text: str) -> tuple[bytes, str]:
        return self._translated(text, self._compiler) if self._compiler else (text.encode(), "")

    def _translated(self, text: str, compiler: spirv.Compiler) -> tuple[bytes, str]:
        device = self._queue.sycl_device
        extensions = [name for name, aspect in _EXTENSIONS.items() if getattr(device, aspect)]
        return compiler(text, f"{_QUIET} {self._options}", extensions)

    def _make(self, blob: bytes) -> Any:
        if self._compiler is None:
            return self._api.from_source(self._queue, blob.decode(), f"{_QUIET} {self._options}")
        if not blob:
            raise self._api.refusal
        return self._api.from_spirv(self._queue, blob, self._options)

    def _log(self, text: str) -> str:
        compiler = self._compiler or spirv.find()
        if compiler is None:
            return f"(dpctl keeps no log; with {spirv.INSTALL} the log of its compiler is shown here)"
        return self._translated(text, compiler)[1] or "(dpctl keeps no log, and opencl-clang takes the text)"
