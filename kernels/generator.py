"""From kernel specs to one program's text: ``render(specs, caps)``.

A template is a Mako file whose text is one kernel; it sees its spec, the dialect, the capabilities and the text helpers
of :mod:`tensorx.kernels.text`.  The prelude is rendered last, because it defines only what the kernels mention: a
program without 64-bit floats never says ``double``, and only the intrinsics that a body calls are written out.

Mako is imported on first use.  Parsing a template costs about 30 ms and happens once a process; rendering a spec costs
about 100 us and is cached by (spec, capabilities).
"""

from __future__ import annotations

import importlib
import os
import re
import threading
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tensorx.errors import RenderError

from . import text
from .dialect import Dialect, dialect
from .spec import COMPLEX, Arg, KernelSpec, Source

if TYPE_CHECKING:
    from .capabilities import Capabilities

__all__ = ["FAMILIES", "family", "render", "render_kernel"]

#: Kernel family -> module beside this one. The module offers ``TEMPLATE`` (file name),
#: ``layout(spec) -> tuple[Arg, ...]``, ``geometry(spec, caps, sizes) -> Grid`` and, if the template
#: wants more names, ``context(spec, caps) -> dict``.
FAMILIES = {
    "elementwise": "elementwise",
    "reduce": "reduce",
    "rowwise": "rowwise",
    "scan": "scan",
    "gather": "gather",
    "put": "put",
    "sort": "sort",
    "radix": "radix",
    "nonzero": "nonzero",
    "search": "search",
    "contract": "contract",
    "attention": "attention",
    "pool": "pool",
    "columns": "columns",
    "resample": "resample",
}

TEMPLATES = Path(__file__).parent / "templates"
_INTRINSIC = re.compile(r"\btx_\w+")
_WORD = re.compile(r"\b(?:TX_\w+|b8|[uif]\d+|bf16)\b")
_NOT_INTRINSICS = frozenset({"tx_threads"})


def family(name: str) -> ModuleType:
    """The module of a kernel family; RenderError for an unknown one.

    >>> family("elementwise").TEMPLATE
    'elementwise.mako'
    """
    if name not in FAMILIES:
        raise RenderError(f"render: argument 'family' must be one of {', '.join(FAMILIES)}; got {name!r}")
    return importlib.import_module(f"{__package__}.{FAMILIES[name]}")


@cache
def _lookup() -> Any:
    from mako.lookup import TemplateLookup

    lookup = TemplateLookup(
        directories=[str(TEMPLATES)], strict_undefined=True, input_encoding="utf-8", filesystem_checks=False
    )
    # Reentrant: the collector may run finalizers while a template is parsed, and these may need another one.
    lookup._mutex = threading.RLock()
    return lookup


if hasattr(os, "register_at_fork"):  # another thread may have held its lock
    os.register_at_fork(after_in_child=_lookup.cache_clear)


@cache
def _template(name: str) -> Any:
    return _lookup().get_template(name)


def _fill(name: str, **context: Any) -> str:
    """The template's text; whatever goes wrong inside comes out as a RenderError that names the template's line."""
    try:
        return str(_template(name).render(**context))
    except Exception as error:
        from mako.exceptions import RichTraceback

        trace = RichTraceback(error=error)
        where = f"{trace.source_name if hasattr(trace, 'source_name') else name}:{trace.lineno}"
        raise RenderError(f"render: template {name} failed at {where}: {type(error).__name__}: {error}") from error


@lru_cache(maxsize=4096)
def render_kernel(spec: KernelSpec, caps: Capabilities) -> tuple[str, tuple[tuple[str, tuple[Arg, ...]], ...]]:
    """One kernel's text without the prelude, and its entries."""
    module = family(spec.family)
    target = dialect(caps.dialect)
    args: tuple[Arg, ...] = module.layout(spec)
    context: dict[str, Any] = {
        "spec": spec, "caps": caps, "d": target, "args": args, "T": text, "signature": text.signature(spec.entry, args),
    }  # fmt: skip
    pairs = any(o.dtype in COMPLEX for o in spec.operands)
    context |= {
        "SIMD": "TX_SIMD_PAIRS" if pairs else "TX_SIMD",
        "SIMD_SHORT": "TX_SIMD_PAIRS" if pairs else "TX_SIMD_SHORT",
    }
    context["SCALAR"] = "TX_SCALAR" if target.grid else ""
    if hasattr(module, "context"):
        context |= module.context(spec, caps)
    return text.tidy(_fill(module.TEMPLATE, **context)), ((spec.entry, args),)


def _intrinsics(body: str, entries: set[str], target: Dialect, caps: Capabilities) -> str:
    names = set(_INTRINSIC.findall(body)) - _NOT_INTRINSICS - entries
    if not names:
        return ""
    from . import intrinsics

    return str(intrinsics.define(names, target.name, caps))


def render(specs: Sequence[KernelSpec], caps: Capabilities) -> Source:
    """One program that holds a kernel for every spec, in the dialect of ``caps``.

    Raises RenderError if two specs share an entry name, a family is unknown or a template fails.

    >>> from tensorx.kernels.spec import KernelSpec, Operand
    >>> from tensorx.kernels.capabilities import Capabilities
    >>> spec = KernelSpec("elementwise", "fill_f32", (Operand("y0", "f32", "f32"),), (), (("s0", "f32"),), "y0 = s0;")
    >>> [a.name for a in render([spec], Capabilities(dialect="opencl")).arguments("fill_f32")]
    ['y0_p', 'y0_o', 's0', 'n0']
    """
    target = dialect(caps.dialect)
    kernels = [render_kernel(spec, caps) for spec in specs]
    entries = tuple(entry for _, found in kernels for entry in found)
    names = [name for name, _ in entries]
    if len(set(names)) != len(names):
        raise RenderError(f"render: argument 'specs' must have distinct entry names; got {', '.join(sorted(names))}")
    body = "\n".join(kernel for kernel, _ in kernels)
    helpers = _intrinsics(body, set(names), target, caps)
    used = frozenset(_WORD.findall(body)) | frozenset(_WORD.findall(helpers))
    prelude = text.tidy(_fill("prelude.mako", d=target, caps=caps, used=used, T=text))
    return Source("\n".join(filter(None, (prelude, text.tidy(helpers), body))), entries)
