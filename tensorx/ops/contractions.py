"""Sums of products over named dimensions: einsum, tensordot, inner and the older products, all on the batched matrix product."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import ShapeError
from tensorx.ops.families import WRITING, composite
from tensorx.ops.kinds.elementwise import check_factor
from tensorx.ops.products import addmm, matmul, mm_
from tensorx.tensor import Tensor, normalize_dim

Labels = tuple[int, ...]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
REST = 100  # labels of an ellipsis' dimensions, counted from its last one


def _spell(term: str, ndim: int, operand: str) -> Labels:
    """The labels of one operand, an ellipsis standing for the dimensions that no letter names."""
    letters = term.replace(" ", "")
    head, dots, tail = letters.partition("...")
    for c in head + tail:
        if c not in LETTERS:
            raise RuntimeError(f"einsum(): invalid subscript given at index {term.find(c)} in the equation string, subscripts must be in [a-zA-Z]")
    named = [LETTERS.index(c) for c in head + tail]
    rest = ndim - len(named)
    if rest < 0 or (rest and not dots):
        raise RuntimeError(f"einsum(): the number of subscripts in the equation ({len(named)}) {'is more than' if rest < 0 else 'does not match'} the number of "
                           f"dimensions ({ndim}) for operand {operand}{'' if dots else ' and no ellipsis was given'}")
    return (*named[: len(head)], *(REST + rest - 1 - i for i in range(rest)), *named[len(head):])


@lru_cache(maxsize=1024)
def _parse(equation: str, ndims: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """Labels of the operands and of the result."""
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        raise RuntimeError(f"einsum(): {'more' if len(ndims) > len(terms) else 'fewer'} operands were provided than specified in the equation")
    found = [_spell(term, n, str(i)) for i, (term, n) in enumerate(zip(terms, ndims, strict=True))]
    every = [x for labels in found for x in labels]
    dots = tuple(sorted({x for x in every if x >= REST}, reverse=True))
    if not arrow:
        return tuple(found), (*dots, *sorted(x for x in set(every) if x < REST and every.count(x) == 1))
    target = _spell(right, len(right.replace(" ", "").replace("...", "")) + (len(dots) if "..." in right else 0), "output")
    for x in target:
        if target.count(x) > 1:
            raise RuntimeError(f"einsum(): output subscript {LETTERS[x]} appears more than once in the output")
        if x not in every:
            raise RuntimeError(f"einsum(): output subscript {LETTERS[x]} does not appear in the equation for any input operand")
    return tuple(found), target


def _diagonals(t: Tensor, labels: Labels) -> tuple[Tensor, Labels]:
    """A label that an operand repeats names its diagonal."""
    for x in dict.fromkeys(labels):
        while labels.count(x) > 1:
            a = labels.index(x)
            b = labels.index(x, a + 1)
            if t._shape[a] != t._shape[b]:
                raise RuntimeError(f"einsum(): subscript {LETTERS[x]} is repeated for operand but the sizes don't match, {t._shape[b]} != {t._shape[a]}")
            t = t.diagonal(0, a, b)
            labels = (*(y for i, y in enumerate(labels) if i not in (a, b)), x)
    return t, labels


def _summed(t: Tensor, labels: Labels, drop: set[int]) -> tuple[Tensor, Labels]:
    """``t`` without the labels ``drop``."""
    dims = tuple(i for i, x in enumerate(labels) if x in drop)
    if not dims:
        return t, labels
    kept = tuple(x for x in labels if x not in drop)
    return (t.reshape([t._shape[labels.index(x)] for x in kept]) if all(t._shape[i] == 1 for i in dims) else t.sum(dims, dtype=t.dtype)), kept


def _ordered(t: Tensor, labels: Labels, order: Sequence[int]) -> Tensor:
    """Dimensions in this order; those that ``t`` lacks have extent one."""
    if labels == tuple(order):
        return t
    t = t.permute([labels.index(x) for x in order if x in labels])
    return t.reshape([t._shape[[y for y in order if y in labels].index(x)] if x in labels else 1 for x in order]) if len(order) > len(labels) else t


def contract(a: Tensor, la: Labels, b: Tensor, lb: Labels, keep: set[int]) -> tuple[Tensor, Labels]:
    """Two operands to one: labels of both that nobody else needs are summed, by a batched matrix product."""
    a, la = _summed(a, la, {x for x in la if x not in keep and x not in lb})
    b, lb = _summed(b, lb, {x for x in lb if x not in keep and x not in la})
    for x in set(la) & set(lb):  # an extent of one is broadcast
        na, nb = a._shape[la.index(x)], b._shape[lb.index(x)]
        if na == nb:
            continue
        if na == 1:
            a, la = _summed(a, la, {x})
            b, lb = (b, lb) if x in keep else _summed(b, lb, {x})
        else:
            b, lb = _summed(b, lb, {x})
            a, la = (a, la) if x in keep else _summed(a, la, {x})
    batch = [x for x in la if x in lb and x in keep]
    inner = [x for x in la if x in lb and x not in keep]
    left, right = [x for x in la if x not in lb], [x for x in lb if x not in la]
    result = (*batch, *left, *right)
    if not inner:
        return _ordered(a, la, result) * _ordered(b, lb, result), result
    first, second = _ordered(a, la, [*batch, *left, *inner]), _ordered(b, lb, [*batch, *inner, *right])
    nb, nl, nr = len(batch), len(left), len(right)
    outer, rows, cols = first._shape[:nb], first._shape[nb:nb + nl], second._shape[len(second._shape) - nr:] if nr else ()
    k = math.prod(first._shape[nb + nl:])
    product = mm_(_shaped(first, (*outer, math.prod(rows), k)), _shaped(second, (*outer, k, math.prod(cols))))
    return _shaped(product, (*outer, *rows, *cols)), result


def _shaped(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    return t if t._shape == shape else t.reshape(shape)


def _sizes(labels: Sequence[Labels], operands: Sequence[Tensor]) -> dict[int, int]:
    """The extent of every label. RuntimeError where operands disagree."""
    found: dict[int, int] = {}
    for i, (names, t) in enumerate(zip(labels, operands, strict=True)):
        for x, n in zip(names, t._shape, strict=True):
            if found.setdefault(x, n) == 1:
                found[x] = n
            elif n not in (1, found[x]):
                raise RuntimeError(f"einsum(): operands do not broadcast with remapped shapes: operand {i} has extent {n} where another has {found[x]}")
    return found


def _next_pair(labels: Sequence[Labels], sizes: dict[int, int], target: Labels) -> tuple[int, int]:
    """The pair whose product grows memory least (the greedy order of opt_einsum: Smith and Gray, JOSS 3(26), 2018)."""
    def volume(names: Any) -> int:
        return math.prod(sizes[x] for x in names)
    best = None
    for j in range(len(labels)):
        for i in range(j):
            needed = {x for k, names in enumerate(labels) if k not in (i, j) for x in names} | set(target)
            cost = volume((set(labels[i]) | set(labels[j])) & needed) - volume(labels[i]) - volume(labels[j])
            if best is None or cost < best[0]:
                best = (cost, i, j)
    assert best is not None
    return best[1], best[2]


def _np_einsum(equation: str, operands: Sequence[Any]) -> Any:
    return np.einsum(equation, *operands)


@composite("_einsum(str equation, Tensor[] operands) -> Tensor", ref=_np_einsum, dtypes="ifc", ulp=64,
           samples=lambda t: [("ij,jk->ik", (t((3, 4)), t((4, 5)))), ("bij,bjk,bk->bi", (t((2, 3, 4)), t((2, 4, 5)), t((2, 5)))), ("ii->i", (t((3, 3)),)),
                              ("...ij,...kj->...ik", (t((2, 1, 3, 4)), t((5, 2, 4)))), ("ij,kl", (t((2, 3)), t((4, 5))))],
           doc="Sums of products of operands whose dimensions an equation names.")
def einsum_(equation: str, operands: Sequence[Tensor]) -> Tensor:
    if not operands:
        raise ValueError("einsum(): must provide at least one operand")
    labels, target = _parse(equation, tuple(len(t._shape) for t in operands))
    made = [(t, n) if len(set(n)) == len(n) else _diagonals(t, n) for t, n in zip(operands, labels, strict=True)]
    tensors, names = [t for t, _ in made], [n for _, n in made]
    sizes = _sizes(names, tensors)
    while len(tensors) > 1:
        i, j = (0, 1) if len(tensors) == 2 else _next_pair(names, sizes, target)
        needed = {x for k, n in enumerate(names) if k not in (i, j) for x in n} | set(target)
        t, n = contract(tensors[i], names[i], tensors[j], names[j], needed)
        for k in (j, i):
            del tensors[k], names[k]
        tensors.append(t)
        names.append(n)
    t, found = _summed(tensors[0], names[0], set(names[0]) - set(target))
    return t.permute([found.index(x) for x in target]) if found != target else t.view(t._shape) if t is operands[0] else t


def _from_sublists(args: Sequence[Any]) -> tuple[str, list[Tensor]]:
    """``einsum(a, [0, 1], b, [1, 2], [0, 2])`` as an equation."""
    def letters(sublist: Sequence[Any]) -> str:
        for s in sublist:
            if s is not Ellipsis and not 0 <= s < len(LETTERS):
                raise ValueError(f"einsum(): subscripts must be in the range [0, {len(LETTERS)}); got {s}")
        return "".join("..." if s is Ellipsis else LETTERS[s] for s in sublist)
    pairs = list(args)
    target = "->" + letters(pairs.pop()) if len(pairs) % 2 else ""
    return ",".join(letters(s) for s in pairs[1::2]) + target, pairs[::2]


def einsum(*args: Any) -> Tensor:
    """Sums of products of operands whose dimensions an equation names, or lists of numbers instead of letters.

    Two operands at a time are contracted by batched matrix products, in the order that needs least memory. RuntimeError for an equation that
    does not fit the operands.

    >>> import tensorx
    >>> tensorx.einsum("ij,j->i", tensorx.tensor([[1., 2.], [3., 4.]]), tensorx.tensor([1., 10.]))
    tensor([21., 43.])
    """
    if len(args) < 2:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list")
    if isinstance(args[0], Tensor):
        equation, operands = _from_sublists(args)
    else:
        equation, operands = args[0], list(args[1:])
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = list(operands[0])
    return einsum_(equation, tuple(operands))  # type: ignore[no-any-return]


def _pairs(dims: Any, a: Tensor, b: Tensor) -> tuple[list[int], list[int]]:
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(len(a._shape), len(b._shape)):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(len(a._shape) - dims, len(a._shape))), list(range(dims))
    first, second = ([d] if isinstance(d, int) else list(d) for d in dims)
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    return [normalize_dim(d, len(a._shape), "tensordot") for d in first], [normalize_dim(d, len(b._shape), "tensordot") for d in second]


@composite("tensordot(Tensor self, Tensor other, Any dims=2) -> Tensor", ref=lambda a, b, dims=2: np.tensordot(a, b, dims), dtypes="ifc", ulp=64,
           samples=lambda t: [(t((2, 3, 4)), t((3, 4, 5))), (t((2, 3, 4)), t((5, 4, 2)), ((0, 2), (2, 1))), (t((2, 3)), t((4,)), 0)],
           doc="The products of all elements, summed over pairs of dimensions.")
def tensordot(a: Any, b: Any, dims: Any) -> Any:
    first, second = _pairs(dims, a, b)
    for i, j in zip(first, second, strict=True):
        if a._shape[i] != b._shape[j] and 1 not in (a._shape[i], b._shape[j]):
            raise ShapeError(f"contracted dimensions need to match, but first has size {a._shape[i]} in dim {i} and second has size {b._shape[j]} in dim {j}")
    la = tuple(range(len(a._shape)))
    lb = tuple(first[second.index(j)] if j in second else 100 + j for j in range(len(b._shape)))
    result, found = contract(a, la, b, lb, (set(la) ^ set(lb)))
    target = [x for x in la if x not in first] + [x for x in lb if x >= 100]
    return _ordered(result, found, target)


@composite("inner(Tensor self, Tensor other) -> Tensor", ref=np.inner, dtypes="ifc", ulp=32, samples=lambda t: [(t((4,)), t((4,))), (t((2, 3)), t((5, 3)))],
           doc="Products summed over the last dimension of both.")
def inner(a: Any, b: Any) -> Any:
    if not a.dim() or not b.dim():
        return a * b
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(f"inner() the last dimension must match on both input tensors but got shapes {list(a.shape)} and {list(b.shape)}")
    return tensordot(a, b, ([a.dim() - 1], [b.dim() - 1]))


@composite("outer(Tensor self, Tensor vec2) -> Tensor", ref=np.outer, samples=lambda t: [(t((3,)), t((4,)))], doc="Outer product of two vectors.")
def outer(a: Any, b: Any) -> Any:
    if a.dim() != 1 or b.dim() != 1:
        raise RuntimeError(f"outer: Expected 1-D argument {'self' if a.dim() != 1 else 'vec2'}, but got {(a if a.dim() != 1 else b).dim()}-D")
    return a.unsqueeze(1) * b


@composite("ger(Tensor self, Tensor vec2) -> Tensor", ref=np.outer, samples=lambda t: [(t((3,)), t((4,)))], doc="Another name of outer.")
def ger(a: Any, b: Any) -> Any:
    return outer(a, b)


@composite("vdot(Tensor self, Tensor other) -> Tensor", ref=np.vdot, dtypes="ifc", ulp=32, samples=lambda t: [(t((4,)), t((4,)))],
           doc="Inner product of two vectors, the first one conjugated.")
def vdot(a: Any, b: Any) -> Any:
    return a.conj().dot(b)


@composite("kron(Tensor self, Tensor other) -> Tensor", ref=np.kron, samples=lambda t: [(t((2, 3)), t((3, 2))), (t((3,)), t((2, 2)))],
           doc="The Kronecker product.")
def kron(a: Any, b: Any) -> Any:
    n = max(a.dim(), b.dim())
    sa, sb = ((1,) * (n - t.dim()) + tuple(t.shape) for t in (a, b))
    product = a.reshape([m for s in sa for m in (s, 1)]) * b.reshape([m for s in sb for m in (1, s)])
    return product.reshape([x * y for x, y in zip(sa, sb, strict=True)])


SCALED = "*, Scalar beta=1, Scalar alpha=1"


def _scaled(c: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """``beta * c + alpha * product``; with beta 0 what ``c`` holds does not matter."""
    product = product if alpha == 1 else product * alpha
    return product.expand(_common(c, product)).clone() if beta == 0 else (c if beta == 1 else c * beta) + product


def _common(c: Any, product: Any) -> Any:
    from tensorx.ops.layout import broadcast_shapes
    return broadcast_shapes("add", c._shape, product._shape)


@composite(f"addmv(Tensor self, Tensor mat, Tensor vec, {SCALED}) -> Tensor", WRITING, ref=lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b), dtypes="ifc", ulp=64,
           samples=lambda t: [(t((3,)), t((3, 4)), t((4,))), (t((1,)), t((3, 4)), t((4,)), {"beta": 2, "alpha": 3})], doc="beta * self + alpha * (mat @ vec).")
def addmv(c: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
    if a.dim() != 2 or b.dim() != 1 or c.dim() > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {c.dim()}, {a.dim()}, {b.dim()}")
    if beta == 0:
        return _scaled(c, matmul(a, b), beta, alpha)
    return addmm(c.unsqueeze(-1), a, b.unsqueeze(1), beta=beta, alpha=alpha).squeeze(1)


@composite(f"addbmm(Tensor self, Tensor batch1, Tensor batch2, {SCALED}) -> Tensor", WRITING, dtypes="ifc", ulp=64,
           ref=lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b).sum(0), samples=lambda t: [(t((3, 5)), t((2, 3, 4)), t((2, 4, 5)))],
           doc="beta * self + alpha * the sum of batch1 @ batch2 over batches, as one product.")
def addbmm(c: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
    if a.dim() != 3 or b.dim() != 3 or a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError(f"addbmm: expected batches of matrices that can be multiplied; got {list(a.shape)} and {list(b.shape)}")
    wide, tall = a.transpose(0, 1).reshape(a.shape[1], a.shape[0] * a.shape[2]), b.reshape(b.shape[0] * b.shape[1], b.shape[2])
    return _scaled(c, matmul(wide, tall), beta, alpha) if beta == 0 else addmm(c, wide, tall, beta=beta, alpha=alpha)


@composite(f"addr(Tensor self, Tensor vec1, Tensor vec2, {SCALED}) -> Tensor", WRITING, ref=lambda c, a, b, beta=1, alpha=1: beta * c + alpha * np.outer(a, b),
           dtypes="ifc", ulp=32, samples=lambda t: [(t((3, 4)), t((3,)), t((4,))), (t((4,)), t((3,)), t((4,)), {"beta": 2, "alpha": 3})],
           doc="beta * self + alpha * outer(vec1, vec2).")
def addr(c: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
    common = dtypes.promote([c.dtype, a.dtype, b.dtype], [], [])
    check_factor("addr", "beta", beta, common)
    check_factor("addr", "alpha", alpha, common)
    if common.kind == dtypes.BOOL:
        product = outer(a, b) & bool(alpha)
        return product | c if beta else product.expand(_common(c, product)).clone()
    return _scaled(c, outer(a, b), beta, alpha)


@composite("_chain(Tensor[] matrices) -> Tensor", ref=lambda m: np.linalg.multi_dot(m) if len(m) > 1 else m[0], dtypes="ifc", ulp=128,
           samples=lambda t: [((t((2, 3)), t((3, 4)), t((4, 2))),)], public="linalg_multi_dot", doc="A product of matrices in the order that needs fewest multiplications.")
def chain(matrices: Sequence[Any]) -> Any:
    """The textbook recurrence: the cheapest way to join i .. j ends with a product at the best place between them."""
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for m in matrices:
        if m.dim() != 2:
            raise RuntimeError(f"chain_matmul(): Expected 2D tensors; got {m.dim()}D")
    d = [matrices[0].shape[0], *(m.shape[1] for m in matrices)]
    n = len(matrices)
    cost: dict[tuple[int, int], tuple[int, int]] = {(i, i): (0, i) for i in range(n)}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j] = min((cost[i, k][0] + cost[k + 1, j][0] + d[i] * d[k + 1] * d[j + 1], k) for k in range(i, j))

    def product(i: int, j: int) -> Any:
        return matrices[i] if i == j else matmul(product(i, cost[i, j][1]), product(cost[i, j][1] + 1, j))
    return product(0, n - 1) if n > 1 else matrices[0].clone()


def chain_matmul(*matrices: Any, out: Tensor | None = None) -> Tensor:
    """The product of matrices in the order that needs fewest multiplications. RuntimeError unless all are matrices.

    >>> import tensorx
    >>> tensorx.chain_matmul(tensorx.ones(1, 2), tensorx.ones(2, 3), tensorx.ones(3, 1))
    tensor([[6.]])
    """
    given = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], list | tuple) else matrices
    result: Tensor = chain(tuple(given))
    return result if out is None else out.resize_(result._shape).copy_(result)


__all__ = ["addbmm", "addmv", "addr", "chain_matmul", "einsum", "inner", "kron", "outer", "tensordot", "vdot"]
