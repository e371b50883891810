"""Generated matrix products and convolutions (BLAS off) beside NumPy's OpenBLAS and torch, in turns in one process.

The cores' other users, and OPENBLAS_CORETYPE or OPENBLAS_L2_SIZE in the environment, change OpenBLAS's figure: unset
the two before reading the ratios.
"""

from __future__ import annotations

import importlib.util
import os

import numpy as np

from benchmarks import harness

DEVICES = ("cpu", "opencl:intel", "opencl:pocl")
#: (m, n, k, a transposed, b transposed)
PRODUCTS = [
    (1024, 1024, 1024, False, False),
    (1024, 1024, 1024, False, True),
    (256, 256, 256, False, False),
    (64, 512, 4096, False, True),
    (32, 10000, 64, False, False),
    (1, 4096, 4096, False, True),
    (1, 4096, 4096, False, False),
]
#: (batch, channels in, out, extent, kernel, stride, padding)
CONVOLUTIONS = [(4, 64, 64, 56, 3, 1, 1), (4, 128, 128, 28, 3, 2, 1), (4, 64, 256, 56, 1, 1, 0)]


def array(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32)


def view(x: np.ndarray):
    from tensorx.kernels.contraction import View

    return View("f32", x.shape, tuple(s // 4 for s in x.strides))


def launcher(name: str, calls, arrays) -> harness.Loop:
    """A loop over launches of ``calls`` on a device, whose buffers hold ``arrays`` as they lie in memory."""
    from tensorx.devices import registry
    from tensorx.ops import build

    device = registry.device(name)
    runtime = registry.open(device)
    pairs = []
    for x in arrays:
        buffer = runtime.alloc(x.nbytes)
        runtime.copy_in(buffer, 0, x if x.flags.c_contiguous else x.T)
        pairs.append((buffer, 0))
    ready = [
        (build.kernel(device, call.spec), call.grid, call.arguments(pairs)) for call in calls(runtime.capabilities)
    ]

    def loop(n: int) -> None:
        for _ in range(n):
            for kernel, grid, args in ready:
                runtime.launch(kernel, grid, args)
        runtime.synchronize()

    return loop


def product(devices: list[str], m: int, n: int, k: int, turned_a: bool, turned_b: bool) -> None:
    from tensorx.kernels.contraction import matmul

    a = array(k, m).T if turned_a else array(m, k)
    b = array(n, k).T if turned_b else array(k, n)
    y = np.zeros((m, n), np.float32)

    def numpy_matmul(count: int) -> None:
        for _ in range(count):
            np.matmul(a, b, out=y)

    cases: dict[str, harness.Loop] = {"numpy": numpy_matmul}
    for name in devices:
        cases[name] = launcher(name, lambda caps: [matmul(caps, view(y), view(a), view(b))], (y, a, b))
    print(f" {m} x {n} x {k}{', a transposed' * turned_a}{', b transposed' * turned_b}")
    harness.report(harness.interleave(cases), "numpy", flops=2 * m * n * k)


def convolution(devices: list[str], shape: tuple[int, ...]) -> None:
    from tensorx.kernels.convolution import Window, convolution_data, convolution_forward, convolution_weight

    batch, ins, outs, extent, kernel, stride, padding = shape
    size = (extent + 2 * padding - kernel) // stride + 1
    x, w, y = array(batch, ins, extent, extent), array(outs, ins, kernel, kernel), array(batch, outs, size, size)
    window = Window((stride,) * 2, (padding,) * 2, (1, 1))
    directions = {
        "forward": (lambda caps: convolution_forward(caps, view(y), view(x), view(w), window), (y, x, w)),
        "data": (lambda caps: convolution_data(caps, view(x), view(y), view(w), window), (x, y, w)),
        "weight": (lambda caps: convolution_weight(caps, view(w), view(x), view(y), window), (w, x, y)),
    }
    for direction, (calls, arrays) in directions.items():
        cases = dict(torch_convolution(direction, x, w, y, stride, padding))
        cases |= {name: launcher(name, calls, arrays) for name in devices}
        print(f" {direction} of {batch} x {ins} x {extent}^2, {outs} kernels {kernel}^2, stride {stride}")
        flops = 2 * batch * outs * ins * size**2 * kernel**2
        harness.report(harness.interleave(cases, rounds=7), "torch", flops=flops)


def torch_convolution(direction: str, x, w, y, stride: int, padding: int):
    """Yield torch's case if torch is here."""
    if not importlib.util.find_spec("torch"):
        return
    import torch

    tx, tw, ty = (torch.from_numpy(array) for array in (x, w, y))
    flags = [direction == "data", direction == "weight", False]

    def loop(n: int) -> None:
        for _ in range(n):
            if direction == "forward":
                torch.nn.functional.conv2d(tx, tw, None, stride, padding)
            else:
                torch.ops.aten.convolution_backward(
                    ty, tx, tw, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], 1, flags
                )

    yield "torch", loop


def main(devices: list[str]) -> None:
    for word in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        if word in os.environ:
            print(f"  {word} is set: OpenBLAS may be slower than it can be")
    for case in PRODUCTS:
        product(devices, *case)
    for shape in CONVOLUTIONS:
        convolution(devices, shape)
