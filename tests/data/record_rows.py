"""Record PyTorch's answers for the rows of the table: ``python tests/data/record_rows.py`` writes ``torch_rows.json``.

The rows' own samples (in double precision, rounded so that they are short) go to the aten operator of the same name;
values and gradients for given cotangents are kept. Rows that PyTorch does not have under that name are listed. Needs
PyTorch, which neither the library nor its tests do.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "conformance")]

from checking import recorded  # noqa: E402
from checking.gradients import differentiable  # noqa: E402
from checking.sampling import cases  # noqa: E402

from tensorx import dtypes  # noqa: E402
from tensorx.ops.table import OPS  # noqa: E402

#: Rows whose statistics PyTorch hands out as if they had gradients, and then drops what comes back for them.
WITHOUT_STATISTICS = {"native_batch_norm": 1, "native_layer_norm": 1}
TORCH = {
    "b8": torch.bool,
    "i32": torch.int32,
    "i64": torch.int64,
    "f32": torch.float32,
    "f64": torch.float64,
    "c128": torch.complex128,
}
ROUNDED = ("hardsigmoid",)  # PyTorch's gradient multiplies by 1 / 6 as a float32, in double precision too


_UP_TO_PHASE = ("linalg_eigh", "linalg_svd", "linalg_eig", "linalg_qr")
_ROUGH = ("special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1", "special_airy_ai")
_STATISTICS = ("native_batch_norm", "native_layer_norm", "native_group_norm")
#: Rows whose recorded values would be no measure, and why.
EXCEPT = {
    **dict.fromkeys(_UP_TO_PHASE, "vectors up to a sign or phase, which the LAPACK build decides"),
    **dict.fromkeys(_ROUGH, "off by 1e-7 there in float64"),
    **dict.fromkeys(_STATISTICS, "no gradient there through the statistics"),
    **dict.fromkeys(("cholesky_solve", "cholesky_inverse"), "a gradient there to the triangle that is not read"),
    **dict.fromkeys(("_fractional_max_pool2d", "_fractional_max_pool3d"), "another function of that name there"),
    "as_strided_scatter": "its gradient there drops what is not overwritten",
}


def rounded(value):
    """Short numbers: what a sample holds, to three digits."""
    if hasattr(value, "_is_tensor"):
        array = np.array(value._host())
        return np.asarray(np.round(array, 3)) if array.dtype.kind in "fc" else array
    return tuple(map(rounded, value)) if isinstance(value, tuple) else value


def to_torch(value, leaves):
    """Arguments for aten; floating-point tensors become leaves."""
    if isinstance(value, np.ndarray):
        t = torch.from_numpy(np.array(value))
        if t.dtype.is_floating_point or t.dtype.is_complex:
            leaves.append(t.requires_grad_())
        return t
    if isinstance(value, dtypes.dtype):
        return TORCH[value.code]
    return [to_torch(v, leaves) for v in value] if isinstance(value, tuple) else value


def record(op, case):
    """One call: arguments, results and gradients."""
    args = tuple(rounded(a) for a in case.args)
    kwargs = {k: rounded(v) for k, v in case.kwargs.items()}
    leaves = []
    name = op.schema.name
    call = getattr(torch, name, None) or getattr(torch.nn.functional, name, None) or getattr(torch.ops.aten, name)
    result = call(*(to_torch(a, leaves) for a in args), **{k: to_torch(v, leaves) for k, v in kwargs.items()})
    results = list(result) if isinstance(result, tuple | list) else [result]
    entry = {"args": recorded.encode(args), "kwargs": recorded.encode(kwargs)}
    entry["results"] = [recorded.encode(r.detach().resolve_conj().numpy()) for r in results]
    if op.name in WITHOUT_STATISTICS:
        results = results[: WITHOUT_STATISTICS[op.name]]
        entry["ends"] = len(results)
    ends = [r for r in results if r.requires_grad]
    if ends and differentiable(op) and op.name not in ROUNDED:
        cotangents = [torch.from_numpy(recorded.cotangent(r.shape, r.detach().numpy().dtype)) for r in ends]
        grads = torch.autograd.grad(ends, leaves, cotangents, allow_unused=True)
        entry["grads"] = [None if g is None else recorded.encode(g.resolve_conj().numpy()) for g in grads]
    return entry


def main():
    rows, absent = {}, []
    for name, op in OPS.items():
        if name in EXCEPT or (op.kind.name != "ELEMENTWISE" and not differentiable(op)):
            continue
        code = next(c for c in ("f64", "i64", "b8", "c128") if "bifc"[dtypes.FROM_CODE[c].kind] in op.dtypes)
        codes = [code, *(["c128"] if code == "f64" and "c" in op.dtypes else [])]
        for case in (c for k in codes for c in cases(op, dtypes.FROM_CODE[k])[:2]):
            try:
                rows.setdefault(name, []).append(record(op, case))
            except (AttributeError, RuntimeError, TypeError, KeyError, NotImplementedError) as error:
                absent.append(f"{name}: {str(error).splitlines()[0][:100]}")
    (HERE / "torch_rows.json").write_text(json.dumps({"torch": torch.__version__, "rows": rows}, separators=(",", ":")))
    print(f"{len(rows)} rows; without an aten operator that takes their samples:", *absent, sep="\n  ")


if __name__ == "__main__":
    main()
