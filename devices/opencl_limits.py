"""Build options, and single buffers above what an OpenCL driver allows at first. Importing this module loads the
OpenCL loader.

Some GPUs reach 4 GB of a buffer from its start with short addresses, and their driver names that as the limit. It lifts
the limit for buffers made with a flag, if the kernels were built with whole addresses
(github.com/intel/compute-runtime, programmers-guide/ALLOCATIONS_GREATER_THAN_4GB.md).
"""

from __future__ import annotations

from typing import Any

import pyopencl as cl

#: CL_MEM_ALLOW_UNRESTRICTED_SIZE_INTEL
UNRESTRICTED = 1 << 23
WHOLE_ADDRESSES = "-cl-intel-greater-than-4GB-buffer-required"

#: No warnings: PoCL's compiler prints their number to stderr, also for loops that it does not vectorise.
_QUIET = "-w"
_CORRECT_DIVIDE_SQRT = "-cl-fp32-correctly-rounded-divide-sqrt"
_ANY = "__kernel void any(__global int *y) { y[0] = 1; }"


def liftable(context: Any, device: Any) -> bool:
    """Whether the device limits single buffers below its memory, and knows both the flag and the option: drivers refuse
    those that they do not know.
    """
    if device.max_mem_alloc_size >= device.global_mem_size:
        return False
    try:
        cl.Buffer(context, cl.mem_flags.READ_WRITE | UNRESTRICTED, 64)
        cl._cl._Program(context, _ANY)._build(WHOLE_ADDRESSES.encode(), [device])
    except cl.Error:
        return False
    return True


def flags(device: Any, nbytes: int) -> int:
    """What a buffer of so many bytes is made with, beside its use."""
    return UNRESTRICTED if nbytes > device.max_mem_alloc_size else 0


def options(correct_sqrt: bool, unrestricted: bool) -> bytes:
    """Of every build. Whole addresses always, where buffers may need them: a kernel will meet any."""
    more = {_CORRECT_DIVIDE_SQRT: correct_sqrt, WHOLE_ADDRESSES: unrestricted}
    return " ".join([_QUIET, *(option for option, wanted in more.items() if wanted)]).encode()
