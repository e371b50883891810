"""Datasets, samplers, collating, loaders."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import tensorx as tx
from tensorx.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    digits,
    random_split,
)

Pair = namedtuple("Pair", "a b")


class Squares(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        return i, float(i * i)


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(5))


def numbers(loader):
    return [batch.tolist() for batch in loader]


def test_loader_batches():
    batches = list(DataLoader(Squares(), batch_size=4))
    assert [b[0].tolist() for b in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert batches[0][0].dtype is tx.int64
    assert batches[0][1].dtype is tx.float64
    assert len(DataLoader(Squares(), batch_size=4)) == 3
    assert len(DataLoader(Squares(), batch_size=4, drop_last=True)) == 2
    assert len(list(DataLoader(Squares(), batch_size=4, drop_last=True))) == 2


def test_loader_shuffles_by_its_generator():
    def order(seed):
        loader = DataLoader(range(20), 5, shuffle=True, generator=tx.Generator().manual_seed(seed))
        return [i for batch in numbers(loader) for i in batch]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert sorted(order(1)) == list(range(20))


def test_loader_shuffles_by_the_global_seed():
    loader = DataLoader(range(20), 20, shuffle=True)
    tx.manual_seed(4)
    first, second = numbers(loader), numbers(loader)
    tx.manual_seed(4)
    assert numbers(loader) == first
    assert first != second


def test_loader_without_batches():
    assert list(DataLoader([3, "a"], batch_size=None)) == [3, "a"]
    table = TensorDataset(tx.arange(10))
    sampler = BatchSampler(range(10), 4, drop_last=False)
    assert [b[0].tolist() for b in DataLoader(table, batch_size=None, sampler=sampler)] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9],
    ]


def test_loader_of_a_stream():
    assert numbers(DataLoader(Stream(), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert numbers(DataLoader(Stream(), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="shuffle"):
        DataLoader(Stream(), shuffle=True)


def test_loader_arguments():
    with pytest.raises(ValueError, match="mutually exclusive"):
        DataLoader(Squares(), shuffle=True, sampler=[1])
    with pytest.raises(ValueError, match="mutually exclusive"):
        DataLoader(Squares(), batch_sampler=[[1]], batch_size=3)
    with pytest.raises(ValueError, match="mutually exclusive"):
        DataLoader(Squares(), batch_size=None, drop_last=True)
    with pytest.raises(ValueError, match="positive"):
        DataLoader(Squares(), batch_size=0)
    assert numbers(DataLoader(range(5), batch_sampler=[[0, 4], [1]])) == [[0, 4], [1]]
    for options, error, message in (
        ({"num_workers": -1}, ValueError, "num_workers option should be non-negative"),
        ({"timeout": -1}, ValueError, "timeout option should be non-negative"),
        ({"prefetch_factor": 2}, ValueError, "prefetch_factor option could only be specified in multiprocessing"),
        ({"num_workers": 1, "prefetch_factor": -1}, ValueError, "prefetch_factor option should be non-negative"),
        ({"persistent_workers": True}, ValueError, "persistent_workers option needs num_workers > 0"),
        ({"num_workers": 1, "multiprocessing_context": "x"}, ValueError, "should specify a valid start method"),
        ({"num_workers": 1, "multiprocessing_context": 3}, TypeError, "valid context object or a string"),
        ({"multiprocessing_context": "spawn"}, ValueError, "can only be used with multi-process loading"),
    ):
        with pytest.raises(error, match=message):
            DataLoader(Squares(), **options)
    loader = DataLoader(Squares(), pin_memory=True, pin_memory_device="cuda")
    for name in ("batch_size", "sampler", "batch_sampler", "drop_last", "dataset", "persistent_workers"):
        with pytest.raises(ValueError, match="should not be set after DataLoader is initialized"):
            setattr(loader, name, None)


def test_own_collate_and_getitems():
    class Batched(Squares):
        def __getitems__(self, indices):
            return [("batch", i) for i in indices]

    loader = DataLoader(Batched(), batch_size=5, collate_fn=list)
    assert next(iter(loader)) == [("batch", i) for i in range(5)]


def test_collate():
    assert default_collate([tx.ones(2), tx.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert default_collate([np.ones(2, np.float32)] * 2).dtype is tx.float32
    assert default_collate([np.float32(1), np.float32(2)]).dtype is tx.float32
    assert default_collate([True, False]).dtype is tx.bool
    got = default_collate([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
    assert got["a"].tolist() == [1, 2]
    assert got["b"] == ["x", "y"]
    pair = default_collate([Pair(1, 2.0), Pair(3, 4.0)])
    assert isinstance(pair, Pair)
    assert pair.b.tolist() == [2.0, 4.0]
    nested = default_collate([[1, [2]], [3, [4]]])
    assert [nested[0].tolist(), nested[1][0].tolist()] == [[1, 3], [2, 4]]
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([[1], [1, 2]])
    with pytest.raises(TypeError, match="must contain"):
        default_collate([object()])


def test_convert():
    assert default_convert(np.ones(2)).dtype is tx.float64
    assert default_convert({"a": np.int64(3)})["a"].item() == 3
    assert default_convert("text") == "text"


def test_datasets():
    table = TensorDataset(tx.arange(4), tx.ones(4))
    assert [t.item() for t in table[3]] == [3, 1.0]
    with pytest.raises(AssertionError, match="Size mismatch"):
        TensorDataset(tx.ones(2), tx.ones(3))
    both = ConcatDataset([[0, 1], [2]]) + [3]
    assert [both[i] for i in range(4)] == [0, 1, 2, 3]
    assert both[-1] == 3
    part = Subset(Squares(), [3, 4])
    assert len(part) == 2
    assert part[1] == (4, 16.0)
    assert part.__getitems__([0, 1]) == [(3, 9.0), (4, 16.0)]


def test_random_split():
    parts = random_split(range(10), [7, 3], generator=tx.Generator().manual_seed(0))
    assert sorted([*parts[0], *parts[1]]) == list(range(10))
    assert [len(p) for p in random_split(range(10), [0.5, 0.25, 0.25])] == [6, 2, 2]
    with pytest.raises(ValueError, match="Sum of input lengths"):
        random_split(range(10), [3, 3])


def test_samplers():
    assert sorted(RandomSampler(range(6))) == list(range(6))
    assert len(list(RandomSampler(range(3), num_samples=7))) == 7
    drawn = list(RandomSampler(range(3), replacement=True, num_samples=50))
    assert set(drawn) <= {0, 1, 2}
    assert sorted(SubsetRandomSampler([5, 7])) == [5, 7]
    with pytest.raises(ValueError, match="num_samples"):
        RandomSampler(range(3), num_samples=0)
    assert len(BatchSampler(range(5), 2, drop_last=True)) == 2


def test_stacked_datasets():
    pairs = StackDataset([1, 2, 3], "abc")
    assert (len(pairs), pairs[1]) == (3, (2, "b"))
    named = StackDataset(x=Subset(range(10, 20), [3, 5, 7]), y="abc")
    assert named[-1] == {"x": 17, "y": "c"}
    (batch,) = DataLoader(named, batch_size=3)
    assert batch["x"].tolist() == [13, 15, 17]
    assert batch["y"] == ["a", "b", "c"]

    class Short:
        def __len__(self):
            return 2

        def __getitems__(self, indices):
            return [0]

    with pytest.raises(ValueError, match=r"output size mismatch\. Expected 2, got 1"):
        StackDataset(Short()).__getitems__([0, 1])
    for args, options, message in (
        ((), {}, "At least one dataset"),
        (([1], [1, 2]), {}, "Size mismatch between datasets"),
        (([1],), {"x": [1]}, "both types are given"),
    ):
        with pytest.raises(ValueError, match=message):
            StackDataset(*args, **options)


def test_weighted_sampler():
    tx.manual_seed(0)
    drawn = list(WeightedRandomSampler([0.0, 3.0, 1.0], 4000))
    assert set(drawn) == {1, 2}
    assert 2900 < drawn.count(1) < 3100
    assert sorted(WeightedRandomSampler(tx.tensor([1.0, 0.0, 2.0]), 2, replacement=False)) == [0, 2]
    sampler = WeightedRandomSampler([1.0] * 9, 5, generator=tx.Generator().manual_seed(3))
    again = WeightedRandomSampler([1.0] * 9, 5, generator=tx.Generator().manual_seed(3))
    assert list(sampler) == list(again)
    assert len(sampler) == 5
    for args, message in (
        (([[1.0]], 5), "should be a 1d sequence"),
        (([1.0], 0), "num_samples"),
        (([1.0], 2, 1), "replacement should be a boolean"),
    ):
        with pytest.raises(ValueError, match=message):
            WeightedRandomSampler(*args)


@pytest.mark.parametrize("n", [1, 3, 10, 11])
def test_distributed_sampler(n):
    def parts(**options):
        return [DistributedSampler(range(n), 4, rank, **options) for rank in range(4)]

    whole = [list(part) for part in parts()]
    assert {len(part) for part in whole} == {-(-n // 4)} == {len(part) for part in parts()}
    assert {i for part in whole for i in part} == set(range(n))
    kept = [i for part in parts(drop_last=True) for i in part]
    assert len(kept) == n // 4 * 4 == len(set(kept))
    assert list(parts(shuffle=False)[0])[:1] == [0]
    moved = parts()
    for part in moved:
        part.set_epoch(1)
    assert {i for part in moved for i in part} == set(range(n))
    if n > 3:
        assert [list(part) for part in moved] != whole
    for args in ((4, 4), (4, -1)):
        with pytest.raises(ValueError, match="Invalid rank"):
            DistributedSampler(range(n), *args)
    with pytest.raises(ValueError, match="num_replicas"):
        DistributedSampler(range(n))


def test_default_device_does_not_matter(device):
    def order():
        tx.manual_seed(11)
        return numbers(DataLoader(range(8), 8, shuffle=True))

    with device:
        there = order()
    assert there == order()


def test_also_under_utils():
    import tensorx.utils.data

    assert tensorx.utils.data.DataLoader is DataLoader
    assert tensorx.utils.data.dataloader.DataLoader is DataLoader
    assert tensorx.utils.data.dataset.Subset is Subset
    assert tensorx.utils.data.sampler.RandomSampler is RandomSampler
    assert tensorx.utils.data.distributed.DistributedSampler is DistributedSampler


def test_digits(device):
    images, labels = digits.arrays()
    assert images.shape == (1797, 8, 8)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    train, test = digits.load(device)
    assert len(train) == 1437
    assert len(test) == 360
    assert train.tensors[0].device == device
    x, y = test[1]  # image 5
    assert x.shape == (1, 8, 8)
    assert y.item() == int(labels[5])
    assert (x[0] * 16).tolist() == images[5].tolist()
