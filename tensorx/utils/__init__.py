"""Where PyTorch keeps its helpers."""

from . import data
