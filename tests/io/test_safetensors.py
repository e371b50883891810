"""The safetensors format, against the package of that name."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
import safetensors
import safetensors.numpy

import tensorx as tx
from tensorx.io.safetensors import DTYPES, SafetensorError, load, load_file, save, save_file


def test_every_dtype_is_what_the_package_reads():
    given = {f"{word} é": tx.tensor([[0, 1, 1]], dtype=d) for word, d in DTYPES.items()}
    given |= {"empty": tx.ones(0, 3), "scalar": tx.tensor(2.5)}
    data = save(given, {"by": "us"})
    entries = dict(safetensors.deserialize(data))
    assert entries.keys() == given.keys()
    for name, t in given.items():
        assert entries[name]["shape"] == list(t.shape)
        assert bytes(entries[name]["data"]) == t._host().tobytes()
        assert entries[name]["dtype"] == next(word for word, d in DTYPES.items() if d is t.dtype)
    got = load(data)
    assert list(got) == sorted(given)
    assert all(got[n].tolist() == t.tolist() and got[n].dtype is t.dtype for n, t in given.items())


def test_what_the_package_writes():
    arrays = {"a": np.arange(6, dtype=np.int64).reshape(2, 3), "b": np.ones(3, np.float16), "c": np.zeros((0, 2))}
    got = load(safetensors.numpy.save(arrays, {"k": "v"}))
    assert {n: t.tolist() for n, t in got.items()} == {n: a.tolist() for n, a in arrays.items()}
    got["a"][0] = 5  # memory of its own
    assert got["a"][0].tolist() == [5, 5, 5]


def test_files(tmp_path, device):
    given = {"w": tx.arange(5.0, device=device), "part": tx.arange(9, device=device)[2:4]}
    save_file(given, tmp_path / "x.safetensors")
    got = load_file(str(tmp_path / "x.safetensors"), device=str(device))
    assert all(t.device == device for t in got.values())
    assert {n: t.tolist() for n, t in got.items()} == {n: t.tolist() for n, t in given.items()}
    assert load_file(tmp_path / "x.safetensors")["w"].device.type == "cpu"
    with pytest.raises(RuntimeError, match="share memory"):
        save_file({"a": given["w"], "b": given["w"]}, tmp_path / "x.safetensors")
    assert [p.name for p in tmp_path.iterdir()] == ["x.safetensors"]
    (tmp_path / "empty").touch()
    with pytest.raises(SafetensorError, match="is empty"):
        load_file(tmp_path / "empty")


def test_what_is_refused():
    x = tx.arange(4.0)
    assert load(save({"a": x[:2], "b": x[2:]}))["b"].tolist() == [2.0, 3.0]
    for tensors, error, message in (
        ({"a": x[:3], "b": x[2:]}, RuntimeError, "share memory"),
        ({"a": tx.ones(2, 3).t()}, ValueError, "non contiguous tensor: `a`"),
        ({"a": tx.ones(1, dtype=tx.complex128)}, NotImplementedError, "complex128"),
        ([x], ValueError, "Expected a dict"),
        ({"a": 1}, ValueError, "Key `a` is invalid"),
    ):
        with pytest.raises(error, match=message):
            save(tensors)
    with pytest.raises(TypeError, match="metadata"):
        save({}, {"a": 1})


def file_of(header, body=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + body


def entry(dtype="U8", shape=(2,), place=(0, 2)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(place)}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1234567",
        file_of({}, length=3),
        file_of({}, length=2**62),
        file_of(b"no json"),
        file_of([]),
        file_of({"a": 1}),
        file_of({"a": {}}),
        file_of({"__metadata__": {"k": 1}}),
        file_of({"a": entry()}, b"1"),
        file_of({"a": entry()}, b"123"),
        file_of({"a": entry(shape=(3,))}, b"12"),
        file_of({"a": entry(shape=(-2,))}, b"12"),
        file_of({"a": entry(place=(0, 2, 3))}, b"12"),
        file_of({"a": entry(place=(1, 3))}, b"123"),
        file_of({"a": entry(), "b": entry()}, b"12"),
    ],
)
def test_damaged(data):
    with pytest.raises(SafetensorError):
        load(data)
    with pytest.raises(safetensors.SafetensorError):
        safetensors.deserialize(data)


def test_a_name_that_stands_twice():
    """The format forbids it; the package takes the last."""
    one = json.dumps(entry()).encode()
    with pytest.raises(SafetensorError, match="stands twice"):
        load(file_of(b'{"a":%s,"a":%s}' % (one, one), b"12"))


def test_a_dtype_that_is_not_here():
    with pytest.raises(NotImplementedError, match="F8_E4M3"):
        load(file_of({"a": entry("F8_E4M3")}, b"12"))
