"""Attention: what must be equal to what, second derivatives, dropout."""

from __future__ import annotations

import gc
import math

import pytest

import tensorx as tx
from tensorx import nn
from tensorx.autograd import gradcheck, gradgradcheck
from tensorx.nn import functional as F
from tensorx.nn.attention.flex_attention import and_masks, create_block_mask, flex_attention


def three(device, *shape, keys=None, grad=False):
    tx.manual_seed(0)
    shapes = (shape, keys or shape, keys or shape)
    return [tx.randn(s, device=device).requires_grad_(grad) for s in shapes]


def test_causal_is_a_triangular_mask(device):
    q, k, v = three(device, 2, 3, 5, 4, keys=(2, 3, 7, 4))
    mask = tx.ones(5, 7, dtype=tx.bool, device=device).tril()
    causal = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert tx.allclose(causal, F.scaled_dot_product_attention(q, k, v, attn_mask=mask), atol=1e-6)


def test_shared_heads_are_repeated_ones(device):
    results = []
    for repeated in (False, True):
        q, k, v = three(device, 2, 6, 5, 4, keys=(2, 2, 5, 4), grad=True)
        if repeated:
            out = F.scaled_dot_product_attention(
                q, k.repeat_interleave(3, 1), v.repeat_interleave(3, 1), is_causal=True
            )
        else:
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        out.sin().sum().backward()
        results.append((out, q.grad, k.grad, v.grad))
    for a, b in zip(*results):
        assert tx.allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("kind", ["plain", "causal", "bool", "added"])
def test_derivatives(kind):
    tx.manual_seed(1)
    q, k, v = (tx.randn(2, n, 3, dtype=tx.float64, requires_grad=True) for n in (3, 4, 4))
    bias = tx.randn(3, 4, dtype=tx.float64, requires_grad=True)
    keep = tx.tensor([[True, False, True, True], [False] * 4, [True, True, False, False]])

    def attend(q, k, v, bias):
        masks = {"bool": {"attn_mask": keep}, "added": {"attn_mask": bias}, "causal": {"is_causal": True}}
        return F.scaled_dot_product_attention(q, k, v, **masks.get(kind, {})) + 0 * bias.sum()

    assert gradcheck(attend, (q, k, v, bias))
    assert gradgradcheck(attend, (q, k, v, bias))


def test_dropout_keeps_the_mean_and_follows_the_seed(device):
    q, k, v = three(device, 1, 1, 4, 8, keys=(1, 1, 512, 8))
    v = tx.ones_like(v)
    outs = []
    for _ in range(2):
        tx.manual_seed(5)
        outs.append(F.scaled_dot_product_attention(q, k, v, dropout_p=0.5))
    assert outs[0].equal(outs[1])
    assert outs[0].mean().item() == pytest.approx(1.0, abs=0.25)
    assert not outs[0].equal(F.scaled_dot_product_attention(q, k, v))


def test_scores_of_16_bits_do_not_overflow(device):
    q = tx.full((1, 2, 64), 60.0, dtype=tx.float16, device=device)  # 64 * 60 * 60 is beyond float16
    out = F.scaled_dot_product_attention(q, q, q)
    assert out.tolist() == q.tolist()


def test_weights_of_multihead_attention_drop_in_training_only(device):
    layer, x = nn.MultiheadAttention(8, 2, dropout=0.9).to(device), three(device, 5, 2, 8)[0]
    _, weights = layer(x, x, x)
    assert (weights == 0).sum().item() > 0
    _, weights = layer.eval()(x, x, x)
    assert tx.allclose(weights.sum(-1), tx.ones(2, 5, device=device), atol=1e-5)


def test_flex_attention_is_attention_with_the_mask_and_bias(device):
    results = []
    for flexible in (False, True):
        q, k, v = three(device, 2, 2, 6, 4, grad=True)
        places = tx.arange(6, device=device)
        apart = places.unsqueeze(1) - places
        if flexible:
            mod = and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: q - k < 3)
            mask = create_block_mask(mod, None, None, 6, 6, device=device)
            out = flex_attention(q, k, v, lambda s, b, h, q, k: s - 0.1 * (q - k).abs(), mask, scale=0.3)
        else:
            bias = (-0.1 * apart.abs().float()).masked_fill((apart < 0) | (apart >= 3), -math.inf)
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=0.3)
        out.sin().sum().backward()
        results.append((out, q.grad, k.grad, v.grad))
    for a, b in zip(*results):
        assert tx.allclose(a, b, atol=1e-5)


def test_encoder_layers_are_copies_that_learn_apart(device):
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0), 2).to(device)
    first, second = (layer.linear1.weight for layer in encoder.layers)
    assert first is not second
    assert first.equal(second)
    x = three(device, 5, 2, 8)[0]
    mask = nn.Transformer.generate_square_subsequent_mask(5, device=device)
    out = encoder(x, mask=mask, is_causal=True)
    changed = x.clone()
    changed[3:] += 1
    assert tx.allclose(encoder(changed, mask=mask)[:3], out[:3], atol=1e-5)  # later steps are not seen
    out[0].square().sum().backward()
    assert not first.grad.equal(second.grad)


BLOCKED = [
    {"is_causal": True},
    {"mask": "bool"},
    {"mask": "added", "scale": 0.3},
    {"is_causal": True, "enable_gqa": True},
    {"dropout_p": 0.3},
]


@pytest.mark.parametrize("options", BLOCKED, ids=["causal", "bool", "added", "grouped", "dropout"])
def test_blocks_of_queries_give_what_all_queries_give(device, monkeypatch, options):
    """Results, gradients, second derivatives; few queries at a time, as many scores ask for; by the kernel, if any."""
    from tensorx.ops import attention, attention_kernel

    options = dict(options)
    kind = options.pop("mask", None)
    heads = 2 if options.get("enable_gqa") else 4
    results = []
    if kind == "bool":
        options["attn_mask"] = three(device, 39, 41)[0] > 0.5
        options["attn_mask"][3] = False
    elif kind == "added":
        options["attn_mask"] = three(device, 2, 1, 39, 41, grad=True)[0]
    fits = attention_kernel.fits
    for limit in (2**22, 4 * 40, 0):
        q, k, v = three(device, 2, 4, 39, 3, keys=(2, heads, 41, 3), grad=True)
        monkeypatch.setattr(attention_kernel, "fits", fits if not limit else lambda query, value: False)
        monkeypatch.setattr(attention, "BLOCK", limit or 2**22)
        tx.manual_seed(7)
        out = F.scaled_dot_product_attention(q, k, v, **options)
        assert ("Blocks" in out.grad_fn.name()) == (limit == 4 * 40 or (not limit and fits(q, v)))
        inputs = [q, k, v, *([options["attn_mask"]] if kind == "added" else [])]
        first = tx.autograd.grad(out.sin().sum(), inputs, create_graph=True)
        tx.manual_seed(7)
        plain = F.scaled_dot_product_attention(q, k, v, **options)
        again = tx.autograd.grad(plain.sin().sum(), inputs)
        for a, b in zip(first, again):
            assert tx.allclose(a, b, atol=1e-5)
        second = tx.autograd.grad(sum(t.square().sum() for t in first), inputs)
        results.append((out, *again, *second))
    for other in results[1:]:  # also of dropout: one seed, one mask
        for a, b in zip(results[0], other):
            assert tx.allclose(a, b, rtol=1e-4, atol=2e-5)


SHAPES = [(1, 2, 200, 200, 64, 64), (1, 1, 130, 217, 50, 60), (1, 1, 217, 130, 57, 49)]  # the same kernels for all
KINDS = [(kind, "float32") for kind in ("plain", "causal", "bool", "added", "dropout")]
KINDS += [("causal", "float16"), ("causal", "bfloat16")]


@pytest.mark.parametrize("kind, dtype", KINDS)
def test_heads_of_several_tiles(device, monkeypatch, kind, dtype):
    """Edges of tiles, widths of keys and values that differ, rows masked altogether: beside all scores in float32."""
    from tensorx.ops import attention_kernel

    for b, h, n, m, width, wide in SHAPES:
        tx.manual_seed(2)
        sizes = (n, width), (m, width), (m, wide), (n, wide)
        given = [tx.randn(b, h, *s).to(getattr(tx, dtype)) for s in sizes]
        options = {"plain": {}, "causal": {"is_causal": True}, "dropout": {"dropout_p": 0.4}}.get(kind)
        if kind == "bool":
            mask = tx.rand(n, m) > 0.3
            mask[3] = False
            options = {"attn_mask": mask.to(device)}
        elif kind == "added":
            options = {"attn_mask": tx.randn(h, 1, m).to(device)}
        results = []
        for whole in (False, True):
            if whole:
                monkeypatch.setattr(attention_kernel, "fits", lambda query, value: False)
            q, k, v, g = (t.to(device) for t in given)
            q, k, v = (t.float().requires_grad_() if whole else t.requires_grad_() for t in (q, k, v))
            tx.manual_seed(5)
            out = F.scaled_dot_product_attention(q, k, v, **options)
            results.append((out, *tx.autograd.grad(out, (q, k, v), g.to(out.dtype))))
            monkeypatch.undo()
        rtol, atol = {"float32": (1e-4, 2e-5), "float16": (1e-2, 1e-2), "bfloat16": (5e-2, 8e-2)}[dtype]
        for a, b_ in zip(*results):
            assert tx.allclose(a.float(), b_, rtol=rtol, atol=atol)


def test_heads_laid_out_in_any_way(device):
    """Queries, keys and values cut out of one projection, four leading dimensions, keys that all heads share."""
    tx.manual_seed(3)
    x = tx.randn(2, 40, 3, 4, 8, device=device, requires_grad=True)
    q, k, v = x.permute(2, 0, 3, 1, 4).unbind(0)
    together = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    apart = F.scaled_dot_product_attention(*(t.detach().contiguous() for t in (q, k, v)), is_causal=True)
    assert tx.allclose(together, apart, atol=1e-6)
    a, b, c = tx.randn(2, 1, 3, 2, 20, 8), tx.randn(1, 3, 1, 1, 24, 8), tx.randn(1, 1, 3, 2, 24, 8)
    results = []
    for where in (device, "cpu"):
        given = [t.to(where).requires_grad_() for t in (a, b, c)]
        whole = given if where == device else [t.expand(2, 3, 3, 2, *t.shape[-2:]) for t in given]
        out = F.scaled_dot_product_attention(*whole)
        results.append([t.to("cpu") for t in (out, *tx.autograd.grad(out.sin().sum(), given))])
    for got, expected in zip(*results):
        assert tx.allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_memory_does_not_grow_with_all_scores(device, monkeypatch):
    """Forward and backward together take less than the scores of one head would, of which there are two."""
    from tensorx.ops import attention

    monkeypatch.setattr(attention, "BLOCK", 2**12)  # where there is no kernel, few scores at a time
    length = 1024
    q, k, v = (tx.randn(1, 2, length, 16, device=device, requires_grad=True) for _ in range(3))

    def run():
        F.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()

    run()
    gc.collect()
    runtime = tx.device(device).runtime
    runtime.synchronize()
    runtime.empty_cache()
    runtime.reset_peak()
    before = runtime.memory_stats()["peak"]
    run()
    runtime.synchronize()
    assert 0 < runtime.memory_stats()["peak"] - before < 4 * length**2
