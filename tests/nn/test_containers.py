"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from __future__ import annotations

from collections import OrderedDict

import pytest

import tensorx as tx
from tensorx import nn


def kinds(container):
    return [type(m).__name__ for m in container]


def test_sequential_is_a_list():
    net = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    assert isinstance(net[-1], nn.Sigmoid)
    assert kinds(net[1:]) == ["Tanh", "Sigmoid"]
    assert list(net[1:]._modules) == ["1", "2"]
    del net[1]
    assert list(net._modules) == ["0", "1"]
    net.append(nn.Tanh()).insert(0, nn.Identity())
    assert kinds(net) == ["Identity", "ReLU", "Sigmoid", "Tanh"]
    assert kinds(net + nn.Sequential(nn.ReLU())) == [*kinds(net), "ReLU"]
    assert len(nn.Sequential(nn.ReLU()) * 3) == 3
    assert isinstance(net.pop(0), nn.Identity)
    with pytest.raises(IndexError):
        net[7]
    assert nn.Sequential()(tx.ones(1)).item() == 1


def test_sequential_with_names():
    net = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    assert isinstance(net.b, nn.Tanh)
    assert net[0] is net.a
    net[0] = nn.Sigmoid()
    assert kinds(net) == ["Sigmoid", "Tanh"]
    assert list(net._modules) == ["a", "b"]


def test_module_list():
    layers = nn.ModuleList(nn.Linear(1, 1) for _ in range(3))
    assert len(list(layers.parameters())) == 6
    assert isinstance(layers[:2], nn.ModuleList)
    layers += [nn.ReLU()]
    layers.insert(1, nn.Tanh())
    assert kinds(layers) == ["Linear", "Tanh", "Linear", "Linear", "ReLU"]
    del layers[-1]
    assert layers[-1] is layers[3]
    with pytest.raises(NotImplementedError):
        layers(1)
    with pytest.raises(TypeError):
        layers.append(3)


def test_module_dict():
    table = nn.ModuleDict({"a": nn.ReLU()})
    table["b"] = nn.Linear(1, 1)
    assert list(table) == ["a", "b"]
    assert "b" in table
    assert len(list(table.parameters())) == 2
    table.update([["c", nn.Tanh()]])
    assert list(table.keys()) == ["a", "b", "c"]
    assert isinstance(table.pop("c"), nn.Tanh)
    del table["a"]
    assert len(table) == 1
    table.clear()
    assert not table


def test_parameter_list():
    values = nn.ParameterList([tx.ones(2), nn.Parameter(tx.zeros(1))])
    assert all(isinstance(v, nn.Parameter) for v in values)
    values.append(tx.ones(3)).extend([tx.ones(4)])
    assert [len(v) for v in values] == [2, 1, 3, 4]
    assert list(values.state_dict()) == ["0", "1", "2", "3"]
    assert [len(v) for v in values[1:3]] == [1, 3]


def test_parameter_dict():
    values = nn.ParameterDict({"a": tx.ones(2), "n": 3})
    assert isinstance(values["a"], nn.Parameter)
    assert values["n"] == 3
    assert list(values.state_dict()) == ["a"]
    del values["a"]
    assert list(values.keys()) == ["n"]
    assert values.get("a") is None
