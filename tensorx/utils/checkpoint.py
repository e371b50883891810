"""Checkpointing: keep a function's inputs instead of what it saves for backward, and run it again when backward needs
that.
"""

from __future__ import annotations

import contextlib
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import tensorx as tx
from tensorx.amp.autocast_mode import Autocasting
from tensorx.autograd.graph import saved_tensors_hooks
from tensorx.autograd.modes import state
from tensorx.ops.random import get_rng_state, set_rng_state

_early_stop = True


class CheckpointError(RuntimeError):
    """The second run saved something else than the first."""


class _Stop(Exception):
    """The second run has made all that is needed."""


class _Surroundings:
    """Random state and autocast of the first run, for the second."""

    def __init__(self, preserve_rng_state: bool) -> None:
        self.random = get_rng_state() if preserve_rng_state else None
        self.autocast = tuple(m for m in state.stack if isinstance(m, Autocasting))

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """As it was then; the present state comes back afterwards."""
        now, stack = get_rng_state(), state.stack
        state.stack = (*(m for m in stack if not isinstance(m, Autocasting)), *self.autocast)
        if self.random is not None:
            set_rng_state(self.random)
        try:
            with tx.enable_grad():
                yield
        finally:
            state.stack = stack
            if self.random is not None:
                set_rng_state(now)


class _Slot:
    """Stands for one saved tensor."""

    __slots__ = ("__weakref__", "index", "meta")

    def __init__(self, index: int, t: Any) -> None:
        self.index, self.meta = index, (tuple(t.shape), t.dtype, t.device)


class _Frame:
    """One call of `checkpoint`: what to run again, and what it made."""

    def __init__(self, run: Callable[[], Any], around: _Surroundings, context: Any, check: bool) -> None:
        self.run, self.around, self.context, self.check = run, around, context, check
        self.slots: list[weakref.ref[_Slot]] = []
        self.made: dict[int, Any] = {}

    def pack(self, t: Any) -> _Slot:
        slot = _Slot(len(self.slots), t)
        self.slots.append(weakref.ref(slot))
        return slot

    def unpack(self, slot: _Slot) -> Any:
        if slot.index not in self.made:
            self.recompute()
        if slot.index not in self.made:
            raise CheckpointError(
                f"torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                "recomputation.\n"
                f"Number of tensors saved during forward: {len(self.slots)}"
            )
        t = self.made[slot.index]
        meta = tuple(t.shape), t.dtype, t.device
        if self.check and meta != slot.meta:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                "during the forward pass.\n"
                f"tensor at position {slot.index}:\nsaved metadata: {slot.meta}\nrecomputed metadata: {meta}"
            )
        return t

    def recompute(self) -> None:
        count = 0
        wanted = {i for i, ref in enumerate(self.slots) if ref() is not None}
        last = max(wanted)

        def keep(t: Any) -> Any:
            nonlocal count
            index, count = count, count + 1
            if index in wanted:
                self.made[index] = t.detach()
            if _early_stop and index == last:
                raise _Stop
            return t.detach()

        with contextlib.suppress(_Stop), self.around.restored(), self.context, saved_tensors_hooks(keep, lambda t: t):
            self.run()


def _plain(
    function: Callable[..., Any], preserve_rng_state: bool, context_fn: Any, check: bool, args: Any, kwargs: Any
) -> Any:
    if not tx.is_grad_enabled():
        return function(*args, **kwargs)
    first, second = context_fn() if context_fn is not None else (contextlib.nullcontext(), contextlib.nullcontext())
    frame = _Frame(lambda: function(*args, **kwargs), _Surroundings(preserve_rng_state), second, check)
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        return function(*args, **kwargs)


class _Reentrant(tx.autograd.Function):
    """The older form: forward runs without a graph, and backward runs a backward of its own."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        ctx.function, ctx.around = function, _Surroundings(preserve_rng_state)
        ctx.inputs = [None if isinstance(a, tx.Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, tx.Tensor)]
        ctx.save_for_backward(*(a for a in args if isinstance(a, tx.Tensor)))
        with tx.no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        inputs = list(ctx.inputs)
        for place, t in zip(ctx.places, ctx.saved_tensors):
            inputs[place] = t.detach().requires_grad_(t.requires_grad)
        with ctx.around.restored():
            outputs = ctx.function(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, tx.Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        tx.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *(x.grad if isinstance(x, tx.Tensor) else None for x in inputs))


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Any = None,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, whose intermediate results are not kept for backward but computed again there.

    Args:
        function: called once now and once in backward; both calls must do the same.
        use_reentrant: False keeps the graph of the first call (recommended); True runs a backward inside backward, and
            needs an input that
            requires grad. None means True, with a warning, as in PyTorch.
        context_fn: gives two context managers, for the first and the second call (not with ``use_reentrant=True``).
        determinism_check: ``"default"`` compares shapes, dtypes and devices of what both calls save; ``"none"`` does
            not.
        preserve_rng_state: draw the same random numbers in both calls.

    Example:
        >>> import tensorx as tx
        >>> x = tx.ones(2, requires_grad=True)
        >>> tx.utils.checkpoint.checkpoint(lambda x: (x * x).exp(), x, use_reentrant=False).sum().backward()
        >>> x.grad
        tensor([5.4366, 5.4366])
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
            "recommended, but if you need to "
            "preserve the current default behavior, you can pass use_reentrant=True.",
            stacklevel=2,
        )
        use_reentrant = True
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    if not use_reentrant:
        return _plain(function, preserve_rng_state, context_fn, determinism_check == "default", args, kwargs)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not None or debug:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    if tx.is_grad_enabled() and not any(isinstance(a, tx.Tensor) and a.requires_grad for a in args):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)
    return _Reentrant.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """A Sequential (or list of functions) in ``segments`` parts, of which all but the last are checkpointed.

    >>> import tensorx as tx
    >>> x = tx.ones(2, requires_grad=True)
    >>> checkpoint_sequential([tx.exp, tx.sin, tx.exp], 2, x, use_reentrant=False).shape
    tensorx.Size([2])
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    parts = list(functions.children()) if isinstance(functions, tx.nn.Sequential) else list(functions)
    size = len(parts) // segments

    def run(start: int, end: int) -> Callable[[Any], Any]:
        def forward(x: Any) -> Any:
            for f in parts[start:end]:
                x = f(x)
            return x

        return forward

    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(run(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return run(end, len(parts))(input)


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """In the block, the second run ends (or not) as soon as it has made what backward needs."""
    global _early_stop
    kept, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = kept


__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential", "set_checkpoint_early_stop"]
