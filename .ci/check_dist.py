"""What a wheel and a source distribution must hold, and must not: ``python .ci/check_dist.py dist/*``."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def expected() -> set[str]:
    """Wheel names of every source file, template, stub and data file of the checkout."""
    names = {"tensorx/py.typed"}
    for room, package in (("tensorx", "tensorx"), ("kernels", "tensorx/kernels"), ("devices", "tensorx/devices")):
        for path in (ROOT / room).rglob("*"):
            inside = path.relative_to(ROOT / room)
            linked = room == "tensorx" and inside.parts[0] in ("kernels", "devices")
            wanted = path.suffix in (".py", ".pyi", ".mako", ".npz", ".md") or "templates" in inside.parts
            if path.is_file() and wanted and not linked and "__pycache__" not in inside.parts:
                names.add(f"{package}/{inside}")
    return names


def check_wheel(path: Path) -> None:
    with zipfile.ZipFile(path) as wheel:
        members = wheel.infolist()
    names = [member.filename for member in members]
    links = [member.filename for member in members if (member.external_attr >> 28) == 0xA]
    code = {name for name in names if ".dist-info/" not in name}
    assert not links, f"links in {path.name}: {links}"
    assert max(Counter(names).values()) == 1, f"duplicates in {path.name}"
    assert expected() == code, f"{path.name}: missing {expected() - code}, too many {code - expected()}"
    print(f"{path.name}: {len(code)} files")


def check_sdist(path: Path) -> None:
    with tarfile.open(path) as archive:
        members = archive.getmembers()
    names = [member.name.partition("/")[2] for member in members]
    assert not [member.name for member in members if member.issym() or member.islnk()], f"links in {path.name}"
    assert max(Counter(names).values()) == 1, f"duplicates in {path.name}"
    twice = [name for name in names if name.startswith(("tensorx/kernels", "tensorx/devices"))]
    assert not twice, f"{path.name} holds a room twice: {twice}"
    print(f"{path.name}: {len(names)} members")


for argument in map(Path, sys.argv[1:]):
    (check_wheel if argument.suffix == ".whl" else check_sdist)(argument)
