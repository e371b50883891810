"""Activations made of straight lines."""

from __future__ import annotations

from typing import Any

import tensorx as tx


def relu(input: Any, inplace: bool = False) -> Any:
    """``max(input, 0)``; NaN stays NaN.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.relu(tx.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return input.relu_() if inplace else tx.relu(input)


def relu_(input: Any) -> Any:
    """:func:`relu` in place.

    Example:
        >>> import tensorx as tx
        >>> x = tx.tensor([-1.0, 2.0])
        >>> tx.nn.functional.relu_(x)
        tensor([0., 2.])
    """
    return input.relu_()


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """``input`` limited to [min_val, max_val]; no gradient at the ends.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.hardtanh(tx.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError(f"hardtanh: argument 'min_val' must not be above max_val; got {min_val} and {max_val}.")
    if input.dtype is tx.uint8 and min(min_val, max_val) < 0:
        raise RuntimeError("hardtanh: cannot do hardtanh on an unsigned type with negative limits")
    return input.hardtanh_(min_val, max_val) if inplace else tx.hardtanh(input, min_val, max_val)


def relu6(input: Any, inplace: bool = False) -> Any:
    """``input`` limited to [0, 6].

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.relu6(tx.tensor([-1.0, 7.0]))
        tensor([0., 6.])
    """
    return hardtanh(input, 0, 6, inplace)


def hardtanh_(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """:func:`hardtanh` in place.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.hardtanh_(tx.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    return input.hardtanh_(min_val, max_val)


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """``input`` where positive, else ``negative_slope * input``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.leaky_relu(tx.tensor([-1.0, 2.0]), 0.1)
        tensor([-0.1000,  2.0000])
    """
    return input.leaky_relu_(negative_slope) if inplace else tx.leaky_relu(input, negative_slope)


def leaky_relu_(input: Any, negative_slope: float = 0.01) -> Any:
    """:func:`leaky_relu` in place.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.leaky_relu_(tx.tensor([-1.0, 2.0]), 0.1)
        tensor([-0.1000,  2.0000])
    """
    return input.leaky_relu_(negative_slope)


def prelu(input: Any, weight: Any) -> Any:
    """``input`` where positive, else ``weight * input``, with one weight or one a channel (dimension 1 of ``input``).

    RuntimeError where ``weight`` has neither one element nor one a channel, or another dtype.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.prelu(tx.tensor([-1.0, 2.0]), tx.tensor(0.25))
        tensor([-0.2500,  2.0000])
    """
    return tx.prelu(input, weight)


def rrelu(input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False) -> Any:
    """``input`` where positive, else times a slope: random in [lower, upper) with ``training``, else their mean.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.rrelu(tx.tensor([-1.0, 2.0]), 0.25, 0.75)
        tensor([-0.5000,  2.0000])
    """
    return (tx.rrelu_ if inplace else tx.rrelu)(input, lower, upper, training)


def rrelu_(input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Any:
    """:func:`rrelu` in place.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.rrelu_(tx.tensor([-1.0, 2.0]), 0.25, 0.75)
        tensor([-0.5000,  2.0000])
    """
    return tx.rrelu_(input, lower, upper, training)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """``input`` where above ``threshold``, else ``value``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.threshold(tx.tensor([0.5, 2.0]), 1.0, -1.0)
        tensor([-1.,  2.])
    """
    return input.threshold_(threshold, value) if inplace else tx.threshold(input, threshold, value)


def threshold_(input: Any, threshold: float, value: float) -> Any:
    """:func:`threshold` in place.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.threshold_(tx.tensor([0.5, 2.0]), 1.0, -1.0)
        tensor([-1.,  2.])
    """
    return input.threshold_(threshold, value)


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """``input`` outside of [-lambd, lambd], else 0.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.hardshrink(tx.tensor([-1.0, 0.25, 2.0]))
        tensor([-1.,  0.,  2.])
    """
    return tx.hardshrink(input, lambd)


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """``input`` moved towards 0 by ``lambd``, and 0 in between. RuntimeError for a negative ``lambd``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.softshrink(tx.tensor([-1.0, 0.25, 2.0]))
        tensor([-0.5000,  0.0000,  1.5000])
    """
    return tx.softshrink(input, lambd)


def hardswish(input: Any, inplace: bool = False) -> Any:
    """``input * relu6(input + 3) / 6``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.hardswish(tx.tensor([-1.5, 0.0, 3.0]))
        tensor([-0.3750,  0.0000,  3.0000])
    """
    return input.hardswish_() if inplace else tx.hardswish(input)


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """``relu6(input + 3) / 6``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.hardsigmoid(tx.tensor([-4.0, 0.0, 3.0]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    return input.hardsigmoid_() if inplace else tx.hardsigmoid(input)
