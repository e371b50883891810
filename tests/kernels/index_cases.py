"""One small case for every template and variant of the index kernels: run as a script under the simulator.

``python index_cases.py NAME`` runs the cases on the OpenCL device whose name holds NAME; ``... NAME broken`` runs a
kernel that writes past its buffer, to prove that the simulator's log says so.
"""

import sys

import index_harness as h
import numpy as np

from tensorx.kernels.spec import Source


def cases(bench: h.Bench) -> None:
    x = np.arange(40, dtype=np.float32).reshape(2, 20) % 7
    for op, acc in (("sum", "f32"), ("max", "f32")):
        for chunk in (0, 8):
            h.scan(bench, op, x, acc, chunk=chunk)
    h.scan(bench, "prod", x.astype(np.float16), "f32", reverse=True)
    rows = np.array([1, -1, 0, 1, 1])
    for code in ("f16", "f32", "c64"):
        table, y = np.ones((3, 4), h.CODES[code]), np.zeros((5, 4), h.CODES[code])
        index = np.broadcast_to(rows[:, None], y.shape)
        h.gather(bench, y, table[0], [index], [3], [4])
        for deterministic in (False, True):
            h.put(bench, np.broadcast_to(table[0], y.shape), y, [index], [3], [4], "add", deterministic, "k")
    bytes_ = np.zeros(3, np.uint8)  # ends inside a 32-bit word
    h.put(bench, np.broadcast_to(bytes_[:1], (5,)), np.ones(5, np.uint8), [rows], [3], [1], "add")
    assert bytes_.tolist() == [1, 3, 1]
    assert h.put(bench, np.broadcast_to(bytes_[:1], (5,)), np.ones(5, np.uint8), [rows + 2], [3], [1])[0] == 7
    for width in (20, 40):
        h.sort(
            bench, np.arange(2 * width, dtype=np.float16).reshape(2, width)[:, ::-1], descending=width == 20, chunk=8
        )
    h.nonzero(bench, x > 3)


def broken(bench: h.Bench) -> None:
    text = "__kernel void f(__global int *y) { y[get_global_id(0) + 1] = 1; }"
    device = bench.runtime
    kernel = device.load(device.build(Source(text, (("f", ()),))), Source(text, (("f", ()),)))["f"][0]
    kernel(device.queue, (4,), (4,), device.alloc(16))
    device.synchronize()


if __name__ == "__main__":
    (broken if sys.argv[2:] == ["broken"] else cases)(h.Bench(h.PlainOpenCL(sys.argv[1])))
