"""Names that PyTorch scripts touch and that have little to do here: they work, or say why not."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import tensorx as tx

ROOT = Path(__file__).resolve().parent.parent


def test_compile_passes_through():
    def f(x):
        return x + 1

    assert tx.compile(f) is f
    assert tx.compile(f, fullgraph=True, dynamic=False, backend="inductor", mode="reduce-overhead", disable=False) is f
    assert tx.compile(dynamic=True)(f) is f
    assert tx.compile(f, options={"triton.cudagraphs": True}) is f
    layer = tx.nn.Linear(1, 1)
    assert layer.compile(mode="default") is None
    with pytest.raises(TypeError):
        tx.compile(3)


def test_jit_passes_through():
    class M(tx.nn.Module):
        @tx.jit.ignore
        def helper(self, x):
            return x * 2

        @tx.jit.export
        def forward(self, x):
            return self.helper(x)

    m = M()
    assert tx.jit.script(m) is m
    assert tx.jit.trace(m, (tx.ones(1),)) is m
    assert tx.jit.ignore(drop=True)(len) is len
    with pytest.raises(RuntimeError):
        tx.jit.freeze(m)
    assert tx.jit.freeze(m.eval()) is m
    for refused in (tx.jit.save, tx.jit.load):
        with pytest.raises(NotImplementedError, match="state_dict"):
            refused(m, "file")


def test_distributed_says_no():
    assert not tx.distributed.is_available()
    assert tx.distributed.destroy_process_group() is None
    with pytest.raises(NotImplementedError, match="one process"):
        tx.distributed.init_process_group("nccl")
    for name in ("get_rank", "get_world_size", "all_reduce", "barrier"):
        with pytest.raises(ValueError, match="has not been initialized"):
            getattr(tx.distributed, name)()


@pytest.mark.parametrize(
    ("refused", "error", "hint"),
    [
        (lambda: tx.vmap(len, 0), NotImplementedError, "later version"),
        (lambda: tx.hub.load("a/b", "c"), NotImplementedError, "tensorx.load"),
        (lambda: tx.onnx.export(None, None), NotImplementedError, "state_dict"),
        (lambda: tx.fx.symbolic_trace(len), NotImplementedError, "later version"),
        (tx.fx.Graph, NotImplementedError, "later version"),
        (tx.utils.tensorboard.SummaryWriter, ImportError, "pip install tensorboardX"),
        (tx.mps.synchronize, RuntimeError, "tensorx devices"),
        (tx.xpu.current_device, RuntimeError, "opencl:intel"),
        (tx.cuda.CUDAGraph, NotImplementedError, "CUDAGraph"),
    ],
)
def test_what_is_missing_says_so(refused, error, hint):
    with pytest.raises(error, match=hint):
        refused()


@pytest.mark.parametrize("name", ["cudnn", "cuda", "mps", "mkl", "mkldnn", "openmp", "mha", "cpu"])
def test_backends_are_modules(name):
    module = importlib.import_module(f"tensorx.backends.{name}")
    assert getattr(tx.backends, name) is module


def test_switches_can_be_set(monkeypatch):
    monkeypatch.setattr(tx.backends.cudnn, "benchmark", False)
    with tx.backends.cudnn.flags(enabled=False, benchmark=True):
        assert tx.backends.cudnn.benchmark
    assert not tx.backends.cudnn.benchmark
    with tx.backends.cuda.sdp_kernel(enable_flash=False):
        assert not tx.backends.cuda.flash_sdp_enabled()
    assert tx.backends.cuda.flash_sdp_enabled()
    assert tx.backends.cudnn.version() is None


def test_cuda_acts_on_the_default_device(device):
    """Timing and memory figures of a script are those of the device that it runs on."""
    if tx.cuda.is_available():
        pytest.skip("capability: there is a CUDA device, which is meant then")
    with device:
        before = tx.cuda.memory_allocated()
        start, end = tx.cuda.Event(enable_timing=True), tx.cuda.Event(enable_timing=True)
        start.record()
        x = tx.ones(1 << 16)
        end.record()
        tx.cuda.synchronize()
        assert start.elapsed_time(end) >= 0
        if device.runtime.capabilities.compiler:  # else NumPy allocates, which the pool does not count
            assert tx.cuda.memory_allocated() - before >= x.numel() * 4
        assert tx.cuda.max_memory_allocated() >= tx.cuda.memory_allocated()
        tx.cuda.reset_peak_memory_stats()
        peak = tx.cuda.max_memory_allocated()
        y = tx.ones(1 << 22)
        if device.runtime.capabilities.compiler:
            assert tx.cuda.max_memory_allocated() > peak
        del x, y
        tx.cuda.empty_cache()
        with tx.cuda.stream(tx.cuda.current_stream()) as _:
            assert tx.cuda.current_stream().device is device


def test_cuda_without_a_card():
    if tx.cuda.is_available():
        pytest.skip("there is a CUDA device")
    for f in (tx.cuda.current_device, tx.cuda.get_device_name, tx.cuda.get_device_properties):
        with pytest.raises(RuntimeError, match="no CUDA device"):
            f()
    with tx.cuda.device(-1):
        pass
    assert tx.cuda.get_rng_state_all() == []


def test_accelerator_is_the_default_device(device):
    with device:
        found = tx.accelerator.current_accelerator()
        if device.type in ("cpu", "meta", "null"):
            assert found is None or found.type not in ("cpu", "meta", "null")
            return
        assert found == tx.device(device.type)
        assert tx.accelerator.device_count() >= 1
        assert tx.accelerator.current_device_index() == device.index
        tx.accelerator.synchronize()
        x = tx.ones(1000)
        assert tx.accelerator.memory_allocated() >= x.numel() * 4
        assert tx.accelerator.get_memory_info()[1] > 0


def test_events_need_timing():
    a, b = tx.Event("cpu"), tx.Event("cpu", enable_timing=True)
    with pytest.raises(ValueError, match="enable_timing"):
        a.elapsed_time(b)
    with pytest.raises(RuntimeError, match="recorded"):
        b.elapsed_time(b)
    with pytest.raises(NotImplementedError):
        tx.Event(interprocess=True)


def test_old_names_of_amp_warn():
    with pytest.warns(FutureWarning, match="deprecated"):
        tx.cuda.amp.GradScaler(enabled=False)
    with pytest.warns(FutureWarning, match="deprecated"):
        tx.cuda.amp.autocast(enabled=False)


def test_autocast_elsewhere_changes_nothing():
    a = tx.eye(2)
    with pytest.warns(UserWarning, match="not available"):
        context = tx.autocast("mps")
    with context:
        assert (a @ a).dtype is tx.float32
    with pytest.warns(UserWarning, match="not supported"):
        context = tx.autocast("cpu", dtype=tx.float32)
    with context:
        assert (a @ a).dtype is tx.float32


def test_autocast_casts_a_weight_once(device):
    """And again when it was written to; the second forward's gradient is not lost to a cast made under no_grad."""
    w = tx.eye(4, device=device).requires_grad_()
    x = tx.ones(2, 4, device=device)
    with tx.autocast(device.type, dtype=tx.bfloat16) as context, tx.profiler.profile() as p:
        (x @ w) + (x @ w)
        with tx.no_grad():
            w.mul_(2)
        y = x @ w
    assert context is not None
    assert y.dtype is tx.bfloat16
    assert y.tolist() == [[2.0] * 4] * 2
    casts = [e for e in p.events() if e.name in ("_to", "_cast", "to", "_to_copy")]
    assert len(casts) <= 5  # x three times, w twice
    y.sum().backward()
    assert w.grad.dtype is tx.float32


def test_autocast_lists_differ_by_device(device):
    """PyTorch has one list for CPU and one for its GPUs; ours are for cpu and for all others."""
    x = tx.ones(2, 2, device=device, dtype=tx.float16)
    with tx.autocast(device.type, dtype=tx.float16):
        y = tx.softmax(x, 1)
        s = (x * x).sum()
    wanted = tx.float16 if device.type == "cpu" else tx.float32
    assert (y.dtype, s.dtype) == (wanted, wanted)


def test_scaler_survives_pickling():
    import pickle

    scaler = tx.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(tx.ones(1))
    copy = pickle.loads(pickle.dumps(scaler))
    assert copy.state_dict() == scaler.state_dict()


def test_scaler_on_every_device(device):
    p = tx.ones(3, device=device, requires_grad=True)
    q = tx.ones(3, device=device, requires_grad=True)
    optimizer = tx.optim.SGD([p, q], lr=1.0)
    scaler = tx.amp.GradScaler(device.type, init_scale=8.0, growth_interval=1)
    scaler.scale((p * 2 + q).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert p.tolist() == [-1.0] * 3
    assert scaler.get_scale() == 16.0
    optimizer.zero_grad()
    scaler.scale((p * float("inf")).sum() + q.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert q.tolist() == [0.0] * 3
    assert scaler.get_scale() == 8.0


def test_profiler_counts(device, tmp_path):
    x = tx.ones(4, 4, device=device, requires_grad=True)
    with tx.profiler.profile(record_shapes=True) as p, tx.profiler.record_function("mine"):
        (x @ x).sum().backward()
    averages = p.key_averages(group_by_input_shape=True)
    found = {(a.key, a.input_shapes): a for a in averages}
    assert found["_product", ((4, 4), (4, 4))].count == 3  # one forward, two backward
    assert found["mine", ()].cpu_time_total >= found["_product", ((4, 4), (4, 4))].cpu_time_total
    assert "_product" in p.key_averages().table(sort_by="cpu_time_total", row_limit=5)
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


def test_profiler_follows_its_schedule():
    seen = []
    with tx.profiler.profile(
        schedule=tx.profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
        on_trace_ready=lambda p: seen.append(len([e for e in p.events() if e.name == "add"])),
    ) as p:
        for _ in range(8):
            tx.ones(1) + 1
            p.step()
    assert seen == [2]


def test_checkpoint_keeps_less_and_gives_the_same(device):
    """What the function saves is not kept; the second run sees the same autocast and the same random numbers."""

    def f(x):
        for _ in range(4):
            x = tx.dropout(tx.tanh(x @ x), 0.5)
        return x

    def run(how):
        tx.manual_seed(3)
        x = tx.linspace(-1, 1, 16, device=device).view(4, 4).requires_grad_()
        kept = []
        hooks = tx.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t)
        with hooks, tx.autocast(device.type, dtype=tx.bfloat16):
            y = how(x)
        y.float().sum().backward()
        return x.grad.tolist(), len(kept)

    plain, many = run(f)
    again, few = run(lambda x: tx.utils.checkpoint.checkpoint(f, x, use_reentrant=False))
    older, _ = run(lambda x: tx.utils.checkpoint.checkpoint(f, x, use_reentrant=True))
    assert plain == again == older
    assert few < many


def test_checkpoint_warns_as_pytorch_does():
    x = tx.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="use_reentrant"):
        tx.utils.checkpoint.checkpoint(tx.exp, x)
    with pytest.warns(UserWarning, match="Gradients will be None"), warnings.catch_warnings():
        tx.utils.checkpoint.checkpoint(tx.exp, x.detach(), use_reentrant=True)


def test_multiprocessing_spawns(tmp_path):
    """In a program of its own: spawn imports the main module again."""
    program = tmp_path / "program.py"
    program.write_text(
        "import tensorx.multiprocessing as mp\n"
        "def work(i, path):\n"
        "    if i == 2:\n"
        "        raise ValueError('from the child')\n"
        "    open(f'{path}/{i}', 'w').close()\n"
        "if __name__ == '__main__':\n"
        f"    mp.spawn(work, ({str(tmp_path)!r},), nprocs=2)\n"
        "    try:\n"
        f"        mp.spawn(work, ({str(tmp_path)!r},), nprocs=3)\n"
        "    except mp.ProcessRaisedException as error:\n"
        "        print('from the child' in str(error), mp.get_context().get_start_method())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )
    assert done.stdout.split() == ["True", "spawn"], done.stderr
    assert (tmp_path / "0").exists()
    assert (tmp_path / "1").exists()


def test_everything_listed_exists():
    for name in (
        "accelerator",
        "amp",
        "backends",
        "compiler",
        "cuda",
        "distributed",
        "func",
        "hub",
        "jit",
        "mps",
        "onnx",
        "overrides",
        "profiler",
        "xpu",
    ):
        module = getattr(tx, name)
        assert all(hasattr(module, n) for n in getattr(module, "__all__", ()))
    assert all(getattr(tx, name) is not None for name in tx._LAZY_NAMES)


def test_threads_of_kernels_and_blas():
    from tensorx.devices import cpu_blas

    before, blas = tx.get_num_threads(), cpu_blas.get_threads()
    assert blas  # NumPy's wheels bring one
    try:
        tx.set_num_threads(1)
        assert tx.get_num_threads() == 1
        assert set(cpu_blas.get_threads()) == {1}
    finally:
        tx.set_num_threads(before)
        cpu_blas.set_threads(max(blas))
