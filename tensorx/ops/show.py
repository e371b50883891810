"""``python -m tensorx kernels OP``: the source generated for an op, found by running a small call of it."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from typing import Any

from tensorx import dtypes
from tensorx.devices import registry
from tensorx.errors import TensorXError
from tensorx.ops import build, program, samples, table
from tensorx.ops.table import Op
from tensorx.tensor import Tensor


def rows_of(name: str) -> list[Op]:
    """The rows that a user means: all overloads of a name, or one full name. LookupError, with what comes close, for none."""
    for candidate in (name, "_" + name):  # rand_ and the like are functions around rows with a leading underscore
        found = table.BY_NAME.get(candidate) or ([table.OPS[candidate]] if candidate in table.OPS else [])
        if found:
            return found
    close = difflib.get_close_matches(name, [*table.BY_NAME, *table.OPS], n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(dict.fromkeys(close))}?" if close else "docs/reference lists all ops."
    raise LookupError(f"kernels: argument 'OP' must be an op of the table; got {name!r}. Hint: {hint}")


def dtype_of(name: str) -> dtypes.dtype:
    """A dtype by its name, alias or short code: float32, float, f32. LookupError for none."""
    by_name = dtypes.ALIASES | dtypes.FROM_CODE | {d.name: d for d in dtypes.ALL}
    if name not in by_name:
        raise LookupError(f"kernels: argument '--dtype' must be one of {', '.join(d.name for d in dtypes.ALL)}; got {name!r}")
    return by_name[name]


def sources(op: Op, device: registry.device, d: dtypes.dtype | None = None, backward: bool = False) -> list[Any]:
    """The programs (`tensorx.kernels.spec.Source`) that a small call of ``op`` builds on ``device``, in order; none for views and HOST ops.

    >>> from tensorx.ops import show, table
    >>> "tanh" in show.sources(table.OPS["tanh"], registry.device("null:opencl"))[0].text
    True
    """
    forget()
    args, kwargs = samples.moved(samples.call_of(op, d), device)
    if any(p.name == "device" and p.keyword for p in op.schema.params):
        kwargs["device"] = device
    if backward:
        for t in args:
            if isinstance(t, Tensor) and t.dtype.kind >= dtypes.FLOAT:
                t.requires_grad_()
    usual, program.prefer_kernels = program.prefer_kernels, True
    try:
        with build.watching() as found:
            try:
                result = op(*args, **kwargs)
            except RuntimeError:
                if device.type != "null":
                    raise
                result = ()  # nothing ran there, so values are zero, which a check of values may refuse
        return found + (_backward_sources(result) if backward else [])
    finally:
        program.prefer_kernels = usual


def _backward_sources(result: Any) -> list[Any]:
    from tensorx import autograd
    from tensorx.ops import factories

    results = [r for r in (result if isinstance(result, list | tuple) else (result,)) if r.requires_grad]
    if not results:
        return []
    cotangents = [factories.ones_like(r) for r in results]
    with build.watching() as found:
        autograd.backward(results, cotangents)
    return found


def forget() -> None:
    """Start from rows that have built nothing yet."""
    for op in table.OPS.values():
        op.forget()
    build.forget()


def text(name: str, device: registry.device, d: dtypes.dtype | None = None, backward: bool = False) -> str:
    """The sources of all rows called ``name``, each program once, with a comment line that says whose it is."""
    parts: list[str] = []
    seen: set[str] = set()
    caps = registry.open(device).capabilities
    for op in rows_of(name):
        wanted = d or samples.default_dtype(op)
        if "bifc"[wanted.kind] not in op.dtypes:
            parts.append(f"// {op.name}: takes no {wanted.name}")
            continue
        programs = [s for s in sources(op, device, d, backward) if s.text not in seen]
        seen.update(s.text for s in programs)
        if not programs and caps.host_callable and not caps.compiler:
            parts.append(f"// {op.name}: runs as NumPy calls, as {device} has no C compiler. Hint: --dialect c renders the kernel")
        elif not programs:
            parts.append(f"// {op.name}: a {op.kind.name} op that runs no kernel of its own here")
        parts += [f"// {op.name}, {wanted.name} on {device}: {', '.join(e for e, _ in s.entries)}\n{s.text}" for s in programs]
    return "\n".join(parts)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser("python -m tensorx kernels", description="Print the source that is generated for an op.")
    parser.add_argument("op", metavar="OP", help="tanh, max, max.dim ...")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--device", help="the device that the kernels are for (default: the default device)")
    where.add_argument("--dialect", choices=("c", "opencl", "cuda"), help="a language instead: nothing is compiled or run")
    parser.add_argument("--dtype", help="dtype of the operands (default: float32 where the op takes it)")
    parser.add_argument("--backward", action="store_true", help="also the kernels of its gradient")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    """The command: 0, or 2 with a line on stderr for an unknown op, dtype or device."""
    options = parse(argv)
    try:
        device = registry.resolve(f"null:{options.dialect}" if options.dialect else options.device)
        d = dtype_of(options.dtype) if options.dtype else None
        print(text(options.op, device, d, options.backward))
    except (LookupError, TensorXError) as error:
        print(error.args[0] if error.args else error, file=sys.stderr)
        return 2
    return 0
