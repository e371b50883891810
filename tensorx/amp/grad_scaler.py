"""GradScaler: the loss is scaled up so that small float16 gradients do not vanish, and a step whose gradients overflow
is skipped.
"""

from __future__ import annotations

import enum
import warnings
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import tensorx as tx
from tensorx.amp.autocast_mode import is_autocast_available
from tensorx.ops.reduction import all_finite


class OptState(enum.Enum):
    """How far an optimiser is in its iteration."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _fresh() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scales losses, unscales gradients before the step, and adapts the scale.

    Args:
        device: the type of device on which the scale lives (``"cpu"``, ``"cuda"``, ``"opencl"``).
        init_scale: the first scale.
        growth_factor: what the scale is multiplied by after ``growth_interval`` iterations without overflow.
        backoff_factor: what it is multiplied by after an overflow.
        growth_interval: see above.
        enabled: False makes every method pass through.

    Raises RuntimeError when `unscale_` or `step` are called twice in an iteration, ValueError for float16 gradients.

    Example:
        >>> import tensorx as tx
        >>> w = tx.ones(1, requires_grad=True)
        >>> optimizer, scaler = tx.optim.SGD([w], lr=0.5), tx.amp.GradScaler("cpu")
        >>> scaler.scale((w * w).sum()).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> w.tolist(), scaler.get_scale()
        ([0.0], 65536.0)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and not is_autocast_available(device):
            warnings.warn(
                f"torch.{device}.amp.GradScaler is enabled, but {device.upper()} is not available.  Disabling.",
                stacklevel=2,
            )
            self._enabled = False
        if not self._enabled:
            return
        if not growth_factor > 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if not backoff_factor < 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._init_growth_tracker = init_scale, 0
        self._scale: Any = None  # made on the device of the first loss, which may be any
        self._growth_tracker = 0
        self._growth_factor, self._backoff_factor, self._growth_interval = (
            growth_factor,
            backoff_factor,
            growth_interval,
        )
        self._per_optimizer_states: defaultdict[int, dict[str, Any]] = defaultdict(_fresh)

    def _lazy_init(self, device: Any) -> None:
        self._scale = tx.full((), self._init_scale, dtype=tx.float32, device=device)
        self._growth_tracker = self._init_growth_tracker

    def _check_scale(self, where: str) -> Any:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {where} but _scale is None.  This may indicate your script did not use scaler.scale(loss "
                "or outputs) earlier in the iteration."
            )
        return self._scale

    def scale(self, outputs: Any) -> Any:
        """``outputs`` (a tensor, or an iterable of such, nested) times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, tx.Tensor):
            if self._scale is None:
                self._lazy_init(outputs.device)
            return outputs * self._scale.to(outputs.device)
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled  # type: ignore[call-arg]
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _unscale_grads(self, optimizer: Any, inverse: Any) -> dict[Any, Any]:
        """Multiply all gradients by ``inverse``; for each device, a tensor with 1.0 if one was not finite."""
        finite: dict[Any, list[Any]] = {}
        factors = {inverse.device: inverse}
        with tx.no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    grad = p.grad
                    if grad is None:
                        continue
                    if grad.dtype is tx.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    if grad.device not in factors:
                        factors[grad.device] = inverse.to(grad.device)
                    finite.setdefault(grad.device, []).append(all_finite(grad))
                    grad.mul_(factors[grad.device])
            return {d: 1.0 - tx.stack(flags).all().to(tx.float32) for d, flags in finite.items()}

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of ``optimizer`` by the scale now, for instance to clip them before `step`."""
        if not self._enabled:
            return
        scale = self._check_scale("unscale_")
        found = self._per_optimizer_states[id(optimizer)]
        if found["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if found["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        found["found_inf_per_device"] = self._unscale_grads(
            optimizer, scale.double().reciprocal().float() if _has_f64(scale) else scale.reciprocal()
        )
        found["stage"] = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)`` with unscaled gradients; nothing if one of them is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale("step")
        found = self._per_optimizer_states[id(optimizer)]
        if found["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if found["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not found["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        overflow = any(flag.item() for flag in found["found_inf_per_device"].values())
        result = None if overflow else optimizer.step(*args, **kwargs)
        found["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale: Any = None) -> None:
        """Adapt the scale (or set it): once an iteration, after all steps."""
        if not self._enabled:
            return
        scale = self._check_scale("update")
        if new_scale is not None:
            if isinstance(new_scale, tx.Tensor) and (new_scale.numel() != 1 or new_scale.requires_grad):
                raise AssertionError("new_scale should be a float or a 1-element tensor with requires_grad=False.")
            scale.copy_(new_scale.reshape(())) if isinstance(new_scale, tx.Tensor) else scale.fill_(float(new_scale))
        else:
            flags = [f for s in self._per_optimizer_states.values() for f in s["found_inf_per_device"].values()]
            if not flags:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(scale, any(flag.item() for flag in flags))
        self._per_optimizer_states = defaultdict(_fresh)

    def _adapt(self, scale: Any, overflow: bool) -> None:
        if overflow:
            scale.mul_(self._backoff_factor)
            self._growth_tracker = 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            self._growth_tracker = 0
            grown = scale * self._growth_factor
            if all_finite(grown).item():  # the scale itself must not overflow
                scale.copy_(grown)

    def get_scale(self) -> float:
        """The scale as a number: waits for the device."""
        if not self._enabled:
            return 1.0
        return float(self._init_scale if self._scale is None else self._scale.item())

    def get_growth_factor(self) -> float:
        """What the scale grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by after an overflow."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by after an overflow."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Iterations without overflow after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the iterations without overflow after which the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        return (self._init_growth_tracker if self._scale is None else self._growth_tracker) if self._enabled else 0

    def is_enabled(self) -> bool:
        """Whether this scaler does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The state as plain numbers; empty for a disabled scaler."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state that `state_dict` gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = self._growth_tracker = state_dict["_growth_tracker"]

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after "
                    "scaler.update()."
                )
            state |= {
                "_init_scale": self.get_scale(),
                "_init_growth_tracker": self._get_growth_tracker(),
                "_scale": None,
            }
        return state


def _has_f64(t: Any) -> bool:
    """Whether the device of ``t`` holds float64, in which the inverse of the scale is taken as PyTorch does."""
    from tensorx.devices import registry

    return bool(registry.open(t.device).capabilities.supports("f64"))
