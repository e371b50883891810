"""Tuning: every tile computes the reference, what does not is refused, winners are kept and used."""

from __future__ import annotations

import dataclasses
import json

import contract_cases as cases
import numpy as np
import pytest

import tensorx
from tensorx import __main__ as command
from tensorx.devices import registry
from tensorx.errors import CompileError
from tensorx.kernels import cache, contraction
from tensorx.kernels.contraction import View, matmul
from tensorx.kernels.convolution import Window, convolution_data, convolution_forward, convolution_weight
from tensorx.kernels.tune import Winners, size_class
from tensorx.ops import build, trials, tuning
from tensorx.ops.kinds import contract


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """Nothing of the shell's tuning, no traces in the user's cache; kernels are still found there."""
    for name in ("TENSORX_TUNE", "TENSORX_TILE"):
        monkeypatch.delenv(name, raising=False)
    kernels, usual = cache.wanted_folder("kernels"), cache.wanted_folder
    monkeypatch.setattr(
        cache, "wanted_folder", lambda room="kernels": kernels if room == "kernels" else tmp_path / room
    )
    tuning.forget()
    yield
    monkeypatch.setattr(cache, "wanted_folder", usual)
    tuning.forget()


def dense(code, *shape):
    steps = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    return View(code, shape, tuple(steps))


def product(caps, code, m, n, k, *batch, turned=False):
    b = (
        View(code, (*batch, k, n), (*dense(code, *batch, n, k).strides[:-2], 1, k))
        if turned
        else dense(code, *batch, k, n)
    )
    return matmul(caps, dense(code, *batch, m, n), dense(code, *batch, m, k), b)


def convolutions(caps, code):
    x, w, y = dense(code, 2, 4, 9, 8), dense(code, 6, 2, 3, 2), dense(code, 2, 6, 5, 5)
    window = Window((2, 2), (1, 1), (1, 1), 2)
    return [
        *convolution_forward(caps, y, x, w, window),
        *convolution_weight(caps, w, x, y, window),
        *convolution_data(caps, x, y, w, window),
    ]


def some_calls(caps):
    """Odd extents, so that no tile divides them; few rows, in batches. Windows where kernels compile fast."""
    found = [product(caps, "f32", 37, 45, 61), product(caps, "bf16", 7, 33, 45, 2, turned=True)]
    return found + ([convolutions(caps, "f32")[1]] if caps.dialect == "c" else [])


def test_every_tile_computes_the_reference(device, need):
    need(compiler=True)
    caps = device.runtime.capabilities
    for call in some_calls(caps):
        tiles = contraction.tilings(caps, call)
        assert 1 < len(tiles) < 24 and tiles[0] == call.spec.param("tile")
        found = tuning.trial(device, call, size_class(call))
        assert found.rejected == {}
        assert {repr(t) for t in tiles} == set(found.seconds)


def test_a_wrong_tile_is_rejected_reported_and_never_kept(device, need, monkeypatch):
    """Each tile but one adds one to some results, the default among them; a further one is refused by the compiler."""
    need(compiler=True)
    caps, retile, kernel = device.runtime.capabilities, contraction.retile, build.kernel
    call = product(caps, "f32", 37, 45, 61)
    *wrong, refused, right = contraction.tilings(caps, call)

    def planted(caps, call, kind):
        made = retile(caps, call, kind)
        body = f"{made.spec.body}\n  y0 = y0 + (y0 == 7.0f ? 1.0f : 0.0f);"
        return dataclasses.replace(made, spec=dataclasses.replace(made.spec, body=body)) if kind in wrong else made

    def picky(device, spec):
        if spec.param("tile") == refused:
            raise CompileError("the compiler had enough")
        return kernel(device, spec)

    with monkeypatch.context() as patch:
        patch.setattr(contraction, "retile", planted)
        patch.setattr(build, "kernel", picky)
        patch.setenv("TENSORX_TUNE", "1")
        with pytest.warns(RuntimeWarning, match="was rejected") as told:
            chosen = tuning.choose(device, call)
    assert chosen.spec.param("tile") == right
    texts = [str(w.message) for w in told]
    assert all(
        any(repr(t) in text and "numbers in the result's memory are wrong" in text for text in texts) for t in wrong
    )
    assert any(repr(refused) in text and "had enough" in text for text in texts) and len(texts) == len(wrong) + 1
    kept = Winners(device.runtime.fingerprint)
    assert kept.get(f"tile {size_class(call)}") == repr(right)


def test_a_first_product_is_tuned_where_that_is_asked_for(device, need, monkeypatch):
    need(compiler=True)
    monkeypatch.setenv("TENSORX_TUNE", "1")
    a, b = (np.random.default_rng(n).integers(-3, 4, (33, 33)).astype(np.float32) for n in (0, 1))
    x, y = tensorx.tensor(a, device=device), tensorx.tensor(b, device=device)
    assert np.array_equal((x @ y).cpu().numpy(), a @ b)
    call = product(device.runtime.capabilities, "f32", 33, 33, 33)
    name = Winners(device.runtime.fingerprint).get(f"tile {size_class(call)}")
    assert name in map(repr, contraction.tilings(device.runtime.capabilities, call))
    monkeypatch.delenv("TENSORX_TUNE")
    tuning.forget()  # as a later process
    assert repr(tuning.choose(device, call).spec.param("tile")) == name
    monkeypatch.setenv("TENSORX_TUNE", "0")
    tuning.forget()
    assert tuning.choose(device, call) is call


def test_forced_tiles(device, need, monkeypatch):
    need(compiler=True)
    caps = device.runtime.capabilities
    call = product(caps, "f32", 37, 45, 61)
    for number, kind in enumerate(contraction.tilings(caps, call)):
        monkeypatch.setenv("TENSORX_TILE", str(number))
        tuning.forget()
        assert tuning.choose(device, call).spec.param("tile") == kind
    monkeypatch.setenv("TENSORX_TILE", "fast")
    tuning.forget()
    with pytest.raises(ValueError, match="TENSORX_TILE: must be the number of a tile, from 0; got 'fast'"):
        tuning.choose(device, call)


@pytest.mark.parametrize("code", ["f32", "f64", "bf16", "u8", "i32", "c64"])
def test_the_reference(code):
    """Of products: NumPy's; of windows: by definition, in wide arithmetic."""
    caps = contraction_caps()
    test = trials.Trial(product(caps, code, 5, 70, 3, 2, turned=True))
    out, a, b = test.strided()
    image = test.reference()
    want = (cases.wide(a) @ cases.wide(b)).astype(out.dtype) if code != "u8" else np.matmul(a, b)
    assert image.size == want.size and np.array_equal(image.reshape(want.shape), want)
    if code in ("f32", "c64"):
        forward, weight, data = (trials.Trial(c) for c in convolutions(caps, code)[:3])
        window = Window((2, 2), (1, 1), (1, 1), 2)
        x, w = forward.memory[2].reshape(2, 4, 9, 8), forward.memory[1].reshape(6, 2, 3, 2)
        assert np.array_equal(forward.reference().reshape(2, 6, 5, 5), cases.convolve(x, w, window))
        gy, x = weight.memory[1].reshape(2, 6, 5, 5), weight.memory[2].reshape(2, 4, 9, 8)
        assert np.array_equal(weight.reference().reshape(6, 2, 3, 2), cases.gradients(x, w, gy, window)[1])
        assert (data.reference() == 77).any()  # one residue of the stride: the others' places stay as they were


def contraction_caps():
    from tensorx.kernels.capabilities import Capabilities

    return Capabilities("c", simd_width=8)


def test_winners_on_disk(tmp_path):
    first, other = Winners("one device"), Winners("another")
    assert first.put({"tile a": "A"}) and other.put({"tile b": "B"})
    late = Winners("one device")
    assert (late.get("tile a"), late.get("tile b"), len(late)) == ("A", None, 1)
    assert first.put({"tile c": "C"}) and late.put({"tile d": "D"})
    assert len(Winners("one device")) == 3  # what another process has kept meanwhile stays
    files = sorted((tmp_path / "tunings").iterdir())
    assert len(files) == 2 and json.loads(files[0].read_bytes().rpartition(b"\n")[2][32:] or b"{}") is not None
    for file in files:
        data = file.read_bytes()
        file.write_bytes(data[:-3] + b"x" + data[-2:])
    assert len(Winners("one device")) == len(Winners("another")) == 0
    (tmp_path / "tunings").chmod(0o777)  # others could write there
    cache._checked.cache_clear()
    assert not Winners("one device").put({"tile a": "A"})
    cache._checked.cache_clear()


@pytest.fixture
def users_cpu():
    """``cpu`` as it is outside of lanes, with NumPy beside the kernels."""
    device = registry.resolve("cpu")
    usual, runtime = device.runtime, registry.backend("cpu").devices()[0]
    if not runtime.capabilities.compiler:
        pytest.skip("capability: no C compiler")
    object.__setattr__(device, "runtime", runtime)
    yield device
    object.__setattr__(device, "runtime", usual)


def test_blas_leaves_what_a_tile_does_faster(users_cpu, monkeypatch):
    runtime = users_cpu.runtime
    x, ran = tensorx.ones(300, 300), []
    place = size_class(product(runtime.capabilities, "f32", 300, 300, 300))
    monkeypatch.setattr(contract, "_multiply_numpy", lambda p, out: ran.append(out))
    x @ x
    assert len(ran) == 1
    tuning.winners(runtime.fingerprint).put({f"BLAS {place}": "tile"})
    tuning.forget()  # as a later process
    assert (x @ x).eq(300).all() and len(ran) == 1


def test_what_goes_to_blas_untuned(users_cpu, monkeypatch):
    """Not 16-bit floats, not a few rows; small work whatever it is."""
    ran, numpy = [], contract._multiply_numpy
    monkeypatch.setattr(contract, "_multiply_numpy", lambda p, out: ran.append(out) or numpy(p, out))
    for m, dtype, blas in (
        (300, "float32", True),
        (1, "float32", True),
        (4, "float32", False),
        (300, "bfloat16", False),
        (2, "float16", False),
    ):
        ran.clear()
        x, y = (tensorx.ones(*shape, dtype=getattr(tensorx, dtype)) for shape in ((m, 600), (600, 300)))
        assert (x @ y).eq(600).all() and len(ran) == blas, (m, dtype)
    assert (tensorx.ones(4, 9).half() @ tensorx.ones(9, 9).half()).eq(9).all() and len(ran) == 1


def test_a_trial_on_the_cpu_knows_blas(users_cpu):
    runtime = users_cpu.runtime
    call = product(runtime.capabilities, "f32", 37, 45, 61)
    found = tuning.trial(users_cpu, call, size_class(call))
    assert found.rejected == {} and "BLAS" in found.seconds and found.tile != "BLAS"


def test_the_command(device, need, monkeypatch, capsys):
    need(compiler=True)
    from tensorx import tune

    monkeypatch.setattr(tune, "WORKS", {"matmul": [(tune._matmul, ((37, 61), (61, 45)))], "linear": []})
    assert command.main(["tune", "--device", str(device)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("contract f32n f32k f32n 0444 ") and " us  x" in line
    assert len(Winners(device.runtime.fingerprint)) == 2


def test_the_command_refuses(capsys):
    assert command.main(["tune", "--device", "null:opencl"]) == 2
    assert "must name a device that runs generated kernels; got null" in capsys.readouterr().err
    assert command.main(["tune", "--device", "cpu", "--dtype", "float31"]) == 2
    assert "float31" in capsys.readouterr().err
