"""Calls of layers and losses whose values are compared with recorded ones.

Each ``cases_TOPIC.py`` beside this file adds calls; ``CASES[name](tx, device)`` returns nested dicts and lists of
numbers; ``tx`` is the library, so that the recorder can give another one. ``golden_TOPIC.json`` holds what PyTorch
2.13.0 (cpu build) gives for them; it is written by

    python tests/nn/nn_cases.py TOPIC
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np

CASES = {}


def array(*shape, seed=0, scale=1.0):
    """Fixed float32 values."""
    return (np.random.RandomState(seed).randn(*shape) * scale).astype(np.float32)


def given(tx, device, value, grad=False):
    tensor = tx.tensor(value, device=device)
    return tensor.requires_grad_() if grad else tensor


def values(tensor):
    return None if tensor is None else tensor.detach().cpu().tolist()


def fill(tx, module):
    """Overwrite every parameter with fixed values."""
    with tx.no_grad():
        for i, p in enumerate(module.parameters()):
            p.copy_(tx.tensor(array(*p.shape, seed=100 + i, scale=0.5)))


def run_layer(tx, device, module, inputs):
    """The output, and the gradients of a fixed linear function of it."""
    module = module.to(device)
    fill(tx, module)
    tensors = [given(tx, device, x, grad=x.dtype.kind == "f") for x in inputs]
    out = module(*tensors)
    (out * given(tx, device, array(*out.shape, seed=7))).sum().backward()
    return {
        "out": values(out),
        "inputs": [values(t.grad) for t in tensors if t.requires_grad],
        "params": {name: values(p.grad) for name, p in module.named_parameters()},
    }


def layer(name, make, *inputs):
    CASES[name] = lambda tx, device: run_layer(tx, device, make(tx.nn), inputs)


def loss(name, call, *inputs):
    """``call(F, *inputs)``: its value, and the gradients of its sum."""

    def case(tx, device):
        tensors = [given(tx, device, x, grad=x.dtype.kind == "f" and i == 0) for i, x in enumerate(inputs)]
        out = call(tx.nn.functional, *tensors)
        out.sum().backward()
        return {"out": values(out), "grad": values(tensors[0].grad)}

    CASES[name] = case


def rounded(value):
    """Seven digits: more are noise in float32."""
    if isinstance(value, dict):
        return {key: rounded(v) for key, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list) else None if value is None else float(f"{value:.7g}")


if __name__ == "__main__":
    from nn_cases import CASES as CHOSEN  # the module that the case files fill, which this script is not

    importlib.import_module(f"cases_{sys.argv[1]}")
    library = importlib.import_module("torch")
    rows = (f"{json.dumps(name)}: {json.dumps(rounded(case(library, 'cpu')))}" for name, case in CHOSEN.items())
    Path(__file__).with_name(f"golden_{sys.argv[1]}.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")
