"""The disk cache damaged, unwritable, somebody else's, full, shared: results stay right, stderr empty, only time is lost."""

from __future__ import annotations

import os
import subprocess

import pytest
from fresh import quiet

WORK = """
from tensorx.kernels import cache
x = tx.arange(60_000.0, device=device)
y = (x * 0.5 - 1).sum()
assert abs(y.item() / (60_000 * 59_999 / 4 - 60_000) - 1) < 1e-5
assert (x[tx.tensor([3, 59_999], device=device)] + 1).tolist() == [4, 60_000]
print(cache.counters.compiled, cache.counters.found)
"""


def counts(text):
    return tuple(map(int, text.split()))


@pytest.fixture
def lane(device, need, request):
    need(compiler=True)
    return request.node.callspec.params["device"]


def flip(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


AT_ONCE = """
import subprocess
run = [subprocess.Popen([sys.executable, "-W", "error", "-W", "ignore:The driver of ", "-c", {!r}], stdout=-1, stderr=-1) for _ in range(3)]
for process in run:
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b""), err
"""


def test_shared_then_damaged(lane, tmp_path):
    """Three processes build the same kernels into one folder, the next finds them all; damaged ones are built again."""
    name = "cpu" if lane == "cpu" else lane
    script = f"import tensorx as tx\ndevice = {name!r}\n" + WORK
    quiet(AT_ONCE.format(script), lane, TENSORX_CACHE_DIR=str(tmp_path))
    compiled, found = counts(quiet(WORK, lane, TENSORX_CACHE_DIR=str(tmp_path)))
    entries = sorted((tmp_path / "kernels").iterdir())
    assert (compiled, found) == (0, len(entries))
    assert found >= 4
    damages = [lambda b: b[: len(b) // 2], flip, lambda b: b"", lambda b: b + b"more", lambda b: os.urandom(len(b))]
    for i, entry in enumerate(entries):
        entry.write_bytes(damages[i % len(damages)](entry.read_bytes()))
    assert counts(quiet(WORK, lane, TENSORX_CACHE_DIR=str(tmp_path))) == (found, 0)
    assert counts(quiet(WORK, lane, TENSORX_CACHE_DIR=str(tmp_path))) == (0, found)


def unwritable(folder):
    (folder / "file").write_text("")
    return folder / "file"


def open_to_all(folder):
    (folder / "kernels").mkdir()
    (folder / "kernels").chmod(0o777)
    return folder


def somebody_elses(folder):
    (folder / "kernels").mkdir(mode=0o700)
    if os.getuid() == 0:
        os.chown(folder / "kernels", 12345, 12345)
    else:
        (folder / "kernels").chmod(0o500)
    return folder


def folder_is_a_link(folder):
    (folder / "kernels").symlink_to(folder / "nowhere")
    return folder


@pytest.mark.parametrize("make", [unwritable, open_to_all, somebody_elses, folder_is_a_link])
def test_no_cache(make, tmp_path):
    folder = str(make(tmp_path))
    compiled, found = counts(quiet(WORK, TENSORX_CACHE_DIR=folder))
    assert compiled >= 4
    assert found == 0
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and p.name != "file"]


def test_a_full_disk(tmp_path):
    """Files may not grow past one kilobyte: the entry's write fails half way, as on a full disk."""
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    body = WORK.replace("x = tx", limit + "from tensorx.kernels import cache as c\nreal = c._write\n" + FULL + "x = tx", 1)
    compiled, found = counts(quiet(body, TENSORX_CACHE_DIR=str(tmp_path)))
    assert compiled >= 4
    assert found == 0
    assert not list((tmp_path / "kernels").iterdir())


FULL = """
def limited(*args):
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, old[1]))
    try:
        real(*args)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
c._write = limited
"""


def test_a_disk_of_one_page(tmp_path):
    """The same on a real full disk, where this user may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4k,mode=0700", "tensorx", str(place)]
    if os.getuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        return
    try:
        compiled, found = counts(quiet(WORK, TENSORX_CACHE_DIR=str(place)))
        assert compiled >= 4
        assert found == 0
        assert not list((place / "kernels").iterdir())
    finally:
        subprocess.run(["umount", str(place)], check=True)
