# SPDX-License-Identifier: Apache-2.0
"""einops takes tensors, in whichever order the two are imported. What is right is what einops makes
of the same numbers in NumPy."""

import os
import subprocess
import sys

import einops
import numpy as np
import pytest

import libdl
from libdl import nn

ARRAY = np.random.default_rng(3).standard_normal((2, 3, 4))


def x():
    return libdl.tensor(ARRAY, requires_grad=True)


def run(code: str, *options: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, *options, "-c", code],
        env=environment,
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def agree(call):
    """The tensor that `call` makes of x(), with history and with the values of NumPy's backend."""
    found = call(x())
    # Sums of a dozen numbers of order 1 in another order: a few rounding errors of float64.
    np.testing.assert_allclose(found.detach().numpy(), call(ARRAY), rtol=1e-14, atol=1e-14)
    assert found.requires_grad
    return found


@pytest.mark.parametrize(
    "pattern",
    [
        "a b c -> c a b",
        "a b c -> (a c) b",
        "a b (c d) -> a c b d",
        "a b c -> a 1 (b c)",
        "a ... -> ... a",
    ],
)
def test_rearrange(pattern):
    lengths = {"d": 2} if " d" in pattern else {}
    agree(lambda t: einops.rearrange(t, pattern, **lengths))


def test_rearrange_without_a_permutation_is_a_view():
    tensor = x()
    assert einops.rearrange(tensor, "a b c -> (a b) c").data_ptr() == tensor.data_ptr()


@pytest.mark.parametrize("operation", ["min", "max", "sum", "mean", "prod"])
@pytest.mark.parametrize("pattern", ["a b c -> b", "a b c -> ", "a b c -> a c", "a (b) c -> 1 1 c"])
def test_reduce(operation, pattern):
    agree(lambda t: einops.reduce(t, pattern, operation))


@pytest.mark.parametrize("operation", ["any", "all"])
def test_reduce_of_truth(operation):
    found = einops.reduce(x().detach() > 0, "a b c -> b", operation)
    assert found.tolist() == einops.reduce(ARRAY > 0, "a b c -> b", operation).tolist()


def test_repeat_of_an_axis_is_a_view():
    found = agree(lambda t: einops.repeat(t, "a b c -> a r b c", r=5))
    assert found.stride()[1] == 0
    agree(lambda t: einops.repeat(t, "a b c -> (r a) b c", r=2))


def test_einsum_and_lists():
    agree(lambda t: einops.einsum(t, t, "a b c, a d c -> a b d"))
    agree(lambda t: einops.rearrange([t, t], "list a b c -> a (list b) c"))


def test_pack_and_unpack():
    packed, shapes = einops.pack([x(), x()[:, 0]], "a * c")
    assert packed.shape == (2, 4, 4)
    first, second = einops.unpack(packed, shapes, "a * c")
    assert first.detach().numpy().tolist() == ARRAY.tolist() and second.shape == (2, 4)


def test_gradients_flow_through_and_are_shared_by_equal_extremes():
    tensor = x()
    einops.reduce(einops.rearrange(tensor, "a b c -> c (a b)"), "c s -> c", "mean").sum().backward()
    np.testing.assert_allclose(tensor.grad.numpy(), np.full(ARRAY.shape, 1 / 6), rtol=1e-15)
    equal = libdl.ones(2, 2, requires_grad=True)
    einops.reduce(equal, "a b -> a", "max").sum().backward()
    assert equal.grad.tolist() == [[0.5, 0.5], [0.5, 0.5]]  # as amax has it


def test_small_tools_and_errors():
    assert einops.parse_shape(x(), "a _ c") == {"a": 2, "c": 4}
    assert (einops.asnumpy(x()) == ARRAY).all()
    with pytest.raises(einops.EinopsError, match=r"Input tensor shape: libdl.Size\(\[2, 3, 4\]\)"):
        einops.rearrange(x(), "a b -> b a")
    with pytest.raises(NotImplementedError, match="non-floating"):
        einops.reduce(libdl.arange(4).reshape(2, 2), "a b -> a", "mean")


def test_a_subclass_of_tensor_is_taken():
    class Mine(libdl.Tensor):
        pass

    found = einops.rearrange(libdl.ones(2, 3).as_subclass(Mine), "a b -> b a")
    assert type(found) is Mine and found.shape == (3, 2)


@pytest.mark.parametrize("order", ["libdl, einops", "einops, libdl"])
def test_either_may_be_imported_first(order):
    code = f"import {order}; print(einops.rearrange(libdl.ones(2, 3), 'a b -> (b a)').shape)"
    assert run(code) == "libdl.Size([6])\n"


def test_einops_is_not_imported_by_libdl_and_its_source_stays_visible():
    assert run("import sys, libdl; print('einops' in sys.modules)") == "False\n"
    code = "import libdl, einops._backends as b, inspect; print(len(inspect.getsource(b)) > 1000)"
    assert run(code) == "True\n"


def test_layers_for_pytorch_train_under_as_torch():
    code = """
import libdl.as_torch
libdl.as_torch.install()
import torch
from einops.layers.torch import EinMix, Rearrange, Reduce

net = torch.nn.Sequential(
    Rearrange("n c (h p) (w q) -> n (h w) (c p q)", p=2, q=2),
    EinMix("n t i -> n t o", weight_shape="i o", bias_shape="o", i=12, o=5),
    Reduce("n t o -> n o", "mean"),
)
net(torch.ones(2, 3, 4, 4)).sum().backward()
print(net[1].weight.grad.shape, isinstance(net[0], torch.nn.Module), net[0])
"""
    wanted = "Rearrange('n c (h p) (w q) -> n (h w) (c p q)', p=2, q=2)"
    assert run(code) == f"torch.Size([12, 5]) True {wanted}\n"


def test_modules_may_call_einops():
    class Heads(nn.Module):
        def forward(self, t):
            return einops.rearrange(t, "n t (h d) -> n h t d", h=2)

    assert Heads()(x()).shape == (2, 2, 3, 2)
