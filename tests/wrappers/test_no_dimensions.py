# SPDX-License-Identifier: Apache-2.0
"""all and any over an empty list of dimensions reduce nothing, as in PyTorch; sums reduce all."""

import pytest

import libdl as torch

TRUE = [[True, False], [True, True]]


@pytest.mark.parametrize("name", ["all", "any"])
@pytest.mark.parametrize("none", [(), [], torch.Size([])], ids=["tuple", "list", "size"])
@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.float32, torch.int64, torch.complex64, torch.float16]
)
def test_an_empty_list_reduces_nothing(name, none, dtype):
    x = torch.tensor([[1, 0], [2, 3]]).to(dtype)
    function, method = getattr(torch, name), getattr(x, name)
    for made in (
        function(x, none),
        function(x, dim=none),
        function(x, axis=none),
        method(none),
        method(dim=none, keepdim=True),
        function(x, none, keepdims=True),
    ):
        assert made.dtype is torch.bool and made.tolist() == TRUE
    for into in (torch.empty(2, 2, dtype=torch.bool), torch.empty(2, 2, dtype=torch.uint8)):
        assert function(x, none, out=into) is into and into.bool().tolist() == TRUE
    assert not method(none).requires_grad


@pytest.mark.parametrize("name", ["all", "any"])
def test_other_dimensions_are_reduced(name):
    x = torch.tensor([[1.0, 0.0], [2.0, 3.0]])
    python = {"all": all, "any": any}[name]
    assert (
        getattr(x, name)().item()
        is getattr(x, name)(dim=None).item()
        is python(x.flatten().tolist())
    )
    assert getattr(x, name)((0, 1)).item() is python(x.flatten().tolist())
    assert getattr(x, name)(0).tolist() == [python(column) for column in zip(*x.tolist())]
    assert getattr(x, name)((1,), keepdim=True).tolist() == [[python(row)] for row in x.tolist()]
    for shape in ((), (0, 2), (2, 0)):
        assert getattr(torch.zeros(shape), name)(()).shape == shape


@pytest.mark.parametrize("name", ["all", "any"])
def test_nan_counts_as_true_and_classes_see_the_call(name):
    assert getattr(torch.tensor([float("nan"), -0.0]), name)(()).tolist() == [True, False]
    x = torch.tensor([[1, 0], [2, 3]])
    assert torch.func.vmap(lambda row: getattr(row, name)(()))(x).tolist() == TRUE
    seen = []

    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            seen.append(function.__name__)
            return super().__torch_function__(function, types, args, kwargs or {})

    getattr(x.as_subclass(Told), name)(())
    assert seen == [name]


def test_sums_reduce_all_dimensions():
    x = torch.tensor([[1.0, 0.0], [2.0, 3.0]])
    assert x.sum(()).item() == x.sum(dim=[]).item() == 6.0 and x.amax(()).item() == 3.0
