"""The three dialects as data: the words that the prelude turns into ``TX_`` macros, so that templates hold no API word.

``C`` is compiled by gcc or clang with OpenMP, ``OPENCL`` serves OpenCL and SYCL queues, ``CUDA`` NVRTC and nvcc.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["CUDA", "DIALECTS", "OPENCL", "C", "Dialect", "dialect"]


@dataclass(frozen=True)
class Dialect:
    """One target language.

    ``types`` gives the C type behind the typedef of every dtype code (f16 and bf16 are their 16 bits), ``words`` the
    object-like ``TX_`` macros, ``calls`` the function-like ones (written with their parameters), ``grid`` whether the
    runtime supplies a launch grid (the C dialect writes its own loops).
    """

    name: str
    types: Mapping[str, str]
    words: Mapping[str, str]
    calls: Mapping[str, str]
    grid: bool

    def __hash__(self) -> int:
        return hash(self.name)


def _frozen(**items: str) -> Mapping[str, str]:
    return MappingProxyType(items)


#: Codes that have a typedef, in the order of :func:`_types`.
_CODES = ["b8", "u8", "i8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"]


def _types(words: str) -> Mapping[str, str]:
    return MappingProxyType(dict(zip(_CODES, words.split(", "), strict=True)))


C = Dialect(
    name="c",
    types=_types(
        "uint8_t, uint8_t, int8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, "
        "uint16_t, uint16_t, float, double"
    ),
    words=_frozen(TX_GLOBAL="", TX_LOCAL="", TX_PRIVATE="", TX_CONSTANT="static const", TX_FN="static inline"),
    calls={
        "TX_KERNEL(gx, gy, gz)": "void",
        "TX_PRAGMA(x)": "_Pragma(#x)",
        "TX_PARALLEL(work)": "TX_PRAGMA(omp parallel for schedule(static) num_threads(tx_threads) if((work) > 32768))",
        "TX_DYNAMIC(work)": "TX_PRAGMA(omp parallel for schedule(dynamic) num_threads(tx_threads) if((work) > 32768))",
        "TX_SIMD": "TX_PRAGMA(omp simd)",
        "TX_SIMD_SHORT": "TX_PRAGMA(omp simd)",
        "TX_SIMD_PAIRS": "TX_PRAGMA(omp simd)",
        "TX_MALLOC(bytes)": "__builtin_malloc(bytes)",
        "TX_FREE(p)": "__builtin_free(p)",
        "TX_CONVERT(vector, type)": "__builtin_convertvector(vector, type)",
        "TX_CAS_u32(p, old, new)": "__sync_val_compare_and_swap((uint32_t *)(p), old, new)",
        "TX_CAS_u64(p, old, new)": "__sync_val_compare_and_swap((uint64_t *)(p), old, new)",
        "TX_ATOMIC_READ_u32(p)": "__atomic_load_n((uint32_t *)(p), __ATOMIC_RELAXED)",
        "TX_ATOMIC_READ_u64(p)": "__atomic_load_n((uint64_t *)(p), __ATOMIC_RELAXED)",
        "TX_ATOMIC_ADD_i32(p, v)": "__sync_fetch_and_add(p, v)",
        "TX_ATOMIC_ADD_i64(p, v)": "__sync_fetch_and_add(p, v)",
    },
    grid=False,
)

OPENCL = Dialect(
    name="opencl",
    types=_types("uchar, uchar, char, short, ushort, int, uint, long, ulong, ushort, ushort, float, double"),
    words=_frozen(
        TX_GLOBAL="__global",
        TX_LOCAL="__local",
        TX_PRIVATE="__private",
        TX_CONSTANT="__constant",
        TX_FN="static inline",
        TX_BARRIER="barrier(CLK_LOCAL_MEM_FENCE)",
        TX_BARRIER_GLOBAL="barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
        TX_UNROLL='_Pragma("unroll")',
        TX_SIMD='_Pragma("clang loop vectorize(assume_safety)")',
        TX_SIMD_SHORT='_Pragma("clang loop vectorize(assume_safety) unroll(disable)")',
        # Intel's compiler dies of vectorising some loops over pairs of reals (complex numbers).
        TX_SIMD_PAIRS='_Pragma("clang loop vectorize(disable)")',
        # A sum in order cannot be vectorised; where Intel's compiler tries (`p = p - x` with one x), it loses terms.
        TX_SCALAR='_Pragma("clang loop vectorize(disable)")',
    ),
    calls={
        "TX_KERNEL(gx, gy, gz)": "__kernel __attribute__((reqd_work_group_size(gx, gy, gz))) void",
        "TX_GID(d)": "get_global_id(d)",
        "TX_LID(d)": "get_local_id(d)",
        "TX_GROUP(d)": "get_group_id(d)",
        "TX_GROUPS(d)": "get_num_groups(d)",
        "TX_LSIZE(d)": "get_local_size(d)",
        "TX_GSIZE(d)": "get_global_size(d)",
        "TX_CAS_u32(p, old, new)": "atomic_cmpxchg((volatile __global uint *)(p), old, new)",
        "TX_CAS_u64(p, old, new)": "atom_cmpxchg((volatile __global ulong *)(p), old, new)",
        "TX_ATOMIC_READ_u32(p)": "atomic_or((volatile __global uint *)(p), 0u)",
        "TX_ATOMIC_READ_u64(p)": "atom_add((volatile __global ulong *)(p), 0ul)",
        "TX_ATOMIC_ADD_i32(p, v)": "atomic_add((volatile __global int *)(p), v)",
        "TX_ATOMIC_ADD_i64(p, v)": "atom_add((volatile __global long *)(p), v)",
    },
    grid=True,
)

_AXES = {"0": "x", "1": "y", "2": "z"}


def _cuda_index(name: str, text: str) -> dict[str, str]:
    """CUDA names the axes: paste the literal axis number onto the macro's name."""
    return {f"{name}(d)": f"{name}_##d"} | {f"{name}_{d}": text.replace("@", axis) for d, axis in _AXES.items()}


CUDA = Dialect(
    name="cuda",
    types=_types(
        "unsigned char, unsigned char, signed char, short, unsigned short, int, unsigned int, "
        "long long, unsigned long long, unsigned short, unsigned short, float, double"
    ),
    words=_frozen(
        TX_GLOBAL="",
        TX_LOCAL="__shared__",
        TX_PRIVATE="",
        TX_CONSTANT="__constant__ const",
        TX_FN="static __device__ __forceinline__",
        TX_UNROLL='_Pragma("unroll")',
        TX_SCALAR="",
        TX_BARRIER="__syncthreads()",
        TX_BARRIER_GLOBAL="__syncthreads()",
    ),
    calls={
        "TX_KERNEL(gx, gy, gz)": 'extern "C" __global__ __launch_bounds__(gx * gy * gz) void',
        **_cuda_index("TX_GID", "((unsigned long long)blockIdx.@ * blockDim.@ + threadIdx.@)"),
        **_cuda_index("TX_LID", "threadIdx.@"),
        **_cuda_index("TX_GROUP", "blockIdx.@"),
        **_cuda_index("TX_GROUPS", "gridDim.@"),
        **_cuda_index("TX_LSIZE", "blockDim.@"),
        **_cuda_index("TX_GSIZE", "((unsigned long long)gridDim.@ * blockDim.@)"),
        "TX_CAS_u32(p, old, new)": "atomicCAS((unsigned int *)(p), old, new)",
        "TX_CAS_u64(p, old, new)": "atomicCAS((unsigned long long *)(p), old, new)",
        "TX_ATOMIC_READ_u32(p)": "atomicOr((unsigned int *)(p), 0u)",
        "TX_ATOMIC_READ_u64(p)": "atomicOr((unsigned long long *)(p), 0ull)",
        "TX_ATOMIC_ADD_i32(p, v)": "atomicAdd((int *)(p), v)",
        "TX_ATOMIC_ADD_i64(p, v)": "((long long)atomicAdd((unsigned long long *)(p), (unsigned long long)(v)))",
        "TX_ATOMIC_ADD_f32(p, v)": "atomicAdd((float *)(p), v)",
        "TX_ATOMIC_ADD_f64(p, v)": "atomicAdd((double *)(p), v)",
    },
    grid=True,
)

#: First lines of every program.
PREAMBLE = {
    "c": ("#include <stdint.h>",),
    "opencl": ("#pragma OPENCL FP_CONTRACT OFF",),
    "cuda": (),
}

#: Storage-only floats: held as f32 outside memory.
HALF_CODES = ("f16", "bf16")

DIALECTS = {d.name: d for d in (C, OPENCL, CUDA)}


def dialect(name: str) -> Dialect:
    """The dialect called ``name``.

    >>> dialect("cuda").types["i64"]
    'long long'
    >>> dialect("metal")
    Traceback (most recent call last):
    ...
    ValueError: dialect: argument 'name' must be one of c, opencl, cuda; got 'metal'
    """
    if name not in DIALECTS:
        raise ValueError(f"dialect: argument 'name' must be one of {', '.join(DIALECTS)}; got {name!r}")
    return DIALECTS[name]
