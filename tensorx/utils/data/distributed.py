"""PyTorch's module of samplers of several processes."""

from tensorx.data import DistributedSampler

__all__ = ["DistributedSampler"]
