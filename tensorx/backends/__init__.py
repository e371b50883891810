"""Switches of PyTorch's backends, for scripts that set them. They may be set and read; none changes a result here.

>>> import tensorx
>>> tensorx.backends.cudnn.benchmark = True
>>> tensorx.backends.mps.is_available()
False
"""

from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp"]
