# SPDX-License-Identifier: Apache-2.0
"""libdl.func in every nesting, and forward mode through views, against PyTorch's stored answers."""

import pytest
from answered import Stored
from wrappers.func import seen_transformed

import libdl
from libdl import func
from libdl.autograd import forward_ad

float64 = libdl.float64
SEEN = Stored(seen_transformed)


def double(values):
    return libdl.tensor(values, dtype=float64)


def close(found, wanted):
    wanted = wanted if isinstance(wanted, libdl.Tensor) else double(wanted)
    assert found.shape == wanted.shape
    assert libdl.allclose(found, wanted, rtol=1e-9, atol=1e-9), (found, wanted)


V, W = double([0.3, -1.0, 2.0]), double([1.5, 0.25, -0.75])


class Case:
    def __init__(self, function):
        answer = SEEN[function.__name__]
        self.f = lambda x: function(libdl, x)
        self.g, self.h = double(answer["grad(f)(x)"]), double(answer["hessian(f)(x)"])
        self.third = double(answer["grad(hessian(f).sum())(x)"])
        self.x = double(seen_transformed.AT)


def push(f, x, v):
    return func.jvp(f, (x,), (v,))[1]


def pull(f, x, w):
    return func.vjp(f, x)[1](w)[0]


# name: (the nesting, what it is of gradient, Hessian and the sum of the Hessian's gradients)
NESTINGS = {
    "grad": (lambda c: func.grad(c.f)(c.x), lambda c: c.g),
    "jvp": (lambda c: push(c.f, c.x, V), lambda c: c.g @ V),
    "jacfwd": (lambda c: func.jacfwd(c.f)(c.x), lambda c: c.g),
    "jacrev": (lambda c: func.jacrev(c.f)(c.x), lambda c: c.g),
    "jvp of grad": (lambda c: push(func.grad(c.f), c.x, V), lambda c: c.h @ V),
    "vjp of grad": (lambda c: pull(func.grad(c.f), c.x, V), lambda c: c.h @ V),
    "jacfwd of grad": (lambda c: func.jacfwd(func.grad(c.f))(c.x), lambda c: c.h),
    "jacrev of grad": (lambda c: func.jacrev(func.grad(c.f))(c.x), lambda c: c.h),
    "jacfwd of jacrev": (lambda c: func.jacfwd(func.jacrev(c.f))(c.x), lambda c: c.h),
    "jacrev of jacfwd": (lambda c: func.jacrev(func.jacfwd(c.f))(c.x), lambda c: c.h),
    "jacfwd of jacfwd": (lambda c: func.jacfwd(func.jacfwd(c.f))(c.x), lambda c: c.h),
    "jacrev of jacrev": (lambda c: func.jacrev(func.jacrev(c.f))(c.x), lambda c: c.h),
    "hessian": (lambda c: func.hessian(c.f)(c.x), lambda c: c.h),
    "jvp of jvp": (
        lambda c: push(lambda x: push(c.f, x, V), c.x, W),
        lambda c: W @ (c.h @ V),
    ),
    "grad of jvp": (
        lambda c: func.grad(lambda x: push(c.f, x, V))(c.x),
        lambda c: c.h @ V,
    ),
    "jvp of vjp": (
        lambda c: push(lambda x: pull(c.f, x, double(2.0)), c.x, W),
        lambda c: 2 * (c.h @ W),
    ),
    "vjp of vjp": (
        lambda c: pull(lambda x: pull(c.f, x, double(2.0)), c.x, W),
        lambda c: 2 * (c.h @ W),
    ),
    "vjp of jvp": (
        lambda c: pull(lambda x: push(c.f, x, V), c.x, double(3.0)),
        lambda c: 3 * (c.h @ V),
    ),
    "grad of hessian": (
        lambda c: func.grad(lambda x: func.hessian(c.f)(x).sum())(c.x),
        lambda c: c.third,
    ),
    "grad of grad of grad": (
        lambda c: func.grad(lambda x: func.grad(lambda y: func.grad(c.f)(y).sum())(x).sum())(c.x),
        lambda c: c.third,
    ),
    "jvp of hessian": (
        lambda c: push(lambda x: func.hessian(c.f)(x).sum(), c.x, V),
        lambda c: c.third @ V,
    ),
    "jvp of jvp of jvp": (
        lambda c: push(
            lambda x: sum(
                push(lambda y: push(c.f, y, e), x, d)
                for d in libdl.eye(3, dtype=float64)
                for e in libdl.eye(3, dtype=float64)
            ),
            c.x,
            V,
        ),
        lambda c: c.third @ V,
    ),
}


@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize("function", seen_transformed.NUMBERS, ids=lambda f: f.__name__)
def test_nested(function, nesting):
    case = Case(function)
    found, wanted = NESTINGS[nesting]
    close(found(case), wanted(case))


@pytest.mark.parametrize("way", [func.jacfwd, func.jacrev])
@pytest.mark.parametrize("function", seen_transformed.SEVERAL, ids=lambda f: f.__name__)
def test_views_and_writes(function, way):
    answer = SEEN[function.__name__]
    x = double(seen_transformed.AT)
    close(function(libdl, x), answer["f(x)"])
    close(way(lambda x: function(libdl, x))(x), answer["jacrev(f)(x)"])


# -- levels ----------------------------------------------------------------------------------------


def tangent_of(x, level=None):
    return forward_ad.unpack_dual(x, level=level).tangent


def test_a_tangent_ends_with_its_level():
    x = double([1.0, 2.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, x)
        late = (dual * 2).view(2, 1)
        assert tangent_of(late).tolist() == [[2.0], [4.0]]
    assert forward_ad.unpack_dual(dual).tangent is None
    with forward_ad.dual_level():
        assert tangent_of(dual) is None and tangent_of(dual * 2) is None
        assert tangent_of(late) is None
        again = forward_ad.make_dual(dual, libdl.ones_like(x))
        assert tangent_of(again * dual).tolist() == [1.0, 2.0]


def test_levels_are_numbered_and_named():
    x = double([3.0])
    with forward_ad.dual_level() as outer:
        with forward_ad.dual_level() as inner:
            assert (outer, inner) == (0, 1)
            a = forward_ad.make_dual(x, double([1.0]), level=outer)
            b = forward_ad.make_dual(x, double([10.0]), level=inner)
            y = a * b
            primal, slope = forward_ad.unpack_dual(y)
            assert primal.item() == 9 and slope.item() == 30
            assert tangent_of(primal, level=outer).item() == 3
            assert tangent_of(slope, level=outer).item() == 10
            with pytest.raises(RuntimeError, match="opened later"):
                forward_ad.unpack_dual(y, level=outer)
            with pytest.raises(RuntimeError, match="level 0 is not the last"):
                forward_ad.exit_dual_level(level=0)
        assert tangent_of(y) is not None and tangent_of(b) is None
    with pytest.raises(RuntimeError, match="no level is open"):
        forward_ad.make_dual(x, x)
    assert forward_ad.unpack_dual(x).primal is x


def test_make_dual_refuses():
    x = double([1.0, 2.0])
    with forward_ad.dual_level():
        with pytest.raises(RuntimeError, match="has a tangent in the level"):
            forward_ad.make_dual(forward_ad.make_dual(x, x), x)
        with pytest.raises(RuntimeError, match="shape"):
            forward_ad.make_dual(x, libdl.ones(3, dtype=float64))
        with pytest.raises(ValueError, match="int64"):
            forward_ad.make_dual(libdl.arange(2), x)
        with pytest.raises(TypeError, match="int"):
            forward_ad.make_dual(x, 3)
        with pytest.raises(RuntimeError, match="level 1 is not open"):
            forward_ad.make_dual(x, x, level=1)


def test_perturbations_are_not_confused():
    # d/dx of x * (d/dy of x + y) is 1, whatever the modes.
    ways = [func.grad, lambda f: lambda x: push(f, x, double(1.0))]
    for outer in ways:
        for inner in ways:
            found = outer(lambda x, inner=inner: x * inner(lambda y: x + y)(double(1.0)))
            assert found(double(1.0)).item() == 1


def test_detach_and_data_have_no_tangent():
    x = double([1.0, 2.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, x)
        assert tangent_of(dual.detach()) is None and tangent_of(dual.data) is None
        with libdl.no_grad():
            assert tangent_of(dual * 2).tolist() == [2.0, 4.0]


def test_a_dual_writes_through_to_its_primal():
    x = double([1.0, 2.0])
    value, tangent = func.jvp(lambda x: x.mul_(2), (x,), (x.clone(),))
    assert value.tolist() == tangent.tolist() == x.tolist() == [2.0, 4.0]


def test_writing_into_an_outer_dual_from_an_inner_level():
    def f(x):
        y = x * x
        push(lambda z: y[:1].mul_(z[:1]), x, V)
        return y

    x = double([2.0, 3.0, 5.0])
    close(func.jacfwd(f)(x), [[12.0, 0, 0], [0, 6.0, 0], [0, 0, 10.0]])


def test_memory_of_tangents_goes_with_the_level():
    x = libdl.ones(1000, dtype=float64, requires_grad=True)
    held = []
    before = libdl._C.live()
    with forward_ad.dual_level():
        y = forward_ad.make_dual(x, libdl.ones_like(x))
        for _ in range(5):
            y = y.exp().view(10, 100).tanh().view(-1)
            held.append(y)
    del y, held
    assert libdl._C.live() == before


# -- forward over reverse --------------------------------------------------------------------------


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("function", seen_transformed.NUMBERS, ids=lambda f: f.__name__)
def test_a_dual_through_autograd_grad(function, create_graph):
    case = Case(function)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(case.x.clone().requires_grad_(), V)
        (g,) = libdl.autograd.grad(case.f(dual), dual, create_graph=create_graph)
        primal, tangent = forward_ad.unpack_dual(g)
    close(primal, case.g)
    close(tangent, case.h @ V)
    assert primal.requires_grad == tangent.requires_grad == create_graph


def test_saved_tensor_hooks_keep_tangents():
    case = Case(seen_transformed.network)
    hooks = libdl.autograd.graph.saved_tensors_hooks(lambda x: x.clone(), lambda x: x * 1)
    with hooks:
        close(func.hessian(case.f)(case.x), case.h)


class Cube(libdl.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, y = ctx.saved_tensors
        return 3 * dy * y / x

    @staticmethod
    def jvp(ctx, t):
        x, y = ctx.saved_tensors
        return 3 * t * y / x


@pytest.mark.parametrize("nesting", NESTINGS)
def test_custom_functions_nest(nesting):
    case = Case(seen_transformed.cube)
    case.f = lambda x: Cube.apply(x).sum()
    found, wanted = NESTINGS[nesting]
    close(found(case), wanted(case))


# -- what the caller sees of the history -----------------------------------------------------------


def test_history_of_results():
    x, w = double([1.0, 2.0]), libdl.tensor(3.0, dtype=float64, requires_grad=True)
    g = func.grad(lambda x: (x * x * w).sum())(x)
    assert g.tolist() == [6.0, 12.0]
    g.sum().backward()
    assert w.grad.item() == 6
    assert not func.grad(lambda x: (x * x).sum())(x).requires_grad
    g, value = func.grad_and_value(lambda x: (x * x).sum() + w)(x)
    assert not g.requires_grad and value.requires_grad
    assert func.jacrev(lambda x: x * w)(x).requires_grad
    assert not func.jacfwd(lambda x: x * x)(x).requires_grad
    primal, pull = func.vjp(lambda x: x * x, x)
    assert not primal.requires_grad and not pull(x)[0].requires_grad
    assert pull(x.clone().requires_grad_())[0].requires_grad
    leaf = x.clone().requires_grad_()
    for transform in (func.grad, func.hessian, func.jacfwd, func.jacrev):
        assert transform(lambda x: (x**3).sum())(leaf).requires_grad
    with libdl.no_grad():
        g = func.grad(lambda x: (x * x * w).sum())(leaf)
        assert g.tolist() == [6.0, 12.0] and not g.requires_grad
        assert func.grad(func.grad(lambda x: x**3))(double(2.0)).item() == 12
        assert func.hessian(lambda x: (x**3).sum())(leaf).tolist() == [[6, 0], [0, 12]]
    assert leaf.grad is None


def test_no_grad_inside():
    def f(x):
        with libdl.no_grad():
            c = x**2
        return x - c

    assert func.grad(f)(double(2.0)).item() == 1
    assert push(f, double(2.0), double(1.0)).item() == -3


def test_the_gradient_of_what_is_closed_over():
    w = double([1.0, -2.0]).requires_grad_()
    x = double([0.5, 2.0])
    loss = lambda x: (w * x * x).sum()  # noqa: E731
    (func.grad(loss)(x) ** 2).sum().backward()
    close(w.grad, 8 * w.detach() * x * x)
    nested = func.grad(lambda w: (func.grad(lambda x: (w * x * x).sum())(x) ** 2).sum())
    close(nested(w.detach()), 8 * w.detach() * x * x)


# -- what replaces or ends a tangent ---------------------------------------------------------------


def test_detach_in_place_ends_the_tangent():
    x = double([1.0, 2.0, 3.0])
    with forward_ad.dual_level():
        y = forward_ad.make_dual(x.clone(), V) * 2
        view = y[1:]
        view.detach_()
        assert tangent_of(view) is None and tangent_of(y) is not None
        y.detach_()
        assert tangent_of(y) is None and tangent_of(y * 2) is None


WRITERS = {
    "zero_": lambda y: y.zero_(),
    "fill_": lambda y: y.fill_(2.0),
    "copy_": lambda y: y.copy_(libdl.ones(3, dtype=float64)),
    "uniform_": lambda y: y.uniform_(),
    "normal_": lambda y: y.normal_(),
    "set item": lambda y: y.__setitem__(slice(None), 1.0),
    "gt_": lambda y: y.gt_(0),
    "round_": lambda y: y.round_(),
    "zeros(out=)": lambda y: libdl.zeros(3, dtype=float64, out=y),
    "add(out=)": lambda y: libdl.add(libdl.ones(3, dtype=float64), 1, out=y),
    "its own bytes": lambda y: y.copy_(y.detach()),
}


@pytest.mark.parametrize("way", WRITERS)
def test_what_is_constant_takes_the_tangent_away(way):
    with forward_ad.dual_level():
        y = forward_ad.make_dual(double([1.0, 2.0, 3.0]), V) * 2
        view = y[:2]
        WRITERS[way](y)
        for x in (y, view, y * 1):
            t = tangent_of(x)
            assert t is None or not t.any()


@pytest.mark.parametrize("function", ["mul", "cumprod", "logsumexp", "prod", "std", "mm"])
def test_a_destination_that_is_the_operand(function):
    f = getattr(libdl, function)
    x = double([[0.7]]) if function == "mm" else double([0.7, -1.3])
    if function in ("logsumexp", "prod", "std"):
        x = x[:, None]
        call = lambda x, **to: f(x, dim=1, keepdim=True, **to)  # noqa: E731
    elif function == "cumprod":
        call = lambda x, **to: f(x, 0, **to)  # noqa: E731
    else:
        call = lambda x, **to: f(x, x, **to)  # noqa: E731
    t = libdl.full_like(x, 2.0)
    wanted = push(call, x, t)

    def into(x):
        y = x * 1
        return call(y, out=y)

    if function == "std":
        assert libdl.isnan(wanted).all() and libdl.isnan(push(into, x, t)).all()
    else:
        close(push(into, x, t), wanted)


# -- columns together ------------------------------------------------------------------------------


def test_jacfwd_runs_the_function_once_for_128_columns():
    calls = []

    def f(x):
        calls.append(x.shape)
        return x**2

    x = libdl.arange(300, dtype=float64)
    close(func.jacfwd(f)(x), libdl.diag(2 * x))
    assert calls == [(300,)] * 3


def test_jacfwd_of_functions_that_vmap_refuses_goes_column_by_column():
    kept = libdl.zeros(3, dtype=float64)

    def branches(x):
        return x * 2 if x.sum() > 0 else x * 3

    def selects(x):
        return x[x > 0]

    def writes(x):
        kept[:] = x * x
        return kept.clone()

    close(func.jacfwd(branches)(V), 2 * libdl.eye(3, dtype=float64))
    close(func.jacfwd(selects)(V), [[1.0, 0, 0], [0, 0, 1.0]])
    close(func.jacfwd(writes)(V), libdl.diag(2 * V))


def test_jacfwd_draws_as_it_is_told():
    def f(x):
        return libdl.nn.functional.dropout(x, 0.5)

    x = libdl.ones(64, dtype=float64)
    with pytest.raises(RuntimeError, match="randomness is 'error'"):
        func.jacfwd(f)(x)
    same = func.jacfwd(f, randomness="same")(x)
    kept = libdl.nn.functional.one_hot(libdl.arange(64)).to(float64)
    # Each column has the same mask: those of dropped elements are zero, the others 2 at their
    # place.
    assert set(same.sum(0).tolist()) == {0.0, 2.0}
    assert libdl.equal(same, same * kept)
    different = func.jacfwd(lambda x: f(x.sum().expand(64)), randomness="different")(x)
    assert len({tuple(column) for column in different.t().tolist()}) > 1
    with pytest.raises(RuntimeError, match="jacfwd: randomness is 'none'"):
        func.jacfwd(f, randomness="none")


def test_the_jacobian_of_a_branching_function_that_draws_does_so_as_it_is_told():
    def f(x):
        if x.sum() > 0:
            return libdl.nn.functional.dropout(x.sum().expand(64), 0.5)
        return x

    x = libdl.ones(8, dtype=float64)
    with pytest.raises(RuntimeError, match="randomness is 'error'"):
        func.jacfwd(f)(x)
    columns = func.jacfwd(f, randomness="same")(x).t().tolist()
    assert all(column == columns[0] for column in columns)
    columns = func.jacfwd(f, randomness="different")(x).t().tolist()
    assert len({tuple(column) for column in columns}) > 1


def test_jacobians_under_vmap_have_the_batch_in_front():
    xs = libdl.stack([V, W, V * W])
    wanted = libdl.stack([libdl.diag(3 * x**2) for x in xs])
    for way in (func.jacfwd, func.jacrev):
        close(func.vmap(way(lambda x: x**3))(xs), wanted)
        close(func.vmap(way(lambda x: (x**3)[:0]))(xs), libdl.zeros(3, 0, 3, dtype=float64))
    shared = func.vmap(lambda y: func.jacrev(lambda x: x * y)(V))(xs)
    close(shared, libdl.stack([libdl.diag(x) for x in xs]))


def test_functional_jacobian_refuses_complex_outputs():
    with pytest.raises(RuntimeError, match="output 0 is libdl.complex128"):
        libdl.autograd.functional.jacobian(lambda x: libdl.complex(x, x), V)
