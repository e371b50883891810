"""What recurrent layers and cells compute: projections of all steps at once, then one op a layer and direction."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.ops.dispatch import call
from tensorx.ops.recurrent import gru_row, lstm_row, rnn_row


def layer(mode: str, rows: Any, state: tuple[Any, ...], params: tuple[Any, ...], sizes: Any, reverse: bool) -> Any:
    """One layer and direction: (output rows, final state).

    Args:
        mode: 'RNN_TANH', 'RNN_RELU', 'LSTM' or 'GRU'.
        rows: inputs (total steps, features), those of the first step first.
        state: (h,) or (h, c), each (batch, size).
        params: weight_ih, weight_hh, bias_ih, bias_hh, weight_hr; the last three may be None.
        sizes: how many rows each step has.
        reverse: run from the last step to the first.
    """
    w_ih, w_hh, b_ih, b_hh, w_hr = params
    sizes = tuple(sizes)
    if mode == "GRU":
        output, h, _ = call(gru_row, (tx.linear(rows, w_ih, b_ih), *state, w_hh, b_hh, sizes, reverse))
        return output, (h,)
    x = tx.linear(rows, w_ih, None if b_ih is None else b_ih + b_hh)
    if mode == "LSTM":
        output, h, c, _, _ = call(lstm_row, (x, *state, w_hh, w_hr, sizes, reverse))
        return output, (h, c)
    output, h = call(rnn_row, (x, *state, w_hh, sizes, reverse, mode == "RNN_RELU"))
    return output, (h,)


def layers(
    mode: str, rows: Any, states: tuple[Any, ...], params: Any, directions: int, sizes: Any, dropout: float
) -> tuple[Any, tuple[Any, ...]]:
    """All layers: (output rows, final states). ``states`` are (layers * directions, batch, size), ``params`` a tuple
    for each layer and direction; ``dropout`` is applied between layers.
    """
    before = list(zip(*(s.unbind(0) for s in states), strict=True))
    after = []
    for first in range(0, len(params), directions):
        if first and dropout:
            rows = tx.dropout(rows, dropout, True)
        outputs = []
        for d in range(directions):
            output, final = layer(mode, rows, before[first + d], params[first + d], sizes, d == 1)
            outputs.append(output)
            after.append(final)
        rows = outputs[0] if directions == 1 else tx.cat(outputs, 1)
    finals = zip(*after, strict=True)
    return rows, tuple(tx.stack(f) if len(f) > 1 else f[0].unsqueeze(0) for f in finals)
