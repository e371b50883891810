"""Loaders with worker processes."""

from __future__ import annotations

import gc
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import tensorx as tx
from tensorx import nn
from tensorx.data import DataLoader, Dataset, IterableDataset, get_worker_info, processes, transport

FOLDER = transport.SHARED if os.access(transport.SHARED, os.W_OK) else "/tmp"


def left_over():
    gc.collect()
    return [name for name in os.listdir(FOLDER) if name.startswith("tensorx-")]


@pytest.fixture(autouse=True)
def nothing_left():
    before = left_over()
    yield
    extra = set(left_over()) - set(before)  # other processes run tests too: theirs go away
    for _ in range(200):
        if not extra & set(left_over()):
            return
        time.sleep(0.1)
    assert not extra & set(left_over())


class Rows(Dataset):
    """Sample i: a tensor of i, an array, a number, a text."""

    def __init__(self, n=10, size=2):
        self.n, self.size = n, size

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return tx.full((self.size,), float(i)), np.full(self.size, i), i, f"s{i}"


class Calls(Rows):
    """Sample i is what a function gives for i."""

    def __init__(self, function, n=4):
        super().__init__(n)
        self.function = function

    def __getitem__(self, i):
        return self.function(i)


class Stream(IterableDataset):
    """Of (worker, k), in each worker."""

    def __iter__(self):
        worker = get_worker_info()
        return iter([(worker.id, k) for k in range(3 + worker.id)])


def flat(batches):
    return [(b[0].tolist(), b[1].tolist(), b[2].tolist(), list(b[3])) for b in batches]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("size", [2, 40_000])
@pytest.mark.parametrize("options", [{"batch_size": 3}, {"batch_size": 4, "drop_last": True}, {"shuffle": True}])
def test_the_same_batches_with_any_number_of_workers(workers, size, options):
    data = Rows(7, size)
    tx.manual_seed(5)
    want = [flat(DataLoader(data, **options)) for _ in range(2)]
    tx.manual_seed(5)
    loader = DataLoader(data, num_workers=workers, **options)
    got = [flat(loader) for _ in range(2)]
    assert got == want
    assert len(loader) == len(want[0])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_start_methods(method):
    code = f"""
        import tensorx as tx
        from tensorx.data import DataLoader, TensorDataset

        if __name__ == "__main__":
            data = TensorDataset(tx.arange(5), tx.ones(5, 20_000))
            got = list(DataLoader(data, 2, num_workers=2, multiprocessing_context="{method}"))
            assert [b[0].tolist() for b in got] == [[0, 1], [2, 3], [4]]
            assert [b[1].sum().item() for b in got] == [40_000, 40_000, 20_000]
    """
    done = in_a_file(code)
    assert (done.returncode, done.stderr) == (0, "")


def in_a_file(code, **options):
    """A program of its own: workers that are not forked read it again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(textwrap.dedent(code))
        env = {**os.environ, "PYTHONPATH": str(Path(tx.__file__).parents[1])}
        command = [sys.executable, "-W", "error", "-W", "ignore:The driver of ", str(path)]
        return subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False, **options)


def test_single_samples_and_own_batches():
    got = DataLoader(Rows(3), batch_size=None, num_workers=2)
    assert [sample[2] for sample in got] == [0, 1, 2]
    third = DataLoader(Rows(5), batch_sampler=[[4, 0], [1]], num_workers=2, collate_fn=lambda b: [x[2] for x in b])
    assert list(third) == [[4, 0], [1]]


# Streams --------------------------------------------------------------------------------------------------------------


def test_each_worker_has_a_copy_of_a_stream():
    single = list(DataLoader(Stream(), batch_size=None, num_workers=2))
    assert single == [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2], [1, 2], [1, 3]]
    batches = [b[1].tolist() for b in DataLoader(Stream(), batch_size=2, num_workers=2)]
    assert batches == [[0, 1], [0, 1], [2], [2, 3]]
    batches = [b[1].tolist() for b in DataLoader(Stream(), batch_size=2, num_workers=2, drop_last=True)]
    assert batches == [[0, 1], [0, 1], [2, 3]]


def test_an_empty_stream():
    class Nothing(IterableDataset):
        def __iter__(self):
            return iter(())

    assert list(DataLoader(Nothing(), num_workers=3)) == []


# Seeds ----------------------------------------------------------------------------------------------------------------


def draws(i):
    info = get_worker_info()
    return info.id, info.seed, random.random(), float(np.random.rand()), tx.rand(1).item(), info.num_workers


def test_seeds():
    def epoch(loader):
        return [tuple(b[0]) for b in loader]

    loader = DataLoader(Calls(draws, 4), num_workers=2, collate_fn=list)
    tx.manual_seed(0)
    first, second = epoch(loader), epoch(loader)
    tx.manual_seed(0)
    assert epoch(loader) == first
    assert epoch(loader) == second
    tx.manual_seed(1)
    assert epoch(loader) != first
    ids, seeds, *numbers, workers = zip(*first)
    assert ids == (0, 1, 0, 1)
    assert set(workers) == {2}
    assert seeds[1] == seeds[0] + 1
    assert (seeds[2], seeds[3]) == (seeds[0], seeds[1])
    for column in numbers:
        assert len(set(column)) == 4
    assert not {s[1] for s in first} & {s[1] for s in second}
    own = DataLoader(Calls(draws, 2), num_workers=1, collate_fn=list, generator=tx.Generator().manual_seed(0))
    assert epoch(own)[0][1] == seeds[0]
    assert get_worker_info() is None


def test_workers_do_not_draw_from_the_generator():
    tx.manual_seed(3)
    state = tx.get_rng_state().tolist()
    list(DataLoader(Rows(2), num_workers=1))
    assert tx.get_rng_state().tolist() == state


# Failures -------------------------------------------------------------------------------------------------------------


class Own(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


def fails(error):
    def function(i):
        if i == 1:
            raise error
        return i

    return Calls(function)


@pytest.mark.parametrize(
    ("error", "kind", "shown"),
    [
        (KeyError("no such key"), KeyError, "Caught KeyError in DataLoader worker process 1.\nOriginal Traceback"),
        (ValueError("wrong"), ValueError, "ValueError: wrong"),
        (StopIteration("early"), StopIteration, "early"),
        (Own(1, 2), RuntimeError, "Caught Own in DataLoader worker process 1"),
        (type("Local", (Exception,), {})("x"), RuntimeError, "Caught Local"),
    ],
)
def test_exceptions_are_raised_here(error, kind, shown):
    iterator = iter(DataLoader(fails(error), num_workers=2))
    assert next(iterator).tolist() == [0]
    with pytest.raises(kind) as caught:
        next(iterator)
    assert shown in str(caught.value)
    assert "in function" in str(caught.value)
    assert next(iterator).tolist() == [2]


def test_an_init_function_that_fails():
    def init(number):
        raise ValueError(f"worker {number} does not want to")

    with pytest.raises(ValueError, match="worker 0 does not want to"):
        next(iter(DataLoader(Rows(2), num_workers=1, worker_init_fn=init)))


def test_init_functions():
    seen = []
    loader = DataLoader(Calls(lambda i: list(seen)), num_workers=2, worker_init_fn=seen.append, collate_fn=list)
    assert [b[0] for b in loader] == [[0], [1], [0], [1]]
    assert seen == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_is_killed(how):
    def die(i):
        if i == 1:
            os.kill(os.getpid(), how)
        return i

    start = time.monotonic()
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid\(s\) \d+, exit code -{int(how)}\) exited unexp"):
        list(DataLoader(Calls(die), num_workers=2))
    assert time.monotonic() - start < 5


def test_a_worker_that_ends():
    with pytest.raises(RuntimeError, match="exit code 3"):
        list(DataLoader(Calls(lambda i: os._exit(3)), num_workers=1))


def test_timeout(monkeypatch):
    monkeypatch.setattr(processes, "PATIENCE", 0.1)

    def slow(i):
        time.sleep(i * 30)
        return i

    start = time.monotonic()
    iterator = iter(DataLoader(Calls(slow), num_workers=1, timeout=0.5))
    assert next(iterator).tolist() == [0]
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.5 seconds"):
        next(iterator)
    iterator.close()
    assert time.monotonic() - start < 12


def test_what_cannot_be_sent():
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError), match="in DataLoader worker process 0"):
        next(iter(DataLoader(Calls(lambda i: lambda: i), num_workers=1, collate_fn=list)))
    x = tx.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf"):
        next(iter(DataLoader(Calls(lambda i: x * 2), num_workers=1, collate_fn=list)))


def test_device_tensors_are_for_the_parent(device):
    """A forked worker says what to do; the batches go to the device here."""
    x = tx.ones(3, device=device)
    if device.type == "cpu":
        assert next(iter(DataLoader(Calls(lambda i: x + 1), num_workers=1))).tolist() == [[2.0] * 3]
        return
    with pytest.raises(RuntimeError, match=r"(?s)fork.*move the batches: for batch in loader: batch\.to\(device\)"):
        next(iter(DataLoader(Calls(lambda i: x + 1), num_workers=1)))
    with device:  # the default device is the parent's
        (batch,) = DataLoader(Calls(lambda i: i, 2), batch_size=2, num_workers=1)
    assert batch.device.type == "cpu"
    assert (batch.to(device) + 1).tolist() == [1, 2]


@pytest.mark.slow
def test_interrupt():
    code = """
        import os, signal, threading, time
        import tensorx as tx
        from tensorx.data import DataLoader

        class Slow:
            def __len__(self):
                return 100
            def __getitem__(self, i):
                time.sleep(0.2)
                return i

        threading.Timer(1.0, lambda: os.killpg(0, signal.SIGINT)).start()
        try:
            for batch in DataLoader(Slow(), num_workers=2):
                pass
        except KeyboardInterrupt:
            print("interrupted")
    """
    done = in_a_file(code, start_new_session=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


@pytest.mark.slow
def test_a_parent_that_is_killed_leaves_nothing():
    code = """
        import os, signal
        from tensorx.data import DataLoader

        iterator = iter(DataLoader(range(100), num_workers=2, prefetch_factor=4))
        next(iterator)
        print(*[w.pid for w in iterator.workers], iterator.folder, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = in_a_file(code)
    *pids, folder = done.stdout.split()
    assert len(pids) == 2
    end = time.monotonic() + 20
    while time.monotonic() < end and any(running(int(pid)) for pid in pids):
        time.sleep(0.1)
    assert not any(running(int(pid)) for pid in pids)
    assert not Path(folder).exists()


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# Life -----------------------------------------------------------------------------------------------------------------


def test_workers_end_with_the_iterator():
    iterator = iter(DataLoader(Rows(100), num_workers=2))
    next(iterator)
    pids = [w.pid for w in iterator.workers]
    assert all(running(pid) for pid in pids)
    del iterator
    gc.collect()
    assert not any(running(pid) for pid in pids)


def test_persistent_workers():
    loader = DataLoader(Calls(lambda i: (i, os.getpid())), num_workers=2, persistent_workers=True)
    first = [(b[0].item(), b[1].item()) for b in loader]
    assert [i for i, _ in first] == [0, 1, 2, 3]
    next(iter(loader))  # an epoch that is left early
    assert [(b[0].item(), b[1].item()) for b in loader] == first
    copied = pickle.loads(pickle.dumps(DataLoader(range(3), num_workers=1, persistent_workers=True)))
    assert len(list(copied)) == 3
    other = [b[1].item() for b in DataLoader(loader.dataset, num_workers=2)]
    assert not set(other) & {pid for _, pid in first}


def test_persistent_workers_begin_a_stream_again():
    loader = DataLoader(Stream(), batch_size=2, num_workers=2, persistent_workers=True)
    first = [b[1].tolist() for b in loader]
    next(iter(loader))
    assert [b[1].tolist() for b in loader] == first
    assert len(first) == 4


def test_two_epochs_at_a_time():
    loader = DataLoader(range(4), num_workers=2)
    assert [(a.item(), b.item()) for a, b in zip(loader, loader)] == [(i, i) for i in range(4)]


@pytest.mark.slow
def test_order_of_arrival():
    def slow(i):
        time.sleep(1.0 if i == 0 else 0)
        return i

    got = [b.item() for b in DataLoader(Calls(slow, 6), num_workers=2, in_order=False)]
    assert sorted(got) == list(range(6))
    assert got[0] != 0
    assert [b.item() for b in DataLoader(Calls(slow, 6), num_workers=2)] == list(range(6))


def test_prefetching(tmp_path):
    def note(i):
        (tmp_path / str(i)).touch()
        return i

    iterator = iter(DataLoader(Calls(note, 20), num_workers=2, prefetch_factor=3))
    end = time.monotonic() + 5
    while len(list(tmp_path.iterdir())) < 6 and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.1)
    assert len(list(tmp_path.iterdir())) == 6
    next(iterator)
    while len(list(tmp_path.iterdir())) < 7 and time.monotonic() < end:
        time.sleep(0.01)
    assert len(list(tmp_path.iterdir())) == 7


def test_long_lists_of_indices():
    class Together(Rows):
        def __getitems__(self, indices):
            return indices

    batches = [list(range(100_000))] * 8
    loader = DataLoader(Together(), batch_sampler=batches, num_workers=1, prefetch_factor=8, collate_fn=list)
    assert [len(b) for b in loader] == [100_000] * 8


# On the way -----------------------------------------------------------------------------------------------------------


def sent(obj, folder):
    return transport.unpack(transport.pack(obj, str(folder)))


def test_transport(tmp_path):
    base = tx.arange(50_000.0)
    given = {
        "whole": base,
        "part": base[10:20],
        "turned": base.reshape(500, 100).t(),
        "stepped": base[::2],
        "expanded": tx.ones(1).expand(40_000),
        "empty": base[:0],
        "scalar": tx.tensor(2.5),
        "half": base.to(tx.bfloat16),
        "bool": base > 3,
        "parameter": nn.Parameter(tx.ones(30_000)),
        "array": np.arange(30_000).reshape(100, 300),
        "other": ["text", {1: (2.0, None)}],
    }
    packed = transport.pack(given, str(tmp_path))
    assert len(packed[0]) < 100_000
    assert [p.name for p in tmp_path.iterdir()] == [Path(packed[1]).name]
    got = transport.unpack(packed)
    assert list(tmp_path.iterdir()) == []
    for name, value in given.items():
        if isinstance(value, tx.Tensor):
            assert got[name].tolist() == value.tolist(), name
            assert got[name].dtype is value.dtype
            assert type(got[name]) is type(value)
            assert got[name].requires_grad == value.requires_grad
    assert got["turned"].stride() == given["turned"].stride()
    np.testing.assert_array_equal(got["array"], given["array"])
    assert got["other"] == given["other"]
    got["whole"].add_(1)
    assert got["whole"][[0, 7, -1]].tolist() == [1.0, 8.0, 50_000.0]
    assert (got["whole"] @ got["whole"]).item() > 0


def test_parts_go_alone(tmp_path):
    big = tx.ones(10**6)
    assert len(transport.pack(big[:10], str(tmp_path))[0]) < 2000


def test_without_room(tmp_path, monkeypatch):
    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(transport, "_write", full)
    x = tx.ones(100_000)
    packed = transport.pack(x, str(tmp_path))
    assert packed[1] == ""
    assert transport.unpack(packed).sum().item() == 100_000


def test_device_tensors_of_spawned_workers(device, tmp_path):
    """Such workers may open devices; what they send lies where it lay."""
    x = tx.arange(30_000, device=device)
    got = sent([x, x[:3]], tmp_path)
    assert [t.device for t in got] == [device, device]
    assert got[0].sum().item() == x.sum().item()
    assert got[1].tolist() == [0, 1, 2]
