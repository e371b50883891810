"""What is generated from the table is up to date, complete and understood by a type checker."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tensorx
from tensorx.ops import describe, generate, table

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def files():
    return generate.files()


CHECK = """
import pathlib, sys
from tensorx.ops import generate
generate.ROOT = pathlib.Path(sys.argv[1])  # the installed package has no docs/ beside it
raise SystemExit(generate.main(["--check"]))
"""


def test_nothing_is_stale():
    """In a process of its own: in this one, tests have made kernels of calls whose last digits decide what is shown."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CHECK, str(ROOT)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_stale_and_superfluous_files_are_named(tmp_path, files):
    changed = generate.write(tmp_path)
    assert sorted(changed) == sorted(files)
    assert generate.stale(tmp_path) == []
    (tmp_path / "tensorx/_methods.pyi").write_text("")
    (tmp_path / "docs/reference/gone.md").write_text("")
    assert generate.stale(tmp_path) == ["tensorx/_methods.pyi", "docs/reference/gone.md"]
    generate.write(tmp_path)
    assert generate.stale(tmp_path) == []


def test_twice_the_same(files):
    assert generate.files() == files


def test_wrong_arguments(capsys):
    assert generate.main(["--chekc"]) == 2
    assert "usage" in capsys.readouterr().err


def defined(text: str) -> set[str]:
    """Names that a stub defines, in its classes too."""
    return {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_every_public_function_is_typed(files):
    wanted = {name for name in table.BY_NAME if describe.public_name(name) == f"tensorx.{name}"}
    assert wanted <= defined(files["tensorx/_functions.pyi"])
    assert wanted <= set(dir(tensorx))


def test_every_method_is_typed(files):
    """Methods come from tensor.py itself, or from the stub."""
    own = {name for name in vars(tensorx.Tensor) if not name.startswith("_")}
    source = defined((ROOT / "tensorx/tensor.py").read_text())
    aliases = {"ndimension", "nelement", "layout", "dtype", "device"}
    aliases |= {"is_sparse", "is_quantized", "is_nested", "is_mkldnn"}
    assert not own - source - aliases - defined(files["tensorx/_methods.pyi"])


def test_stubs_and_signatures_agree(files):
    """Parameter names of the stub are those that the function binds."""
    for node in ast.walk(ast.parse(files["tensorx/_functions.pyi"])):
        if not isinstance(node, ast.FunctionDef) or node.decorator_list or node.name.endswith("_"):
            continue
        ours = [a.arg for a in (*node.args.args, *node.args.kwonlyargs) if a.arg != "out"]
        assert ours == list(inspect.signature(getattr(tensorx, node.name)).parameters), node.name


def test_every_public_row_has_a_section(files):
    pages = "".join(text for name, text in files.items() if name.startswith("docs/reference/"))
    for name in table.BY_NAME:
        public = describe.public_name(name)
        assert not public or f"## {public}\n" in pages
