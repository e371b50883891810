"""CONTRACT rows: the matmul family and convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx.kernels.convolution import Window
from tensorx.ops.families import composite, row
from tensorx.ops.kinds.contract import CONTRACT, Convolution, Product
from tensorx.tensor import Tensor

mm_ = row("_product(Tensor self, Tensor other) -> Tensor", CONTRACT, lambda a, b: Product(a, b),
          lambda g, self, other, needs: (mm_(g, other.mT.conj()) if needs[0] else None, mm_(self.mT.conj(), g) if needs[1] else None), ref=np.matmul, dtypes="ifc",
          samples=lambda t: [(t((3, 4)), t((4, 5))), (t((2, 3, 4)), t((4, 5))), (t((2, 1, 3, 4)), t((5, 4, 2))), (t((3, 0)), t((0, 2)))],
          ulp=32, doc="Matrix product of the last two dimensions; leading ones broadcast.")


def _addmm_vjp(g: Tensor, self_meta: Any, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any, needs: Any) -> tuple[Any, ...]:
    return (g * beta if beta != 1 else g, mm_(g, mat2.mT.conj()) * alpha if needs[1] else None, mm_(mat1.mT.conj(), g) * alpha if needs[2] else None)


addmm = row("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", CONTRACT,
            lambda c, a, b, beta, alpha: Product(*_matrices("addmm", a, b, 2), c, alpha, beta), _addmm_vjp, dtypes="ifc", ulp=32,
            ref=lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b),
            samples=lambda t: [(t((3, 5)), t((3, 4)), t((4, 5))), (t((5,)), t((3, 4)), t((4, 5)), {"beta": 2, "alpha": 3})],
            doc="beta * self + alpha * (mat1 @ mat2), in one kernel.")
baddbmm = row("baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", CONTRACT,
              lambda c, a, b, beta, alpha: Product(*_matrices("baddbmm", a, b, 3), c, alpha, beta),
              lambda g, self_meta, batch1, batch2, beta, alpha, needs: _addmm_vjp(g, self_meta, batch1, batch2, beta, alpha, needs), dtypes="ifc", ulp=32,
              ref=lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b),
              samples=lambda t: [(t((2, 3, 5)), t((2, 3, 4)), t((2, 4, 5)))], doc="beta * self + alpha * (batch1 @ batch2), batch by batch.")


def _matrices(name: str, a: Tensor, b: Tensor, ndim: int) -> tuple[Tensor, Tensor]:
    if len(a._shape) != ndim or len(b._shape) != ndim:
        raise RuntimeError(f"{name}: expected {ndim}D tensors, but got {len(a._shape)}D and {len(b._shape)}D")
    return a, b


@composite("matmul(Tensor self, Tensor other) -> Tensor", ref=np.matmul, dtypes="ifc", symbol="@", ulp=32,
           samples=lambda t: [(t((3, 4)), t((4, 5))), (t((4,)), t((4,))), (t((2, 3, 4)), t((4,))), (t((4,)), t((2, 4, 3))), (t((2, 3, 4)), t((4, 5)))],
           doc="Product of matrices, vectors or batches of them, with NumPy's rules.")
def matmul(a: Tensor, b: Tensor) -> Tensor:
    na, nb = len(a._shape), len(b._shape)
    if not na or not nb:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {na}D and {nb}D")
    if na > 2 and nb <= 2:  # one product with all leading axes joined, instead of a batch of them
        if nb == 1:
            return mm_(a.reshape(-1, a._shape[-1]), b.unsqueeze(1)).reshape(a._shape[:-1])
        if 0 not in a._shape:
            return mm_(a.reshape(-1, a._shape[-1]), b).reshape((*a._shape[:-1], b._shape[-1]))
    r = mm_(a.unsqueeze(0) if na == 1 else a, b.unsqueeze(1) if nb == 1 else b)
    if na == 1:
        r = r.squeeze(-2)
    return r.squeeze(-1) if nb == 1 else r


@composite("mm(Tensor self, Tensor mat2) -> Tensor", ref=np.matmul, dtypes="ifc", ulp=32, samples=lambda t: [(t((3, 4)), t((4, 5)))], doc="Product of two matrices.")
def mm(a: Tensor, b: Tensor) -> Tensor:
    return mm_(*_matrices("mm", a, b, 2))


@composite("bmm(Tensor self, Tensor mat2) -> Tensor", ref=np.matmul, dtypes="ifc", ulp=32, samples=lambda t: [(t((2, 3, 4)), t((2, 4, 5)))],
           doc="Products of two batches of matrices.")
def bmm(a: Tensor, b: Tensor) -> Tensor:
    _matrices("bmm", a, b, 3)
    if a._shape[0] != b._shape[0]:
        raise RuntimeError(f"bmm: batch1 and batch2 must have the same number of batches; got {a._shape[0]} and {b._shape[0]}")
    return mm_(a, b)


@composite("mv(Tensor self, Tensor vec) -> Tensor", ref=np.matmul, dtypes="ifc", ulp=32, samples=lambda t: [(t((3, 4)), t((4,)))], doc="Product of a matrix and a vector.")
def mv(a: Tensor, b: Tensor) -> Tensor:
    return matmul(a, b)


@composite("dot(Tensor self, Tensor tensor) -> Tensor", ref=np.dot, dtypes="ifc", ulp=32, samples=lambda t: [(t((4,)), t((4,)))], doc="Inner product of two vectors.")
def dot(a: Tensor, b: Tensor) -> Tensor:
    if len(a._shape) != 1 or len(b._shape) != 1:
        raise RuntimeError(f"1D tensors expected, but got {len(a._shape)}D and {len(b._shape)}D tensors")
    if a._shape != b._shape:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{a._shape[0]}] and src [{b._shape[0]}] to have the same number of elements")
    return matmul(a, b)


@composite("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", ref=lambda x, w, b=None: x @ w.T + (0 if b is None else b), dtypes="ifc", ulp=32,
           samples=lambda t: [(t((3, 4)), t((5, 4)), t((5,))), (t((2, 3, 4)), t((5, 4)))], doc="input @ weight.T + bias.")
def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    wt = weight.t()
    if bias is None or len(weight._shape) != 2 or len(x._shape) < 2:
        return matmul(x, wt) if bias is None else matmul(x, wt) + bias
    if len(x._shape) == 2:
        return addmm(bias, x, wt)
    lead = x._shape[:-1]
    if 0 in x._shape:
        return matmul(x, wt) + bias
    return addmm(bias, x.reshape(-1, x._shape[-1]), wt).reshape((*lead, weight._shape[0]))


# convolutions

WINDOW = "int[] stride, int[] padding, int[] dilation, int groups"


def _out_size(x: Tensor, w: Tensor, stride: Any, padding: Any, dilation: Any, groups: int) -> tuple[int, ...]:
    if x._shape[1] != w._shape[1] * groups or w._shape[0] % groups:
        raise RuntimeError(f"Given groups={groups}, weight of size {list(w._shape)}, expected input{list(x._shape)} to have {w._shape[1] * groups} channels, but got "
                           f"{x._shape[1]} channels instead")
    spatial = []
    for n, k, s, p, d in zip(x._shape[2:], w._shape[2:], stride, padding, dilation, strict=True):
        if n + 2 * p < d * (k - 1) + 1:
            raise RuntimeError(f"Calculated padded input size per channel: ({n + 2 * p}). Kernel size: ({d * (k - 1) + 1}). Kernel size can't be greater than actual "
                               "input size")
        spatial.append((n + 2 * p - d * (k - 1) - 1) // s + 1)
    return (x._shape[0], w._shape[0], *spatial)


def _window(stride: Any, padding: Any, dilation: Any, groups: int) -> Window:
    return Window(tuple(stride), tuple(padding), tuple(dilation), groups)


def _forward(x: Tensor, w: Tensor, b: Tensor | None, *window: Any) -> Convolution:
    return Convolution("forward", (x, w), _out_size(x, w, *window), _window(*window), b)


def _forward_vjp(g: Tensor, input: Tensor, weight: Tensor, bias_meta: Any, stride: Any, padding: Any, dilation: Any, groups: int, needs: Any) -> Any:
    at = (stride, padding, dilation, groups)
    return (conv_data(g, weight, input._shape, *at) if needs[0] else None, conv_weight(input, g, weight._shape, *at) if needs[1] else None,
            g.sum((0, *range(2, len(g._shape)))) if bias_meta is not None else None)


def _ref_forward(x: Any, w: Any, b: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """Straight from the definition: one kernel position and one group at a time."""
    n, c = x.shape[0], w.shape[1]
    outs = [(x.shape[2 + i] + 2 * padding[i] - dilation[i] * (w.shape[2 + i] - 1) - 1) // stride[i] + 1 for i in range(x.ndim - 2)]
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    y = np.zeros((n, w.shape[0], *outs), np.result_type(x, w))
    for d in range(w.shape[0]):
        group = d // (w.shape[0] // groups)
        for at in np.ndindex(*w.shape[1:]):
            where = tuple(slice(at[1 + i] * dilation[i], at[1 + i] * dilation[i] + (outs[i] - 1) * stride[i] + 1, stride[i]) for i in range(len(outs)))
            y[:, d] += w[(d, *at)] * x[(slice(None), group * c + at[0], *where)]
    return y if b is None else y + b.reshape(-1, *(1,) * len(outs))


def _ref_adjoint(which: int) -> Any:
    """The adjoint of the forward oracle, from its action on unit vectors."""
    def ref(first: Any, second: Any, size: Any, *window: Any) -> Any:
        out = np.zeros(size)
        for at in np.ndindex(*size):
            unit = np.zeros(size)
            unit[at] = 1
            y = _ref_forward(unit, second, None, *window) if which == 0 else _ref_forward(first, unit, None, *window)
            out[at] = (y * (first if which == 0 else second)).sum()
        return out
    return ref


CASES = [((2, 3, 7), (4, 3, 3), (1,), (0,), (1,), 1), ((1, 4, 6, 5), (6, 2, 3, 2), (2, 1), (1, 0), (1, 2), 2), ((1, 2, 4, 4), (2, 1, 3, 3), (1, 1), (1, 1), (1, 1), 2),
         ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), (1, 2, 1), (0, 1, 1), (1, 1, 1), 1)]


def _size(x: Any, w: Any, *window: Any) -> tuple[int, ...]:
    stride, padding, dilation, _ = window
    return (x[0], w[0], *((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(x[2:], w[2:], stride, padding, dilation, strict=True)))


convolution = row(f"convolution(Tensor input, Tensor weight, Tensor? bias, {WINDOW}) -> Tensor", CONTRACT, _forward, _forward_vjp, dtypes="f", ulp=64,
                  ref=_ref_forward, samples=lambda t: [(t(x), t(w), t((w[0],)) if i % 2 else None, *at) for i, (x, w, *at) in enumerate(CASES)],
                  doc="Convolution (correlation) of a batch with weights, in 1 to 3 spatial dimensions.")
conv_data = row(f"_conv_data(Tensor grad, Tensor weight, int[] size, {WINDOW}) -> Tensor", CONTRACT,
                lambda g, w, size, *at: Convolution("data", (g, w), tuple(size), _window(*at)),
                lambda g, grad, weight, size, stride, padding, dilation, groups, needs: (
                    convolution(g, weight, None, stride, padding, dilation, groups) if needs[0] else None,
                    conv_weight(g, grad, weight._shape, stride, padding, dilation, groups) if needs[1] else None), dtypes="f", ulp=64, ref=_ref_adjoint(0),
                samples=lambda t: [(t(_size(x, w, *at)), t(w), x, *at) for x, w, *at in CASES], doc="Gradient of convolution in its input.")
conv_weight = row(f"_conv_weight(Tensor input, Tensor grad, int[] size, {WINDOW}) -> Tensor", CONTRACT,
                  lambda x, g, size, *at: Convolution("weight", (x, g), tuple(size), _window(*at)),
                  lambda g, input, grad, size, stride, padding, dilation, groups, needs: (
                      conv_data(grad, g, input._shape, stride, padding, dilation, groups) if needs[0] else None,
                      convolution(input, g, None, stride, padding, dilation, groups) if needs[1] else None), dtypes="f", ulp=64, ref=_ref_adjoint(1),
                  samples=lambda t: [(t(x), t(_size(x, w, *at)), w, *at) for x, w, *at in CASES], doc="Gradient of convolution in its weights.")


def _conv(rank: int) -> Any:
    def conv(x: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, dilation: Any, groups: int) -> Tensor:
        lead = len(x._shape) == rank + 1
        if not lead and len(x._shape) != rank + 2:
            raise RuntimeError(f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to conv{rank}d, but got input of size: {list(x._shape)}")
        stride, dilation = _spread(stride, rank), _spread(dilation, rank)
        x = x.unsqueeze(0) if lead else x
        y = convolution(x, weight, bias, stride, _spread(padding, rank), dilation, groups)
        return y.squeeze(0) if lead else y
    return conv


def _spread(values: Any, rank: int) -> tuple[int, ...]:
    values = (values,) if isinstance(values, int) else tuple(values)
    return values * rank if len(values) == 1 else values


for _rank in (1, 2, 3):
    composite(f"conv{_rank}d(Tensor input, Tensor weight, Tensor? bias=None, int[{_rank}] stride=1, int[{_rank}] padding=0, int[{_rank}] dilation=1, int groups=1) "
              "-> Tensor", dtypes="f", ulp=64, ref=lambda x, w, b=None, stride=1, padding=0, dilation=1, groups=1: _ref_forward(
                  x, w, b, _spread(stride, x.ndim - 2), _spread(padding, x.ndim - 2), _spread(dilation, x.ndim - 2), groups),
              samples=lambda t, r=_rank: [(t((2, 2, *(5,) * r)), t((3, 2, *(3,) * r)), t((3,)), 2, 1)], doc=f"{_rank}-d convolution.")(_conv(_rank))
