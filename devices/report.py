"""``python -m tensorx devices``: every backend with PASS, or with the reason why not.

PASS means that a small kernel was built, run and checked on the device just now, not that a driver claims to be there.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorx.devices import registry
from tensorx.devices.base import Device, human
from tensorx.errors import TensorXError
from tensorx.kernels.capabilities import CODES

_NAMES = {
    "b8": "bool",
    **{f"{k}{bits}": f"{name}{bits}" for k, name in (("u", "uint"), ("i", "int")) for bits in (8, 16, 32, 64)},
    "bf16": "bfloat16",
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"c{bits}": f"complex{bits}" for bits in (64, 128)},
}

#: y[i] = x[i] * x[i] + i, by dialect. Exact in int32 on any device.
_KERNELS = {
    "c": """int tx_threads = 1;
void tx_check(int *y, const int *x, long long n) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(tx_threads) if(tx_threads > 1)
#endif
  for (long long i = 0; i < n; i++) y[i] = x[i] * x[i] + (int)i;
}
""",
    "opencl": """__kernel void tx_check(__global int *y, __global const int *x, long n) {
  size_t i = get_global_id(0);
  if (i < n) y[i] = x[i] * x[i] + (int)i;
}
""",
    "cuda": """extern "C" __global__ void tx_check(int *y, const int *x, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i] + (int)i;
}
""",
}


@dataclass(frozen=True)
class _Arg:
    name: str
    kind: str
    code: str


@dataclass(frozen=True)
class _Source:
    text: str
    entries: tuple[tuple[str, tuple[_Arg, ...]], ...]


@dataclass(frozen=True)
class _Grid:
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]


def self_test(dev: Device) -> None:
    """Build, load and run a kernel and compare its result. Raises what went wrong; RuntimeError for wrong numbers."""
    n = 1000
    x = np.arange(n, dtype=np.int32) % 97
    result = np.empty(n, np.int32)
    source_buffer, target_buffer = dev.alloc(x.nbytes), dev.alloc(x.nbytes)
    dev.copy_in(source_buffer, 0, x)
    if dev.capabilities.compiler:
        layout = (_Arg("y0", "buffer", "i32"), _Arg("x0", "buffer", "i32"), _Arg("n0", "scalar", "i64"))
        source = _Source(_KERNELS[dev.capabilities.dialect], (("tx_check", layout),))
        kernel = dev.load(dev.build(source), source)["tx_check"]
        dev.launch(kernel, _Grid((1024,), (64,)), (target_buffer, source_buffer, n))
    elif dev.capabilities.host_callable:  # NumPy works on the memory
        a = source_buffer.view(np.int32)
        target_buffer.view(np.int32)[:] = a * a + np.arange(n, dtype=np.int32)
    else:
        raise RuntimeError("neither a compiler nor memory that NumPy can reach")
    dev.copy_out(target_buffer, 0, result)
    if not np.array_equal(result, x * x + np.arange(n, dtype=np.int32)):
        raise RuntimeError("the check kernel ran and gave wrong numbers")


def describe(dev: Device) -> str:
    """Driver, memory, units, dtypes."""
    caps = dev.capabilities
    lacking = [_NAMES[code] for code in CODES if not caps.supports(code)]
    dtypes = (
        "all dtypes" if not lacking else "dtypes: " + " ".join(_NAMES[code] for code in CODES if caps.supports(code))
    )
    memory = f"{human(caps.total_mem)}, one buffer {human(caps.max_alloc)}"
    limits = "" if caps.long_loops else "; loops end after 65535 turns: long sums and products are WRONG"
    return f"{dev.driver}; {memory}; {caps.compute_units} units, {caps.simd_width} lanes; {dtypes}{limits}"


def lines() -> list[str]:
    """The report, a line or two a device."""
    out = []
    for kind in registry.BACKENDS:
        back = registry.backend(kind)
        reason = back.available()
        if reason:
            out.append(f"none  {kind}: {reason}")
        elif kind in ("null", "meta"):
            out.append(f"PASS  {kind}: {', '.join(d.name for d in back.devices())}; nothing runs there")
        else:
            for dev in back.devices():
                out += _device_lines(dev)
    return out


def _device_lines(dev: Device) -> list[str]:
    title = f"{dev.kind}:{dev.index}" if dev.kind != "cpu" else "cpu"
    if not registry.visible(dev):
        return [f"none  {title}: {dev.name}; hidden by TENSORX_VISIBLE_DEVICES"]
    try:
        running = registry.open(registry.device(title))
        self_test(running)
    except Exception as error:  # whatever a driver throws belongs in the report
        first = str(error).strip().splitlines()[0] if str(error).strip() else ""
        return [f"FAIL  {title}: {dev.name}; {type(error).__name__}: {first}", f"      {dev.driver}"]
    return [f"PASS  {title}: {dev.name}", f"      {describe(running)}"]


def main(argv: list[str]) -> int:
    """Print the report: 0; 1 if a device failed its check; 2, with a line on stderr, for a bad variable."""
    argparse.ArgumentParser(
        prog="python -m tensorx devices", description=__doc__.split("\n", maxsplit=1)[0]
    ).parse_args(argv)
    try:
        found = lines()
    except TensorXError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(found))
    for variable in ("TENSORX_DEVICE", "TENSORX_VISIBLE_DEVICES", "TENSORX_CAPS_MASK", "TENSORX_CC"):
        if variable in os.environ:
            print(f"{variable}={os.environ[variable]}")
    print(f"default: {_or_error(registry.default)}; auto: {_or_error(registry.auto)}")
    return int(any(line.startswith("FAIL") for line in found))


def _or_error(ask: Any) -> str:
    try:
        return str(ask())
    except TensorXError as error:
        return f"{type(error).__name__}: {error}"
