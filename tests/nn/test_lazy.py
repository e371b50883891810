"""Lazy layers: copies, pickles, conversions, and what must not be done with what has no shape."""

from __future__ import annotations

import copy
import pickle

import pytest

import tensorx as tx
from tensorx import nn


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"])
def test_a_copy_is_lazy_by_itself(again):
    first = nn.LazyLinear(3)
    second = again(first)
    assert second(tx.ones(2, 5)).shape == (2, 3)
    assert type(second) is nn.Linear and not second._forward_pre_hooks and not second._load_state_dict_pre_hooks
    assert type(first) is nn.LazyLinear and first.has_uninitialized_params() and len(first._forward_pre_hooks) == 1
    assert first(tx.ones(2, 4)).shape == (2, 3)


def test_conversions_before_the_first_call(device):
    layer = nn.LazyBatchNorm1d().half().to(device)
    assert layer.weight.device == device and layer.running_mean.dtype is tx.float16
    layer(tx.ones(2, 3, dtype=tx.float16, device=device))
    assert layer.weight.device == device and layer.running_mean.dtype is tx.float16
    assert layer.weight.requires_grad and isinstance(layer.weight, nn.Parameter)


def test_state_of_an_initialised_layer_loads(device):
    source = nn.BatchNorm2d(4).to(device)
    source.running_mean.fill_(2.0)
    layer = nn.LazyBatchNorm2d().to(device)
    layer.load_state_dict(source.state_dict())
    assert layer.running_mean.tolist() == [2.0] * 4
    layer.eval()(tx.ones(1, 4, 2, 2, device=device))
    assert type(layer) is nn.BatchNorm2d


@pytest.mark.parametrize("use", [lambda p: p + 1, lambda p: p.numel(), len, lambda p: p == 1, tx.relu])
def test_what_has_no_shape_is_not_computed_with(use):
    with pytest.raises(ValueError, match="uninitialized parameter"):
        use(nn.LazyLinear(3).weight)


def test_a_forgotten_parameter_is_reported():
    class Half(nn.LazyLinear):
        def initialize_parameters(self, input):
            self.weight.materialize((self.out_features, input.shape[-1]))

    with pytest.raises(RuntimeError, match="has not been fully initialized"):
        Half(3)(tx.ones(2, 4))
