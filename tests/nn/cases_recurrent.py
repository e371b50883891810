"""Recurrent layers and cells: every option, padded and packed sequences, given and missing states."""

from nn_cases import CASES, array, fill, given, values

X = array(4, 3, 5)  # (L, N, features)


def flat(found):
    """The tensors of nested tuples."""
    return [t for part in found for t in flat(part)] if isinstance(found, tuple) else [found]


def run(tx, device, module, call, inputs):
    module = module.to(device)
    fill(tx, module)
    tensors = [given(tx, device, x, grad=True) for x in inputs]
    found = flat(call(module, *tensors))
    loss = sum((t * given(tx, device, array(*t.shape, seed=7 + i))).sum() for i, t in enumerate(found))
    loss.backward()
    return {
        "out": {str(i): values(t) for i, t in enumerate(found)},
        "inputs": [values(t.grad) for t in tensors],
        "params": {name: values(p.grad) for name, p in module.named_parameters()},
    }


def recur(name, make, call, *inputs):
    CASES[name] = lambda tx, device: run(tx, device, make(tx.nn), call, inputs)


def packed(name, make, lengths, **options):
    """A padded batch, packed, through a layer and padded again."""

    def call(tx):
        rnn = tx.nn.utils.rnn

        def through(module, x):
            output, states = module(rnn.pack_padded_sequence(x, lengths, **options))
            return rnn.pad_packed_sequence(output, batch_first=options.get("batch_first", False))[0], states

        return through

    x = X.transpose(1, 0, 2).copy() if options.get("batch_first") else X
    CASES[name] = lambda tx, device: run(tx, device, make(tx.nn), call(tx), [x])


def state(*shape, seed=5):
    return array(*shape, seed=seed)


plain, with_h = (lambda m, x: m(x)), (lambda m, x, h: m(x, h))
with_hc = lambda m, x, h, c: m(x, (h, c))  # noqa: E731

recur("rnn", lambda nn: nn.RNN(5, 2), plain, X)
recur("rnn relu", lambda nn: nn.RNN(5, 2, 2, "relu", bias=False, bidirectional=True), with_h, X, state(4, 3, 2))
recur("rnn batch first", lambda nn: nn.RNN(5, 2, batch_first=True), plain, X)
recur("rnn unbatched", lambda nn: nn.RNN(5, 2, 2), with_h, X[:, 0], state(2, 2))
recur("lstm", lambda nn: nn.LSTM(5, 2), plain, X)
recur("lstm deep", lambda nn: nn.LSTM(5, 2, 2, bidirectional=True), with_hc, X, state(4, 3, 2), state(4, 3, 2, seed=6))
recur("lstm without bias", lambda nn: nn.LSTM(5, 2, bias=False, batch_first=True), plain, X)
recur("lstm projected", lambda nn: nn.LSTM(5, 3, 2, proj_size=2, bidirectional=True), plain, X)
recur("lstm projected state", lambda nn: nn.LSTM(5, 3, proj_size=2), with_hc, X, state(1, 3, 2), state(1, 3, 3))
recur("lstm unbatched", lambda nn: nn.LSTM(5, 2), with_hc, X[:, 1], state(1, 2), state(1, 2, seed=6))
recur("lstm one step", lambda nn: nn.LSTM(5, 2), plain, X[:1])
recur("lstm last output", lambda nn: nn.LSTM(5, 2, 2), lambda m, x: m(x)[0][-1], X)
recur("lstm last state", lambda nn: nn.LSTM(5, 2, 2), lambda m, x: m(x)[1][1], X)
recur("gru", lambda nn: nn.GRU(5, 2), plain, X)
recur("gru deep", lambda nn: nn.GRU(5, 2, 2, bidirectional=True), with_h, X, state(4, 3, 2))
recur("gru without bias", lambda nn: nn.GRU(5, 2, bias=False, batch_first=True), with_h, X, state(1, 4, 2))
recur("gru unbatched", lambda nn: nn.GRU(5, 2), plain, X[:, 2])

packed("rnn packed", lambda nn: nn.RNN(5, 2), [4, 2, 1])
packed("rnn packed both ways", lambda nn: nn.RNN(5, 2, 2, "relu", bidirectional=True), [4, 4, 2])
packed("lstm packed", lambda nn: nn.LSTM(5, 2, 2, bidirectional=True), [4, 3, 1])
packed("lstm packed unsorted", lambda nn: nn.LSTM(5, 2), [1, 4, 2], enforce_sorted=False)
packed("lstm packed projected", lambda nn: nn.LSTM(5, 3, proj_size=2, bidirectional=True), [3, 3, 1])
packed(
    "gru packed",
    lambda nn: nn.GRU(5, 2, bidirectional=True, batch_first=True),
    [2, 4, 3],
    batch_first=True,
    enforce_sorted=False,
)

recur("rnn cell", lambda nn: nn.RNNCell(5, 2), plain, X[0])
recur("rnn cell relu", lambda nn: nn.RNNCell(5, 2, nonlinearity="relu"), with_h, X[0], state(3, 2))
recur("lstm cell", lambda nn: nn.LSTMCell(5, 2), plain, X[0])
recur("lstm cell state", lambda nn: nn.LSTMCell(5, 2, bias=False), with_hc, X[0], state(3, 2), state(3, 2, seed=6))
recur("gru cell", lambda nn: nn.GRUCell(5, 2), with_h, X[0], state(3, 2))
recur("gru cell unbatched", lambda nn: nn.GRUCell(5, 2), with_h, X[0, 0], state(2))
recur("lstm cell unrolled", lambda nn: nn.LSTMCell(5, 2), lambda m, x: m(x[1], m(x[0])), X)


def numbered(tensors):
    return {str(i): values(t) for i, t in enumerate(tensors)}


def padding(name, call):
    CASES[name] = lambda tx, device: {
        "out": call(tx, tx.nn.utils.rnn, [given(tx, device, array(n, 2, seed=n)) for n in (2, 4, 1)])
    }


padding("pad_sequence", lambda tx, rnn, s: values(rnn.pad_sequence(s, padding_value=-1.0)))
padding("pad_sequence left", lambda tx, rnn, s: values(rnn.pad_sequence(s, True, padding_side="left")))
padding("pack_sequence", lambda tx, rnn, s: numbered(rnn.pack_sequence(s, enforce_sorted=False)))
padding(
    "unpack_sequence",
    lambda tx, rnn, s: numbered(rnn.unpack_sequence(rnn.pack_sequence(s, enforce_sorted=False))),
)
padding(
    "pad_packed_sequence",
    lambda tx, rnn, s: numbered(rnn.pad_packed_sequence(rnn.pack_sequence(s, enforce_sorted=False), True, 9.0, 6)),
)
