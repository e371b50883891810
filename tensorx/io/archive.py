"""The two containers of PyTorch's files: a zip with a record for each storage, and the older stream of pickles."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from tensorx.errors import TensorXError
from tensorx.storage import Storage

from .names import Typed
from .pickling import KNOWN_PLACES, Pickler

ALIGNMENT = 64
MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
LOCAL_HEADER = b"PK\x03\x04"


class DamagedFile(TensorXError, RuntimeError, pickle.UnpicklingError):
    """A file that is not as it was written. PyTorch raises now the one class and now the other."""


def damaged(what: str, why: Any = "") -> NoReturn:
    """DamagedFile, with what is known of it."""
    raise DamagedFile(f"load: {what} is damaged, or was not written by save{f' ({why})' if why else ''}.")


def host(storage: Storage) -> memoryview:
    """The bytes of a storage, in host memory."""
    data: Any = np.asarray(storage.host()).view(np.ndarray)
    return memoryview(data)


def places_of(storages: dict[str, Storage]) -> dict[str, str]:
    """The devices of storages on such as PyTorch does not know."""
    return {key: str(s.device) for key, s in storages.items() if s.device.type not in KNOWN_PLACES}


# zip -----------------------------------------------------------------------------------------------------------------


def write_zip(file: Any, name: str, data: bytes, storages: dict[str, Storage]) -> None:
    """The records of a file: the pickle, each storage on a multiple of 64 bytes, and what to know of them."""
    import zipfile

    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as out:

        def put(record: str, content: Any) -> None:
            info = zipfile.ZipInfo(f"{name}/{record}")
            start = out.fp.tell() + 30 + len(info.filename.encode()) + 4  # type: ignore[union-attr]  # it is open
            start += 20 if len(content) * 1.05 > zipfile.ZIP64_LIMIT else 0
            pad = -start % ALIGNMENT
            info.extra = struct.pack("<2sH", b"FB", pad) + b"Z" * pad
            out.writestr(info, content)

        put("data.pkl", data)
        put(".format_version", b"1")
        put(".storage_alignment", str(ALIGNMENT).encode())
        put("byteorder", sys.byteorder.encode())
        for key, storage in storages.items():
            put(f"data/{key}", host(storage))
        if places := places_of(storages):
            put(".tensorx/devices", json.dumps(places).encode())
        put("version", b"3\n")
        digest = int(hashlib.sha256(data).hexdigest(), 16) % 10**40
        put(".data/serialization_id", f"{digest:040}".encode())


class ZipArchive:
    """Reads such a file. RuntimeError where it is damaged."""

    def __init__(self, file: Any, label: str) -> None:
        import zipfile

        self.label, self.file = label, file
        try:
            self.zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, struct.error) as error:
            damaged(label, error)
        names = self.zip.namelist()
        found = [n for n in names if n.endswith("/data.pkl") and n.count("/") == 1]
        if not found:
            damaged(label, "it has no data.pkl")
        self.prefix = found[0].removesuffix("data.pkl")
        if self.prefix + "constants.pkl" in names:
            raise RuntimeError(f"load: {label} is a TorchScript program, which only PyTorch can run.")
        order = self.read("byteorder", b"little").decode()
        self.swap = order != sys.byteorder
        self.places: dict[str, str] = json.loads(self.read(".tensorx/devices", b"{}"))
        self.pickle = self.read("data.pkl")

    def read(self, record: str, default: bytes | None = None) -> bytes:
        """A record, or ``default`` if there is none."""
        if default is not None and self.prefix + record not in self.zip.namelist():
            return default
        return self._guard(record, lambda: self.zip.read(self.prefix + record))

    def _guard(self, record: str, read: Callable[[], Any]) -> Any:
        import zipfile
        import zlib

        try:
            return read()
        except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, struct.error) as error:
            damaged(f"record {record} of {self.label}", error)

    def read_into(self, key: str, target: memoryview) -> None:
        """A storage's bytes."""
        import zlib

        record = f"data/{key}"
        info = self._guard(record, lambda: self.zip.getinfo(self.prefix + record))
        if info.file_size != len(target):
            damaged(f"record {record} of {self.label}", f"it should have {len(target)} bytes")
        if info.compress_type:
            target[:] = self.read(record)
            return
        fp = self._seek(info)  # straight into place: zipfile would copy twice
        done = 0
        while done < len(target) and (n := fp.readinto(target[done:])):
            done += n
        if done < len(target) or zlib.crc32(target) != info.CRC:
            damaged(f"record {record} of {self.label}", "bad checksum")

    def _seek(self, info: Any) -> Any:
        """The file, at the first byte of a record that is not packed."""
        fp: Any = self.zip.fp
        fp.seek(info.header_offset)
        header = fp.read(30)
        if len(header) < 30 or header[:4] != LOCAL_HEADER:
            damaged(self.label, "no header where one should be")
        fp.seek(info.header_offset + 30 + sum(struct.unpack_from("<2H", header, 26)))
        return fp

    def mapped(self, key: str, nbytes: int) -> Any:
        """A storage's bytes as a private map of the file; None where they are packed or none."""
        info = self._guard(f"data/{key}", lambda: self.zip.getinfo(f"{self.prefix}data/{key}"))
        if info.compress_type or not nbytes:
            return None
        if info.file_size != nbytes:
            damaged(f"record data/{key} of {self.label}", f"it should have {nbytes} bytes")
        return np.memmap(self.label, np.uint8, "c", self._seek(info).tell(), (nbytes,))


# The stream of pickles ------------------------------------------------------------------------------------------------


def write_stream(file: Any, obj: Any, protocol: int) -> None:
    """The older form."""
    buffer = io.BytesIO()
    pickler = StreamPickler(buffer, protocol)
    pickler.dump(obj)
    info = {
        "protocol_version": PROTOCOL,
        "little_endian": sys.byteorder == "little",
        "type_sizes": {"short": 2, "int": 4, "long": 4},
        "tensorx_devices": places_of(pickler.storages),
    }
    for header in (MAGIC, PROTOCOL, info):
        pickle.dump(header, file, protocol)
    file.write(buffer.getbuffer())
    pickle.dump(sorted(pickler.storages), file, protocol)
    for key in sorted(pickler.storages):
        storage = pickler.storages[key]
        file.write(struct.pack("<q", storage.length // pickler.itemsizes[key]))
        file.write(host(storage))


class StreamPickler(Pickler):
    """References end with the view of a storage in another, which there is none of."""

    def __init__(self, file: Any, protocol: int) -> None:
        super().__init__(file, protocol)
        self.itemsizes: dict[str, int] = {}

    def persistent_id(self, obj: Any) -> Any:
        """What a storage is called."""
        saved = super().persistent_id(obj)
        if saved is None:
            return None
        self.itemsizes[saved[2]] = obj.dtype.itemsize if obj.__class__ is Typed and obj.dtype else 1
        return *saved, None


class StreamArchive:
    """Reads the older form: its storages come after the pickle that needs them, so that is gone through twice."""

    def __init__(self, file: Any, label: str, scout: Callable[..., Any]) -> None:
        self.label, self.file = label, file
        sizes: dict[str, int] = {}

        def note(saved: Any) -> Any:
            if saved[0] != "storage" or (len(saved) > 5 and saved[5] is not None):
                raise NotImplementedError(f"load: {label} is in a form of PyTorch before 0.4.")
            d = getattr(saved[1], "dtype", None)
            sizes[saved[2]] = d.itemsize if d is not None else 1
            return saved

        try:
            if scout(file).load() != MAGIC or scout(file).load() != PROTOCOL:
                raise ValueError("wrong magic number")
            info = scout(file).load()
            self.swap = info["little_endian"] != (sys.byteorder == "little")
            self.places: dict[str, str] = info.get("tensorx_devices", {})
            self.start = file.tell()
            scout(file, note).load()
            keys = scout(file).load()
            self.data = {key: self._storage(sizes.get(key, 1)) for key in keys}
        except (NotImplementedError, RuntimeError):
            raise
        except EOFError as error:
            if not file.tell():
                raise EOFError(f"load: {label} is empty.") from None
            damaged(label, error)
        except Exception as error:  # whatever a pickle machine says of bytes that are no pickle
            damaged(label, error)

    def _storage(self, itemsize: int) -> bytes:
        (count,) = struct.unpack("<q", self.file.read(8))
        data: bytes = self.file.read(count * itemsize)
        if len(data) != count * itemsize:
            raise ValueError("the file is too short")
        return data

    def read_into(self, key: str, target: memoryview) -> None:
        """A storage's bytes."""
        data = self.data.get(key)
        if data is None or len(data) != len(target):
            damaged(f"storage {key} of {self.label}")
        target[:] = data
