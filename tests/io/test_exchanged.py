# SPDX-License-Identifier: Apache-2.0
"""Whole objects of every kind, between PyTorch and libdl; exchanged.py has PyTorch's answers."""

import copy
import io
import sys
from pathlib import Path

import libdl
import libdl.distributions
import libdl.nn.utils.prune
import libdl.optim.swa_utils
import pytest
from libdl import nn

sys.path.append(str(Path(__file__).parent))
import exchanged  # noqa: E402
from made import pickled, refused  # noqa: E402

OBJECTS, NAMES = exchanged.read()


@pytest.mark.parametrize("name", OBJECTS)
def test_what_libdl_writes_is_what_pytorchs_classes_expect(name):
    """The attributes that PyTorch's methods read, under names that PyTorch has."""
    value = exchanged.made(libdl, OBJECTS[name]["make"])
    assert not set(OBJECTS[name]["keys"]) - set(exchanged.keys(value))
    file = exchanged.written(libdl, exchanged.whole(value))
    assert not set(exchanged.names(file)) - NAMES
    found = libdl.load(io.BytesIO(file), weights_only=False)["value"]
    assert type(found) is type(value)


def used(value):
    """Numbers that the object computes."""
    if isinstance(value, nn.Module):
        x = libdl.ones(2, 1, 4) if hasattr(value, "self_attn") else libdl.ones(3, 2)
        if "_orig" in str(list(value.state_dict())) and hasattr(value, "weight_mask"):
            x = libdl.ones(1, 3)
        out = value.eval()(x)
        return (out[0] if isinstance(out, tuple) else out).sum().item()
    if isinstance(value, libdl.distributions.Distribution):
        return value.expand((2, *value.batch_shape)).log_prob(value.sample()).sum().item()
    if isinstance(value, libdl.optim.lr_scheduler.LRScheduler):
        value.optimizer.step()
        value.step()
        return value.get_last_lr()[0]
    if isinstance(value, libdl.amp.GradScaler):
        return value.scale(libdl.ones(())).item()
    if isinstance(value, libdl.distributions.Transform):
        return value(libdl.ones(2)).sum().item()
    return sum(batch.sum().item() for (batch,) in value)


@pytest.mark.parametrize("name", [name for name in OBJECTS if "file" in OBJECTS[name]])
def test_pytorchs_files_work(name):
    file = exchanged.unpacked(OBJECTS[name]["file"])
    refused(io.BytesIO(file), "weights_only=False")
    found = libdl.load(io.BytesIO(file), weights_only=False)
    assert type(found) is type(exchanged.made(libdl, OBJECTS[name]["make"]))
    again = libdl.load(
        io.BytesIO(exchanged.written(libdl, exchanged.whole(found))), weights_only=False
    )["value"]
    libdl.manual_seed(1)
    number = used(found)
    libdl.manual_seed(1)
    assert number == number and (used(again) == number or isinstance(found, nn.LazyLinear))


F = nn.functional
FUNCTIONS = {
    "torch._C._nn gelu": F.gelu,
    "torch._C._nn log_sigmoid": F.logsigmoid,
    "torch._C._nn linear": F.linear,
    "torch._C._nn softplus": F.softplus,
    "torch._C._nn softshrink": F.softshrink,
    "torch._C._nn one_hot": F.one_hot,
    "torch._C._nn scaled_dot_product_attention": F.scaled_dot_product_attention,
    "torch._C._nn avg_pool2d": F.avg_pool2d,
    "torch._C._fft fft_rfft": libdl.fft.rfft,
    "torch._C._linalg linalg_svd": libdl.linalg.svd,
    "torch._C._sparse _sparse_mm": libdl.sparse.mm,
    "torch._C._special special_ndtr": libdl.special.ndtr,
}


def loaded(body):
    return libdl.load(pickled(body), weights_only=False)


@pytest.mark.parametrize("path", FUNCTIONS)
def test_functions_of_pytorchs_extension(path):
    body = "c{}\n{}\n".format(*path.split()).encode()
    assert loaded(body) is FUNCTIONS[path]
    with pytest.raises(libdl.Error):
        libdl.load(pickled(body))


def attribute(name):
    return f"cbuiltins\ngetattr\n(ctorch._C\n_VariableFunctionsClass\nV{name}\ntR".encode()


@pytest.mark.parametrize(
    "name",
    """
        tanh sigmoid relu exp cat sum matmul softmax conv1d prelu where
    """.split(),
)
def test_functions_of_pytorchs_class(name):
    assert loaded(attribute(name)) is getattr(libdl, name)
    with pytest.raises(libdl.Error):
        libdl.load(pickled(attribute(name)))


@pytest.mark.parametrize(
    "body",
    [
        attribute("strange"),
        attribute("_strange"),
        attribute("__class__x"),
        b"ctorch._C._nn\nstrange\n",
        b"ctorch._C._special\nspecial_strange\n",
    ],
)
def test_functions_that_libdl_lacks_are_named(body):
    with pytest.raises(libdl.Error, match="libdl has not"):
        loaded(body)


@pytest.mark.parametrize(
    "function",
    [
        libdl.cat,
        libdl.empty,
        libdl.is_grad_enabled,
        F.relu,
        libdl.relu,
        nn.init.xavier_uniform_,
        libdl.linalg.svd,
        libdl.func.grad,
        libdl.utils.data.default_collate,
        libdl.no_grad,
    ],
    ids=lambda f: f.__name__,
)
def test_functions_are_written_under_public_names(function):
    (path,) = exchanged.names(exchanged.written(libdl, function))
    module, name = path.split()
    assert "._" not in module.replace("data._utils.", "") and name in (
        function.__name__,
        f"is_{function.__name__}",
    )
    assert module != "torch.nn.init" or function is nn.init.xavier_uniform_


@pytest.mark.parametrize("protocol", [2, 4])
def test_methods_of_classes_are_attributes_of_classes_in_files(protocol):
    out = io.BytesIO()
    value = {"f": libdl.optim.lr_scheduler.CyclicLR._triangular_scale_fn}
    libdl.save(value, out, pickle_protocol=protocol)
    assert not [path for path in exchanged.names(out.getvalue()) if "libdl" in path]
    assert libdl.load(io.BytesIO(out.getvalue()), weights_only=False)["f"] is value["f"]


KINDS = [
    lambda: nn.utils.spectral_norm(nn.Linear(2, 2)),
    lambda: nn.utils.weight_norm(nn.Linear(2, 2)),
    lambda: nn.utils.prune.l1_unstructured(nn.Linear(2, 2), "weight", 1),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [libdl.float64, libdl.bfloat16, libdl.float32])
def test_a_module_that_changed_its_dtype_after_a_call_is_copied(kind, dtype):
    module = kind()
    module(libdl.ones(1, 2))
    copied = copy.deepcopy(module.to(dtype))
    assert copied.weight.dtype == module.weight.dtype
    assert libdl.equal(copied.weight, module.weight)
    assert copied(libdl.ones(1, 2, dtype=dtype)).dtype == dtype


def test_a_lazy_module_that_was_loaded_learns_its_shape_once():
    whole = exchanged.written(libdl, {"net": nn.Sequential(nn.LazyLinear(3), nn.ReLU())})
    net = libdl.load(io.BytesIO(whole), weights_only=False)["net"]
    assert net(libdl.ones(1, 2)).shape == (1, 3) and type(net[0]) is nn.Linear
    assert not net[0]._forward_pre_hooks and not net[0]._load_state_dict_pre_hooks


@pytest.mark.parametrize("function", [lambda x: x, len])
def test_hooks_of_a_module_that_is_gone_say_so(function):
    from libdl.nn.modules.module import _WrappedHook

    hook = _WrappedHook(function, nn.Linear(1, 1))
    with pytest.raises(RuntimeError, match="no longer there"):
        hook(1)
    with pytest.raises(RuntimeError, match="no longer there"):
        copy.deepcopy(hook)
    assert _WrappedHook(len)("ab") == 2
