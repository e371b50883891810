"""What ``weights_only`` lets a file do: nothing but make tensors and plain things."""

from __future__ import annotations

import fractions
import io
import os
import pickle

import pytest
from test_files import written, zipped

import tensorx as tx
from tensorx.serialization import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    get_unsafe_globals_in_checkpoint,
    safe_globals,
)


class Runs:
    """Runs a command when it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch /tmp/tensorx-was-here",)


class Own:
    def __init__(self, x):
        self.x = x


class Slotted:
    __slots__ = ("x",)


def refused(data, message):
    with pytest.raises(pickle.UnpicklingError, match=message):
        tx.load(io.BytesIO(zipped(data)))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_code(protocol):
    refused(pickle.dumps(Runs(), protocol), r"GLOBAL (posix|nt)\.system was not an allowed global")
    refused(pickle.dumps([1, Own], protocol), r"add_safe_globals\(\[.*\.Own\]\)")


def test_the_older_form_too():
    data = written(Runs(), _use_new_zipfile_serialization=False)
    with pytest.raises(pickle.UnpicklingError, match="system"):
        tx.load(io.BytesIO(data))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        # what may be named but not called, made or opened up
        (b"\x80\x02ctorch\nTensor\nK\x05\x85R.", "Trying to call"),
        (b"\x80\x02ctorch\nTensor\n)\x81.", "Trying to make"),
        (b"\x80\x02ctorch.nn.parameter\nParameter\n)\x81.", "Trying to make"),
        (b"\x80\x02ctorch\nfloat32\n)R.", "Trying to call"),
        (b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}X\x01\x00\x00\x00aK\x01sb.", "Trying to set the state"),
        (b"\x80\x02ctorch\nTensor\n}X\x01\x00\x00\x00aK\x01sb.", "Trying to set the state"),
        # names that lead elsewhere
        (b"\x80\x02cbuiltins\neval\nX\x01\x00\x00\x001\x85R.", "GLOBAL builtins.eval"),
        (b"\x80\x02c__builtin__\neval\nX\x01\x00\x00\x001\x85R.", "GLOBAL builtins.eval"),
        (b"\x80\x02ctensorx.io.names\nnamed\n.", "GLOBAL tensorx.io.names.named"),
        (b"\x80\x04\x8c\x05torch\x8c\x10Tensor.__class__\x93.", "GLOBAL torch.Tensor.__class__"),
        # opcodes that tensors have no use for
        (b"(S'a'\nios\nsystem\n.", "damaged"),
        (b"\x80\x02(cos\nsystem\no.", "GLOBAL os.system"),
        (b"\x80\x02\x82\x01.", "damaged"),
    ],
)
def test_tricks(data, message):
    refused(data, message)


def reference(offset, size, stride, count=4):
    """A pickle of a tensor on a storage of 16 bytes."""
    numbers = b"".join(b"J" + n.to_bytes(4, "little", signed=True) for n in (offset, size, stride))
    return (
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000"
        b"X\x03\x00\x00\x00cpuJ" + count.to_bytes(4, "little", signed=True) + b"tQ"
        + numbers[:5] + numbers[5:10] + b"\x85" + numbers[10:] + b"\x85\x89}tR."
    )  # fmt: skip


def test_tensors_must_lie_in_their_storage():
    data = b"".join(bytes([0, 0, 128, 63]) for _ in range(4))
    good = tx.load(io.BytesIO(zipped(reference(1, 3, 1), _0=data)))
    assert good.tolist() == [1.0, 1.0, 1.0]
    for offset, size, stride in ((0, 5, 1), (2, 3, 1), (4, 1, 1), (0, 2, 4), (-1, 1, 1), (0, 2, -1), (0, -1, 1)):
        with pytest.raises(RuntimeError, match=r"must lie in its storage|must be numbers >= 0"):
            tx.load(io.BytesIO(zipped(reference(offset, size, stride), _0=data)))
    for count in (3, 5, -1):
        with pytest.raises(RuntimeError, match="damaged"):
            tx.load(io.BytesIO(zipped(reference(0, 1, 1, count), _0=data)))
    with pytest.raises(RuntimeError, match="record data/0"):
        tx.load(io.BytesIO(zipped(reference(0, 1, 1))))


def test_attributes_do_not_reach_a_tensors_insides():
    x = tx.ones(2)
    x.note = [1]
    data = written(x).replace(b"X\x04\x00\x00\x00note", b"X\x06\x00\x00\x00_shape")
    got = tx.load(io.BytesIO(fixed(data)))
    assert got.shape == (2,)
    assert got.tolist() == [1.0, 1.0]


def fixed(data):
    """A zip with the checksums of its records as they are now."""
    start = data.index(b"\x80\x02")
    end = data.index(b".PK", start) + 1
    body = data[start:end]
    return zipped(body, _0=tx.ones(2).numpy().tobytes())


def test_added_names():
    assert get_safe_globals() == []
    whole = written({"f": fractions.Fraction(1, 2), "o": Own(tx.ones(2))})
    assert get_unsafe_globals_in_checkpoint(io.BytesIO(whole)) == ["fractions.Fraction", "test_refused.Own"]
    with safe_globals([fractions.Fraction, Own]):
        assert set(get_safe_globals()) == {fractions.Fraction, Own}
        assert get_unsafe_globals_in_checkpoint(io.BytesIO(whole)) == []
        got = tx.load(io.BytesIO(whole))
    assert got["f"] == fractions.Fraction(1, 2)
    assert got["o"].x.tolist() == [1.0, 1.0]
    with pytest.raises(pickle.UnpicklingError, match="Fraction"):
        tx.load(io.BytesIO(whole))
    add_safe_globals([(Own, "elsewhere.Name"), fractions.Fraction])
    try:
        assert get_safe_globals() == [(Own, "elsewhere.Name"), fractions.Fraction]
        renamed = b"\x80\x02celsewhere\nName\n)\x81}X\x01\x00\x00\x00xK\x03sb."
        assert tx.load(io.BytesIO(zipped(renamed))).x == 3
    finally:
        clear_safe_globals()
    assert get_safe_globals() == []
    with pytest.raises(ValueError, match="tuple"):
        add_safe_globals([(Own, 3)])


def test_added_classes_with_slots():
    thing = Slotted()
    thing.x = 4
    with safe_globals([Slotted]):
        assert tx.load(io.BytesIO(written(thing))).x == 4


def test_old_names_are_seen():
    data = written(Own(1), _use_new_zipfile_serialization=False)
    assert get_unsafe_globals_in_checkpoint(io.BytesIO(data)) == ["test_refused.Own"]
