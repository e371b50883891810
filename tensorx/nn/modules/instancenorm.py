"""Instance normalisation."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F
from tensorx.warning import warn

from .batchnorm import _LazyNormBase, _NormBase


class _InstanceNorm(_NormBase):
    """The forward of instance normalisation of inputs (N, C, ...), or (C, ...) of ``ndim`` spatial dimensions."""

    ndim: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() not in (self.ndim + 1, self.ndim + 2):
            raise ValueError(f"expected {self.ndim + 1}D or {self.ndim + 2}D input (got {input.dim()}D input)")

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        dim = input.dim() - self.ndim - 1
        if input.size(dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), "
                    f"but got: {input.size(dim)}."
                )
            warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing "
                "in num_features, which is not used because affine=False")
        batch = input.unsqueeze(0) if dim == 0 else input
        out = F.instance_norm(
            batch,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )
        return out.squeeze(0) if dim == 0 else out

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
        # In version 1 running statistics were kept by default, though they were not asked for.
        if local_metadata.get("version") is None and not self.track_running_stats:
            old = [k for k in (prefix + "running_mean", prefix + "running_var") if k in state_dict]
            if old:
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {' and '.join(map(repr, old))} for {type(self).__name__} with "
                    "track_running_stats=False. Hint: remove them from the state_dict, or make the layer with "
                    "track_running_stats=True"
                )
                for key in old:
                    state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class InstanceNorm1d(_InstanceNorm):
    """Give every channel of every sample of (N, C, L) or (C, L) mean 0 and variance 1, then scale and shift it.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.InstanceNorm1d(1)(tx.tensor([[[1.0, 3.0]]]))
        tensor([[[-1.0000,  1.0000]]])
    """

    ndim = 1


class InstanceNorm2d(_InstanceNorm):
    """:class:`InstanceNorm1d` for (N, C, H, W) or (C, H, W).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.InstanceNorm2d(8)
        InstanceNorm2d(8, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=False)
    """

    ndim = 2


class InstanceNorm3d(_InstanceNorm):
    """:class:`InstanceNorm1d` for (N, C, D, H, W) or (C, D, H, W).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.InstanceNorm3d(2)(tx.ones(2, 1, 2, 2)).shape
        tensorx.Size([2, 1, 2, 2])
    """

    ndim = 3


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """An :class:`InstanceNorm1d` that takes ``num_features`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyInstanceNorm1d()
        >>> y = layer(tx.ones(1, 3, 2))
        >>> layer
        InstanceNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    cls_to_become = InstanceNorm1d
    ndim = 1


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """An :class:`InstanceNorm2d` that takes ``num_features`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyInstanceNorm2d()
        >>> y = layer(tx.ones(1, 3, 2, 2))
        >>> layer
        InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    cls_to_become = InstanceNorm2d
    ndim = 2


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """An :class:`InstanceNorm3d` that takes ``num_features`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyInstanceNorm3d()
        >>> y = layer(tx.ones(1, 3, 2, 2, 2))
        >>> layer
        InstanceNorm3d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    cls_to_become = InstanceNorm3d
    ndim = 3
