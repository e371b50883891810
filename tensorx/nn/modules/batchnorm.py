"""Batch normalisation."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.nn import functional as F
from tensorx.nn import init
from tensorx.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter, is_lazy

from .lazy import LazyModuleMixin
from .module import Module


class _NormBase(Module):
    """What batch and instance normalisation share: scale and shift by channel, running statistics, and repr."""

    _version = 2  # state of version 1 has no num_batches_tracked
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        kind: dict[str, Any] = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(tx.empty(num_features, **kind)) if affine else None)
        self.register_parameter("bias", Parameter(tx.empty(num_features, **kind)) if affine and bias else None)
        tracks = track_running_stats
        self.register_buffer("running_mean", tx.zeros(num_features, **kind) if tracks else None)
        self.register_buffer("running_var", tx.ones(num_features, **kind) if tracks else None)
        count = tx.tensor(0, dtype=tx.int64, device=device) if tracks else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Mean zero, variance one, no batches seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Weight one, bias zero, running statistics as at the start."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Any) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        key, version = prefix + "num_batches_tracked", local_metadata.get("version")
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            known = self.num_batches_tracked is not None and self.num_batches_tracked.device.type != "meta"
            state_dict[key] = self.num_batches_tracked if known else tx.tensor(0, dtype=tx.int64)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class _BatchNorm(_NormBase):
    """The forward of batch normalisation, for any number of spatial dimensions."""

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        return self._normalize(input)

    def _normalize(self, input: Any) -> Any:
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the cumulative average
                factor = 1.0 / float(self.num_batches_tracked)
        running = (self.running_mean, self.running_var)
        from_batch = self.training or (running[0] is None and running[1] is None)
        if self.training and not self.track_running_stats:
            running = (None, None)
        return F.batch_norm(input, *running, self.weight, self.bias, from_batch, factor, self.eps)


def _check_dims(input: Any, *wanted: int) -> None:
    if input.dim() not in wanted:
        raise ValueError(f"expected {' or '.join(f'{n}D' for n in wanted)} input (got {input.dim()}D input)")


class BatchNorm1d(_BatchNorm):
    """Give every channel of (N, C) or (N, C, L) mean 0 and variance 1 over the batch, then scale and shift by channel.

    In training the statistics are the batch's, and running averages of them are kept; in evaluation those are used.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.BatchNorm1d(1)(tx.tensor([[1.0], [3.0]])).detach()
        tensor([[-1.0000],
                [ 1.0000]])
    """

    def _check_input_dim(self, input: Any) -> None:
        _check_dims(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """:class:`BatchNorm1d` for (N, C, H, W).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.BatchNorm2d(8)
        BatchNorm2d(8, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    def _check_input_dim(self, input: Any) -> None:
        _check_dims(input, 4)


class BatchNorm3d(_BatchNorm):
    """:class:`BatchNorm1d` for (N, C, D, H, W).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.BatchNorm3d(2)(tx.ones(2, 2, 1, 2, 2)).shape
        tensorx.Size([2, 2, 1, 2, 2])
    """

    def _check_input_dim(self, input: Any) -> None:
        _check_dims(input, 5)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all processes of a group; in a single process the same as :class:`BatchNorm1d`.

    Input is (N, C, ...). There are no process groups in this version: ``process_group`` must be None.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.SyncBatchNorm(1)(tx.tensor([[1.0], [3.0]])).detach()
        tensor([[-1.0000],
                [ 1.0000]])
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        if process_group is not None:
            raise NotImplementedError("SyncBatchNorm: argument 'process_group' must be None: there is one process.")
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """``module`` with every BatchNorm in it replaced by a SyncBatchNorm of the same parameters and statistics.

        Example:
            >>> import tensorx as tx
            >>> type(tx.nn.SyncBatchNorm.convert_sync_batchnorm(tx.nn.BatchNorm2d(3))).__name__
            'SyncBatchNorm'
        """
        made = module
        if isinstance(module, _BatchNorm):
            settings = (module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats)
            made = cls(*settings, process_group, bias=module.bias is not None)
            if module.affine:
                made.weight, made.bias = module.weight, module.bias
            made.running_mean, made.running_var = module.running_mean, module.running_var
            made.num_batches_tracked, made.training = module.num_batches_tracked, module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """What the lazy batch and instance normalisations share: ``num_features`` comes from the first input."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        kind: dict[str, Any] = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**kind)
            if bias:
                self.bias = UninitializedParameter(**kind)
        if track_running_stats:
            self.running_mean, self.running_var = UninitializedBuffer(**kind), UninitializedBuffer(**kind)
            self.num_batches_tracked = tx.tensor(0, dtype=tx.int64, device=device)

    def reset_parameters(self) -> None:
        """Weight one, bias zero, running statistics as at the start, once there are any."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Parameters for inputs with the channels of ``input``."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for value in (self.weight, self.bias, self.running_mean, self.running_var):
                if is_lazy(value):
                    value.materialize((self.num_features,))
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A :class:`BatchNorm1d` that takes ``num_features`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyBatchNorm1d()
        >>> y = layer(tx.ones(2, 3))
        >>> layer
        BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    cls_to_become = BatchNorm1d

    def _check_input_dim(self, input: Any) -> None:
        _check_dims(input, 2, 3)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A :class:`BatchNorm2d` that takes ``num_features`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyBatchNorm2d()
        >>> y = layer(tx.ones(2, 3, 1, 1))
        >>> layer
        BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    cls_to_become = BatchNorm2d

    def _check_input_dim(self, input: Any) -> None:
        _check_dims(input, 4)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A :class:`BatchNorm3d` that takes ``num_features`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyBatchNorm3d()
        >>> y = layer(tx.ones(2, 3, 1, 1, 1))
        >>> layer
        BatchNorm3d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    cls_to_become = BatchNorm3d

    def _check_input_dim(self, input: Any) -> None:
        _check_dims(input, 5)
