"""Modules as functions of their parameters (PyTorch's ``torch.func``)."""

from tensorx.nn.utils.stateless import functional_call

__all__ = ["functional_call"]
