"""Fork, exit, threads that outlive things, homes that cannot be written: each in a process of its own."""

from __future__ import annotations

import pytest
from device_programs import python

OPEN = """
import gc, os, sys, threading
import numpy as np
from device_programs import add_kernel, add_source, download, grid, upload
from tensorx.devices import registry
from tensorx.errors import DeviceError
dev = registry.resolve({name!r}).runtime
"""

FORK = """
n = 200_000
kernel = add_kernel(dev)
x = upload(dev, np.arange(n, dtype=np.float32))
y = dev.alloc(4 * n)
dev.launch(kernel, grid(n), (y, 0, x, 0, 1.0, n))
dev.synchronize()
"""

CHILD_COMPUTES = """
if os.fork() == 0:
    y = dev.alloc(4 * n)
    dev.launch(add_kernel(dev), grid(n), (y, 0, x, 0, 2.0, n))
    dev.launch(kernel, grid(n), (y, 0, y, 0, 2.0, n))
    good = (download(dev, y, n) == np.arange(n) + 4).all()
    sys.exit(0 if good else 1)
"""

CHILD_IS_REFUSED = """
if os.fork() == 0:
    uses = [
        lambda: dev.alloc(4), lambda: dev.copy_in(x, 0, np.ones(1)), lambda: dev.copy_out(x, 0, np.ones(1)),
        lambda: dev.copy(x, 0, y, 0, 4), lambda: dev.launch(kernel, grid(n), (y, 0, x, 0, 1.0, n)), dev.synchronize,
        dev.event, lambda: dev.build(add_source(dev.capabilities.dialect)), dev.empty_cache,
    ]
    for use in uses:
        try:
            use()
        except DeviceError as error:
            assert "fork" in str(error)
        else:
            sys.exit(1)
    del x, y, kernel
    gc.collect()
    sys.exit(0)
"""

PARENT = """
pid, status = os.wait()
assert os.waitstatus_to_exitcode(status) == 0, status
dev.launch(kernel, grid(n), (y, 0, y, 0, 1.0, n))
assert (download(dev, y, n) == np.arange(n) + 2).all()
"""


def quiet(code: str, **env: str) -> str:
    """Run; nothing on stderr, exit status 0. What was printed."""
    done = python(code, **env)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_fork(device, need):
    need(compiler=True)
    child = CHILD_COMPUTES if device.type == "cpu" else CHILD_IS_REFUSED
    quiet(OPEN.format(name=str(device)) + FORK + child + PARENT)


ENUMERATED = """
import os, sys
from tensorx.devices import registry
from tensorx.errors import DeviceError
name = registry.device(NAME)
registry.backend(name.type).devices()
if os.fork() == 0:
    try:
        registry.open(name)
    except DeviceError as error:
        sys.exit(0 if "fork" in str(error) else 1)
    sys.exit(2)
pid, status = os.wait()
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_fork_after_the_platforms_were_only_listed(device):
    if device.type != "cpu":
        quiet(f"NAME = {str(device)!r}" + ENUMERATED)


EXIT = """
kernel = add_kernel(dev)
n = 1000
kept = upload(dev, np.zeros(n, np.float32))
class Cycle: pass
cycle = Cycle()
cycle.me, cycle.buffer = cycle, dev.alloc(1000)
def collect():
    for _ in range(20):
        loop = Cycle()
        loop.me, loop.buffer = loop, dev.alloc(5000)
        del loop
        gc.collect()
def forever():
    while True:
        dev.launch(kernel, grid(n), (kept, 0, kept, 0, 1.0, n))
        dev.alloc(100)
        dev.synchronize()
threads = [threading.Thread(target=collect), threading.Thread(target=forever, daemon=True)]
for thread in threads:
    thread.start()
threads[0].join()
import builtins
builtins.kept, builtins.cycle = kept, cycle  # outlive the modules
"""


def test_exit_is_silent(device, need):
    need(compiler=True)
    quiet(OPEN.format(name=str(device)) + EXIT)


def test_a_home_that_cannot_be_written(device, need, tmp_path):
    need(compiler=True)
    (tmp_path / "file").write_text("")
    home = str(tmp_path / "file" / "home")
    environment = {"HOME": home, "XDG_CACHE_HOME": home, "TENSORX_CACHE_DIR": home}
    quiet(OPEN.format(name=str(device)) + FORK + "assert download(dev, y, 1) == 1", **environment)


def test_threads_of_a_kernel(device, need):
    if device.type == "cpu":
        need(compiler=True)
        code = OPEN.format(name="cpu") + FORK
        code += "from tensorx.devices import cpu; assert cpu.get_num_threads() == 1; cpu.set_num_threads(2)\n"
        quiet(
            code + "dev.launch(kernel, None, (y, 0, y, 0, 1.0, n)); assert download(dev, y, 1) == 2",
            OMP_NUM_THREADS="1",
        )


def test_report():
    text = quiet("import sys; from tensorx.__main__ import main; sys.exit(main(['devices']))")
    assert text.startswith("PASS  cpu: ")
    assert "  cuda: " in text or "  cuda:0: " in text


def test_report_under_a_mask_without_compiler():
    environment = {"TENSORX_CC": "none", "TENSORX_CAPS_MASK": "no_fp64,total_mem=64M", "TENSORX_VISIBLE_DEVICES": ""}
    text = quiet("import sys; from tensorx.__main__ import main; sys.exit(main(['devices']))", **environment)
    assert "PASS  cpu" in text
    assert "TENSORX_CC=none turns generated C off; 64 MiB" in text
    assert "float64" not in text


@pytest.mark.parametrize(("argv", "status"), [([], 2), (["nonsense"], 2), (["--help"], 0)])
def test_usage(argv, status, capsys):
    from tensorx.__main__ import main

    assert main(argv) == status
    shown = capsys.readouterr()
    assert "devices" in (shown.out if status == 0 else shown.err)


def test_a_compiler_that_is_ordered_must_exist():
    done = python(OPEN.format(name="cpu"), TENSORX_CC="no-such-compiler-here")
    assert "TENSORX_CC: must name a C compiler" in done.stderr


def test_loops_that_end_early_are_said(device):
    if device.type != "opencl":
        return
    code = OPEN.replace("import gc", "import warnings; warnings.simplefilter('always')\nimport gc", 1)
    done = python(code.format(name=str(device)), TENSORX_CAPS_MASK="no_long_loops")
    assert done.returncode == 0, done.stderr
    assert f"The driver of {device} " in done.stderr
    assert "after 65535 turns" in done.stderr
