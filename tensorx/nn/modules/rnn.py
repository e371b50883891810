"""Recurrent layers: RNN, LSTM, GRU."""

from __future__ import annotations

import math
import numbers
from typing import Any

import tensorx as tx
from tensorx.nn import init
from tensorx.nn.functional import recurrent
from tensorx.nn.parameter import Parameter
from tensorx.nn.utils.rnn import PackedSequence
from tensorx.warning import warn

from .module import Module

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _check_settings(input_size: Any, hidden_size: Any, num_layers: int, dropout: Any, proj_size: int) -> None:
    if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):  # type: ignore[operator]
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:  # type: ignore[operator]
        warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(value, int):
            raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNNBase(Module):
    """What RNN, LSTM and GRU share: parameters, checks, and the way through the layers.

    Example:
        >>> import tensorx as tx
        >>> isinstance(tx.nn.LSTM(2, 3), tx.nn.RNNBase)
        True
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_settings(input_size, hidden_size, num_layers, dropout, proj_size)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._all_weights: list[list[str]] = []
        for index in range(num_layers * self._directions):
            names = self._add_layer(*divmod(index, self._directions), device, dtype)
            self._all_weights.append(names)
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _add_layer(self, layer: int, direction: int, device: Any, dtype: Any) -> list[str]:
        """Make the parameters of one layer and direction; their names, in PyTorch's order."""
        out, gates = self.proj_size or self.hidden_size, _GATES[self.mode] * self.hidden_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (gates, self.input_size if layer == 0 else out * self._directions),
            "weight_hh": (gates, out),
        }
        if self.bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = []
        for name, shape in shapes.items():
            names.append(f"{name}_l{layer}{'_reverse' if direction else ''}")
            setattr(self, names[-1], Parameter(tx.empty(shape, device=device, dtype=dtype)))
        return names

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name, None) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Does nothing: parameters need no common block of memory here."""

    def reset_parameters(self) -> None:
        """Draw the initial weights again, uniform in ``+-1/sqrt(hidden_size)``."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0}
        for name, value in (usual | {"bidirectional": False}).items():
            if getattr(self, name) != value:
                parts.append(f"{name}={getattr(self, name)}")
        return ", ".join(parts)

    def _params(self) -> list[tuple[Any, ...]]:
        """weight_ih, weight_hh, bias_ih, bias_hh, weight_hr of each layer and direction, None for what it lacks."""
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        found = []
        for index in range(self.num_layers * self._directions):
            layer, direction = divmod(index, self._directions)
            end = f"_l{layer}{'_reverse' if direction else ''}"
            found.append(tuple(getattr(self, kind + end, None) for kind in kinds))
        return found

    def _sizes(self) -> tuple[int, ...]:
        """The size of each state."""
        return (self.proj_size or self.hidden_size,)

    def _check_dim(self, dim: int) -> None:
        if dim not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {dim}D instead")

    def check_input(self, input: Any, batch_sizes: Any) -> None:
        """Raise for an input (of a packed sequence, where ``batch_sizes`` is not None) that does not fit."""
        weight, want = getattr(self, self._flat_weights_names[0]), 3 if batch_sizes is None else 2
        if input.dtype != weight.dtype and not tx.is_autocast_enabled(input.device.type):
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        if input.dim() != want:
            raise RuntimeError(f"input must have {want} dimensions, got {input.dim()}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )

    def _expected(self, input: Any, batch_sizes: Any, size: int) -> tuple[int, int, int]:
        batch = input.shape[0 if self.batch_first else 1] if batch_sizes is None else int(batch_sizes[0])
        return (self.num_layers * self._directions, batch, size)

    def get_expected_hidden_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape of h for this (batched or packed) input."""
        return self._expected(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(
        self, hx: Any, expected_hidden_size: tuple[int, ...], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """RuntimeError unless ``hx`` has this shape."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """Raise for an input and states that do not fit."""
        self.check_input(input, batch_sizes)
        hidden = hidden if isinstance(hidden, tuple) else (hidden,)
        for i, (h, size) in enumerate(zip(hidden, self._sizes(), strict=True)):
            which = f"hidden[{i}]" if len(hidden) > 1 else "hidden"
            self.check_hidden_size(h, self._expected(input, batch_sizes, size), f"Expected {which} size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """The states in another order of the batch; as they are for None."""
        if permutation is None:
            return hx
        if isinstance(hx, tuple):
            return tuple(h.index_select(1, permutation) for h in hx)
        return hx.index_select(1, permutation)

    def _check_hx_dims(self, hx: tuple[Any, ...], batched: bool) -> None:
        want, words = (3, "batched 3-D") if batched else (2, "unbatched 2-D")
        if any(h.dim() != want for h in hx):
            dims = ", ".join(f"{h.dim()}-D" for h in hx)
            names, got = ("hx and cx", f"({dims}) tensors") if len(hx) > 1 else ("hx", f"{dims} tensor")
            raise RuntimeError(f"For {words} input, {names} should also be {want}-D but got {got}")

    def _states(self, hx: tuple[Any, ...] | None, like: Any, batch: int) -> tuple[Any, ...]:
        """The initial states (layers * directions, batch, size), zeros where none are given."""
        if hx is not None:
            return hx
        many = self.num_layers * self._directions
        return tuple(tx.zeros(many, batch, n, dtype=like.dtype, device=like.device) for n in self._sizes())

    def _run(self, input: Any, hx: tuple[Any, ...] | None) -> tuple[Any, tuple[Any, ...]]:
        params, directions, dropout = self._params(), self._directions, self.dropout if self.training else 0.0
        if isinstance(input, PackedSequence):
            data, sizes, order, back = input
            steps = sizes.tolist()
            hx = None if hx is None else self.permute_hidden(hx, order)
            states = self._states(hx, data, steps[0] if steps else 0)
            self.check_forward_args(data, states, sizes)
            rows, finals = recurrent.layers(self.mode, data, states, params, directions, steps, dropout)
            return PackedSequence(rows, sizes, order, back), self.permute_hidden(finals, back)
        self._check_dim(input.dim())
        batched, axis = input.dim() == 3, 0 if self.batch_first else 1
        if hx is not None:
            self._check_hx_dims(hx, batched)
            hx = hx if batched else tuple(h.unsqueeze(1) for h in hx)
        x = input if batched else input.unsqueeze(axis)
        states = self._states(hx, x, x.shape[axis])
        self.check_forward_args(x, states, None)
        x = x.transpose(0, 1) if self.batch_first else x
        time, batch, width = x.shape
        if not time:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        rows = x.reshape(time * batch, width)
        rows, finals = recurrent.layers(self.mode, rows, states, params, directions, [batch] * time, dropout)
        output = rows.view(time, batch, rows.shape[1])
        if not batched:
            return output.squeeze(1), tuple(f.squeeze(1) for f in finals)
        return output.transpose(0, 1) if self.batch_first else output, finals


class RNN(RNNBase):
    """``h_t = tanh(x_t @ W_ih.T + b_ih + h_(t-1) @ W_hh.T + b_hh)`` over a sequence (or relu for tanh).

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        num_layers: how many layers, each over the outputs of the one before.
        nonlinearity: 'tanh' or 'relu'.
        bias: whether there are biases.
        batch_first: input and output are (N, L, features), not (L, N, features).
        dropout: probability of dropping outputs between layers in training mode.
        bidirectional: a second set of layers runs backwards; outputs are joined.

    Called as ``layer(input, h_0=None)`` with a tensor (L, N, input_size) or (L, input_size), or a PackedSequence; gives
    (output, h_n) with h_n (layers * directions, N, hidden_size).

    Example:
        >>> import tensorx as tx
        >>> output, h = tx.nn.RNN(3, 4, num_layers=2)(tx.ones(5, 2, 3))
        >>> output.shape, h.shape
        (tensorx.Size([5, 2, 4]), tensorx.Size([2, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self.nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        modes = {"tanh": "RNN_TANH", "relu": "RNN_RELU"}
        if self.nonlinearity not in modes:
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(modes[self.nonlinearity], *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        output, (h,) = self._run(input, None if hx is None else (hx,))
        return output, h


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter & Schmidhuber 1997) over a sequence.

    Arguments as in :class:`RNN`, and ``proj_size``: the state h is projected to this many features (Sak et al. 2014).

    Called as ``layer(input, (h_0, c_0)=None)``; gives (output, (h_n, c_n)).

    Example:
        >>> import tensorx as tx
        >>> output, (h, c) = tx.nn.LSTM(3, 4, bidirectional=True)(tx.ones(5, 2, 3))
        >>> output.shape, h.shape, c.shape
        (tensorx.Size([5, 2, 8]), tensorx.Size([2, 2, 4]), tensorx.Size([2, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _sizes(self) -> tuple[int, ...]:
        return (self.proj_size or self.hidden_size, self.hidden_size)

    def get_expected_cell_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape of c for this (batched or packed) input."""
        return self._expected(input, batch_sizes, self.hidden_size)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, tuple[Any, Any]]:
        output, (h, c) = self._run(input, None if hx is None else (hx[0], hx[1]))
        return output, (h, c)


class GRU(RNNBase):
    """Gated recurrent units (Cho et al. 2014) over a sequence; the reset gate acts after the product, as in PyTorch.

    Arguments as in :class:`RNN`. Called as ``layer(input, h_0=None)``; gives (output, h_n).

    Example:
        >>> import tensorx as tx
        >>> output, h = tx.nn.GRU(3, 4, batch_first=True)(tx.ones(2, 5, 3))
        >>> output.shape, h.shape
        (tensorx.Size([2, 5, 4]), tensorx.Size([1, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        output, (h,) = self._run(input, None if hx is None else (hx,))
        return output, h
