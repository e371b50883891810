"""Reading files that PyTorch wrote (recorded), and writing such files."""

from __future__ import annotations

import base64
import copy
import io
import json
import os
import pickle
import pickletools
import stat
import struct
import threading
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path

import numpy as np
import pytest

import tensorx as tx
from tensorx import nn

FILES = {
    name: base64.b64decode(text)
    for name, text in json.loads((Path(__file__).parent.parent / "data" / "torch_files.json").read_text()).items()
}


def read(name, **options):
    return tx.load(io.BytesIO(FILES[name]), **options)


def written(obj, **options):
    file = io.BytesIO()
    tx.save(obj, file, **options)
    return file.getvalue()


def again(obj, **options):
    return tx.load(io.BytesIO(written(obj)), **options)


# What PyTorch wrote ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("name", ["things", "things old", "things protocol 4"])
def test_things(name, weights_only):
    got = read(name, weights_only=weights_only)
    assert got["base"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    got["base"][2] = 9
    assert got["view"].tolist() == [9.0, 3.0]
    assert got["turned"].stride() == (1, 3)
    assert got["turned"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert type(got["parameter"]) is nn.Parameter
    assert got["parameter"].requires_grad
    assert got["again"] is got["parameter"]
    assert not got["frozen"].requires_grad
    assert got["leaf"].requires_grad
    assert got["leaf"].is_leaf
    assert got["marked"].note == "mine"
    assert isinstance(got["buffer"], nn.Buffer)
    assert not got["buffer"].persistent
    assert got["meta"].device.type == "meta"
    assert got["meta"].shape == (2, 3)
    assert got["empty"].shape == (0, 2)
    assert got["scalar"].item() == 3.5
    assert got["conj"].tolist() == [1 - 2j]
    assert got["neg"].tolist() == [-1.0]
    assert got["dtype"] is tx.bfloat16
    assert got["size"] == tx.Size([2, 3])
    assert isinstance(got["size"], tx.Size)
    assert got["device"] is tx.device("cpu")
    plain = [1, 2.5, 1 + 2j, None, True, "text", b"\x00\xff", (1,), {2}, {"k": Counter("aab")}, 2**70]
    assert got["plain"] == plain


@pytest.mark.parametrize("name", ["dtypes", "dtypes old"])
def test_dtypes(name):
    got = read(name)
    for word, t in got.items():
        assert t.dtype is getattr(tx, word)
        assert t.tolist() == ([0, 1, 2**15] if word.startswith("uint") and word != "uint8" else [0, 1, 1])
    assert len(got) == (15 if name == "dtypes" else 12)


def test_training_goes_on(device):
    saved = read("trained", map_location=device)
    model = nn.Linear(2, 1, device=device)
    model.load_state_dict(saved["model"])
    optimizer = tx.optim.Adam(model.parameters(), lr=0.1)
    optimizer.load_state_dict(saved["optimizer"])
    assert optimizer.param_groups[0]["lr"] == 0.5
    model(tx.tensor([[1.0, -1.0]], device=device)).sum().backward()
    optimizer.step()
    for name, t in saved["after"].items():
        np.testing.assert_allclose(model.state_dict()[name].tolist(), t.tolist(), rtol=1e-5)


def test_a_module_of_pytorchs():
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL torch\.nn\.modules\.container\.Sequential"):
        read("module")
    model = read("module", weights_only=False)
    assert type(model) is nn.Sequential
    assert model(tx.ones(3, 2)).shape == (3, 1)


def test_an_object_that_is_not_here():
    with pytest.raises(pickle.UnpicklingError, match=r"add_safe_globals\(\[__main__\.Own\]\)"):
        read("own")
    assert tx.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(FILES["own"])) == ["__main__.Own"]
    with pytest.raises(AttributeError, match="Own"):
        read("own", weights_only=False)


def test_a_name_that_is_not_here():
    data = b"\x80\x02ctorch.nn.quantized\nThing\n."
    with pytest.raises(AttributeError, match=r"needs torch\.nn\.quantized\.Thing"):
        tx.load(io.BytesIO(zipped(data)), weights_only=False)


def test_sparse_tensors_are_not_here():
    with pytest.raises(NotImplementedError, match="sparse tensors"):
        read("sparse")


def test_tensors_in_a_plain_pickle():
    """PyTorch's pickles of tensors hold small files."""
    from tensorx.io.unpickling import AnyUnpickler

    got = AnyUnpickler(io.BytesIO(FILES["pickle"]), print).load()
    assert got["x"].tolist() == [0.0, 1.0, 2.0]


def test_other_byte_order():
    """A file of a machine with the other order, made from one of this."""
    source = zipfile.ZipFile(io.BytesIO(FILES["dtypes"]))
    file = io.BytesIO()
    sizes = [1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 4, 8]
    with zipfile.ZipFile(file, "w") as out:
        for name in source.namelist():
            data, record = source.read(name), name.partition("/")[2]
            if record == "byteorder":
                data = b"big"
            elif record.startswith("data/") and int(record[5:]) < len(sizes):
                data = np.frombuffer(data, f"V{sizes[int(record[5:])]}").view(np.uint8)
                data = data.reshape(-1, sizes[int(record[5:])])[:, ::-1].tobytes()
            out.writestr(name, data)
    file.seek(0)
    got = tx.load(file)
    assert [got[n].tolist() for n in list(got)[:12]] == [[0, 1, 1]] * 12


# What tensorx writes --------------------------------------------------------------------------------------------------


def records(data):
    source = zipfile.ZipFile(io.BytesIO(data))
    return {name: source.read(name) for name in source.namelist()}


@pytest.mark.parametrize("name", ["trained", "dtypes"])
def test_the_same_file(name):
    """What was loaded is written as PyTorch wrote it: the same records with the same contents, the same pickle."""
    theirs, ours = records(FILES[name]), records(written(read(name)))
    assert list(ours) == list(theirs)
    for record in theirs.keys() - {"archive/data.pkl", "archive/.data/serialization_id"}:
        assert ours[record] == theirs[record], record
    pickles = [r["archive/data.pkl"] for r in (theirs, ours)]
    names, more = ([arg for op, arg, _ in pickletools.genops(p) if op.name == "GLOBAL"] for p in pickles)
    assert set(names) == set(more)
    shapes, more = ([op.name for op, _, _ in pickletools.genops(p) if "PUT" not in op.name and "GET" not in op.name]
                    for p in pickles)
    assert Counter(shapes)["BINPERSID"] == Counter(more)["BINPERSID"]


def test_storages_lie_on_multiples_of_64(tmp_path):
    tx.save({"a": tx.ones(3), "b": tx.ones(5, dtype=tx.int8), "c": tx.ones(7)}, tmp_path / "x.pt")
    data = (tmp_path / "x.pt").read_bytes()
    for info in zipfile.ZipFile(tmp_path / "x.pt").infolist():
        name, extra = struct.unpack_from("<2H", data, info.header_offset + 26)
        assert (info.header_offset + 30 + name + extra) % 64 == 0
        assert info.filename.startswith("x/")


OPTIONS = [{}, {"pickle_protocol": 3}, {"pickle_protocol": 5}, {"_use_new_zipfile_serialization": False}]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dtype", tx.dtypes.ALL, ids=str)
def test_round_trip(dtype, options, device, need):
    need(dtype.code)
    base = tx.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype, device=device)
    given = {
        "base": base, "turned": base.t(), "part": base[1:, ::2], "expanded": base[0, :1].expand(2, 2),
        "scalar": base[0, 1], "empty": base[:0], "other": tx.zeros(3, dtype=dtype, device=device),
    }  # fmt: skip
    got = tx.load(io.BytesIO(written(given, **options)))
    for name, t in given.items():
        assert got[name].tolist() == t.tolist(), name
        assert got[name].dtype is dtype
        assert got[name].device == device
        assert got[name].stride() == t.stride()
    got["base"].fill_(1)
    assert got["turned"].tolist() == tx.ones(3, 2, dtype=dtype).tolist()
    assert got["scalar"].item() == 1
    assert got["other"].tolist() == [0] * 3


@pytest.mark.parametrize("dtype", tx.dtypes.ALL, ids=str)
def test_dtypes_themselves(dtype):
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy([dtype])[0] is dtype
    assert again({"d": dtype})["d"] is dtype
    x = tx.zeros(2, dtype=dtype)
    assert pickle.loads(pickle.dumps(x)).dtype is dtype


def test_a_storage_of_two_dtypes():
    x = tx.ones(2)
    with pytest.raises(RuntimeError, match="view the same data"):
        written([x, x.view(tx.int32)])


def test_results_become_leaves():
    x = tx.ones(2, requires_grad=True) * 2
    got = again(x)
    assert got.requires_grad
    assert got.is_leaf
    assert pickle.loads(pickle.dumps(x)).is_leaf


class Named(nn.Parameter):
    """A parameter of a class of its own."""


class Odd(tx.Tensor):
    """A tensor of a class of its own."""


def test_classes_of_tensors():
    assert type(again(Named(tx.ones(1)))) is nn.Parameter
    odd = tx.ones(1)
    odd.__class__ = Odd
    with pytest.raises(RuntimeError, match=r"got a Odd\. Hint: save x\.detach\(\)"):
        written(odd)


def test_a_whole_module(device):
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh()).to(device)
    with pytest.raises(pickle.UnpicklingError, match=r"tensorx\.nn\.modules\.container\.Sequential"):
        again(model)
    got = again(model, weights_only=False)
    x = tx.ones(1, 2, device=device)
    assert got(x).tolist() == model(x).tolist()


def test_pickle_deepcopy_and_save_agree(device):
    base = tx.arange(6.0, device=device)
    given = [base, base[1:3], base.reshape(2, 3).t(), nn.Parameter(base.clone()), tx.ones(0, device=device)]
    for make in (again, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        got = make(given)
        assert [t.tolist() for t in got] == [t.tolist() for t in given]
        assert [t.stride() for t in got] == [t.stride() for t in given]
        assert all(t.device == device for t in got)
        assert type(got[3]) is nn.Parameter
        got[0][1] = 7
        assert got[1].tolist() == [7.0, 2.0]
        assert got[2][1, 0].item() == 7.0
        assert base[1].item() == 1.0


# Places ---------------------------------------------------------------------------------------------------------------


def test_map_location(device):
    data = written([tx.arange(3.0, device=device), tx.arange(3.0)])
    seen = []

    def place(storage, location):
        seen.append((storage.device.type, location))

    for where in ("cpu", tx.device("cpu"), {str(device): "cpu"}, lambda storage, location: storage):
        got = tx.load(io.BytesIO(data), map_location=where)
        assert [t.device.type for t in got] == ["cpu", "cpu"]
        assert got[0].tolist() == [0.0, 1.0, 2.0]
    for where in (None, place, {}, {"nowhere": "cpu"}):
        got = tx.load(io.BytesIO(data), map_location=where)
        assert [t.device for t in got] == [device, tx.device("cpu")]
        got[0][0] = 1
        assert got[0].tolist() == [1.0, 1.0, 2.0]
    assert seen == [("cpu", str(device)), ("cpu", "cpu")]
    for where in (device, str(device), lambda storage, location: storage.to(device), lambda s, location: device):
        assert [t.device for t in tx.load(io.BytesIO(data), map_location=where)] == [device, device]
    with pytest.raises(TypeError, match="map_location"):
        tx.load(io.BytesIO(data), map_location=3)


def test_others_see_the_cpu(device):
    """PyTorch does not know the names of our devices: in its words all of these lie on the cpu."""
    ops = [arg for _, arg, _ in pickletools.genops(records(written(tx.ones(1, device=device)))["archive/data.pkl"])]
    assert "cpu" in ops
    assert str(device) == "cpu" or str(device) not in ops


def test_a_device_that_is_not_here():
    source, file = zipfile.ZipFile(io.BytesIO(FILES["trained"])), io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        for name in source.namelist():
            out.writestr(name, source.read(name).replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:9"))
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"device cuda:9, which is not here.*map_location='cpu'"):
        tx.load(file)
    file.seek(0)
    assert "weight" in tx.load(file, map_location="cpu")["model"]


def test_a_dtype_that_the_device_cannot_hold(device):
    data = written(tx.ones(2, dtype=tx.float64))
    if device.runtime.capabilities.supports("f64"):
        assert tx.load(io.BytesIO(data), map_location=device).dtype is tx.float64
    else:
        with pytest.raises(NotImplementedError, match="float64"):
            tx.load(io.BytesIO(data), map_location=device)


def test_mmap(tmp_path):
    given = {"a": tx.arange(1000), "b": tx.ones(0), "c": tx.ones(3)}
    path = tmp_path / "x.pt"
    tx.save(given, path)
    before = path.read_bytes()
    got = tx.load(path, mmap=True)
    assert [t.tolist() for t in got.values()] == [t.tolist() for t in given.values()]
    assert (got["a"] + 1)[-1].item() == 1000
    got["a"][0] = 5
    del got
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="file path"):
        tx.load(io.BytesIO(before), mmap=True)
    tx.save(given, path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="zip format"):
        tx.load(path, mmap=True)


# Files ----------------------------------------------------------------------------------------------------------------


class Unwilling:
    def __reduce__(self):
        raise ValueError("I will not")


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    path = tmp_path / "x.pt"
    tx.save(tx.ones(2), path)
    os.chmod(path, 0o640)
    with pytest.raises(ValueError, match="I will not"):
        tx.save([tx.zeros(3), Unwilling()], path)
    assert tx.load(path).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="I will not"):
        tx.save(Unwilling(), tmp_path / "new.pt")
    link = tmp_path / "link.pt"
    link.symlink_to(path)
    tx.save(tx.zeros(1), str(link))
    assert link.is_symlink()
    assert tx.load(str(path)).tolist() == [0.0]
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.pt", "x.pt"]


def test_a_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    taken = []
    reader = threading.Thread(target=lambda: taken.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    tx.save(tx.ones(2), tmp_path / "pipe")
    reader.join()
    assert tx.load(io.BytesIO(taken[0])).tolist() == [1.0, 1.0]
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


def test_a_file_object_in_the_middle():
    file = io.BytesIO()
    file.write(b"before")
    tx.save(tx.ones(1), file, _use_new_zipfile_serialization=False)
    tx.save(tx.ones(2), file, _use_new_zipfile_serialization=False)
    file.seek(6)
    assert tx.load(file).shape == (1,)


def test_wrong_arguments(tmp_path):
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
        tx.save(1, tmp_path / "nowhere" / "x.pt")
    with pytest.raises(FileNotFoundError):
        tx.load(tmp_path / "nothing.pt")
    for f in (3, None):
        with pytest.raises(AttributeError, match="argument 'f'"):
            tx.load(f)
        with pytest.raises(AttributeError, match="argument 'f'"):
            tx.save(1, f)
    with pytest.raises(ValueError, match="pickle_module"):
        tx.save(1, io.BytesIO(), pickle_module=json)
    with pytest.raises(RuntimeError, match="explicit pickle_module"):
        tx.load(io.BytesIO(written(1)), pickle_module=pickle)
    assert tx.load(io.BytesIO(written(1)), pickle_module=pickle, weights_only=False) == 1


def zipped(data, **storages):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("archive/data.pkl", data)
        for key, content in storages.items():
            out.writestr(f"archive/data/{key.strip('_')}", content)
        out.writestr("archive/version", "3")
    return file.getvalue()


WHOLE = written({"a": tx.arange(100.0)})


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", EOFError),
        (b"hello world", RuntimeError),
        (WHOLE[:200], RuntimeError),
        (WHOLE[: len(WHOLE) // 2], RuntimeError),
        (WHOLE[:-30], RuntimeError),
        (WHOLE.replace(b"\x00\x00\x80?", b"\x01\x00\x80?"), RuntimeError),
        (zipped(b"hello"), pickle.UnpicklingError),
        (zipped(b""), pickle.UnpicklingError),
        (zipped(b"\x80\x02K\x01"), pickle.UnpicklingError),
        (pickle.dumps(3), RuntimeError),
        (written(tx.ones(9), _use_new_zipfile_serialization=False)[:-3], RuntimeError),
    ],
)
def test_damaged_files(data, error):
    with pytest.raises(error, match=r"^load: "):
        tx.load(io.BytesIO(data))


def test_an_archive_without_a_pickle():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("x/y", "z")
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"no data\.pkl"):
        tx.load(file)
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("x/data.pkl", "z")
        out.writestr("x/constants.pkl", "z")
    file.seek(0)
    with pytest.raises(RuntimeError, match="TorchScript"):
        tx.load(file)


def test_ordered_dicts_keep_their_attributes():
    state = nn.Linear(1, 1).state_dict()
    got = again(state)
    assert type(got) is OrderedDict
    assert got._metadata == state._metadata
