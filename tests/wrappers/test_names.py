# SPDX-License-Identifier: Apache-2.0
"""Names that packages written for PyTorch import: what has a meaning means what it does in PyTorch,
everything else refuses when it is used, in one sentence."""

import importlib

import pytest
from answered import Stored
from wrappers import seen_names

import libdl
from libdl._named_only import NamedOnly, tables

SEEN = Stored(seen_names)


@pytest.mark.parametrize("program", seen_names.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_pytorch(program):
    SEEN.check(program, libdl)


@pytest.mark.parametrize("path", sorted(tables.MODULES))
def test_what_is_named_alone_refuses_with_its_reason(path):
    module = importlib.import_module(f"libdl.{path}")
    reason = tables.MODULES[path][0]
    own = f"libdl.{tables.SHOWN.get(path, path)}".rstrip(".")
    for name, value in vars(module).items():
        if name.startswith("__") or getattr(value, "__module__", None) != own:
            continue
        if isinstance(value, type) and issubclass(value, NamedOnly):
            assert not isinstance(libdl.ones(1), value) and value[int] is value
        elif isinstance(value, type):
            continue  # an enumeration, or an exception
        with pytest.raises(NotImplementedError, match=name) as caught:
            value()
        assert reason in str(caught.value)


@pytest.mark.parametrize(
    "used, told",
    [
        (lambda: libdl.ones(2, dtype=libdl.float8_e4m3fn), "float8_e4m3fn: it can be named"),
        (lambda: libdl.ones(2).to(libdl.float8_e5m2), "float8_e5m2"),
        (lambda: libdl.zeros(1, dtype=libdl.complex32), "complex32"),
        (lambda: libdl.promote_types(libdl.uint4, libdl.int8), "uint4"),
        (lambda: libdl.empty(1, device="mps"), "'mps'"),
        (lambda: libdl.ones(1).to("xpu"), "'xpu'"),
        (lambda: libdl.nn.Linear(1, 1).to(libdl.device("hpu")), "'hpu'"),
        (lambda: libdl.Generator("mtia"), "'mtia'"),
        (lambda: libdl.set_default_device("mps"), "'mps'"),
        (lambda: libdl.device("hpu").__enter__(), "'hpu'"),
        (lambda: libdl.xpu.synchronize(), "xpu.synchronize"),
        (lambda: libdl.linalg.svd(libdl.ones(2, 2)), "linalg.svd"),
        (lambda: libdl.fft.rfft(libdl.ones(2)), "fft.rfft"),
        (lambda: libdl.cuda.CUDAGraph(), "cuda.CUDAGraph"),
        (lambda: libdl._int_mm(), "_int_mm"),
        (lambda: libdl.ao.quantization.prepare(), "ao.quantization.prepare"),
        (lambda: libdl.ops.aten._fft_c2c(libdl.ones(1)), "_fft_c2c"),
    ],
)
def test_refused_when_used(used, told):
    with pytest.raises(NotImplementedError, match=told):
        used()


def test_the_census_does_not_count_what_refuses():
    assert (
        libdl.fft.rfft._named_only and libdl.distributed.fsdp.FullyShardedDataParallel._named_only
    )


def test_fused_modules_compute_the_same():
    model = libdl.nn.Sequential(
        libdl.nn.Conv2d(2, 3, 3), libdl.nn.BatchNorm2d(3), libdl.nn.ReLU()
    ).eval()
    with libdl.no_grad():
        model[1].running_mean.fill_(0.3)
        model[1].running_var.fill_(2.0)
    fuse = libdl.ao.quantization.fuse_modules.fuse_modules
    fused = fuse(model, ["0", "1", "2"])
    x = seen_names.numbers(libdl, 1, 2, 5, 5).float()
    assert libdl.allclose(fused(x), model(x), atol=1e-6) and isinstance(fused[1], libdl.nn.Identity)
    with pytest.raises(NotImplementedError, match="wanted eval"):
        fuse(model.train(), ["0", "1"])
    with pytest.raises(NotImplementedError, match="ReLU, Conv"):
        fuse(model.eval(), ["2", "0"])


def test_functions_of_parameters():
    from libdl._functorch import make_functional as words

    model = libdl.nn.Sequential(libdl.nn.Linear(2, 3), libdl.nn.BatchNorm1d(3)).eval()
    x = seen_names.numbers(libdl, 4, 2).float()
    function, parameters, buffers = words.make_functional_with_buffers(model)
    assert libdl.equal(function(parameters, buffers, x), model(x))
    with pytest.raises(RuntimeError, match="has buffers"):
        words.make_functional(model)
    _, stacked, _ = words.combine_state_for_ensemble([model, model])
    assert stacked[0].shape == (2, 3, 2)
