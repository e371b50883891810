"""Whether a device can run what it is given. A masked device cannot tell: its driver knows the true limits alone."""

from __future__ import annotations

import functools
import math
import re
from typing import Any

from tensorx.kernels.capabilities import Capabilities
from tensorx.kernels.generator import render_kernel
from tensorx.kernels.geometry import Grid
from tensorx.kernels.spec import ITEMSIZE, KernelSpec

_LOCAL = re.compile(r"^\s*TX_LOCAL (\w+) \w+\[(\d+)\];", re.M)


@functools.cache
def of_text(spec: KernelSpec, caps: Capabilities) -> list[str]:
    """What is wrong with a kernel's text: more local memory than the device has."""
    text = render_kernel(spec, caps)[0]
    arrays = _LOCAL.findall(text)
    assert len(arrays) == text.count("TX_LOCAL"), text
    taken = sum(ITEMSIZE[code] * int(count) for code, count in arrays)
    if taken <= caps.local_mem:
        return []
    return [f"{spec.family} {spec.entry}: {taken} bytes of local memory where there are {caps.local_mem}"]


def of_launch(spec: KernelSpec, grid: Grid | None, caps: Capabilities) -> list[str]:
    """What is wrong with a launch: too large a group, or one that does not divide the work items."""
    if grid is None:
        return []
    found = []
    items = math.prod(grid.local_size)
    if items > caps.max_workgroup:
        found.append(f"a group of {items} where {caps.max_workgroup} is the most")
    if any(n % k for n, k in zip(grid.global_size, grid.local_size, strict=True)):
        found.append(f"groups do not divide {grid}")
    return [f"{spec.family} {spec.entry}: {problem}" for problem in found]


def of(spec: Any, grid: Grid | None, caps: Capabilities) -> list[str]:
    """Both."""
    return of_text(spec, caps) + of_launch(spec, grid, caps)
