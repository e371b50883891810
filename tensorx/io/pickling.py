"""Pickles with tensors in them, as PyTorch writes them: storages stand outside, under keys."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from typing import Any, ClassVar

from tensorx.devices.registry import device
from tensorx.dtypes import dtype
from tensorx.nn.parameter import Buffer, Parameter
from tensorx.size import Size
from tensorx.storage import Storage
from tensorx.tensor import Tensor

from .names import MARKS, STORAGE_OF, Name, StorageType, Typed, attributes, named

#: Devices that PyTorch knows. Other storages are called cpu's, and the file says elsewhere where they were.
KNOWN_PLACES = ("cpu", "cuda", "meta")


class Pickler(pickle._Pickler):  # the one that is written in Python can write foreign names
    """Writes a pickle; ``storages`` are those met, by key."""

    dispatch: ClassVar[dict[type, Any]] = dict(pickle._Pickler.dispatch)
    write: Any
    memoize: Any
    save: Any

    def __init__(self, file: Any, protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: dict[str, Storage] = {}
        self._keys: dict[Storage, tuple[str, dtype | None]] = {}

    def persistent_id(self, obj: Any) -> Any:
        """What a storage is called."""
        if obj.__class__ is Storage:
            obj = Typed(obj, None)
        if obj.__class__ is not Typed:
            return None
        storage, d = obj.storage, obj.dtype
        key, first = self._keys.setdefault(storage, (str(len(self._keys)), d))
        if first is not d:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        self.storages[key] = storage
        kind = "torch.storage.UntypedStorage" if d is None else f"torch.{STORAGE_OF[d]}"
        numel = storage.length // (1 if d is None else d.itemsize)
        return "storage", named(kind), key, place_name(storage), numel

    def reducer_override(self, obj: Any) -> Any:
        """How tensors and what goes with them are made again."""
        if isinstance(obj, Tensor):
            return _reduced(obj)
        if obj.__class__ is Size:
            return named("torch.Size"), (tuple(obj),)
        if obj.__class__ is device:
            return named("torch.device"), (obj.type,) if obj.index is None else (obj.type, obj.index)
        return NotImplemented

    def save_name(self, obj: Name) -> None:
        """A global by its names, which need not be importable here."""
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    def save_dtype(self, obj: dtype) -> None:
        """A dtype is a global."""
        self.save(named(f"torch.{obj.name}"))

    dispatch[Name] = save_name
    dispatch[dtype] = save_dtype


def place_name(storage: Storage) -> str:
    """The device of a storage, in PyTorch's words."""
    return str(storage.device) if storage.device.type in KNOWN_PLACES else "cpu"


def _reduced(t: Tensor) -> Any:
    state = attributes(t)
    if isinstance(t, Parameter) and not t.__dict__.get("_is_param"):
        plain = t.detach()
        if state:
            return named("torch._utils._rebuild_parameter_with_state"), (plain, t._rg, OrderedDict(), state)
        return named("torch._utils._rebuild_parameter"), (plain, t._rg, OrderedDict())
    function, args = _plain(t)
    if isinstance(t, Buffer):
        state |= {"persistent": getattr(t, "persistent", True), "_is_buffer": True}
    elif type(t) is not Tensor and not any(mark in state for mark in MARKS):
        raise RuntimeError(
            f"save: a tensor must be a Tensor, Parameter or Buffer; got a {type(t).__name__}. Hint: save x.detach()"
        )
    if state:
        return named("torch._tensor._rebuild_from_type_v2"), (function, named("torch.Tensor"), args, state)
    return function, args


def _plain(t: Tensor) -> tuple[Name, tuple[Any, ...]]:
    rg = bool(t.requires_grad)
    if t.device.type == "meta":
        return named("torch._utils._rebuild_meta_tensor_no_storage"), (t.dtype, tuple(t._shape), t._get_strides(), rg)
    d = t.dtype
    place: tuple[Any, ...] = (t._offset, tuple(t._shape), tuple(t._get_strides()), rg, OrderedDict())
    if d in STORAGE_OF:
        return named("torch._utils._rebuild_tensor_v2"), (Typed(t._storage, d), *place)
    return named("torch._utils._rebuild_tensor_v3"), (Typed(t._storage, None), *place, d)


__all__ = ["Pickler", "StorageType", "place_name"]
