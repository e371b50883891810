"""Recording calls for backward: saved values, and the two node classes that rows need.

A saved value holds storage and metadata, never its Tensor, so a graph keeps no reference cycle. Elementwise rows save what their traced
rule uses; other rows save what their rule asks for by parameter name.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tensorx.autograd.modes import state
from tensorx.autograd.node import FREED, AccumulateGrad, Node, gradient_edge
from tensorx.dtypes import FLOAT, dtype
from tensorx.errors import GradError
from tensorx.tensor import Tensor, make


class Meta(NamedTuple):
    """Shape, dtype and device of an input whose values a rule does not need."""

    shape: tuple[int, ...]
    dtype: dtype
    device: Any


def meta_of(t: Any) -> Meta | None:
    """What a rule may know of a tensor without its values."""
    return Meta(t._shape, t.dtype, t.device) if getattr(t, "_is_tensor", False) else None


class Saved:
    """A value kept for backward. `unpack` gives a Tensor again, or GradError if the value was overwritten since."""

    __slots__ = ("cls", "dtype", "edge", "name", "nr", "offset", "packed", "shape", "storage", "strides", "unpacker", "version")

    def __init__(self, t: Tensor, edge: Any, name: str) -> None:
        """``edge`` is where gradients of ``t`` go (None: nowhere); for a node's own output pass None and mark with ``output``."""
        if t._inference:
            raise RuntimeError("Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor and use it in "
                               "autograd.")
        self.storage, self.version, self.shape, self.strides, self.offset = t._storage, t._storage.version, t._shape, t._strides, t._offset
        self.dtype, self.edge, self.name, self.nr, self.unpacker = t.dtype, edge, name, -1, None
        if state.saved_hooks:
            pack, self.unpacker = state.saved_hooks[-1]
            from tensorx.autograd.modes import no_grad
            with no_grad():
                self.packed = pack(make(t._storage, t._shape, t._strides, t._offset, t.dtype))
            self.storage = None  # type: ignore[assignment]  # the hook keeps the value

    def unpack(self, node: Node) -> Tensor:
        """The saved Tensor, connected to the graph."""
        if self.unpacker is not None:
            t: Tensor = self.unpacker(self.packed).detach()
        else:
            storage = self.storage
            assert storage is not None
            if storage.version != self.version:
                raise GradError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[{self.dtype.name} of shape {list(self.shape)}]{', which is ' + self.name if self.name else ''}, is at version "
                    f"{storage.version}; expected version {self.version} instead. Hint: the backtrace further above shows the operation that "
                    "failed to compute its gradient; use an out-of-place operation, or clone() the value before it is changed.")
            t = make(storage, self.shape, self.strides, self.offset, self.dtype)
        if self.nr >= 0:
            t._rg, t._node, t._nr = True, node, self.nr
        elif self.edge is not None:
            t._rg = True
            if isinstance(self.edge[0], AccumulateGrad):
                t._acc = weakref.ref(self.edge[0])
            else:
                t._node, t._nr = self.edge
        return t


def save_input(t: Tensor, edge: Any) -> Saved:
    """Save an input of a call."""
    if edge is not None and edge[0].stands_in:
        edge = edge[0].edge
    return Saved(t, edge, "")


def save_output(t: Tensor, nr: int, op: str) -> Saved:
    """Save output ``nr`` of the node being made."""
    saved = Saved(t, None, f"output {nr} of {op}")
    saved.nr = nr
    return saved


def preserve(node: Any, storage: Any) -> None:
    """Before an in-place write to ``storage``: give the inputs saved from it a copy, as the rule needs the old values."""
    from tensorx.devices import registry
    from tensorx.tensor import allocate
    saved = node.saved
    items = (saved.values() if isinstance(saved, dict) else saved) or ()
    copy = None
    for s in (s for item in items for s in (item if isinstance(item, list) else (item,))):
        if s is None or s.nr >= 0 or s.storage is not storage:
            continue
        if copy is None:
            copy = allocate(storage.length, storage.device)
            if storage.length and storage.device.type != "meta":
                registry.open(storage.device).copy(copy.handle(), 0, storage.handle(), 0, storage.length)
        s.storage, s.version = copy, copy.version


def edges_of(tensors: Sequence[Tensor | None]) -> tuple[Any, ...]:
    """Where each input's gradient goes."""
    return tuple(None if t is None else gradient_edge(t) for t in tensors)


def requires_grad(args: Sequence[Any]) -> bool:
    """Whether any tensor of bound arguments requires grad."""
    for a in args:  # on every call's way: a generator would cost 0.3 us
        if getattr(a, "_is_tensor", False):
            if a._rg if a._view is None else a.requires_grad:
                return True
        elif a.__class__ is tuple and a and requires_grad(a):
            return True
    return False


def attach(node: Node, outputs: Sequence[Tensor]) -> None:
    """Make ``outputs`` results of ``node``; integer outputs take no part in differentiation."""
    for i, out in enumerate(outputs):
        if out is not None and out.dtype.kind >= FLOAT:
            out._rg, out._node, out._nr = True, node, i


def flat_tensors(args: Sequence[Any]) -> list[Any]:
    """Tensors of bound arguments, lists flattened."""
    out: list[Any] = []
    for a in args:
        if getattr(a, "_is_tensor", False):
            out.append(a)
        elif a.__class__ is tuple:
            out.extend(t for t in a if getattr(t, "_is_tensor", False))
    return out


class Rule:
    """A gradient rule over Tensors, read once: which values it wants, by parameter name.

    ``g`` is the cotangent (a tuple of them for several outputs, zeros where one is undefined; ``gs`` has None there), an output's or input's name asks for its value, ``<input>_meta`` for its
    shape and dtype only, ``needs`` for a tuple of bools (one per tensor input), any other parameter's name for its value.
    """

    def __init__(self, op: Any) -> None:
        self.function: Callable[..., Any] = op.vjp
        self.wants = tuple(inspect.signature(op.vjp).parameters)
        params = op.schema.params
        self.position = {p.name: i for i, p in enumerate(params)}
        self.inputs = tuple(i for i, p in enumerate(params) if p.type in ("Tensor", "Tensor[]"))
        names = op.schema.returns
        self.output = {(n or "out"): i for i, n in enumerate(names)} if len(names) > 1 else {"out": 0, names[0] or "out": 0}
        self.several = len(names) > 1 or op.schema.returns_list
        known = {"g", "gs", "needs", *self.position, *self.output, *(f"{params[i].name}_meta" for i in self.inputs)}
        unknown = set(self.wants) - known
        if unknown:
            raise ValueError(f"register: the rule of '{op.name}' asks for {sorted(unknown)}; it may ask for {sorted(known)}")
        asked = [(w, self.position[w]) for w in self.wants if w in self.position]
        self.values = tuple((name, i, self.inputs.index(i)) for name, i in asked if i in self.inputs)
        self.statics = tuple((name, i) for name, i in asked if i not in self.inputs)
        self.results = tuple((w, self.output[w]) for w in self.wants if w in self.output and w not in self.position)
        self.metas = tuple((w, self.position[w[:-5]]) for w in self.wants if w.endswith("_meta") and w not in self.position and w not in self.output)
        self.lists = any(params[i].type == "Tensor[]" for i in self.inputs)
        self.name = backward_name(op)
        self.gs, self.needs = "gs" in self.wants, "needs" in self.wants
        self.g = "g" in self.wants


def _flattened(inputs: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Inputs with lists laid out, and where each begins."""
    flat: list[Any] = []
    starts = []
    for x in inputs:
        starts.append(len(flat))
        flat += x if x.__class__ is tuple else (x,)
    return flat, starts


class Ruled:
    """What most kinds share: the rule of a row is read once and makes the node of each call. Rows without one are not recorded."""

    inplace = False

    def prepare(self, op: Any) -> None:
        """Read the rule."""
        op.extra = Rule(op) if op.differentiable else None

    def node(self, op: Any, args: tuple[Any, ...], outputs: Sequence[Tensor], first: Any) -> Node:
        """Record a call."""
        return RuleNode(op, op.extra, args, outputs, first)


class RuleNode(Node):
    """The node of a call whose rule runs on Tensors."""

    __slots__ = ("args", "metas", "op", "out_metas", "rule", "saved")

    def __init__(self, op: Any, rule: Rule, args: tuple[Any, ...], outputs: Sequence[Tensor], first: Any = None) -> None:
        """``first`` replaces the first input's edge (a view that is written in place)."""
        inputs = [args[i] for i in rule.inputs]
        flat, starts = _flattened(inputs) if rule.lists else (inputs, range(len(inputs)))
        edges = tuple([gradient_edge(t) if getattr(t, "_is_tensor", False) else None for t in flat])
        if first is not None:
            edges = (first, *edges[1:])
        Node.__init__(self, edges, len(outputs))
        self.op, self.rule = op, rule
        self.metas: list[Any] = [meta_of(t) for t in flat]
        self.out_metas: list[Any] = [meta_of(t) for t in outputs] if rule.several else []
        saved: dict[str, Any] = {}
        statics: dict[str, Any] = {name: args[i] for name, i in rule.statics}
        for name, place, nr in rule.values:
            value = args[place]
            if getattr(value, "_is_tensor", False):
                saved[name] = save_input(value, edges[starts[nr]])
            elif value.__class__ is tuple and any(isinstance(v, Tensor) for v in value):
                saved[name] = [None if v is None else save_input(v, edges[starts[nr] + k]) for k, v in enumerate(value)]
            else:
                statics[name] = value
        for name, nr in rule.results:
            saved[name] = save_output(outputs[nr], nr, rule.name)
        for name, place in rule.metas:
            value = args[place]
            statics[name] = tuple([meta_of(v) for v in value]) if value.__class__ is tuple else meta_of(value)
        self.saved: dict[str, Any] | None = saved
        self.args = statics

    def name(self) -> str:
        return self.rule.name

    def outputs_written(self) -> None:
        """The outputs were written in place after they were saved as such: their new version is the right one."""
        for s in (self.saved or {}).values():
            if isinstance(s, Saved) and s.nr >= 0 and s.storage is not None:
                s.version = s.storage.version

    def release(self) -> None:
        if self.saved:
            self.saved = None

    def apply(self, grads: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
        if self.saved is None:
            raise GradError(FREED)
        values: dict[str, Any] = dict(self.args)
        for name, s in self.saved.items():
            values[name] = [v and v.unpack(self) for v in s] if s.__class__ is list else s.unpack(self)
        rule = self.rule
        if rule.gs:
            values["gs"] = grads
        if rule.g:
            values["g"] = self.materialized(grads) if rule.several else grads[0]
        if rule.needs:
            values["needs"] = tuple([e is not None for e in self.edges])
        results = rule.function(**values)
        if results.__class__ is not tuple:
            results = (results,)
        if rule.lists:
            results = [r for item in results for r in (item if isinstance(item, list) else (item,))]
        return tuple([None if e is None or r is None else r if r._shape == m.shape and r.dtype is m.dtype else fit(r, m)
                      for r, e, m in zip(results, self.edges, self.metas, strict=True)])

    def materialized(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Undefined cotangents of floats as zeros."""
        from tensorx.ops import factories
        return tuple(factories.zeros(m.shape, dtype=m.dtype, device=m.device) if g is None and m.dtype.kind >= FLOAT else g
                     for g, m in zip(grads, self.out_metas, strict=True))


def fit(g: Tensor, meta: Any) -> Tensor:
    """A cotangent in its input's shape and dtype: broadcasting is undone here, never in a rule."""
    from tensorx.ops import reduction
    if g._shape != meta.shape:
        g = reduction.sum_to(g, meta.shape)
    if g.dtype is not meta.dtype:
        from tensorx.ops import convert
        g = convert.cast(g, meta.dtype)
    return g


def backward_name(op: Any) -> str:
    """``log_softmax`` -> ``LogSoftmaxBackward0``, as users know from grad_fn."""
    return "".join(w.capitalize() for w in op.schema.name.strip("_").split("_")) + "Backward0"
