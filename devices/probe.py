"""Kernels in OpenCL C that find what no query tells."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

#: fma against multiply and add, six independent chains each: neither FP_FAST_FMAF nor CL_FP_FMA tells an instruction
#: from a call (PoCL answers yes and calls, Intel's CPU runtime answers no and has the instruction).
PROBE = r"""
#pragma OPENCL FP_CONTRACT OFF
#define MULADD(a, b, c) ((a) * (b) + (c))
#define PROBE(NAME, OP) __kernel void NAME(__global float8 *y, int n) { \
  float8 p = y[0], q = y[1], r = y[2], s = y[3], t = y[4], u = y[5], k = (float8)(0.5f); \
  for (int i = 0; i < n; i++) { p = OP(p, k, k); q = OP(q, k, k); r = OP(r, k, k); \
    s = OP(s, k, k); t = OP(t, k, k); u = OP(u, k, k); } \
  y[0] = p + q + r + s + t + u; }
PROBE(with_fma, fma)
PROBE(with_muladd, MULADD)
__kernel void turns(__global float *y, int n) {
  float p = 0.0f;
  for (int i = 0; i < n; i++) p += y[1 + (i & 1)];
  y[0] = p; }
"""
PROBE_BYTES = 6 * 32
#: llvmpipe (Mesa 22.3) leaves all loops of a work-item after 65535 turns together, without a word.
TURNS = 100_000
_ROUNDS = 20_000
_TIMES = 12


def fast_fma(run: Callable[[str, int], float]) -> bool:
    """Whether fma costs no more than a multiplication and an addition.

    ``run(entry, n)`` runs an entry of PROBE as one work-item over PROBE_BYTES of memory and gives the device's own
    time for it, or the host's. The two take turns, so that a busy spell meets both: the answer is part of each kernel's
    key on disk. An fma of many instructions (rusticl: 0.1 s) is known by the third turn.
    """
    with_fma = with_muladd = math.inf
    for turn in range(_TIMES):
        with_fma = min(with_fma, run("with_fma", _ROUNDS))
        with_muladd = min(with_muladd, run("with_muladd", _ROUNDS))
        if turn >= 2 and with_fma > 8 * with_muladd:
            break
    return with_fma < 1.5 * with_muladd


def warn_of_short_loops(device: str) -> None:
    """The results that are wrong cannot be told from the others: say it once, when the device is opened."""
    warnings.warn(
        f"The driver of {device} leaves a work-item's loops after 65535 turns: results that take longer ones (sums "
        "down long columns, products over long rows) are wrong.",
        RuntimeWarning,
        stacklevel=2,
    )
