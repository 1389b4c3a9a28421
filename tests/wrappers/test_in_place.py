# SPDX-License-Identifier: Apache-2.0
"""Writes in place while recording: what is refused, and whose history they become part of."""

import gc
import sys

import pytest

import libdl
from libdl.utils.checkpoint import checkpoint

pytestmark = pytest.mark.usefixtures("no_leak")


def refused(write):
    with pytest.raises(RuntimeError, match="leaf|view|nothing was recorded"):
        write()


# -- leaves and their views ------------------------------------------------------------------------


def leaves():
    yield libdl.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    yield libdl.as_tensor([1.0, 2.0, 3.0, 4.0]).requires_grad_()
    nested = libdl.tensor([[1.0, 2.0], [3.0, 4.0]])
    nested.requires_grad = True
    yield nested
    yield libdl.tensor([1 + 2j, 3.0], requires_grad=True)
    yield libdl.frombuffer(bytearray(16), dtype=libdl.float32, requires_grad=True)
    yield libdl.ones(4).requires_grad_()
    yield libdl.ones(8)[:4].requires_grad_()  # a view that is a leaf
    with libdl.no_grad():
        unrecorded = libdl.ones(8)[:4].requires_grad_()
    yield unrecorded


def test_a_leaf_is_not_written_in_place_however_it_was_made():
    for x in leaves():
        view = x[:1]
        refused(lambda x=x: x.add_(1))
        refused(lambda x=x: x.__setitem__(0, 5))
        refused(lambda view=view: view.mul_(2))
        assert x.is_leaf and x.requires_grad
        with libdl.no_grad():
            x.add_(1)
        assert x.is_leaf


def test_what_is_made_of_lists_and_buffers_is_no_view():
    made = [
        libdl.tensor([1.0]),
        libdl.tensor([[1.0, 2.0]]),
        libdl.tensor([[1, 2], [3, 4]]),
        libdl.tensor([[True]]),
        libdl.tensor([[1j]]),
        libdl.as_tensor([[1.0]]),
        libdl.frombuffer(bytearray(8), dtype=libdl.int32),
    ]
    assert all(x._base is None for x in made)
    assert made[1].shape == (1, 2) and made[4].tolist() == [[1j]]


def test_a_view_made_under_no_grad_is_not_written_while_recording():
    w = libdl.full((2,), 3.0).requires_grad_()
    x = libdl.ones(4).requires_grad_() * 1
    with libdl.no_grad():
        views = [x[:2], x.view(2, 2)[0], x.split(2)[0], x.view(-1)]
    views.append(views[3][:2])  # a view of one, made while recording
    for view in views:
        refused(lambda view=view: view.mul_(2))
        refused(lambda view=view: view.zero_())
    plain = libdl.ones(4)
    with libdl.no_grad():
        view = plain[:2]
    view.mul_(2)  # concerns no history
    refused(lambda: view.mul_(w))
    assert plain.tolist() == [2, 2, 1, 1]
    with libdl.no_grad():
        view.mul_(w)
    assert plain.tolist() == [6, 6, 1, 1]


def test_a_view_made_under_no_grad_is_not_read_once_its_base_was_written():
    x = libdl.ones(4).requires_grad_() * 1
    with libdl.no_grad():
        view = x[:2]
    assert not (view * 2).requires_grad
    x.mul_(2)
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        view * 2
    with libdl.no_grad():
        assert (view * 2).tolist() == [4, 4]


def test_a_view_older_than_its_leaf_requiring_grad_is_not_written():
    x = libdl.ones(4)
    view = x[:2]
    x.requires_grad_()
    refused(lambda: view.mul_(2))
    refused(lambda: view.__setitem__(0, 1.0))
    y = libdl.ones(4)
    view = y[:2].requires_grad_()
    refused(lambda: view.mul_(2))
    refused(lambda: view.__setitem__(0, 1.0))
    y.mul_(libdl.full((), 3.0).requires_grad_())  # y has a history now, and view sees it
    assert not view.is_leaf
    view.mul_(2)
    assert y.tolist() == [6, 6, 3, 3]


def test_real_and_complex_views_of_each_other_are_written_through():
    z = libdl.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * 1
    again = libdl.view_as_complex(libdl.view_as_real(y))
    again.mul_(2)
    part = libdl.view_as_real(y).unbind(0)[0]
    libdl.view_as_real(y)[1].mul_(3)
    assert part.tolist() == [2, 4]
    (y.real.sum() + part.sum()).backward()
    assert z.grad.tolist() == [4 + 2j, 6]


# -- retained gradients and hooks ------------------------------------------------------------------


def test_a_retained_gradient_is_of_the_new_value_alone():
    x = libdl.tensor([1.0, -2.0], requires_grad=True)
    y = x * 3
    y.retain_grad()
    y.relu_()
    y.sum().backward()
    assert y.grad.tolist() == [1, 1] and x.grad.tolist() == [3, 0]
    x.grad = None
    y = x * 3
    y.retain_grad()
    y.mul_(2)
    y.mul_(5)
    y.sum().backward()
    assert y.grad.tolist() == [1, 1] and x.grad.tolist() == [30, 30]


def test_a_view_retains_its_gradient_when_its_base_is_written():
    x = libdl.ones(4).requires_grad_()
    y = x * 1
    view = y[:2]
    view.retain_grad()
    y.mul_(3)
    (view * 7).sum().backward()
    assert view.grad.tolist() == [7, 7] and x.grad.tolist() == [21, 21, 0, 0]


# -- results without a gradient --------------------------------------------------------------------

CUTS = {
    "lt": lambda y, w: y.lt_(1),
    "lt of a tensor": lambda y, w: y.lt_(w),
    "eq": lambda y, w: y.eq_(w),
    "ge": lambda y, w: y.ge_(w),
    "ne": lambda y, w: y.ne_(0),
    "not": lambda y, w: y.logical_not_(),
    "and": lambda y, w: y.logical_and_(w),
    "sign": lambda y, w: y.sign_(),
    "floor": lambda y, w: y.floor_(),
    "ceil": lambda y, w: y.ceil_(),
    "round": lambda y, w: y.round_(),
    "trunc": lambda y, w: y.trunc_(),
    "normal": lambda y, w: y.normal_(),
    "uniform": lambda y, w: y.uniform_(),
    "bernoulli": lambda y, w: y.bernoulli_(0.5),
    "fill": lambda y, w: y.fill_(2.0),
    "zero": lambda y, w: y.zero_(),
    "out": lambda y, w: libdl.lt(y, w, out=y),
    "view": lambda y, w: y[:].gt_(w),
    "floor_divide": lambda y, w: y.div_(2, rounding_mode="floor"),
}


@pytest.mark.parametrize("name", CUTS)
def test_what_is_not_differentiable_ends_the_history_that_it_overwrites(name):
    w = libdl.ones(3).requires_grad_()
    x = libdl.tensor([0.5, -0.5, 2.0], requires_grad=True)
    y = x * 1
    CUTS[name](y, w)
    assert y.requires_grad and not y.is_leaf
    (y * x).sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert w.grad is None or w.grad.tolist() == [0, 0, 0]


def test_a_comparison_in_place_of_one_view_cuts_that_part():
    x = libdl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y[:2].lt_(3)
    y.sum().backward()
    assert y.tolist() == [1, 0, 6] and x.grad.tolist() == [0, 0, 2]


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.cos_(),
        lambda y: y.sin_(),
        lambda y: y.log2_(),
        lambda y: y.clamp_(0, 1),
        lambda y: y.pow_(3),
        lambda y: y.mul_(y),
        lambda y: y.exp_(),
        lambda y: y.sigmoid_(),
        lambda y: y.div_(2),
        lambda y: y.lt_(1),
    ],
)
@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_nothing_is_overwritten_in_an_empty_tensor(write, shape):
    x = libdl.ones(shape).requires_grad_()
    y = x * 1
    write(y)
    z = y * y
    y.zero_()
    z.sum().backward()
    assert x.grad.shape == shape


# -- checkpoint ------------------------------------------------------------------------------------


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("requires", [False, True])
def test_a_checkpoint_knows_that_an_argument_was_overwritten(reentrant, requires):
    w = libdl.tensor([2.0, 3.0], requires_grad=True)
    x = libdl.tensor([1.0, 4.0], requires_grad=requires) * 1

    def function(x, w):
        return (x.sin() * w).exp()

    wanted = libdl.autograd.grad(function(x, w).sum(), w)[0].tolist()
    y = checkpoint(function, x, w, use_reentrant=reentrant)
    y.sum().backward()
    assert w.grad.tolist() == wanted
    y = checkpoint(function, x, w, use_reentrant=reentrant)
    with libdl.no_grad():
        x.mul_(2)
    with pytest.raises(RuntimeError, match="overwritten"):
        y.sum().backward()
    assert w.grad.tolist() == wanted


def test_a_checkpoint_knows_that_a_named_argument_was_overwritten():
    x, scale = libdl.ones(2).requires_grad_(), libdl.ones(2)
    y = checkpoint(lambda x, scale: (x * scale).sin(), x, scale=scale)
    scale.mul_(3)
    with pytest.raises(RuntimeError, match="scale was overwritten"):
        y.sum().backward()


def test_a_checkpoint_keeps_no_history_of_its_arguments():
    x = libdl.ones(2).requires_grad_()
    y = checkpoint(lambda x: x.sin().cos(), x * 2)
    y.sum().backward()
    y = libdl.ones(2).requires_grad_()
    z = checkpoint(lambda x: x.sin(), y)
    y.data = libdl.zeros(2)  # the function runs again on what it saw
    z.sum().backward()
    assert y.grad.tolist() == pytest.approx([0.5403023, 0.5403023])


# -- .grad of each other ---------------------------------------------------------------------------


def test_gradients_of_each_other_do_not_leak():
    a, b, c = libdl.ones(2), libdl.zeros(2), libdl.ones(2)
    a.grad, b.grad = b, a
    assert a.grad is b and b.grad.tolist() == [1, 1]
    b.grad.mul_(5)
    assert a.tolist() == [5, 5]
    a, b, c = libdl.ones(2).requires_grad_(), libdl.zeros(2), libdl.ones(2)
    a.grad, b.grad = b, c
    c.grad = a
    assert c.grad.requires_grad
    gc.collect()


def test_a_long_chain_of_gradients_is_freed_without_recursion():
    first = last = libdl.zeros(1)
    for _ in range(200_000):
        following = libdl.zeros(1)
        last.grad = following
        last = following
    del following, last
    assert first.grad is not None
    del first
    last = libdl.zeros(1)
    for _ in range(200_000):  # from the other end
        front = libdl.zeros(1)
        front.grad = last
        last = front
    del front, last
    assert sys.getrecursionlimit()


# -- what rules save -------------------------------------------------------------------------------


def test_a_quotient_is_written_in_place():
    x = libdl.tensor([1.0, 4.0], requires_grad=True)
    n = libdl.tensor([2.0, 4.0], requires_grad=True)
    y = x / n
    y *= 3
    y.sum().backward()
    assert x.grad.tolist() == [1.5, 0.75] and n.grad.tolist() == [-0.75, -0.75]
    x.grad = n.grad = None
    gain = libdl.tensor([5.0, 7.0], requires_grad=True)
    (x - 1).div_(n).mul_(gain).sum().backward()
    assert x.grad.tolist() == [2.5, 1.75] and n.grad.tolist() == [0, -1.3125]
    assert gain.grad.tolist() == [0, 0.75]


def test_a_write_through_data_is_not_held_against_what_was_saved():
    x = libdl.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    x.data.mul_(3)
    x.data[0].add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [8, 12]  # with the elements as they are now, as in PyTorch
    y = x * x
    x.detach().mul_(3)
    with pytest.raises(RuntimeError, match="overwritten"):
        y.sum().backward()
    data = x.data.requires_grad_()
    y = data * data  # saved of the alias itself
    with libdl.no_grad():
        data.mul_(2)
    with pytest.raises(RuntimeError, match="overwritten"):
        y.sum().backward()


def test_a_product_sees_what_was_written_through_data():
    w, x = libdl.eye(64), libdl.rand(64, 64)
    assert (x @ w).tolist() == x.tolist()
    w.data.mul_(2)
    assert (x @ w).tolist() == (x * 2).tolist()


# -- many operands ---------------------------------------------------------------------------------


@pytest.mark.parametrize("join", [libdl.cat, libdl.stack])
@pytest.mark.parametrize("count", [65_535, 65_536, 70_001])
def test_any_number_of_tensors_joins_with_gradients(join, count):
    x = libdl.ones(1, dtype=libdl.float64).requires_grad_()
    y = x * 2
    joined = join([y] * count).reshape(-1)
    (joined * libdl.arange(count, dtype=libdl.float64)).sum().backward()
    assert x.grad.item() == count * (count - 1)


def test_a_function_of_many_tensors_has_gradients():
    class Total(libdl.autograd.Function):
        @staticmethod
        def forward(ctx, *values):
            ctx.save_for_backward(*values)
            return libdl.stack(list(values)).sum()

        @staticmethod
        def backward(ctx, dy):
            return tuple(dy * value for value in ctx.saved_tensors)

    x = libdl.full((), 3.0).requires_grad_()
    values = [x * 1 for _ in range(66_000)]
    Total.apply(*values).backward()
    assert x.grad.item() == 3 * 66_000


@pytest.mark.parametrize("change", ["t_()", "unsqueeze_(0)", "transpose_(0, 1)", "squeeze_(0)"])
def test_shape_of_what_has_a_history_stays(change: str) -> None:
    """The history tells of the old shape: its gradient would have the new one."""
    a = libdl.ones(1, 3, requires_grad=True)
    c = a * 2
    with pytest.raises(libdl.AutogradError, match="history has the old shape"), libdl.no_grad():
        exec(f"c.{change}", {"c": c})
    assert c.shape == (1, 3)
    with libdl.no_grad():
        exec(f"a.{change}", {"a": a})  # a leaf may
    (a * 3).sum().backward()
    assert a.grad is not None and a.grad.shape == a.shape


@pytest.mark.parametrize(
    "change, shape",
    [
        ("t_()", (3, 1)),
        ("unsqueeze_(0)", (1, 1, 3)),
        ("unsqueeze_(-1)", (1, 3, 1)),
        ("transpose_(0, 1)", (3, 1)),
        ("swapaxes_(0, 1)", (3, 1)),
        ("squeeze_(0)", (3,)),
        ("squeeze_()", (3,)),
    ],
)
@pytest.mark.parametrize(
    "then, gradient",
    [
        (lambda c: c, [8.0, 16.0, 24.0]),
        (lambda c: c.mul_(3), [72.0, 144.0, 216.0]),
        (lambda c: c.relu_() + c, [32.0, 64.0, 96.0]),
    ],
)
def test_a_change_of_shape_is_recorded(change, shape, then, gradient):
    a = libdl.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    c = alias = a * 2
    c.tag = "kept"
    assert eval(f"c.{change}", {"c": c}) is c
    assert alias.shape == shape and c.requires_grad and not c.is_leaf and c.tag == "kept"
    then(c).square().sum().backward()
    assert a.grad.tolist() == [gradient]


def test_hooks_see_the_shape_that_they_were_registered_for():
    seen = []
    a = libdl.ones(1, 3, requires_grad=True)
    c = a * 2
    c.retain_grad()
    c.register_hook(lambda g: seen.append(tuple(g.shape)))
    c.squeeze_(0)
    c.register_hook(lambda g: seen.append(tuple(g.shape)))
    c.square().sum().backward()
    assert seen == [(3,), (1, 3)] and c.grad.tolist() == [4.0] * 3


def test_what_read_the_old_shape_and_views_keep_their_gradients():
    a = libdl.ones(2, 3, requires_grad=True)
    c = a * 2
    read, view = c * 3, c[0]
    c.unsqueeze_(0)
    c.mul_(2)
    assert view.tolist() == [4.0] * 3 and c.shape == (1, 2, 3)
    (read.sum() + view.sum() + c.sum()).backward()
    assert a.grad.tolist() == [[14.0] * 3, [10.0] * 3]


def test_a_view_of_another_shape_still_writes_to_its_base():
    a = libdl.ones(2, 3, requires_grad=True)
    c = a * 2
    row = c[0]
    row.unsqueeze_(0)
    row.mul_(5)
    c.sum().backward()
    assert a.grad.tolist() == [[10.0] * 3, [2.0] * 3]


def test_shapes_change_back_and_forth_with_second_derivatives():
    b = libdl.ones(2, 3, requires_grad=True)
    c = b * 1
    for _ in range(3):
        c.t_()
        c.unsqueeze_(0)
        c.squeeze_(0)
    (g,) = libdl.autograd.grad(c.pow(3).sum(), b, create_graph=True)
    assert libdl.autograd.grad(g.sum(), b)[0].tolist() == [[6.0] * 3] * 2
    with pytest.raises(libdl.AutogradError, match="requires grad"):
        b.t_()


def test_a_detached_alias_copied_onto_its_tensor_ends_the_history():
    leaf = libdl.tensor([1.0, 2.0], requires_grad=True)
    for write in (
        lambda y: y.copy_(y.detach()),
        lambda y: y.copy_(y.data),
        lambda y: y.__setitem__(slice(None), y.detach()),
    ):
        y = leaf * 1
        write(y)
        (gradient,) = libdl.autograd.grad(y.sum(), leaf)
        assert gradient.tolist() == [0, 0] and y.tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="leaf"):
        leaf.copy_(leaf.data)
    with libdl.no_grad():
        leaf.copy_(leaf.data)
    assert leaf.is_leaf and leaf.tolist() == [1, 2]


def test_hooks_of_a_leaf_wait_until_it_requires_grad_again() -> None:
    told: list[str] = []
    x = libdl.ones(2, requires_grad=True)
    handle = x.register_hook(lambda g: g * 3)
    x.register_post_accumulate_grad_hook(lambda p: told.append("added"))
    x.requires_grad_(False)
    x.requires_grad_()
    (x * 2).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [6, 6] and told == ["added"]
    handle.remove()
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_view_that_was_written_keeps_its_history_when_its_base_is_detached() -> None:
    a, base = libdl.ones(2, requires_grad=True), libdl.ones(4)
    c = base[:2]
    c += a
    base.detach_()
    c.sum().backward()
    assert a.grad is not None and a.grad.tolist() == [1, 1]


CHANGES = [
    ("t_()", (3, 2)),
    ("unsqueeze_(0)", (1, 2, 3)),
    ("transpose_(0, 1)", (3, 2)),
    ("swapdims_(0, 1)", (3, 2)),
    ("squeeze_()", (2, 3)),
    ("as_strided_((3, 2), (2, 1))", (3, 2)),
]


@pytest.mark.parametrize("change, shape", CHANGES)
def test_a_tensor_with_a_history_and_another_shape_is_no_view(change, shape):
    a = libdl.ones(2, 3, requires_grad=True)
    c = a * 2
    before = c[0]
    eval(f"c.{change}", {"c": c})
    assert c.shape == shape and not c._is_view() and c._base is None and c.grad_fn is not None
    assert before._base is c and c[0]._base is c
    c.detach_()  # which a view refuses
    assert c.is_leaf and not c.requires_grad


@pytest.mark.parametrize("written", ["before", "after", "itself"])
@pytest.mark.parametrize("change, shape", CHANGES)
def test_views_from_before_and_after_share_what_is_written(change, shape, written):
    a = libdl.arange(6.0).reshape(2, 3).requires_grad_()
    c, places = a * 2, libdl.arange(6).reshape(2, 3)
    before, reached = c[0], {"before": places[0].clone()}
    eval(f"c.{change}", {"c": c})
    eval(f"c.{change}", {"c": places})
    after = c[0]
    reached |= {"after": places[0].flatten(), "itself": places.flatten()}
    {"before": before, "after": after, "itself": c}[written].mul_(5)
    (before.sum() + (c * c).sum()).backward()
    factor = libdl.full((6,), 2.0)
    factor[reached[written]] = 10.0
    slope = 2 * factor * factor * libdl.arange(6.0)
    slope[:3] += factor[:3]
    assert a.grad.flatten().tolist() == slope.tolist()
    assert before.tolist() == (factor * libdl.arange(6.0))[:3].tolist()


def test_a_retained_gradient_of_the_old_shape_is_gone():
    a = libdl.ones(2, 3, requires_grad=True)
    c = a * 2
    c.retain_grad()
    c.sum().backward(retain_graph=True)
    assert c.grad.shape == (2, 3)
    c.t_()
    assert c.grad is None and c.retains_grad
    (c * 3).sum().backward()
    assert c.grad.tolist() == [[3.0, 3.0]] * 3 and a.grad.tolist() == [[8.0] * 3] * 2


def test_what_the_old_shape_saved_is_still_good():
    a = libdl.tensor([[0.0, 1.0], [2.0, 3.0]], requires_grad=True)
    c = a.exp()  # saves its result
    square = c * c
    c.t_()
    (first,) = libdl.autograd.grad((c * square.t()).sum(), a, create_graph=True)
    (second,) = libdl.autograd.grad(first.sum(), a)
    wanted = (a.detach() * 3).exp()
    assert libdl.allclose(first, 3 * wanted) and libdl.allclose(second, 9 * wanted)


def test_changes_of_shape_in_forward_mode_and_of_views():
    with libdl.autograd.forward_ad.dual_level():
        x = libdl.autograd.forward_ad.make_dual(libdl.ones(2, 3), libdl.arange(6.0).reshape(2, 3))
        w = libdl.ones(2, 3, requires_grad=True)
        c = x * w
        c.t_()
        assert libdl.autograd.forward_ad.unpack_dual(c).tangent.shape == (3, 2)
        assert libdl.autograd.grad(c.sum(), w)[0].shape == (2, 3)
    a = libdl.ones(2, 3, requires_grad=True)
    c = a * 2
    view = c[:]
    view.t_()
    assert view._base is c and view.shape == (3, 2)
    view.mul_(3)
    c.sum().backward()
    assert a.grad.tolist() == [[6.0] * 3] * 2
