"""Attention and transformers: layouts, masks, dropout off, options one by one."""

import numpy as np
from nn_cases import CASES, array, fill, given, values

X = array(4, 2, 8)  # (L, N, E)
MEMORY = array(5, 2, 8, seed=1)
CAUSAL = np.triu(np.ones((4, 4), bool), 1)
PADDING = np.array([[False, False, True, True, False], [False, False, False, False, True]])
ADDED = array(4, 5, seed=3)
PER_HEAD = array(4, 4, 5, seed=4) > 1


def attend(name, shapes, grouped=False, mask=None, **options):
    """scaled_dot_product_attention of fixed inputs: the result and all gradients."""

    def case(tx, device):
        inputs = [given(tx, device, array(*s, seed=i), grad=True) for i, s in enumerate(shapes)]
        settings = dict(options)
        if grouped:
            settings["enable_gqa"] = True
        tensor = None if mask is None else given(tx, device, mask, grad=mask.dtype.kind == "f")
        out = tx.nn.functional.scaled_dot_product_attention(*inputs, attn_mask=tensor, **settings)
        (out * given(tx, device, array(*out.shape, seed=7))).sum().backward()
        grads = [values(t.grad) for t in inputs]
        return {
            "out": values(out),
            "inputs": grads + ([values(tensor.grad)] if mask is not None and tensor.requires_grad else []),
        }

    CASES["attention " + name] = case


def network(name, make, call, *inputs):
    """``call(module, *tensors)``: a tensor, or a tuple of them; gradients of the first one."""

    def case(tx, device):
        module = make(tx.nn).to(device)
        fill(tx, module)
        tensors = [given(tx, device, x, grad=x.dtype.kind == "f") for x in inputs]
        found = call(module, *tensors)
        found = found if isinstance(found, tuple) else (found,)
        out = found[0]
        (out * given(tx, device, array(*out.shape, seed=7))).sum().backward()
        return {
            "out": {str(i): values(t) for i, t in enumerate(found)},
            "inputs": [values(t.grad) for t in tensors if t.requires_grad],
            "params": {name: values(p.grad) for name, p in module.named_parameters()},
        }

    CASES[name] = case


attend("plain", [(2, 3, 4), (2, 5, 4), (2, 5, 6)])
attend("causal", [(1, 2, 4, 3), (1, 2, 4, 3), (1, 2, 4, 3)], is_causal=True)
attend("causal, fewer keys", [(2, 5, 3), (2, 3, 3), (2, 3, 3)], is_causal=True)
attend("bool mask", [(2, 3, 4), (2, 5, 4), (2, 5, 4)], mask=array(3, 5, seed=9) > 0)
attend("a row masked", [(2, 3, 4), (2, 5, 4), (2, 5, 4)], mask=np.arange(3)[:, None] * np.ones(5) > 0)
attend("added mask", [(2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)], mask=array(2, 1, 3, 5, seed=9))
attend("scale", [(3, 4), (5, 4), (5, 4)], scale=2.0)
attend("grouped heads", [(2, 4, 3, 5), (2, 2, 3, 5), (2, 2, 3, 5)], grouped=True, is_causal=True)
attend(
    "grouped heads, mask", [(1, 4, 3, 5), (1, 2, 4, 5), (1, 2, 4, 5)], grouped=True, mask=array(4, 3, 4, seed=9) > -1
)
attend("one head for all", [(2, 4, 3, 5), (2, 1, 3, 5), (2, 1, 3, 5)])

network("multihead self", lambda nn: nn.MultiheadAttention(8, 2), lambda m, x: m(x, x, x), X)
network("multihead cross", lambda nn: nn.MultiheadAttention(8, 2), lambda m, x, y: m(x, y, y), X, MEMORY)
network(
    "multihead three",
    lambda nn: nn.MultiheadAttention(8, 2),
    lambda m, x, y, z: m(x, y, z),
    X,
    MEMORY,
    MEMORY[::-1].copy(),
)
network(
    "multihead sizes",
    lambda nn: nn.MultiheadAttention(8, 4, kdim=3, vdim=5, bias=False),
    lambda m, x, k, v: m(x, k, v),
    X,
    array(5, 2, 3),
    array(5, 2, 5),
)
network(
    "multihead batch first",
    lambda nn: nn.MultiheadAttention(8, 2, batch_first=True),
    lambda m, x, y: m(x, y, y, average_attn_weights=False),
    X.transpose(1, 0, 2).copy(),
    MEMORY.transpose(1, 0, 2).copy(),
)
network("multihead no weights", lambda nn: nn.MultiheadAttention(8, 2), lambda m, x: m(x, x, x, need_weights=False), X)
network(
    "multihead padding",
    lambda nn: nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True),
    lambda m, x, y, p: m(x, y, y, key_padding_mask=p),
    X,
    MEMORY,
    PADDING,
)
network(
    "multihead masks",
    lambda nn: nn.MultiheadAttention(8, 2),
    lambda m, x, y, p, a: m(x, y, y, key_padding_mask=p, attn_mask=a),
    X,
    MEMORY,
    PADDING,
    ADDED > 0.5,
)
network(
    "multihead mixed masks",
    lambda nn: nn.MultiheadAttention(8, 2),
    lambda m, x, y, p, a: m(x, y, y, key_padding_mask=p, attn_mask=a, need_weights=False),
    X,
    MEMORY,
    PADDING,
    ADDED,
)
network(
    "multihead mask a head",
    lambda nn: nn.MultiheadAttention(8, 2),
    lambda m, x, y, a: m(x, y, y, attn_mask=a),
    X,
    MEMORY,
    PER_HEAD,
)
network(
    "multihead causal",
    lambda nn: nn.MultiheadAttention(8, 2),
    lambda m, x, a: m(x, x, x, attn_mask=a, need_weights=False, is_causal=True),
    X,
    CAUSAL,
)
network(
    "multihead sizes unbatched",
    lambda nn: nn.MultiheadAttention(8, 4, kdim=3, vdim=5),
    lambda m, x, k, v: m(x, k, v),
    X[:, 0],
    array(5, 3),
    array(5, 5),
)
network("multihead unbatched", lambda nn: nn.MultiheadAttention(8, 2), lambda m, x: m(x, x, x), X[:, 0])
network(
    "encoder layer",
    lambda nn: nn.TransformerEncoderLayer(8, 2, 12, 0.0),
    lambda m, x, p: m(x, src_key_padding_mask=p),
    MEMORY,
    PADDING,
)
network(
    "encoder layer first",
    lambda nn: nn.TransformerEncoderLayer(8, 2, 12, 0.0, "gelu", norm_first=True, batch_first=True, bias=False),
    lambda m, x, a: m(x, src_mask=a, is_causal=True),
    X.transpose(1, 0, 2).copy(),
    CAUSAL,
)
network(
    "decoder layer",
    lambda nn: nn.TransformerDecoderLayer(8, 2, 12, 0.0, nn.functional.silu, layer_norm_eps=1e-3),
    lambda m, x, y, a, p: m(x, y, tgt_mask=a, memory_key_padding_mask=p),
    X,
    MEMORY,
    CAUSAL,
    PADDING,
)
network(
    "decoder layer first",
    lambda nn: nn.TransformerDecoderLayer(8, 2, 12, 0.0, norm_first=True),
    lambda m, x, y: m(x, y),
    X,
    MEMORY,
)
network(
    "encoder",
    lambda nn: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 12, 0.0), 2, nn.LayerNorm(8), enable_nested_tensor=False
    ),
    lambda m, x: m(x),
    X,
)
network(
    "transformer",
    lambda nn: nn.Transformer(8, 2, 1, 1, 12, 0.0),
    lambda m, x, y, a: m(y, x, tgt_mask=a),
    X,
    MEMORY,
    CAUSAL,
)
network(
    "transformer unbatched",
    lambda nn: nn.Transformer(8, 2, 1, 1, 12, 0.0),
    lambda m, x, y: m(y, x),
    X[:, 0],
    MEMORY[:, 0],
)
