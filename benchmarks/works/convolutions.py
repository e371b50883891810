"""Convolutions of ResNet-50 (arXiv:1512.03385), MobileNetV2 (arXiv:1801.04381) and U-Net (arXiv:1505.04597)."""

from __future__ import annotations

from typing import Any

from benchmarks.work import Work, both_ways, floats


def _convolution(
    name: str, batch: int, ins: int, outs: int, extent: int, kernel: int, stride: int = 1, groups: int = 1
) -> list[Work]:
    padding = kernel // 2
    size = (extent + 2 * padding - kernel) // stride + 1

    def f(T: Any, x: Any, w: Any) -> Any:
        return T.nn.functional.conv2d(x, w, None, stride=stride, padding=padding, groups=groups)

    flops = 2.0 * batch * outs * (ins // groups) * size**2 * kernel**2
    inputs = lambda: [floats(batch, ins, extent, extent), floats(outs, ins // groups, kernel, kernel, scale=0.1)]  # noqa: E731  # a closure over six numbers
    return both_ways("convolution", name, f, inputs, flops=flops)


def _upwards(T: Any, x: Any, w: Any) -> Any:
    return T.nn.functional.conv_transpose2d(x, w, None, stride=2)


WORKS = [
    *_convolution("ResNet 7 x 7, stride 2, of 3 x 224^2", 4, 3, 64, 224, 7, 2),
    *_convolution("ResNet 3 x 3, 64 of 56^2", 4, 64, 64, 56, 3),
    *_convolution("ResNet 1 x 1, 256 to 64 of 56^2", 4, 256, 64, 56, 1),
    *_convolution("ResNet 3 x 3, stride 2, 128 of 56^2", 4, 128, 128, 56, 3, 2),
    *_convolution("ResNet 3 x 3, 256 of 14^2", 8, 256, 256, 14, 3),
    *_convolution("ResNet 3 x 3, 512 of 7^2", 8, 512, 512, 7, 3),
    *_convolution("MobileNet depthwise 3 x 3, 144 of 56^2", 4, 144, 144, 56, 3, groups=144),
    *_convolution("MobileNet depthwise 3 x 3, stride 2, 144 of 56^2", 4, 144, 144, 56, 3, 2, groups=144),
    *_convolution("MobileNet 1 x 1, 24 to 144 of 56^2", 4, 24, 144, 56, 1),
    *_convolution("U-Net 3 x 3, 64 of 128^2", 1, 64, 64, 128, 3),
    *both_ways("convolution", "U-Net 2 x 2 transposed, 128 to 64 of 64^2", _upwards,
               lambda: [floats(1, 128, 64, 64), floats(128, 64, 2, 2, scale=0.1)], flops=2.0 * 128 * 64 * 64**2 * 4),
]  # fmt: skip
