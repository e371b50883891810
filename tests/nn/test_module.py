"""Module: registration, walking, state, hooks, conversion, repr. Messages and orders are PyTorch's."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

import pytest

import tensorx as tx
from tensorx import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.inner = nn.Sequential(OrderedDict(a=nn.Tanh(), b=nn.Linear(3, 1, bias=False)))
        self.scale = nn.Parameter(tx.ones(1))
        self.register_buffer("count", tx.tensor(0))
        self.register_buffer("scratch", tx.zeros(2), persistent=False)
        self.register_buffer("nothing", None)
        self.plain = [nn.Linear(1, 1)]  # a list does not register

    def forward(self, x):
        return self.inner(self.first(x)) * self.scale


def test_names_in_order_of_registration():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["scale", "first.weight", "first.bias", "inner.b.weight"]
    assert [n for n, _ in net.named_buffers()] == ["count", "scratch"]
    assert [n for n, _ in net.named_modules()] == ["", "first", "inner", "inner.a", "inner.b"]
    assert [n for n, _ in net.named_children()] == ["first", "inner"]
    assert list(net.state_dict()) == ["scale", "count", "first.weight", "first.bias", "inner.b.weight"]


def test_shared_modules_and_parameters_come_once():
    a, b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    b.weight = a.weight
    both = nn.ModuleList([a, b, a])
    assert len(list(both.parameters())) == 1
    assert [n for n, _ in both.named_modules()] == ["", "0", "1"]
    assert list(both.state_dict()) == ["0.weight", "1.weight", "2.weight"]
    copied = copy.deepcopy(both)
    assert copied[0].weight is copied[1].weight
    assert copied[0].weight is not a.weight
    assert copied[0] is copied[2]


def test_pickle_round_trip(device):
    net = Net().to(device)
    again = pickle.loads(pickle.dumps(net))
    for (name, a), (other, b) in zip(net.state_dict().items(), again.state_dict().items()):
        assert name == other
        assert a.tolist() == b.tolist()
        assert a.device == b.device
    assert isinstance(again.scale, nn.Parameter)
    assert again.scale.requires_grad


def test_assignment_rules():
    net = Net()
    with pytest.raises(TypeError, match=r"cannot assign .* as parameter 'scale'"):
        net.scale = tx.ones(1)
    with pytest.raises(TypeError, match=r"cannot assign .* as child module 'first'"):
        net.first = 3
    net.scale = None
    assert "scale" not in dict(net.named_parameters())
    net.count = tx.tensor(5)
    assert net.state_dict()["count"].item() == 5
    net.first = nn.Linear(4, 4)
    assert net.first.in_features == 4
    del net.inner
    assert not hasattr(net, "inner")
    net.first = nn.Parameter(tx.ones(1))  # another kind moves the name
    assert [n for n, _ in net.named_children()] == []
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'missing'"):
        _ = net.missing


def test_registration_rules():
    net = Net()
    with pytest.raises(KeyError, match="already exists"):
        net.register_buffer("forward", None)
    with pytest.raises(KeyError, match="dot"):
        net.add_module("a.b", nn.ReLU())
    with pytest.raises(TypeError, match="must be a Parameter"):
        net.register_parameter("p", tx.ones(1))
    computed = tx.ones(1, requires_grad=True) * 1
    computed._is_param = True  # a Parameter by its mark, but with a history
    with pytest.raises(ValueError, match="leaf"):
        net.register_parameter("p", computed)


def test_before_init():
    class Early(nn.Module):
        def __init__(self):
            self.layer = nn.ReLU()

    with pytest.raises(AttributeError, match=r"cannot assign modules before Module.__init__\(\) call"):
        Early()


def test_dotted_access():
    net = Net()
    assert net.get_submodule("inner.b") is net.inner.b
    assert net.get_submodule("") is net
    assert net.get_parameter("inner.b.weight") is net.inner.b.weight
    assert net.get_buffer("count") is net.count
    with pytest.raises(AttributeError, match="has no attribute `zzz`"):
        net.get_parameter("inner.zzz.weight")
    with pytest.raises(AttributeError, match="is not an nn"):
        net.get_parameter("count")
    net.set_submodule("inner.a", nn.ReLU())
    assert isinstance(net.inner.a, nn.ReLU)


def test_load_state_dict_reports_everything():
    layer = nn.Linear(2, 2)
    state = layer.state_dict()
    state["extra"] = tx.ones(1)
    del state["bias"]
    keys = layer.load_state_dict(state, strict=False)
    assert keys.missing_keys == ["bias"]
    assert keys.unexpected_keys == ["extra"]
    with pytest.raises(RuntimeError) as caught:
        layer.load_state_dict({**state, "weight": tx.zeros(1, 2)})
    lines = str(caught.value).split("\n\t")
    assert lines[0] == "Error(s) in loading state_dict for Linear:"
    assert lines[1] == 'Missing key(s) in state_dict: "bias". '
    assert lines[2] == 'Unexpected key(s) in state_dict: "extra". '
    assert lines[3].startswith("size mismatch for weight: copying a param with shape")
    with pytest.raises(RuntimeError, match="size mismatch"):
        layer.load_state_dict({"weight": tx.zeros(1, 2), "bias": tx.zeros(2)}, strict=False)
    assert repr(layer.load_state_dict(nn.Linear(2, 2).state_dict())) == "<All keys matched successfully>"


def test_load_copies_and_assign_replaces():
    layer, other = nn.Linear(2, 2), nn.Linear(2, 2)
    before = layer.weight
    layer.load_state_dict(other.state_dict())
    assert layer.weight is before
    assert layer.weight.tolist() == other.weight.tolist()
    layer.load_state_dict(other.state_dict(), assign=True)
    assert layer.weight is not before
    assert isinstance(layer.weight, nn.Parameter)
    assert layer.weight.data_ptr() == other.weight.data_ptr()


def test_state_dict_shares_memory_and_is_detached():
    layer = nn.Linear(1, 1)
    state = layer.state_dict()
    assert not state["weight"].requires_grad
    with tx.no_grad():
        layer.weight.fill_(7)
    assert state["weight"].item() == 7
    assert layer.state_dict(keep_vars=True)["weight"] is layer.weight
    assert state._metadata[""] == {"version": 1}


def test_state_hooks():
    layer = nn.Linear(1, 1)
    seen = []
    layer.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append(("pre", prefix, keep)))
    layer.register_state_dict_post_hook(lambda m, state, prefix, meta: seen.append(("post", list(state))))
    layer.register_load_state_dict_pre_hook(lambda m, state, *rest: seen.append(("load", m is layer)))
    layer.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    layer.load_state_dict({"weight": layer.state_dict()["weight"]})
    assert seen == [("pre", "", False), ("post", ["weight", "bias"]), ("load", True)]


def test_extra_state():
    class Counter(nn.Module):
        n = 0

        def get_extra_state(self):
            return {"n": self.n}

        def set_extra_state(self, state):
            self.n = state["n"]

    a, b = Counter(), Counter()
    a.n = 3
    b.load_state_dict(a.state_dict())
    assert b.n == 3
    with pytest.raises(RuntimeError, match="_extra_state"):
        b.load_state_dict({})


def test_hooks_run_in_order_and_replace():
    layer = nn.Identity()
    order = []
    layer.register_forward_pre_hook(lambda m, args: order.append("pre1") or (args[0] + 1,))
    layer.register_forward_pre_hook(lambda m, args: order.append("pre0"), prepend=True)
    layer.register_forward_hook(lambda m, args, kwargs, out: order.append("post") or out * 2, with_kwargs=True)
    handle = layer.register_forward_hook(lambda m, args, out: order.append("gone"))
    handle.remove()
    assert layer(tx.ones(1)).tolist() == [4.0]
    assert order == ["pre0", "pre1", "post"]


def test_always_called_hook():
    class Broken(nn.Module):
        def forward(self, x):
            raise ZeroDivisionError

    seen = []
    broken = Broken()
    broken.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    with pytest.raises(ZeroDivisionError):
        broken(1)
    assert seen == [None]


def test_full_backward_hooks(device):
    layer = nn.Linear(2, 1, bias=False).to(device)
    with tx.no_grad():
        layer.weight.fill_(2.0)
    seen = []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi[0].tolist(), go[0].tolist())))
    layer.register_full_backward_pre_hook(lambda m, go: (go[0] * 3,))
    x = tx.ones(1, 2, requires_grad=True, device=device)
    layer(x).sum().backward()
    assert seen == [([[6.0, 6.0]], [[3.0]])]
    assert x.grad.tolist() == [[6.0, 6.0]]
    assert layer.weight.grad.tolist() == [[3.0, 3.0]]


def test_train_eval_and_requires_grad():
    net = Net()
    net.eval()
    assert not any(m.training for m in net.modules())
    net.train()
    assert all(m.training for m in net.modules())
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())


def test_zero_grad():
    layer = nn.Linear(1, 1)
    layer(tx.ones(1)).sum().backward()
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad.tolist() == [[0.0]]
    layer.zero_grad()
    assert layer.weight.grad is None


def test_conversion_keeps_parameters(device, need):
    need("f16")
    net = Net()
    weight = net.first.weight
    net.to(device).half()
    assert net.first.weight is weight
    assert weight.dtype is tx.float16
    assert weight.device == device
    assert net.count.dtype is tx.int64
    assert net.count.device == device
    assert isinstance(weight, nn.Parameter)
    assert weight.requires_grad
    net.to("cpu", tx.float32)
    assert weight.device.type == "cpu"
    assert weight.dtype is tx.float32
    with pytest.raises(TypeError, match="floating point or complex"):
        net.to(tx.int32)


def test_conversion_takes_gradients_along():
    layer = nn.Linear(1, 1)
    layer(tx.ones(1)).sum().backward()
    layer.double()
    assert layer.weight.grad.dtype is tx.float64
    layer(tx.ones(1, dtype=tx.float64)).sum().backward()
    assert layer.weight.grad.tolist() == [[2.0]]


def test_apply_reaches_children_first():
    names = []
    nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh())).apply(lambda m: names.append(type(m).__name__))
    assert names == ["ReLU", "Tanh", "Sequential", "Sequential"]


def test_forward_is_required():
    with pytest.raises(NotImplementedError, match='missing the required "forward" function'):
        nn.Module()(1)


def test_repr():
    assert repr(nn.Linear(2, 3)) == "Linear(in_features=2, out_features=3, bias=True)"
    assert repr(nn.ReLU()) == "ReLU()"
    assert repr(nn.Dropout()) == "Dropout(p=0.5, inplace=False)"
    assert repr(nn.LayerNorm(3)) == "LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)"
    assert repr(nn.Embedding(3, 4, padding_idx=0)) == "Embedding(3, 4, padding_idx=0)"
    conv = nn.Conv2d(2, 4, 3, 2, (1, 2), groups=2, bias=False, padding_mode="reflect")
    assert repr(conv) == (
        "Conv2d(2, 4, kernel_size=(3, 3), stride=(2, 2), padding=(1, 2), groups=2, bias=False, padding_mode=reflect)"
    )
    layers = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.Sequential(nn.ReLU())])
    assert repr(nn.Sequential(nn.Softmax(dim=1), layers)) == (
        "Sequential(\n"
        "  (0): Softmax(dim=1)\n"
        "  (1): ModuleList(\n"
        "    (0-1): 2 x Linear(in_features=1, out_features=1, bias=True)\n"
        "    (2): Sequential(\n"
        "      (0): ReLU()\n"
        "    )\n"
        "  )\n"
        ")"
    )


def test_parameter():
    data = tx.zeros(2)
    p = nn.Parameter(data)
    data[0] = 1
    assert p.tolist() == [1.0, 0.0]
    assert isinstance(p, tx.Tensor)
    assert isinstance(p, nn.Parameter)
    assert not isinstance(data, nn.Parameter)
    assert p.requires_grad and p.is_leaf
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    assert type(p + 1) is tx.Tensor
    assert repr(p) == "Parameter containing:\ntensor([1., 0.], requires_grad=True)"
    assert isinstance(copy.deepcopy(p), nn.Parameter)
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(tx.tensor([1]))


def test_buffer_class():
    class Holder(nn.Module):
        def __init__(self):
            super().__init__()
            self.kept = nn.Buffer(tx.ones(1))
            self.lost = nn.Buffer(tx.ones(1), persistent=False)

    holder = Holder()
    assert [n for n, _ in holder.named_buffers()] == ["kept", "lost"]
    assert list(holder.state_dict()) == ["kept"]
