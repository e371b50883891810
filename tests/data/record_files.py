"""Record files of PyTorch's, to read them without it.

    python tests/data/record_files.py      (with torch 2.13, cpu build, installed)

writes torch_files.json: files in base64, by name; with the argument ``check`` it looks instead whether PyTorch reads
what tensorx writes.
"""

from __future__ import annotations

import base64
import copy
import io
import json
import pickle
import sys
from collections import Counter, OrderedDict
from pathlib import Path

import torch


def things() -> dict[str, object]:
    base = torch.arange(6.0)
    parameter = torch.nn.Parameter(torch.ones(2))
    marked = torch.zeros(1)
    marked.note = "mine"
    return {
        "base": base,
        "view": base[2:4],
        "turned": torch.arange(6).reshape(2, 3).t(),
        "parameter": parameter,
        "again": parameter,
        "frozen": torch.nn.Parameter(torch.ones(1), requires_grad=False),
        "leaf": torch.ones(1, requires_grad=True),
        "marked": marked,
        "buffer": torch.nn.Buffer(torch.ones(1), persistent=False),
        "meta": torch.empty(2, 3, device="meta"),
        "empty": torch.empty(0, 2),
        "scalar": torch.tensor(3.5),
        "conj": torch.tensor([1 + 2j]).conj(),
        "neg": torch._neg_view(torch.ones(1)),
        "dtype": torch.bfloat16,
        "size": torch.Size([2, 3]),
        "device": torch.device("cpu"),
        "plain": [1, 2.5, 1 + 2j, None, True, "text", b"\x00\xff", (1,), {2}, {"k": Counter("aab")}, 2**70],
    }


DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
WIDE = ["uint16", "uint32", "uint64"]


class Own:
    pass


def trained() -> dict[str, object]:
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    for _ in range(2):
        model(torch.tensor([[1.0, -1.0]])).sum().backward()
        optimizer.step()
    saved = copy.deepcopy({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    optimizer.zero_grad()
    model(torch.tensor([[1.0, -1.0]])).sum().backward()
    optimizer.step()
    return saved | {"after": model.state_dict()}


def written(obj: object, **options: object) -> bytes:
    file = io.BytesIO()
    torch.save(obj, file, **options)
    return file.getvalue()


def files() -> dict[str, bytes]:
    narrow = {name: torch.tensor([0, 1, 1], dtype=getattr(torch, name)) for name in DTYPES}
    wide = {name: torch.tensor([0, 1, 2**15], dtype=getattr(torch, name)) for name in WIDE}
    old = {"_use_new_zipfile_serialization": False}
    own = Own()
    own.tensor = torch.ones(2)
    return {
        "things": written(things()),
        "things old": written(things(), **old),
        "things protocol 4": written(things(), pickle_protocol=4),
        "dtypes": written(narrow | wide),
        "dtypes old": written(narrow, **old),
        "trained": written(trained()),
        "module": written(torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.ReLU())),
        "own": written({"own": own}),
        "sparse": written(torch.eye(2).to_sparse()),
        "pickle": pickle.dumps(OrderedDict(x=torch.arange(3.0))),
    }


def check() -> None:
    """What tensorx loads of each file and saves again, PyTorch loads as what it had saved."""
    import tensorx as tx

    for name, data in files().items():
        if name in ("module", "own", "sparse", "pickle"):
            continue
        mine = tx.load(io.BytesIO(data))
        for options in ({}, {"pickle_protocol": 5}, {"_use_new_zipfile_serialization": False}):
            if "_use_new_zipfile_serialization" in options:  # PyTorch does not read its own unsigned ones there
                mine = {k: v for k, v in mine.items() if k not in WIDE}
            file = io.BytesIO()
            tx.save(mine, file, **options)
            file.seek(0)
            theirs = torch.load(io.BytesIO(data), weights_only=False)
            again = torch.load(file, weights_only="pickle_protocol" not in options)
            assert [repr(again[k]) for k in mine] == [repr(theirs[k]) for k in mine], name
            if "things" in name:
                assert again["base"].untyped_storage()._cdata == again["view"].untyped_storage()._cdata
                assert again["parameter"] is again["again"]
                assert again["marked"].note == "mine"
    print("PyTorch reads them")


if __name__ == "__main__" and sys.argv[1:] == ["check"]:
    check()
elif __name__ == "__main__":
    out = {name: base64.b64encode(data).decode() for name, data in files().items()}
    Path(__file__).with_name("torch_files.json").write_text(json.dumps(out, indent=0) + "\n")
