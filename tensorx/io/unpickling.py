"""Reading pickles: one that makes only what is known to be harmless, and one that makes anything."""

from __future__ import annotations

import _compat_pickle
import contextlib
import importlib
import pickle
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from tensorx.tensor import Tensor

from .names import ABSENT, KNOWN, StorageType

#: Added by users: full name -> class or function.
_safe: dict[str, Any] = {}

REFUSED = (
    "Weights only load failed. {} Hint: if you trust where the file comes from, tensorx.load(..., weights_only=False) "
    "makes any object (and runs any code that the file asks for)."
)


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let files name these functions and classes under ``weights_only=True``; a pair (object, full name) gives its
    name in the file.

    Example:
        >>> import fractions, tensorx as tx
        >>> tx.serialization.add_safe_globals([fractions.Fraction])
        >>> tx.serialization.get_safe_globals()
        [<class 'fractions.Fraction'>]
        >>> tx.serialization.clear_safe_globals()
    """
    _safe.update(_named(g) for g in safe_globals)


def get_safe_globals() -> list[Any]:
    """What was added by :func:`add_safe_globals`.

    Example:
        >>> import tensorx as tx
        >>> tx.serialization.get_safe_globals()
        []
    """
    return [g if _named(g)[0] == name else (g, name) for name, g in _safe.items()]


def clear_safe_globals() -> None:
    """Forget what was added by :func:`add_safe_globals`.

    Example:
        >>> import tensorx as tx
        >>> tx.serialization.clear_safe_globals()
    """
    _safe.clear()


@contextlib.contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """:func:`add_safe_globals` for the time of a with block.

    Example:
        >>> import fractions, tensorx as tx
        >>> with tx.serialization.safe_globals([fractions.Fraction]):
        ...     len(tx.serialization.get_safe_globals())
        1
    """
    before = dict(_safe)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _safe.clear()
        _safe.update(before)


def _named(g: Any) -> tuple[str, Any]:
    if isinstance(g, tuple):
        if len(g) != 2 or not isinstance(g[1], str):
            raise ValueError(f"add_safe_globals: a tuple must be (object, full name); got {g!r}")
        return g[1], g[0]
    return f"{g.__module__}.{g.__qualname__}", g


def _full(module: str, name: str, old: bool) -> str:
    """The name in Python 3's words."""
    if old and (module, name) in _compat_pickle.NAME_MAPPING:
        module, name = _compat_pickle.NAME_MAPPING[module, name]
    elif old:
        module = _compat_pickle.IMPORT_MAPPING.get(module, module)
    return f"{module}.{name}"

#: Of older protocols, of registries of extensions and of buffers from outside: tensors need none.
REFUSED_CODES = (
    *(pickle.INST, pickle.OBJ, pickle.EXT1, pickle.EXT2, pickle.EXT4),
    *(pickle.NEXT_BUFFER, pickle.READONLY_BUFFER),
)


class WeightsUnpickler(pickle._Unpickler):  # the one in Python can be held back
    """Makes tensors, containers and numbers, and what users added; nothing else is called.

    Like PyTorch's it knows which functions a file may name, and also which may be called and whose insides set.
    """

    dispatch: ClassVar[dict[int, Any]] = {
        code: load for code, load in pickle._Unpickler.dispatch.items() if bytes([code]) not in REFUSED_CODES
    }
    stack: list[Any]
    proto: int

    def __init__(self, file: Any, persistent_load: Callable[[Any], Any], **options: Any) -> None:
        super().__init__(file, **options)
        self.persistent_load = persistent_load  # type: ignore[method-assign,assignment]

    def find_class(self, module: str, name: str) -> Any:
        """What a known name stands for. UnpicklingError for any other."""
        full = _full(module, name, self.proto < 3)
        for known in (_safe, KNOWN):
            if full in known:
                return known[full]
        if full in ABSENT:
            raise NotImplementedError(f"load: the file holds {ABSENT[full]}, which are not here.")
        raise pickle.UnpicklingError(
            REFUSED.format(
                f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use "
                f"`tensorx.serialization.add_safe_globals([{full}])` to allowlist this global if you trust it."
            )
        )

    def _users(self, kind: Any) -> bool:
        return any(kind is g for g in _safe.values())

    def load_reduce(self) -> None:
        """Call a function, if it is one of the known ones."""
        args = self.stack.pop()
        function = self.stack[-1]
        known = any(function is f for f in KNOWN.values()) and function is not Tensor
        if not (known or self._users(function)) or not callable(function):
            raise pickle.UnpicklingError(REFUSED.format(f"Trying to call {function!r}, which is not known."))
        self.stack[-1] = function(*args)

    def load_newobj(self) -> None:
        """Make an instance of a class, if it is one of the known ones."""
        args = self.stack.pop()
        self.stack[-1] = self._new(self.stack[-1], args, {})

    def load_newobj_ex(self) -> None:
        """As `load_newobj`, with keywords."""
        options, args = self.stack.pop(), self.stack.pop()
        self.stack[-1] = self._new(self.stack[-1], args, options)

    def _new(self, cls: Any, args: Any, options: Any) -> Any:
        if not isinstance(cls, type) or not (cls in (OrderedDict, Counter, set) or self._users(cls)):
            raise pickle.UnpicklingError(REFUSED.format(f"Trying to make a {cls!r}, which is not known."))
        return cls.__new__(cls, *args, **options)

    def load_build(self) -> None:
        """Set the insides of an object, if it is of a user's class, or the attributes of a dict."""
        inst = self.stack[-2]
        if isinstance(inst, (OrderedDict, Counter)) and not self._users(type(inst)):
            inst.__dict__.update(self.stack.pop())
        elif self._users(type(inst)):
            super().load_build()  # type: ignore[misc]  # typeshed knows no opcode's method
        else:
            raise pickle.UnpicklingError(REFUSED.format(f"Trying to set the state of a {type(inst).__name__}."))

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.NEWOBJ_EX[0]] = load_newobj_ex
    dispatch[pickle.BUILD[0]] = load_build


class AnyUnpickler(pickle.Unpickler):
    """Makes anything. Names of ``torch`` stand for what is here under the same name."""

    def __init__(self, file: Any, persistent_load: Callable[[Any], Any], **options: Any) -> None:
        super().__init__(file, **options)
        self.persistent_load = persistent_load  # type: ignore[method-assign]

    def find_class(self, module: str, name: str) -> Any:
        """The object of a name; torch's are looked up here."""
        full = f"{module}.{name}"
        if module.split(".", maxsplit=1)[0] != "torch":
            return super().find_class(module, name)
        if full in KNOWN:
            return KNOWN[full]
        if full in ABSENT:
            raise NotImplementedError(f"load: the file holds {ABSENT[full]}, which are not here.")
        if full == "torch.storage._load_from_bytes":
            from .serialization import load_storage_from_bytes
            return load_storage_from_bytes
        try:
            found: Any = importlib.import_module("tensorx" + module.removeprefix("torch"))
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            raise AttributeError(
                f"load: the file needs {full}, and there is no {'tensorx' + full.removeprefix('torch')}."
            ) from None
        return found


class _Nothing:
    """Stands for everything that a file makes while its names are looked at."""

    def __init__(self, *args: Any, **options: Any) -> None: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def append(self, item: Any) -> None: ...
    def extend(self, items: Any) -> None: ...
    def add(self, item: Any) -> None: ...
    def __hash__(self) -> int:
        return id(self)


class Scout(WeightsUnpickler):
    """Makes nothing, and notes the names that would be refused."""

    dispatch: ClassVar[dict[int, Any]] = dict(WeightsUnpickler.dispatch)

    def __init__(self, file: Any, **options: Any) -> None:
        super().__init__(file, lambda name: _Nothing(), **options)
        self.refused: list[str] = []

    def find_class(self, module: str, name: str) -> Any:
        """Note the name."""
        full = _full(module, name, self.proto < 3)
        if full not in _safe and full not in KNOWN and full not in self.refused:
            self.refused.append(full)
        found = KNOWN.get(full)
        return found if isinstance(found, StorageType) else _Nothing  # references tell how large a storage is

    def load_reduce(self) -> None:
        """Make nothing."""
        self.stack.pop()
        self.stack[-1] = _Nothing()

    def load_newobj_ex(self) -> None:
        """Make nothing."""
        del self.stack[-2:]
        self.stack[-1] = _Nothing()

    def load_build(self) -> None:
        """Set nothing."""
        self.stack.pop()

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.NEWOBJ[0]] = load_reduce
    dispatch[pickle.NEWOBJ_EX[0]] = load_newobj_ex
    dispatch[pickle.BUILD[0]] = load_build
