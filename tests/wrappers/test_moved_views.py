# SPDX-License-Identifier: Apache-2.0
"""A view that gets other memory is one no more: its base has no share in what is written there. Nor
has an old view in what is written into a base that got other memory. A history keeps its shape."""

from __future__ import annotations

import pytest

import libdl
from libdl.autograd import forward_ad, grad


def tensor(*numbers: float) -> libdl.Tensor:
    return libdl.tensor([float(n) for n in numbers], requires_grad=True)


def test_an_empty_view_as_out_is_no_view_afterwards():
    w, base = tensor(2, 3), libdl.zeros(4)
    view = base[1:1]
    libdl.add(libdl.ones(2), 1, out=view)
    view.mul_(w)
    assert view._base is None and not base.requires_grad
    assert base.tolist() == [0, 0, 0, 0] and view.tolist() == [4, 6]
    assert grad(view.sum(), w)[0].tolist() == [2, 2]


@pytest.mark.parametrize("made", [lambda x: x.split([0, 4])[0], lambda x: x[:0]])
def test_an_out_that_was_one_of_several_or_made_under_no_grad_may_be_written(made):
    w, base = tensor(2, 3), libdl.zeros(4)
    with libdl.no_grad():
        view = made(base)
    libdl.add(libdl.ones(2), 1, out=view)
    view.mul_(w)
    assert grad(view.sum(), w)[0].tolist() == [2, 2] and not base.requires_grad


def test_what_a_view_with_new_data_writes_is_not_the_bases():
    w = tensor(2, 3, 4, 5)
    base = w * 1
    view = base[1:3]
    view.data = libdl.ones(2) * 5
    view.mul_(2)
    assert view._base is None and view.tolist() == [10, 10]
    assert grad(view.sum(), w, retain_graph=True)[0].tolist() == [0, 2, 2, 0]
    assert grad(base.sum(), w)[0].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("before", [True, False])
def test_a_view_with_new_data_has_the_writes_of_its_base_until_then(before):
    w = tensor(2, 3, 4, 5)
    base = w * 1
    view = base[1:3]
    if before:
        base.mul_(2)
    view.data = libdl.ones(2)
    if not before:
        base.mul_(2)
    assert grad(view.sum(), w, retain_graph=True)[0].tolist() == (
        [0, 2, 2, 0] if before else [0, 1, 1, 0]
    )
    assert grad(base.sum(), w)[0].tolist() == [2, 2, 2, 2]


def test_bytes_of_another_dtype_are_other_memory():
    w = tensor(2, 3)
    base = libdl.ones(4, dtype=libdl.float64) * w[0]
    view = base[:2]
    view.data = base.data.view(libdl.float32)[:2]
    view.mul_(w)
    assert view._base is None and view.grad_fn.name() == "MulBackward0"
    assert grad(base.sum(), w)[0].tolist() == [4, 0]


def test_other_elements_of_the_same_memory_stay_a_view():
    w = tensor(2, 3)
    base = libdl.zeros(4)
    view = base[:2]
    view.data = base.data[2:]
    view.add_(w)
    assert view._base is base and base.tolist() == [0, 0, 2, 3]
    assert grad((base * libdl.tensor([1.0, 10, 100, 1000])).sum(), w)[0].tolist() == [100, 1000]


@pytest.mark.parametrize(
    "data",
    [
        lambda x: libdl.zeros(4),
        lambda x: libdl.zeros(1),
        lambda x: x[1:],
        lambda x: x[::2],
        lambda x: x.view(libdl.float16)[:3],
    ],
)
def test_old_views_of_a_base_with_other_data_are_not_written_while_recording(data):
    w, base = tensor(2, 3), libdl.zeros(4)
    view = base[:2]
    base.data = data(base.data)
    with pytest.raises(libdl.AutogradError, match="given other data since"):
        view.mul_(w)
    with libdl.no_grad():
        view.fill_(2)
    view.mul_(3)  # nothing is recorded
    assert view.tolist() == [6, 6] and not base.requires_grad


def test_old_views_of_a_base_that_was_given_data_do_not_see_its_writes():
    w = tensor(2, 3, 4, 5)
    base, plain = w * 1, libdl.zeros(4)
    read, unread, none = base[1:3], base[:2], plain[:2]
    base.data, plain.data = libdl.ones(4), libdl.ones(4)
    assert grad(read.sum(), w, retain_graph=True)[0].tolist() == [0, 1, 1, 0]
    base.mul_(2)
    plain.mul_(w)
    assert not none.requires_grad and not (none * 2).requires_grad and none.tolist() == [0, 0]
    assert grad(read.sum(), w, retain_graph=True)[0].tolist() == [0, 1, 1, 0]
    assert grad(unread.sum(), w, retain_graph=True)[0].tolist() == [1, 1, 0, 0]
    assert grad(base.sum(), w, retain_graph=True)[0].tolist() == [2, 2, 2, 2]
    assert grad(base[1:].sum(), w)[0].tolist() == [0, 2, 2, 2]


def test_old_views_that_missed_a_write_before_the_data_were_given_cannot_be_read():
    w = tensor(2, 3, 4, 5)
    base = w * 1
    read, unread = base[1:3], base[:2]
    base.mul_(2)
    assert read.requires_grad
    base.data = libdl.ones(4)
    base.mul_(2)
    with pytest.raises(libdl.AutogradError, match="written to and given other data since"):
        unread.sum()
    assert grad(read.sum(), w)[0].tolist() == [0, 2, 2, 0]


def test_old_views_of_a_base_that_lost_elements_do_not_lose_the_writes_of_others():
    w, base = tensor(2), libdl.ones(4)
    view = base[:]
    base.data = base.data[1:]
    view[-1].mul_(w[0])
    assert grad(base.sum(), w)[0].tolist() == [1]
    with pytest.raises(libdl.AutogradError, match="given other data since"):
        view.sum()


@pytest.mark.parametrize("through", [False, True])
@pytest.mark.parametrize("data", [lambda x: x[1:], lambda x: x[1:3], lambda x: x[::2]])
def test_what_is_written_over_other_elements_is_computed_of_them(data, through):
    w, factor = tensor(2, 3, 4, 5), libdl.tensor([1.0, 10, 100, 1000])
    base = w * 1
    view = base[:2]
    view.data = data(base.data)
    (view[...] if through else view).mul_(3)
    wanted = factor.clone()
    data(wanted).mul_(3)
    assert grad((base * factor).sum(), w)[0].tolist() == wanted.tolist()


def test_a_base_that_got_its_memory_back_has_its_views_again():
    w, base = tensor(2, 3), libdl.zeros(4)
    view, old = base[:2], base.data
    base.data = libdl.ones(3)
    base.data = old
    view.add_(w)
    assert grad(base.sum(), w)[0].tolist() == [1, 1]


def test_a_base_that_was_transposed_in_place_keeps_its_views():
    w, base = tensor(2, 3, 4), libdl.zeros(2, 3)
    view = base[1]
    base.t_()
    view.add_(w)
    assert base.tolist() == [[0, 2], [0, 3], [0, 4]]
    assert grad((base * libdl.tensor([[1.0, 2], [3, 4], [5, 6]])).sum(), w)[0].tolist() == [2, 4, 6]


def test_an_empty_view_of_what_was_resized_as_out_sees_nothing():
    with forward_ad.dual_level():
        base = libdl.zeros(0)
        view = base.view_as(base)
        libdl.add(forward_ad.make_dual(libdl.ones(2), libdl.ones(2)), 1, out=base)
        assert (view * 2).tolist() == [] and forward_ad.unpack_dual(base).tangent.tolist() == [1, 1]
    w = tensor(1, 2)
    base.mul_(w)
    assert (view * 2).tolist() == [] and grad(base.sum(), w)[0].tolist() == [2, 2]


def test_a_dual_number_with_gaps_that_changes_its_shape_has_views():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(libdl.ones(3, 2)[:, 0].detach(), libdl.tensor([1.0, 2, 3]))
        x.unsqueeze_(0)
        assert forward_ad.unpack_dual(x[0]).tangent.tolist() == [1, 2, 3]


def test_old_views_have_no_tangent_of_a_base_with_other_data():
    with forward_ad.dual_level():
        base = forward_ad.make_dual(libdl.ones(4), libdl.ones(4)) * 1
        view = base[:2]
        base.data = libdl.zeros(4)
        for touched in (lambda: view * 2, lambda: view.mul_(2)):
            with pytest.raises(libdl.AutogradError, match="given other data since"):
                touched()
        assert forward_ad.unpack_dual(base).tangent.tolist() == [1, 1, 1, 1]


def given(was: tuple[int, ...], now: tuple[int, ...], function) -> libdl.Tensor:
    """What comes back to x where function(x) was given data of another shape."""
    x = libdl.ones(was, requires_grad=True)
    y = function(x)
    y.data = libdl.full(now, 3.0)
    return grad((y * 2).sum(), x)[0]


@pytest.mark.parametrize(
    ("was", "now"),
    [((2,), (3,)), ((2, 2), (2, 3)), ((3, 2), (2,)), ((2, 3), (6,)), ((3,), ()), ((3,), (1,))],
)
@pytest.mark.parametrize(
    "function", [lambda x: x * 1, libdl.exp, lambda x: (x * 1).view_as(x), lambda x: (x * 1).T.T]
)
def test_a_history_refuses_gradients_of_another_shape(was, now, function):
    with pytest.raises(libdl.AutogradError, match="that of the tensor's history"):
        given(was, now, function)


@pytest.mark.parametrize(
    ("was", "now", "wanted"),
    [((1,), (3,), [6]), ((), (2,), 4), ((2,), (3, 2), [6, 6]), ((2, 1), (2, 3), [[6], [6]])],
)
def test_gradients_of_data_that_the_old_shape_broadcasts_to_are_summed(was, now, wanted):
    assert given(was, now, lambda x: x * 1).tolist() == wanted
    assert given(was, now, lambda x: (x * 1).view_as(x)).tolist() == wanted
    assert given((3,), (1,), lambda x: x.sum(-1, keepdim=True)).tolist() == [2, 2, 2]


def test_data_of_the_first_shape_again_and_of_another_dtype():
    x = tensor(1, 2)
    y = x * 1
    y.data = libdl.ones(3)
    y.data = libdl.ones(2)
    y.mul_(3)
    assert grad(y.sum(), x)[0].tolist() == [3, 3]
    z = x.exp()
    z.retain_grad()
    z.data = libdl.ones(2, dtype=libdl.float64)
    (z * 2).sum().backward()
    assert z.grad.dtype == libdl.float32 and x.grad.dtype == libdl.float32
    assert x.grad.tolist() == (x.detach().exp() * 2).tolist()


def test_a_gradient_is_that_of_all_that_was_computed_of_the_tensor_before_and_after():
    x = libdl.ones(1, requires_grad=True)
    y = x * 1
    y.retain_grad()
    seen: list[list[float]] = []
    before = y * 4
    y.data = libdl.ones(3)
    y.register_hook(lambda g: seen.append(g.tolist()))
    total = before.sum() + (y * 2).sum()
    assert y.grad_fn.name() == "MulBackward0"
    assert grad(total, y, retain_graph=True)[0].tolist() == [10]
    y.grad = None
    total.backward(retain_graph=True)
    assert y.grad.tolist() == [10] and x.grad.tolist() == [10] and seen == [[10], [10]]
    y.mul_(5)  # another value, whose gradient is retained alone
    y.grad = x.grad = None
    y.sum().backward()
    assert x.grad.tolist() == [15] and y.grad.tolist() == [1, 1, 1] and seen[2:] == [[15]]
