# SPDX-License-Identifier: Apache-2.0
"""Smaller words of tensors and of the module itself: hooks as a dict, dtypes of gradients,
capsules, older norms, warnings that come each time. Expected values are PyTorch's."""

import gc
import warnings
import weakref

import pytest

import libdl as torch
from libdl._warnings import _warn


def test_hooks_are_told_by_a_dict():
    w = torch.ones(2, requires_grad=True)
    assert w._backward_hooks is None and torch.ones(2)._backward_hooks is None
    seen = []
    first = w.register_hook(lambda g: seen.append(1))
    second = w.register_hook(lambda g: seen.append(2) or g * 3)
    assert list(w._backward_hooks) == [first.id, second.id]
    (w * 2).sum().backward()
    assert seen == [1, 2] and w.grad.tolist() == [6, 6]
    first.remove()
    assert list(w._backward_hooks) == [second.id]
    w._backward_hooks.clear()
    (w * 2).sum().backward()
    assert seen == [1, 2] and w.grad.tolist() == [8, 8]
    second.remove()


@pytest.mark.parametrize("given", [None, {}])
def test_hooks_are_replaced_by_another_dict(given):
    w, seen = torch.ones(2, requires_grad=True), []
    w.register_hook(lambda g: seen.append("old"))
    w._backward_hooks = given
    assert not w._backward_hooks
    (w * 2).sum().backward()
    w._backward_hooks = {7: lambda g: seen.append("new")}
    y = w * 2
    y.register_hook(lambda g: seen.append("y"))
    y.sum().backward()
    assert seen == ["y", "new"] and len(w._backward_hooks) == 1
    with pytest.raises(TypeError, match="_backward_hooks: found 3"):
        w._backward_hooks = 3
    with pytest.raises(TypeError):
        w.register_hook(3)
    assert len(w._backward_hooks) == 1


@pytest.mark.parametrize("result", [False, True])
def test_hooks_keep_no_tensor(result):
    def closed_over():
        w = torch.ones(2, requires_grad=True)
        x = w * 1 if result else w
        x.register_hook(lambda g: g + x.detach())
        return weakref.ref(x)

    gone = closed_over()
    gc.collect()
    assert gone() is None


def test_hooks_outlive_the_object_they_were_given_to():
    w, seen = torch.ones(2, requires_grad=True), []
    y = w * 2
    y.register_hook(seen.append)
    z = y.sum()
    del y
    gc.collect()
    z.backward()
    assert len(seen) == 1


def test_gradients_have_their_tensors_dtype():
    w = torch.ones(2, dtype=torch.float16, requires_grad=True)
    assert w.grad_dtype is torch.float16 and (w * 2).grad_dtype is torch.float16
    assert torch.ones(2).long().grad_dtype is torch.int64
    w.grad_dtype = torch.float16
    for wanted in (torch.float32, None):
        with pytest.raises(NotImplementedError, match="^grad_dtype: found"):
            w.grad_dtype = wanted
    with pytest.raises(RuntimeError, match="wanted a leaf"):
        (w * 2).grad_dtype = torch.float16
    with pytest.raises(RuntimeError, match="wanted a dtype"):
        w.grad_dtype = 1


def test_a_capsule_of_a_tensor_with_history():
    w = torch.ones(2, requires_grad=True)
    for x in (w, w * 1, w.detach()):
        capsule = torch.to_dlpack(x)
        assert type(capsule).__name__ == "PyCapsule"
        shared = torch.from_dlpack(capsule)
        assert shared.data_ptr() == x.data_ptr() and not shared.requires_grad
    assert torch.to_dlpack is torch.utils.dlpack.to_dlpack


M = torch.tensor([[3.0, 0.0], [0.0, 4.0]])


@pytest.mark.filterwarnings("ignore:.*is deprecated")
def test_older_norms():
    assert torch.frobenius_norm(M, (0, 1)).item() == 5 and torch.frobenius_norm(M, ()).item() == 5
    assert torch.frobenius_norm(M, 0).tolist() == [3, 4]
    assert torch.frobenius_norm(M, (0, 1), True).tolist() == [[5]]
    out = torch.empty(0)
    assert torch.frobenius_norm(M, (0, 1), out=out) is out and out.item() == 5
    for found in (
        torch.nuclear_norm(M),
        torch.nuclear_norm(M, (0, 1)),
        torch.nuclear_norm(M, dim=(1, 0)),
    ):
        assert found.item() == pytest.approx(7)
    assert torch.nuclear_norm(M, True).shape == torch.nuclear_norm(M, keepdim=True).shape == (1, 1)
    assert torch.nuclear_norm(M[None]).shape == (1,)
    torch.nuclear_norm(M, out=out)
    assert out.item() == pytest.approx(7)
    for call in (
        lambda: torch.frobenius_norm(M),
        lambda: torch.frobenius_norm(M, True),
        lambda: torch.frobenius_norm(M, None),
    ):
        with pytest.raises(TypeError):
            call()
    for dim in (0, (), (0, 0), (0, 1, 0)):
        with pytest.raises(RuntimeError, match="dim"):
            torch.nuclear_norm(M, dim)


@pytest.mark.parametrize(
    "call", [lambda: torch.frobenius_norm(M, ()), lambda: torch.nuclear_norm(M)]
)
def test_older_norms_are_deprecated(call):
    with pytest.warns(UserWarning, match="is deprecated: use linalg"):
        call()


def test_warnings_come_each_time_if_wanted():
    def told():
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("default")
            for _ in range(3):
                _warn(0, "the same")  # what the core calls
        return len(found)

    assert torch.is_warn_always_enabled() is False and told() == 1
    torch.set_warn_always(True)
    assert torch.is_warn_always_enabled() is True and told() == 3
    torch.set_warn_always(False)
    assert told() == 1
    with pytest.raises(RuntimeError, match="is 1, wanted a truth"):
        torch.set_warn_always(1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.gcd(4, 6),
        lambda: torch.gcd(torch.tensor(4), 6),
        lambda: torch.lcm(4, torch.tensor(6)),
        lambda: torch.complex(1.0, torch.ones(1)),
        lambda: torch.polar(torch.ones(1), 1.0),
        lambda: torch.xlogy(1.0, 2.0),
        lambda: torch.special.xlog1py(1.0, 2.0),
        lambda: torch.float_power(2, 3),
    ],
)
def test_numbers_where_tensors_are_wanted(call):
    with pytest.raises(
        TypeError, match=r"^\w+: argument . \(\w+\) is a (int|float|number), wanted a tensor"
    ):
        call()


def test_one_tensor_is_enough_for_some():
    assert (
        torch.xlogy(torch.tensor(2.0), 1.0).item()
        == torch.xlogy(0.0, torch.tensor(3.0)).item()
        == 0
    )
    assert (
        torch.float_power(2, torch.tensor(3)).item()
        == torch.float_power(torch.tensor(2), 3).item()
        == 8
    )


def test_complex_numbers_have_out():
    out = torch.empty(0, dtype=torch.complex64)
    assert torch.complex(torch.ones(2), torch.zeros(2), out=out) is out and out.tolist() == [1, 1]
    assert (
        torch.polar(
            torch.ones(1) * 2, torch.zeros(1), out=torch.empty(1, dtype=torch.complex64)
        ).item()
        == 2
    )
    with pytest.raises(RuntimeError):
        torch.complex(torch.ones(2), torch.zeros(2), out=torch.empty(2))


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.bool, torch.int64])
def test_a_sum_to_no_dimensions_is_a_sum(dtype):
    for x in (torch.ones(()), torch.ones(2, 1)):
        found = x.to(dtype).sum_to_size(())
        assert found.dtype is torch.int64 and found.shape == () and found.item() == x.numel()
    assert torch.ones(2).to(dtype).sum_to_size(2).dtype is dtype
