"""JAX on the CPU: works under ``jit``, warm, waited for. Names that works use are spelled in JAX here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.timing import Loop
from benchmarks.work import Step, Unsupported


def _norm(x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    y = jax.nn.standardize(x, axis=-1, epsilon=eps)
    return y if weight is None else y * weight + bias


def _cross_entropy(x: Any, target: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(x), target[:, None], 1).mean()


def _conv2d(
    x: Any, w: Any, bias: Any = None, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1
) -> Any:
    return lax.conv_general_dilated(
        x, w, (stride,) * 2, [(padding,) * 2] * 2, rhs_dilation=(dilation,) * 2, feature_group_count=groups
    )


def _max_pool2d(x: Any, size: int, stride: int, padding: int) -> Any:
    at = (1, 1)
    return lax.reduce_window(
        x, -jnp.inf, lax.max, (*at, size, size), (*at, stride, stride), ((0, 0), (0, 0), *((padding,) * 2,) * 2)
    )


def _attention(q: Any, k: Any, v: Any, is_causal: bool = False) -> Any:
    return jax.nn.dot_product_attention(*(x.swapaxes(1, 2) for x in (q, k, v)), is_causal=is_causal).swapaxes(1, 2)


_F = SimpleNamespace(
    layer_norm=_norm, cross_entropy=_cross_entropy, conv2d=_conv2d, max_pool2d=_max_pool2d, relu=jax.nn.relu,
    gelu=lambda x: jax.nn.gelu(x, approximate=False), embedding=lambda i, w: w[i],
    scaled_dot_product_attention=_attention, linear=lambda x, w, b: x @ w.T + b,
)  # fmt: skip
NAMES = SimpleNamespace(
    nn=SimpleNamespace(functional=_F), exp=jnp.exp, tanh=jnp.tanh, where=jnp.where, matmul=jnp.matmul, bmm=jnp.matmul,
    sum=lambda x, dim=None: x.sum(dim), amax=lambda x, dim: x.max(dim), mean=lambda x, dim: x.mean(dim),
    softmax=jax.nn.softmax, cumsum=lambda x, dim: x.cumsum(dim), sort=lambda x: (jnp.sort(x), jnp.argsort(x)),
    topk=lambda x, k: lax.top_k(x, k), argmax=lambda x, dim: x.argmax(dim), transpose=lambda x, a, b: x.swapaxes(a, b),
)  # fmt: skip


class Jax:
    name = "jax"

    def framework(self) -> Any:
        raise Unsupported

    def tensor(self, array: np.ndarray) -> Any:
        return jnp.asarray(array)

    def function(self, f: Callable[..., Any], arrays: Sequence[np.ndarray], grad: bool) -> Step:
        tensors = [self.tensor(array) for array in arrays]
        floating = tuple(i for i, x in enumerate(tensors) if jnp.issubdtype(x.dtype, jnp.floating))
        whole = jax.grad(lambda *xs: f(NAMES, *xs).sum(), floating) if grad else (lambda *xs: f(NAMES, *xs))
        compiled = jax.jit(whole)
        return lambda: compiled(*tensors)

    def loop(self, step: Step) -> Loop:
        def run(n: int) -> None:
            for _ in range(n):
                jax.block_until_ready(step())

        return run


def make(name: str, device: str | None) -> Jax:
    return Jax()
