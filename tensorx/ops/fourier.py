"""Discrete Fourier transforms: three HOST rows (complex, real to complex, complex to real) and the functions of `tensorx.fft` made of them.

SciPy's pocketfft computes in the operand's precision. A transform is linear, so its gradient is the adjoint transform: the opposite direction with the
same scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx.errors import ShapeError
from tensorx.ops.families import composite, row
from tensorx.ops.joining import cat
from tensorx.ops.kinds.transfer import HOST
from tensorx.tensor import Tensor, normalize_dim

Array = np.ndarray[Any, Any]


def _widened(x: Array) -> Array:
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x


def _scaled(y: Array, scale: float) -> Array:
    return y if scale == 1 else (y * scale).astype(y.dtype)


def _c2c(x: Array, dim: Sequence[int], scale: float, forward: bool) -> Array:
    from scipy import fft
    return _scaled((fft.fftn if forward else fft.ifftn)(x, axes=dim, norm="backward" if forward else "forward"), scale)  # type: ignore[no-any-return]


def _r2c(x: Array, dim: Sequence[int], scale: float) -> Array:
    """Half of the last dimension's spectrum; the rest is its conjugate."""
    from scipy import fft
    return _scaled(fft.rfftn(_widened(x), axes=dim), scale)


def _c2r(x: Array, dim: Sequence[int], scale: float, last: int) -> Array:
    from scipy import fft
    sizes = [x.shape[d] for d in dim[:-1]] + [last]
    return _scaled(fft.irfftn(x, sizes, axes=dim, norm="forward"), scale)


def _r2c_vjp(g: Tensor, self_meta: Any, dim: Sequence[int], scale: float) -> Any:
    """The spectrum's other half is no result: it has no cotangent."""
    n = self_meta.shape[dim[-1]]
    return c2c(resized(g, dim[-1], n), dim, scale, False).real


def _c2r_vjp(g: Tensor, dim: Sequence[int], scale: float, last: int) -> Any:
    """What is used twice, as itself and as its conjugate, counts twice."""
    y = r2c(g, dim, scale)
    n = y._shape[dim[-1]]
    doubled = n - 1 if last % 2 == 0 else n
    from tensorx.ops import factories
    weights = factories.ones(n, dtype=g.dtype, device=g.device)
    if doubled > 1:
        weights[1:doubled] = 2
    return y * weights.reshape((n,) + (1,) * (len(y._shape) - 1 - dim[-1]))


c2c = row("_fft_c2c(Tensor self, int[] dim, float scale, bool forward) -> Tensor", HOST, _c2c,
          lambda g, dim, scale, forward: c2c(g, dim, scale, not forward), dtypes="c", ulp=16.0,
          ref=lambda x, dim, scale, forward: (np.fft.fftn if forward else np.fft.ifftn)(x, axes=dim, norm="backward" if forward else "forward") * scale,
          samples=lambda t: [(t((2, 5)), (1,), 1.0, True), (t((2, 5)), (0, 1), 0.5, False)], public="fft", doc="Fourier transform of complex numbers over dim, times scale.")
r2c = row("_fft_r2c(Tensor self, int[] dim, float scale) -> Tensor", HOST, _r2c, _r2c_vjp, dtypes="f", ulp=16.0,
          ref=lambda x, dim, scale: np.fft.rfftn(x, axes=dim) * scale, samples=lambda t: [(t((2, 5)), (1,), 1.0), (t((2, 4)), (0, 1), 0.5)],
          public="rfft", doc="Fourier transform of real numbers over dim, times scale: half of the last one's spectrum.")
c2r = row("_fft_c2r(Tensor self, int[] dim, float scale, int last) -> Tensor", HOST, _c2r, _c2r_vjp, dtypes="c", ulp=16.0,
          ref=lambda x, dim, scale, last: np.fft.irfftn(x, [x.shape[d] for d in dim[:-1]] + [last], axes=dim, norm="forward") * scale,
          samples=lambda t: [(t((2, 3)), (1,), 1.0, 5), (t((2, 3)), (0, 1), 0.5, 4)],
          public="irfft", doc="Inverse of _fft_r2c up to scale, to the extent last.")


# sizes, dimensions and scales


def resized(x: Tensor, dim: int, n: int) -> Tensor:
    """``x`` cut, or filled up with zeros, to extent ``n`` along ``dim``."""
    have = x._shape[dim]
    if n <= have:
        return x if n == have else x.narrow(dim, 0, n)  # type: ignore[no-any-return]
    shape = [n - have if i == dim else s for i, s in enumerate(x._shape)]
    return cat((x, x.new_zeros(shape)), dim)  # type: ignore[no-any-return]


def scale_of(name: str, norm: str | None, sizes: Sequence[int], forward: bool) -> float:
    """The factor of a norm for a transform in this direction over ``sizes``."""
    if norm not in (None, "backward", "forward", "ortho"):
        raise RuntimeError(f'{name}: argument \'norm\' must be None, "backward", "forward" or "ortho"; got {norm!r} (Invalid normalization mode: "{norm}")')
    n = math.prod(sizes)
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if (norm == "forward") == forward else 1.0


def checked(name: str, n: int) -> int:
    """A transform's extent. RuntimeError unless positive."""
    if n < 1:
        raise RuntimeError(f"{name}: Invalid number of data points ({n}) specified")
    return n


def dims_of(name: str, x: Tensor, s: Sequence[int] | None, dim: Sequence[int] | None) -> tuple[list[int], list[int]]:
    """The dimensions and extents of a transform over several; -1 in ``s`` leaves an extent."""
    rank = len(x._shape)
    if dim is None:
        if s is not None and len(s) > rank:
            raise RuntimeError(f"{name}: Got shape with {len(s)} values but input tensor only has {rank} dimensions.")
        dims = list(range(rank)) if s is None else list(range(rank - len(s), rank))
    else:
        dims = [normalize_dim(d, rank) for d in dim]
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"{name}: FFT dims must be unique")
    if s is not None and len(s) != len(dims):
        raise RuntimeError(f"{name}: When given, dim and shape arguments must have the same length")
    sizes = [x._shape[d] if s is None or s[i] == -1 else s[i] for i, d in enumerate(dims)]
    return dims, [checked(name, n) for n in sizes]


def floating(name: str, x: Tensor, complex_: bool) -> Tensor:
    """Integers as the default float; real numbers as complex ones where the transform wants these."""
    from tensorx import dtypes
    if x.dtype.kind < dtypes.FLOAT:
        x = x.to(dtypes.get_default_dtype())
    if x.dtype.itemsize == 2:
        raise RuntimeError(f"{name}: Unsupported dtype {x.dtype.name}")
    return x.to(x.dtype.to_complex()) if complex_ and not x.dtype.is_complex else x


def full(name: str, x: Tensor, dims: Sequence[int], sizes: Sequence[int], norm: str | None, forward: bool) -> Tensor:
    """A complex transform."""
    scale = scale_of(name, norm, sizes, forward)
    x = floating(name, x, True)
    if not dims:
        return x
    for d, n in zip(dims, sizes, strict=True):
        x = resized(x, d, n)
    return c2c(x, tuple(dims), scale, forward)  # type: ignore[no-any-return]


def half(name: str, x: Tensor, dims: Sequence[int], sizes: Sequence[int], norm: str | None, forward: bool) -> Tensor:
    """A transform of real numbers (rfft, and with ``forward`` false ihfft)."""
    if x.dtype.is_complex:
        raise RuntimeError(f"{name}: expects a real input tensor, but got {x.dtype.name}")
    scale = scale_of(name, norm, sizes, forward)
    x = floating(name, x, False)
    if not dims:
        raise RuntimeError(f"{name}: must transform at least one axis")
    for d, n in zip(dims, sizes, strict=True):
        x = resized(x, d, n)
    y = r2c(x, tuple(dims), scale)
    return y if forward else y.conj()  # type: ignore[no-any-return]


def whole(name: str, x: Tensor, dims: Sequence[int], sizes: Sequence[int], norm: str | None, forward: bool) -> Tensor:
    """A transform to real numbers (irfft, and with ``forward`` true hfft); the last extent is the result's."""
    scale = scale_of(name, norm, sizes, forward)
    x = floating(name, x, True)
    if not dims:
        raise RuntimeError(f"{name}: must transform at least one axis")
    for d, n in zip(dims[:-1], sizes[:-1], strict=True):
        x = resized(x, d, n)
    x = resized(x, dims[-1], sizes[-1] // 2 + 1)
    return c2r(x.conj() if forward else x, tuple(dims), scale, sizes[-1])  # type: ignore[no-any-return]


def last_size(name: str, x: Tensor, s: Sequence[int] | None, dim: Sequence[int] | None) -> tuple[list[int], list[int]]:
    """`dims_of` for transforms to real numbers, whose last extent is 2 (n - 1) unless given."""
    given = None if s is None else s[-1] if s else None
    dims, sizes = dims_of(name, x, s, dim)
    if dims and given in (None, -1):
        sizes[-1] = checked(name, 2 * (x._shape[dims[-1]] - 1))
    elif dims and s is not None:
        sizes[-1] = s[-1]
    return dims, sizes


# the functions: name, what computes it, direction, oracle, dtypes of the samples, whether the last extent follows the result


_TABLE = [("fft", full, True, "bifc", False), ("ifft", full, False, "bifc", False), ("rfft", half, True, "bif", False), ("irfft", whole, False, "bifc", True),
          ("hfft", whole, True, "bifc", True), ("ihfft", half, False, "bif", False)]


def _wide_only(samples: Any) -> Any:
    """Half precision has no transform."""
    return lambda t: samples(t) if t.dtype.itemsize != 2 or t.dtype.kind < 2 else []


def _one(name: str, run: Any, forward: bool, kinds: str, to_real: bool) -> None:
    def body(x: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
        label = f"fft.{name}"
        dims = [normalize_dim(dim, len(x._shape))]
        if to_real and not x._shape:
            raise IndexError(f"{label}: Dimension specified as {dim} but tensor has no dimensions")
        have = x._shape[dims[0]] if x._shape else 1
        size = n if n is not None else 2 * (have - 1) if to_real else have
        return run(label, x, dims, [checked(label, size)], norm, forward)  # type: ignore[no-any-return]
    oracle = getattr(np.fft, name)
    composite(f"fft_{name}(Tensor input, int? n=None, int dim=-1, str? norm=None) -> Tensor", dtypes=kinds, ulp=16.0,
              ref=lambda x, n=None, dim=-1, norm=None: oracle(x, n, dim, norm),
              samples=_wide_only(lambda t: [(t((2, 5)),), (t((4, 3)), 6, 0, "ortho"), (t((2, 5)), 3, -1, "forward")]),
              doc=_DOCS[name])(body)


def _np_hfftn(x: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
    other: Any = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]
    return np.fft.irfftn(np.conj(x), s, dim, other)


def _np_ihfftn(x: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
    other: Any = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]
    return np.conj(np.fft.rfftn(x, s, dim, other))


def _several(name: str, run: Any, forward: bool, kinds: str, to_real: bool) -> None:
    known = {"hfft": _np_hfftn, "ihfft": _np_ihfftn}
    oracle = known.get(name) or getattr(np.fft, name + "n")
    for suffix, default in (("n", "int[1]? dim=None"), ("2", "int[1] dim=[-2,-1]")):
        label = f"fft.{name}{suffix}"

        def body(x: Tensor, s: Any, dim: Any, norm: str | None, label: str = label) -> Tensor:
            dims, sizes = (last_size if to_real else dims_of)(label, x, s, dim)
            return run(label, x, dims, sizes, norm, forward)  # type: ignore[no-any-return]

        def ref(x: Any, s: Any = None, dim: Any = (-2, -1) if suffix == "2" else None, norm: Any = None) -> Any:
            axes = tuple(range(-len(s), 0)) if dim is None and s is not None else dim
            return oracle(x, s, axes, norm)
        composite(f"fft_{name}{suffix}(Tensor input, int[1]? s=None, {default}, str? norm=None) -> Tensor", dtypes=kinds, ulp=16.0, ref=ref,
                  samples=_wide_only(lambda t: [(t((4, 5)),), (t((2, 4, 3)), (3, 4), (2, 1), "ortho"), (t((4, 5)), (3, 6))]),
                  doc=f"{_DOCS[name][:-1]} over {'two' if suffix == '2' else 'several'} dimensions.")(body)


_DOCS = {"fft": "Fourier transform.", "ifft": "Inverse Fourier transform.", "rfft": "Fourier transform of real numbers, without the redundant half.",
         "irfft": "Inverse of rfft, to real numbers.", "hfft": "Fourier transform of a Hermitian signal, to real numbers.",
         "ihfft": "Inverse of hfft, without the redundant half."}
for _entry in _TABLE:
    _one(*_entry)
    _several(*_entry)


def _shift(name: str, way: int) -> None:
    def body(x: Tensor, dim: Sequence[int] | None) -> Any:
        dims = list(range(len(x._shape))) if dim is None else [normalize_dim(d, len(x._shape)) for d in dim]
        if not dims:
            return x.clone()
        return x.roll([(x._shape[d] + (way < 0)) // 2 for d in dims], dims)
    composite(f"fft_{name}(Tensor input, int[1]? dim=None) -> Tensor", ref=lambda x, dim=None: getattr(np.fft, name)(x, dim),
              samples=lambda t: [(t((4, 5)),), (t((4, 5)), 1)],
              doc="The zero frequency moved to the middle." if way > 0 else "The zero frequency moved back to the front.")(body)


_shift("fftshift", 1)
_shift("ifftshift", -1)


def fftfreq(n: int, d: float = 1.0, *, out: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The frequencies of `tensorx.fft.fft` of ``n`` points at a distance ``d``: negative ones in the second half.

    >>> import tensorx
    >>> tensorx.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return _frequencies(np.fft.fftfreq(n, d) if n else np.zeros(0), out, dtype, device, requires_grad)


def rfftfreq(n: int, d: float = 1.0, *, out: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The frequencies of `tensorx.fft.rfft` of ``n`` points at a distance ``d``.

    >>> import tensorx
    >>> tensorx.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    return _frequencies(np.fft.rfftfreq(n, d) if n else np.full(1, np.nan), out, dtype, device, requires_grad)


def _frequencies(values: Array, out: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    from tensorx import dtypes
    from tensorx.ops import factories
    made = factories.tensor(values, dtype=dtype or dtypes.get_default_dtype(), device=device, requires_grad=requires_grad and out is None)
    if out is None:
        return made  # type: ignore[no-any-return]
    if out._shape != made._shape:
        raise ShapeError(f"fftfreq: argument 'out' must have the shape {made._shape}; got {out._shape}")
    return out.copy_(made)  # type: ignore[no-any-return]
