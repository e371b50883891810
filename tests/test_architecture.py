"""The shape of the house: who may import whom, file sizes, the package map, what `import tensorx` costs."""

from __future__ import annotations

import ast
import configparser
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINKS = {"tensorx/kernels": "../kernels", "tensorx/devices": "../devices"}
SOURCES = sorted(
    path
    for room in ("tensorx", "kernels", "devices", "tests", "benchmarks")
    for path in (ROOT / room).rglob("*.py")
    if not any(path.is_relative_to(ROOT / link) for link in LINKS) and "__pycache__" not in path.parts
)
IDS = [str(path.relative_to(ROOT)) for path in SOURCES]
MAX_LINES = 500

# Modules that must not be loaded by `import tensorx`: drivers and whatever is needed by some programs only.
LAZY = ("mako", "scipy", "pyopencl", "tqdm", "matplotlib", "ziglang", "multiprocessing.pool", "tensorx.devices.opencl")
BUDGET_S = 0.3


def module_of(path: Path) -> str:
    """The dotted name under which a source file is imported."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[0] in ("kernels", "devices"):
        parts.insert(0, "tensorx")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> list[tuple[str, int]]:
    """All modules that a file imports, at any depth, absolute; ``from a import b`` counts as ``a`` and as ``a.b``."""
    module = module_of(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            found += [(base, node.lineno)] + [(f"{base}.{alias.name}", node.lineno) for alias in node.names]
    return found


def within(name: str, allowed: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in allowed)


# room -> (what it may import of tensorx, what nobody there may import at all)
RULES = {
    "tensorx.kernels": (("tensorx.kernels", "tensorx.errors"), ("pyopencl", "pycuda", "dpctl")),
    "tensorx.devices": (("tensorx.devices", "tensorx.kernels.capabilities", "tensorx.errors"), ("mako",)),
    "tensorx.errors": ((), ()),
}


@pytest.mark.parametrize("room", RULES)
def test_who_may_import_whom(room):
    allowed, banned = RULES[room]
    offences = []
    for path in SOURCES:
        if not within(module_of(path), (room,)) or path.name == "__main__.py":
            continue
        for name, line in imports_of(path):
            ours = within(name, ("tensorx",)) and name not in ("tensorx", "tensorx.kernels")
            if (ours and not within(name, allowed)) or within(name, banned) or within(name, ("kernels", "devices")):
                offences.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert not offences, "\n".join(offences)


def test_the_tensor_does_not_import_the_ops():
    """Methods are installed from the table: tensor.py, dtypes.py and autograd know no op."""
    offences = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in SOURCES
        if module_of(path) in ("tensorx.tensor", "tensorx.dtypes")
        for name, line in imports_of(path)
        if within(name, ("tensorx.ops", "tensorx.nn", "tensorx.optim"))
    ]
    assert not offences, "\n".join(offences)


def test_nobody_imports_torch():
    offences = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in SOURCES
        if path.relative_to(ROOT).parts[0] != "benchmarks"
        for name, line in imports_of(path)
        if within(name, ("torch",))
    ]
    assert not offences, "torch is an oracle of benchmarks alone:\n" + "\n".join(offences)


@pytest.mark.parametrize("path", SOURCES, ids=IDS)
def test_files_stay_small(path):
    assert len(path.read_text().splitlines()) < MAX_LINES, "split it by what lives there"


VENDOR_TEST = re.compile(r"(?:vendor|\.name)\b.*(?:==|\bin\b).*[\"'](?i:intel|nvidia|amd|pocl|advanced)", re.M)


def test_no_vendor_decides_behaviour():
    """A quirk is a field of Capabilities. Names may only resolve device strings (an alias table, ``match``)."""
    offences = []
    for path in SOURCES:
        if path.relative_to(ROOT).parts[0] not in ("tensorx", "kernels", "devices"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.If | ast.IfExp) and VENDOR_TEST.search(ast.unparse(node.test)):
                offences.append(f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node.test)}")
    assert not offences, "\n".join(offences)


@pytest.mark.parametrize("link", LINKS)
def test_links_are_relative(link):
    path = ROOT / link
    assert path.is_symlink(), "git needs core.symlinks"
    assert path.readlink() == Path(LINKS[link])


def test_every_package_is_in_the_map():
    """setup.cfg lists packages one by one (a search would find kernels/ and devices/ twice, through the links)."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    folders = {module_of(path) for path in SOURCES if path.name == "__init__.py"}
    assert listed == {name for name in folders if within(name, ("tensorx",))}


def test_every_folder_with_code_is_a_package():
    folders = {path.parent for path in SOURCES if path.relative_to(ROOT).parts[0] in ("tensorx", "kernels", "devices")}
    assert not [str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").is_file()]


def run(code: str, **environment: str) -> str:
    command = [sys.executable, "-c", code]
    env = {**os.environ, **environment}
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=env).stdout


def test_import_loads_only_what_it_needs():
    code = f"import sys, tensorx; print([n for n in {LAZY!r} if n in sys.modules])"
    assert run(code).strip() == "[]"


def test_import_is_fast(tmp_path):
    """Under 0.3 s beyond bare Python with bytecode in place: processor time, since other work shares the machine."""
    code = "import time; s = time.process_time(); import tensorx; print(time.process_time() - s)"
    bytecode = {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    assert min(float(run(code, **bytecode)) for _ in range(5)) < BUDGET_S
