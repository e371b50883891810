"""Short-time Fourier transform and its inverse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx.errors import ShapeError
from tensorx.ops.families import composite
from tensorx.ops.fourier import c2c, c2r, r2c
from tensorx.ops.joining import cat
from tensorx.tensor import Tensor


def _flipped(x: Tensor, left: int, right: int) -> Tensor:
    n = x._shape[-1]
    if max(left, right) >= n:
        raise ShapeError(f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding ({left}, {right}) at dimension {x.dim() - 1} "
                         f"of input {list(x._shape)}")
    return cat((x.narrow(-1, 1, left).flip((-1,)), x, x.narrow(-1, n - 1 - right, right).flip((-1,))), -1)  # type: ignore[no-any-return]


def padded(x: Tensor, left: int, right: int, mode: str) -> Tensor:
    """``x`` longer along its last dimension."""
    if not left and not right:
        return x
    if mode == "reflect":
        return _flipped(x, left, right)
    head, n = x._shape[:-1], x._shape[-1]
    if mode == "constant":
        ends = (x.new_zeros((*head, left)), x.new_zeros((*head, right)))
    elif mode == "replicate":
        ends = (x.narrow(-1, 0, 1).expand((*head, left)), x.narrow(-1, n - 1, 1).expand((*head, right)))
    elif mode == "circular":
        ends = (x.narrow(-1, n - left, left), x.narrow(-1, 0, right))
    else:
        raise NotImplementedError(f"stft: argument 'pad_mode' must be 'reflect', 'constant', 'replicate' or 'circular'; got {mode!r}")
    return cat((ends[0], x, ends[1]), -1)  # type: ignore[no-any-return]


def _sizes(name: str, n_fft: int, hop: int | None, win: int | None, window: Tensor | None) -> tuple[int, int]:
    hop, win = n_fft // 4 if hop is None else hop, n_fft if win is None else win
    if hop <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < win <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={win}")
    if window is not None and window._shape != (win,):
        raise ShapeError(f"{name}: expected a 1D window tensor of size equal to win_length={win}, but got window with size {list(window._shape)}")
    return hop, win


def _window(window: Tensor, n_fft: int) -> Tensor:
    """The window in the middle of ``n_fft`` points."""
    left = (n_fft - window._shape[0]) // 2
    return padded(window, left, n_fft - window._shape[0] - left, "constant")


def _np_stft(x: Any, n_fft: int, hop_length: Any = None, win_length: Any = None, window: Any = None, center: bool = True, pad_mode: Any = "reflect",
             normalized: bool = False, onesided: Any = None, return_complex: Any = None, align_to_window: Any = None) -> Any:
    hop, win = hop_length or n_fft // 4, win_length or n_fft
    left = (n_fft - win) // 2
    w = np.pad(np.ones(win) if window is None else window, (left, n_fft - win - left))
    x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)], mode=pad_mode) if center else x
    frames = np.stack([x[..., i:i + n_fft] * w for i in range(0, x.shape[-1] - n_fft + 1, hop)], -1)
    return (np.fft.fft if np.iscomplexobj(frames) or onesided is False else np.fft.rfft)(frames, axis=-2, norm="ortho" if normalized else None)


def _signals(t: Any) -> Any:
    wide = t.dtype.itemsize > 2
    return [(t((2, 12)), 4, {"return_complex": True}), (t((12,)), 4, 1, 2, t((2,), 1, 2), {"normalized": True, "return_complex": True})] if wide else []


@composite("stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, str pad_mode='reflect', bool normalized=False, "
           "bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor", dtypes="fc", ulp=64.0, ref=_np_stft, samples=_signals,
           doc="Fourier transforms of overlapping frames of a signal: frequencies by frames.")
def stft(x: Tensor, n_fft: int, hop: int | None, win: int | None, window: Tensor | None, center: bool, pad_mode: str, normalized: bool, onesided: bool | None,
         return_complex: bool | None, align: bool | None) -> Any:
    is_complex = x.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if return_complex is None:
        if not is_complex:
            raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further require that return_complex=True in a future PyTorch release.")
        return_complex = True
    if center and align is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if x.dim() not in (1, 2):
        raise ShapeError(f"stft: expected a 1D or 2D tensor; got {x.dim()}D")
    lone = x.dim() == 1
    x = x.unsqueeze(0) if lone else x
    hop, win = _sizes("stft", n_fft, hop, win, window)
    edge = n_fft // 2 if center else (n_fft - win) // 2 if align else 0
    x = padded(x, edge, edge, pad_mode if center else "constant")
    if not 0 < n_fft <= x._shape[-1]:
        raise RuntimeError(f"stft: expected 0 < n_fft < {x._shape[-1]}, but got n_fft={n_fft}")
    if window is None and win < n_fft:
        window = x.new_ones((win,), dtype=x.dtype.real)
    frames = x.unfold(-1, n_fft, hop)
    frames = frames if window is None else frames * _window(window, n_fft)
    scale = 1 / math.sqrt(n_fft) if normalized else 1.0
    if onesided is None:
        onesided = not is_complex
    if is_complex and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    y = r2c(frames, (2,), scale) if onesided else c2c(frames.to(frames.dtype.to_complex()), (2,), scale, True)
    y = y.transpose(1, 2)
    y = y.squeeze(0) if lone else y
    return y if return_complex else _pairs(y)


def _pairs(y: Tensor) -> Any:
    from tensorx.ops.complexes import view_as_real
    return view_as_real(y)


def _overlapped(frames: Tensor, hop: int, length: int) -> Tensor:
    """Frames [..., count, n] added up where they overlap."""
    count, n = frames._shape[-2:]
    place = frames.new_tensor((np.arange(count)[:, None] * hop + np.arange(n)).reshape(-1), dtype=_int64())
    head = frames._shape[:-2]
    return frames.new_zeros((*head, length)).index_add(len(head), place, frames.reshape(*head, count * n))  # type: ignore[no-any-return]


def _int64() -> Any:
    from tensorx import dtypes
    return dtypes.int64


def _np_istft(*args: Any, **kwargs: Any) -> Any:
    x, n_fft, hop = args
    frames = np.fft.irfft(x, n_fft, axis=-2)
    total = np.zeros((*x.shape[:-2], n_fft + hop * (x.shape[-1] - 1)))
    count = np.zeros(total.shape[-1])
    for i in range(x.shape[-1]):
        total[..., i * hop:i * hop + n_fft] += frames[..., i]
        count[i * hop:i * hop + n_fft] += 1
    return (total / count)[..., n_fft // 2:-(n_fft // 2)]


@composite("istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, "
           "int? length=None, bool return_complex=False) -> Tensor", dtypes="c", ulp=64.0, ref=_np_istft, samples=lambda t: [(t((5, 3)), 8, 4), (t((2, 3, 4)), 4, 2)],
           doc="The signal whose overlapping frames have these Fourier transforms, by least squares.")
def istft(x: Tensor, n_fft: int, hop: int | None, win: int | None, window: Tensor | None, center: bool, normalized: bool, onesided: bool | None, length: int | None,
          return_complex: bool) -> Any:
    if not x.dtype.is_complex:
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
    if x.dim() not in (2, 3) or not x.numel():
        raise ShapeError(f"istft: expected a tensor with 2 or 3 dimensions and at least one element; got shape {tuple(x._shape)}")
    lone = x.dim() == 2
    x = (x.unsqueeze(0) if lone else x).transpose(1, 2)
    hop, win = _sizes("istft", n_fft, hop, win, window)
    count, have = x._shape[-2:]
    if onesided is None:
        onesided = have != n_fft
    if have != (n_fft // 2 + 1 if onesided else n_fft):
        raise ShapeError(f"istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft {'/ 2 + 1 ' if onesided else ''}"
                         f"when onesided={onesided}, but got {have}")
    if return_complex and onesided:
        raise RuntimeError("cannot have onesided output if window or input is complex; return_complex is for two-sided transforms")
    scale = 1 / math.sqrt(n_fft) if normalized else 1 / n_fft
    # of a two-sided transform of a real signal PyTorch reads one half
    frames = c2c(x, (2,), scale, False) if return_complex else c2r(x.narrow(-1, 0, n_fft // 2 + 1), (2,), scale, n_fft)
    window = _window(x.new_ones((win,), dtype=x.dtype.real) if window is None else window, n_fft)
    total = n_fft + hop * (count - 1)
    start = n_fft // 2 if center else 0
    end = min(total, start + length) if length is not None else total - start
    y = _overlapped(frames * window, hop, total).narrow(-1, start, end - start)
    weight = _overlapped((window * window).expand((count, n_fft)), hop, total).narrow(-1, start, end - start)
    if weight.numel() and float(weight.abs().min().item()) < 1e-11:  # PyTorch reads it back, too
        raise RuntimeError("istft: window overlap add min: the window must not vanish over a part of the signal. Hint: use center=True, or another window")
    y = y / weight
    if length is not None and length > end - start:
        y = padded(y, 0, length - (end - start), "constant")
    return y.squeeze(0) if lone else y
