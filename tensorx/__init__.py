"""tensorx: PyTorch's programming model on every GPU.

>>> import tensorx as torch
>>> x = torch.tensor([1., 2., 3.], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4., 6.])

What the op table gives (functions such as `add`, and the in-place forms) is put here from its rows; ``_functions.pyi``
types it.
"""

from __future__ import annotations

import importlib as _importlib
import typing as _typing
from math import e, inf, nan, pi

from tensorx import dtypes as _dtypes
from tensorx import errors
from tensorx.tensor import Size, Tensor  # before the ops, which put its methods on it
from tensorx import ops as _ops
from tensorx import autograd
from tensorx.autograd import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from tensorx.devices.cpu import get_num_threads, set_num_threads
from tensorx.devices.registry import device
from tensorx.dtypes import can_cast, dtype, get_default_dtype, promote_types, set_default_dtype
from tensorx.errors import OutOfMemory as OutOfMemoryError
from tensorx.faults import synchronize
from tensorx.formats import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    jagged,
    layout,
    legacy_contiguous_format,
    memory_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from tensorx.formatting import get_printoptions, printoptions, set_printoptions
from tensorx.limits import finfo, iinfo
from tensorx.ops.activations import celu_, rrelu, rrelu_
from tensorx.ops.contractions import chain_matmul, einsum
from tensorx.ops.copies import conj, is_conj, is_neg
from tensorx.ops.determinism import are_deterministic_algorithms_enabled, deterministic, use_deterministic_algorithms
from tensorx.ops.differences import gradient
from tensorx.ops.dropouts import (
    alpha_dropout,
    alpha_dropout_,
    feature_alpha_dropout,
    feature_alpha_dropout_,
    feature_dropout,
    feature_dropout_,
)
from tensorx.ops.factories import (
    arange,
    as_tensor,
    empty,
    empty_like,
    empty_permuted,
    empty_strided,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    tensor,
    zeros,
    zeros_like,
)
from tensorx.ops.indexing import index_put_masked as index_put
from tensorx.ops.interop import from_dlpack
from tensorx.ops.lowrank import pca_lowrank, svd_lowrank
from tensorx.ops.lu_factors import lu
from tensorx.ops.methods import get_default_device, is_tensor, set_default_device
from tensorx.ops.oldstyle import asarray, detach, frombuffer, is_same_size, to_dlpack
from tensorx.ops.pieces import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    cartesian_prod,
    tril_indices,
    triu_indices,
    unravel_index,
)
from tensorx.ops.predicates import allclose, equal, is_complex, is_floating_point, is_nonzero, numel, result_type
from tensorx.ops.random import (
    Generator,
    bernoulli,
    default_generator,
    dropout,
    get_rng_state,
    initial_seed,
    manual_seed,
    normal,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    randperm,
    seed,
    set_rng_state,
)
from tensorx.ops.sampling import multinomial, randint_like
from tensorx.ops.searching import histogram, histogramdd
from tensorx.ops.sets import unique, unique_consecutive
from tensorx.ops.shaping import broadcast_tensors, meshgrid
from tensorx.ops.window_factories import (
    bartlett_window,
    blackman_window,
    hamming_window,
    hann_window,
    kaiser_window,
    logspace,
    scalar_tensor,
)

if _typing.TYPE_CHECKING:
    from tensorx import (
        accelerator,
        amp,
        backends,
        compiler,
        cuda,
        data,
        distributed,
        distributions,
        fft,
        func,
        fx,
        hub,
        io,
        jit,
        linalg,
        masked,
        mps,
        multiprocessing,
        nn,
        onnx,
        optim,
        overrides,
        profiler,
        random,
        return_types,
        serialization,
        signal,
        special,
        testing,
        types,
        utils,
        version,
        xpu,
    )
    from tensorx._functions import *  # noqa: F403  generated: lists its names
    from tensorx.amp import GradScaler
    from tensorx.amp.autocast_mode import (
        autocast,
        clear_autocast_cache,
        get_autocast_cpu_dtype,
        get_autocast_dtype,
        get_autocast_gpu_dtype,
        is_autocast_cache_enabled,
        is_autocast_cpu_enabled,
        is_autocast_enabled,
        set_autocast_cache_enabled,
        set_autocast_dtype,
        set_autocast_enabled,
    )
    from tensorx.compiler import compile
    from tensorx.func import vmap
    from tensorx.io import load, save
    from tensorx.settings import (
        _assert,
        _check,
        _check_index,
        _check_not_implemented,
        _check_type,
        _check_value,
        compiled_with_cxx11_abi,
        get_deterministic_debug_mode,
        get_float32_matmul_precision,
        get_num_interop_threads,
        is_deterministic_algorithms_warn_only_enabled,
        is_storage,
        is_warn_always_enabled,
        set_default_tensor_type,
        set_deterministic_debug_mode,
        set_float32_matmul_precision,
        set_flush_denormal,
        set_num_interop_threads,
        set_warn_always,
        typename,
    )
    from tensorx.streams import Event, Stream

newaxis = None  #: a new dimension where it stands in x[...]

__version__ = "0.1.0"

_AUTOCAST = """autocast clear_autocast_cache get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype
    is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled set_autocast_cache_enabled set_autocast_dtype
    set_autocast_enabled""".split()
_SETTINGS = """_assert _check _check_index _check_not_implemented _check_type _check_value compiled_with_cxx11_abi
    get_deterministic_debug_mode get_float32_matmul_precision get_num_interop_threads is_storage
    is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled set_deterministic_debug_mode
    set_default_tensor_type set_float32_matmul_precision set_flush_denormal set_num_interop_threads set_warn_always
    typename""".split()

#: Submodules that load when first named: plain tensor programs start without them.
_LAZY = (
    *("_dynamo", "_inductor", "accelerator", "amp", "backends", "compiler", "cuda", "data", "distributed"),
    *("distributions", "fft", "func", "fx", "hub", "io", "jit", "linalg", "masked", "mps", "multiprocessing", "nn"),
    *("onnx", "optim", "overrides", "profiler", "random", "return_types", "serialization", "signal", "special"),
    *("testing", "types", "utils", "version", "xpu"),
)
#: Names that live in submodules and load with them.
_LAZY_NAMES = {
    "GradScaler": "amp",
    "compile": "compiler",
    "load": "io",
    "save": "io",
    "vmap": "func",
    "Event": "streams",
    "Stream": "streams",
    **dict.fromkeys(_AUTOCAST, "amp.autocast_mode"),
    **dict.fromkeys(_SETTINGS, "settings"),
}
#: From the table: dtypes with their aliases, and a function (and in-place form) a row.
_FROM_TABLE = {d.name: d for d in _dtypes.ALL} | _dtypes.ALIASES | _ops.PUBLIC | _ops.legacy.TYPES
globals().update({name: value for name, value in _FROM_TABLE.items() if name not in globals()})

if not _typing.TYPE_CHECKING:  # for type checkers a module __getattr__ would make every name valid

    def __getattr__(name):
        if name in _LAZY:
            return _importlib.import_module(f"tensorx.{name}")
        if name in _LAZY_NAMES:
            value = globals()[name] = getattr(_importlib.import_module(f"tensorx.{_LAZY_NAMES[name]}"), name)
            return value
        raise AttributeError(f"module 'tensorx' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_LAZY_NAMES})


__all__ = [name for name in __dir__() if not name.startswith("_") and name != "annotations"]
