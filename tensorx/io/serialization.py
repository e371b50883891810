"""save and load, in PyTorch's file format."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tensorx.devices import registry
from tensorx.devices.pool import adopt
from tensorx.dtypes import dtype
from tensorx.errors import DeviceError
from tensorx.storage import Storage, allocate
from tensorx.tensor import check_supported

from . import archive, unpickling
from .names import StorageType, Typed
from .pickling import Pickler

Place = Callable[[Storage, str], Storage]


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write ``obj``, usually a state_dict, to a file that :func:`load` and ``torch.load`` read.

    Tensors that share memory share it in the file, too. A file at a path is there whole or not at all: it is written
    beside and renamed.

    Args:
        obj: tensors, modules' state_dicts, optimisers' state_dicts, containers of these, or any object that pickles.
        f: a path, or a file object with ``write``.
        pickle_module: the standard one.
        pickle_protocol: of the pickle inside.

    Example:
        >>> import io, tensorx as tx
        >>> file = io.BytesIO()
        >>> tx.save({"w": tx.ones(2)}, file)
        >>> _ = file.seek(0)
        >>> tx.load(file)
        {'w': tensor([1., 1.])}
    """
    if pickle_module is not pickle:
        raise ValueError(f"save: argument 'pickle_module' must be pickle; got {pickle_module!r}.")
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError(f"save: argument 'f' must be a path or have write(); got {type(f).__name__}.")
    path = os.fspath(f) if isinstance(f, (str, os.PathLike)) else None
    name = "archive" if path is None else os.path.splitext(os.path.basename(os.fsdecode(path)))[0] or "archive"
    with replacing(path) if path is not None else contextlib.nullcontext(f) as file:
        if not _use_new_zipfile_serialization:
            archive.write_stream(file, obj, pickle_protocol)
            return
        buffer = io.BytesIO()
        pickler = Pickler(buffer, pickle_protocol)
        pickler.dump(obj)
        archive.write_zip(file, name, buffer.getvalue(), pickler.storages)


@contextlib.contextmanager
def replacing(path: Any) -> Iterator[Any]:
    """A file that takes the place of ``path`` when all is written; pipes and devices are written to as they are."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise RuntimeError(f"save: Parent directory {folder} does not exist.")
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    temporary = f"{os.fsdecode(target)}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    try:
        with open(temporary, "xb") as file:
            yield file
        if os.path.exists(target):
            os.chmod(temporary, os.stat(target).st_mode & 0o7777)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = True,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what :func:`save` or ``torch.save`` wrote.

    Args:
        f: a path, or a file object with ``read`` and ``seek``.
        map_location: where storages go: a device, a dict from the device they were on, or a function of the storage
            on the cpu and the device's name (None leaves it to the name). By default to where they were.
        pickle_module: the standard one, where ``weights_only`` is False.
        weights_only: make nothing but tensors, containers, numbers and what :func:`add_safe_globals` added. False
            makes any object and runs any code that the file asks for: only for files that you trust.
        mmap: map the file at path ``f`` into memory rather than read it; writing to tensors does not change it.
        pickle_load_args: ``encoding`` and ``errors`` of strings that Python 2 wrote.

    Raises UnpicklingError for what ``weights_only`` refuses, RuntimeError for a damaged file or a device that is not
    here.

    Example:
        >>> import io, tensorx as tx
        >>> file = io.BytesIO()
        >>> tx.save([1, tx.arange(3)], file)
        >>> _ = file.seek(0)
        >>> tx.load(file, map_location="cpu")
        [1, tensor([0, 1, 2])]
    """
    weights_only = weights_only is not False
    if pickle_module not in (None, pickle):
        raise RuntimeError("load: argument 'pickle_module' must be pickle, or None.")
    if pickle_module is not None and weights_only:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    path = isinstance(f, (str, os.PathLike))
    if mmap and not path:
        raise ValueError(f"load: f must be a file path in order to use the mmap argument; got {type(f).__name__}.")
    if not path and not (hasattr(f, "read") and hasattr(f, "seek")):
        raise AttributeError(f"load: argument 'f' must be a path, or have read() and seek(); got {type(f).__name__}.")
    with open(f, "rb") if path else contextlib.nullcontext(f) as file:
        label = os.fsdecode(f) if path else "the file"
        found = open_archive(file, label)
        if mmap and not isinstance(found, archive.ZipArchive):
            raise RuntimeError(f"load: mmap needs a file in the zip format; {label} is in the older one.")
        reader = Reader(found, placing(map_location), bool(mmap))
        return reader.load(weights_only, pickle_load_args)


def open_archive(file: Any, label: str) -> Any:
    """The container in ``file``, of either form. EOFError if it is empty."""
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    if not head:
        raise EOFError(f"load: {label} is empty.")
    if head == archive.LOCAL_HEADER:
        return archive.ZipArchive(file, label)
    return archive.StreamArchive(file, label, _plain)


def _plain(file: Any, note: Any = None) -> Any:
    """What goes through the older form: with ``note`` it makes nothing and tells the storages."""
    if note is None:
        return unpickling.WeightsUnpickler(file, lambda saved: None)
    scout = unpickling.Scout(file)
    scout.persistent_load = note  # type: ignore[method-assign]
    return scout


class Reader:
    """Makes the objects of an archive."""

    def __init__(self, found: Any, place: Place, mmap: bool) -> None:
        self.archive, self.place, self.mmap = found, place, mmap
        self.storages: dict[str, Storage] = {}

    def load(self, weights_only: bool, options: dict[str, Any]) -> Any:
        """The whole object."""
        if isinstance(self.archive, archive.ZipArchive):
            file: Any = io.BytesIO(self.archive.pickle)
        else:
            file = self.archive.file
            file.seek(self.archive.start)
        kind: Any = unpickling.WeightsUnpickler if weights_only else unpickling.AnyUnpickler
        unpickler = kind(file, self.persistent_load, **{"encoding": "utf-8", **options})
        if not weights_only:
            return unpickler.load()
        try:
            return unpickler.load()
        except (KeyError, IndexError, AttributeError, UnicodeDecodeError, EOFError, pickle.UnpicklingError) as error:
            if str(error).startswith("Weights only"):
                raise
            # What the pickle machine itself says of bytes that are no pickle.
            raise archive.DamagedFile(f"load: {self.archive.label} is damaged ({error!r}).") from error

    def persistent_load(self, saved: Any) -> Typed:
        """The storage that a pickle refers to."""
        if not isinstance(saved, tuple) or len(saved) not in (5, 6) or saved[0] != "storage":
            archive.damaged(self.archive.label, f"unknown reference {saved!r}")
        kind, key, location, count = saved[1:5]
        if not isinstance(kind, StorageType) or type(count) is not int or count < 0:
            archive.damaged(self.archive.label, f"unknown reference {saved!r}")
        storage = self.storages.get(key)
        if storage is None:
            nbytes = count * (kind.dtype.itemsize if kind.dtype else 1)
            storage = self.storages[key] = self.read(str(key), nbytes, kind.dtype, str(location))
        return Typed(storage, kind.dtype)

    def read(self, key: str, nbytes: int, d: dtype | None, location: str) -> Storage:
        """A storage, from its record to its device."""
        location = self.archive.places.get(key, location)
        array = self.archive.mapped(key, nbytes) if self.mmap else None
        if array is not None:
            held = Storage(adopt(array), nbytes, registry.device("cpu"))
        else:
            held = allocate(nbytes, registry.device("cpu"))
            view: Any = np.asarray(held.bytes()).view(np.ndarray)[:nbytes]
            self.archive.read_into(key, memoryview(view))
            if self.archive.swap and d is not None and d.itemsize > 1:
                part = d.real.itemsize
                view[:] = view.reshape(-1, part)[:, ::-1].reshape(-1)
        placed = self.place(held, location)
        if d is not None:
            check_supported(d, placed.device)
        return placed


def placing(map_location: Any) -> Place:
    """Where storages go, as a function of the storage on the cpu and the name of the device it was on."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda held, location: default_restore_location(held, map_location.get(location, location))
    if isinstance(map_location, (str, bytes, registry.device)):
        target = os.fsdecode(map_location) if isinstance(map_location, bytes) else map_location
        return lambda held, location: default_restore_location(held, target)
    if not callable(map_location):
        raise TypeError(
            "load: argument 'map_location' must be a device, a dict, a function or None; "
            f"got {type(map_location).__name__}."
        )

    def chosen(held: Storage, location: str) -> Storage:
        found = map_location(held, location)
        if found is None:
            return default_restore_location(held, location)
        return found if isinstance(found, Storage) else default_restore_location(held, found)

    return chosen


def default_restore_location(storage: Storage, location: Any) -> Storage:
    """A storage on the device that a file names. RuntimeError if that is not here.

    Example:
        >>> import tensorx as tx
        >>> tx.serialization.default_restore_location(tx.ones(2).untyped_storage(), "cpu").device
        device(type='cpu')
    """
    try:
        return storage.to(location)
    except DeviceError as error:
        raise RuntimeError(
            f"load: the file has tensors of device {location}, which is not here: {error} "
            "Hint: load(..., map_location='cpu')"
        ) from error


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names in a file that ``weights_only=True`` refuses, without making anything.

    Example:
        >>> import fractions, io, tensorx as tx
        >>> file = io.BytesIO()
        >>> tx.save(fractions.Fraction(1, 2), file)
        >>> _ = file.seek(0)
        >>> tx.serialization.get_unsafe_globals_in_checkpoint(file)
        ['fractions.Fraction']
    """
    with open(f, "rb") if isinstance(f, (str, os.PathLike)) else contextlib.nullcontext(f) as file:
        found = open_archive(file, "the file")
        if isinstance(found, archive.ZipArchive):
            file = io.BytesIO(found.pickle)
        else:
            file.seek(found.start)
        scout = unpickling.Scout(file)
        scout.load()
        return scout.refused


def load_storage_from_bytes(data: bytes) -> Any:
    """A storage in a plain pickle of PyTorch's."""
    return load(io.BytesIO(data), weights_only=False)
