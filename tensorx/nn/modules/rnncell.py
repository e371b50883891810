"""Recurrent cells: one step."""

from __future__ import annotations

import math
from typing import Any

import tensorx as tx
from tensorx.nn import init
from tensorx.nn.functional import recurrent
from tensorx.nn.parameter import Parameter

from .module import Module


class RNNCellBase(Module):
    """What the cells share.

    Example:
        >>> import tensorx as tx
        >>> isinstance(tx.nn.GRUCell(2, 3), tx.nn.RNNCellBase)
        True
    """

    nonlinearity: str
    _mode = ""
    _states = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias

        def make(*shape: int) -> Parameter:
            return Parameter(tx.empty(shape, device=device, dtype=dtype))

        self.weight_ih, self.weight_hh = (make(num_chunks * hidden_size, n) for n in (input_size, hidden_size))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, make(num_chunks * hidden_size) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the initial weights again, uniform in ``+-1/sqrt(hidden_size)``."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def _step(self, input: Any, hx: Any) -> tuple[Any, ...]:
        """The new states for (N, input_size) or (input_size)."""
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.shape[-1]} expected {self.input_size}")
        batched = input.dim() == 2
        x = input if batched else input.unsqueeze(0)
        if hx is None:
            zeros = tx.zeros(x.shape[0], self.hidden_size, dtype=x.dtype, device=x.device)
            states: tuple[Any, ...] = (zeros,) * self._states
        else:
            states = self._checked(hx, x, batched)
        mode = "RNN_" + self.nonlinearity.upper() if not self._mode else self._mode
        params = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, None)
        _, new = recurrent.layer(mode, x, states, params, (x.shape[0],), False)
        return new if batched else tuple(s.squeeze(0) for s in new)

    def _checked(self, hx: tuple[Any, ...], x: Any, batched: bool) -> tuple[Any, ...]:
        for i, h in enumerate(hx):
            if h.dim() not in (1, 2):
                which = f"hx[{i}]" if len(hx) > 1 else "hidden"
                raise ValueError(f"{type(self).__name__}: Expected {which} to be 1D or 2D, got {h.dim()}D instead")
        states = hx if batched else tuple(h.unsqueeze(0) if h.dim() == 1 else h for h in hx)
        for i, h in enumerate(states):
            rows = h.shape[0] if h.dim() == 2 else None
            if rows != x.shape[0]:
                got = f"hidden{i} batch size {rows or h.shape[0]}"
                raise RuntimeError(f"Input batch size {x.shape[0]} doesn't match {got}")
            if h.shape[1] != self.hidden_size:
                got = f"got {h.shape[1]}, expected {self.hidden_size}"
                raise RuntimeError(f"hidden{i} has inconsistent hidden_size: {got}")
        return tuple(states)


class RNNCell(RNNCellBase):
    """``h' = tanh(x @ W_ih.T + b_ih + h @ W_hh.T + b_hh)`` (or relu for tanh).

    Called as ``cell(input, h=None)`` with (N, input_size) and (N, hidden_size), or both without N.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.RNNCell(3, 4)(tx.ones(2, 3)).shape
        tensorx.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(input, None if hx is None else (hx,))[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM. Called as ``cell(input, (h, c)=None)``; gives (h', c').

    Example:
        >>> import tensorx as tx
        >>> h, c = tx.nn.LSTMCell(3, 4)(tx.ones(2, 3))
        >>> h.shape, c.shape
        (tensorx.Size([2, 4]), tensorx.Size([2, 4]))
    """

    _mode, _states = "LSTM", 2

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        if hx is not None and not isinstance(hx, (tuple, list)):
            raise TypeError(f"LSTMCell: argument 'hx' must be a tuple of tensors; got {type(hx).__name__}.")
        h, c = self._step(input, None if hx is None else tuple(hx))
        return h, c


class GRUCell(RNNCellBase):
    """One step of a GRU. Called as ``cell(input, h=None)``; gives h'.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.GRUCell(3, 4)(tx.ones(2, 3)).shape
        tensorx.Size([2, 4])
    """

    _mode = "GRU"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._step(input, None if hx is None else (hx,))[0]
