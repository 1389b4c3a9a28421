# SPDX-License-Identifier: Apache-2.0
"""What libdl.func and libdl.autograd.functional take and give: argument numbers, structures of
tensors, auxiliary outputs, errors. PyTorch 2.15's answers."""

import pytest

import libdl
from libdl import func, nn
from libdl.autograd import functional

float64 = libdl.float64


def double(values):
    return libdl.tensor(values, dtype=float64)


def lists(tree):
    if isinstance(tree, dict):
        return {key: lists(value) for key, value in tree.items()}
    if isinstance(tree, (tuple, list)):
        return type(tree)(map(lists, tree))
    return tree.tolist() if isinstance(tree, libdl.Tensor) else tree


X, Y = double([1.0, 2.0]), double([3.0, 5.0])
EYE, ZERO = [[1.0, 0], [0, 1.0]], [[0.0, 0], [0, 0.0]]


def diagonal(a, b):
    return [[a, 0.0], [0.0, b]]


# -- argument numbers, structures, auxiliary outputs -----------------------------------------------


def test_argnums():
    f = lambda a, b: (a * a * b).sum()  # noqa: E731
    assert lists(func.grad(f)(X, Y)) == [6.0, 20.0]
    assert lists(func.grad(f, argnums=1)(X, Y)) == [1.0, 4.0]
    assert lists(func.grad(f, argnums=-1)(X, Y)) == [1.0, 4.0]
    assert lists(func.grad(f, argnums=(1, 0))(X, Y)) == ([1.0, 4.0], [6.0, 20.0])
    assert lists(func.grad(f, argnums=(0,))(X, Y)) == ([6.0, 20.0],)
    for way in (func.jacrev, func.jacfwd):
        g = way(lambda a, b: a * b, argnums=(0, 1))
        assert lists(g(X, Y)) == (diagonal(3.0, 5.0), diagonal(1.0, 2.0))
        assert lists(way(lambda a, b: a * b, argnums=1)(X, Y)) == diagonal(1.0, 2.0)
    assert lists(func.hessian(f, argnums=(0, 1))(X, Y)) == (
        (diagonal(6.0, 10.0), diagonal(2.0, 4.0)),
        (diagonal(2.0, 4.0), ZERO),
    )


def test_keywords_go_through():
    f = lambda a, power=1: (a**power).sum()  # noqa: E731
    assert lists(func.grad(f)(X, power=2)) == [2.0, 4.0]
    assert lists(func.jacrev(f)(X, power=3)) == lists(func.jacfwd(f)(X, power=3)) == [3.0, 12.0]


@pytest.mark.parametrize("way", [func.jacrev, func.jacfwd])
def test_structures_in_and_out(way):
    assert lists(way(lambda at: at[0] * at[1])([X, Y])) == [diagonal(3.0, 5.0), diagonal(1.0, 2.0)]
    assert lists(way(lambda at: at["a"] * at["b"])({"a": X, "b": Y})) == {
        "a": diagonal(3.0, 5.0),
        "b": diagonal(1.0, 2.0),
    }
    found = way(lambda a, b: {"o": a * b, "p": (a, b)}, argnums=(0, 1))(X, Y)
    assert lists(found) == {
        "o": (diagonal(3.0, 5.0), diagonal(1.0, 2.0)),
        "p": ((EYE, ZERO), (ZERO, EYE)),
    }
    found, aux = way(lambda a, b: (a * b, (a, "note")), argnums=(1,), has_aux=True)(X, Y)
    assert lists(found) == (diagonal(1.0, 2.0),) and aux[1] == "note" and lists(aux[0]) == [1, 2]
    assert way(lambda a: a.sum())(libdl.ones(2, 3)).shape == (2, 3)
    assert way(lambda a: a)(libdl.ones(2, 3)).shape == (2, 3, 2, 3)
    assert way(lambda a: a * 2)(libdl.ones(0)).shape == (0, 0)
    assert way(lambda a: a.sum())(libdl.ones(0)).shape == (0,)
    assert lists(way(lambda a: libdl.ones(2))(X)) == ZERO


def test_grad_of_structures():
    f = lambda at: (at["a"] ** 2).sum() + (at["b"][0] * at["b"][1]).sum()  # noqa: E731
    assert lists(func.grad(f)({"a": X, "b": [X, Y]})) == {
        "a": [2.0, 4.0],
        "b": [[3.0, 5.0], [1.0, 2.0]],
    }
    found, (value, aux) = func.grad_and_value(lambda a: ((a * a).sum(), {"k": a}), has_aux=True)(X)
    assert lists(found) == [2.0, 4.0] and value.item() == 5
    assert lists(aux) == {"k": [1.0, 2.0]} and not aux["k"].requires_grad
    found, aux = func.grad(lambda a: ((a * a).sum(), a + 1), has_aux=True)(X)
    assert lists((found, aux)) == ([2.0, 4.0], [2.0, 3.0])


def test_products():
    value, pull, aux = func.vjp(lambda a, b: ((a * b, [a]), "aux"), X, Y, has_aux=True)
    assert lists(value) == ([3.0, 10.0], [[1.0, 2.0]]) and aux == "aux"
    assert lists(pull((X, [Y]))) == ([6.0, 15.0], [1.0, 4.0])
    assert lists(pull((X, [Y]))) == ([6.0, 15.0], [1.0, 4.0])
    value, moved, aux = func.jvp(lambda a, b: ({"o": a * b}, a), (X, Y), (Y, X), has_aux=True)
    assert lists((value, moved, aux)) == ({"o": [3.0, 10.0]}, {"o": [10.0, 29.0]}, [1.0, 2.0])
    value, moved = func.jvp(lambda at: at[0] * at[1], ([X, Y],), ([Y, X],))
    assert lists(moved) == [10.0, 29.0]
    value, push = func.linearize(lambda a: a**3, X)
    assert lists(value) == [1.0, 8.0] and lists(push(Y)) == [9.0, 60.0]


REFUSED = [
    ("scalar", lambda: func.grad(lambda x: x)(X)),
    ("float", lambda: func.grad(lambda x: 3.0)(X)),
    ("argnums has 1", lambda: func.grad(lambda x: x.sum(), argnums=1)(X)),
    ("argnums is 'a'", lambda: func.grad(lambda x: x.sum(), argnums="a")(X)),
    ("distinct", lambda: func.grad(lambda x: x.sum(), argnums=(0, 0))(X)),
    ("output, aux", lambda: func.grad(lambda x: x.sum(), has_aux=True)(X)),
    ("output, aux", lambda: func.vjp(lambda x: x.sum(), X, has_aux=True)),
    ("complex64", lambda: func.grad(lambda x: (x * 1j).sum())(libdl.ones(2))),
    ("int64", lambda: func.grad(lambda x: x.sum() * 1.0)(libdl.arange(2))),
    ("cotangents are", lambda: func.vjp(lambda x: (x, x * 2), X)[1](X)),
    ("cotangents are", lambda: func.vjp(lambda x: (x, x * 2), X)[1]([X, X])),
    ("wanted a tuple", lambda: func.jvp(lambda x: x, X, X)),
    ("tangents are", lambda: func.jvp(lambda x: x, (X,), (X, X))),
    ("gave a int", lambda: func.jvp(lambda x: 3, (X,), (X,))),
    ("gave no tensor", lambda: func.jvp(lambda x: (), (X,), (X,))),
    ("shape", lambda: func.jvp(lambda x: x, (X,), (libdl.ones(3, dtype=float64),))),
    ("does not depend", lambda: func.jvp(lambda x: libdl.ones(2), (X,), (X,), strict=True)),
    ("int64", lambda: func.jacrev(lambda x: x.long())(X)),
    ("gave a int", lambda: func.jacrev(lambda x: 3)(X)),
    ("gave a int", lambda: func.jacfwd(lambda x: 3)(X)),
    ("gave no tensor", lambda: func.jacrev(lambda x: ())(X)),
    ("gave no tensor", lambda: func.jacfwd(lambda x: ())(X)),
    ("real", lambda: func.jacrev(lambda x: x)(libdl.ones(2, dtype=libdl.complex64))),
    ("real", lambda: func.jacfwd(lambda x: x)(libdl.ones(2, dtype=libdl.complex64))),
    ("real", lambda: func.jacrev(lambda x: x * 1j)(libdl.ones(2))),
    ("real", lambda: func.jacfwd(lambda x: x * 1j)(libdl.ones(2))),
    ("leaf", lambda: func.grad(lambda x: x.mul_(2).sum())(X)),
]


@pytest.mark.parametrize(("words", "call"), REFUSED)
def test_refused(words, call):
    with pytest.raises(RuntimeError, match=words):
        call()


def test_what_is_no_tensor_is_refused():
    for call in (
        lambda: func.grad(lambda d: (d["a"] ** 2).sum())({"a": X, "n": 3}),
        lambda: func.vjp(lambda x, n: x * n, X, 3),
        lambda: func.jacrev(lambda x, n: x, argnums=(0, 1))(X, 3),
    ):
        with pytest.raises(ValueError, match="int, wanted tensors"):
            call()
    assert lists(func.jacfwd(lambda x, n: x * n)(X, 3)) == diagonal(3.0, 3.0)


# -- modules as functions --------------------------------------------------------------------------


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2, bias=False)
        self.second = nn.Linear(2, 2, bias=False)
        self.second.weight = self.first.weight
        self.register_buffer("shift", libdl.zeros(2))

    def forward(self, x, scale=1.0):
        return self.second(self.first(x)) * scale + self.shift


def test_functional_call():
    module, x = nn.Linear(2, 1), libdl.tensor([1.0, 2.0])
    weight, bias = libdl.ones(1, 2), libdl.zeros(1)
    before = module.weight
    given = {"weight": weight, "bias": bias}
    assert lists(func.functional_call(module, given, (x,))) == [3.0]
    assert lists(func.functional_call(module, given, x)) == [3.0]
    assert lists(func.functional_call(module, ({"weight": weight}, {"bias": bias}), x)) == [3.0]
    assert module.weight is before
    assert lists(func.functional_call(module, {}, x)) == lists(module(x))
    assert lists(func.functional_call(module, {"other": x}, x)) == lists(module(x))
    gradients = func.grad(lambda at: func.functional_call(module, at, x).sum())(given)
    assert lists(gradients) == {"weight": [[1.0, 2.0]], "bias": [1.0]}
    with pytest.raises(RuntimeError, match=r"missing keys \['bias'\]"):
        func.functional_call(module, {"weight": weight}, x, strict=True)
    with pytest.raises(RuntimeError, match=r"unexpected keys \['other'\]"):
        func.functional_call(module, given | {"other": x}, x, strict=True)
    with pytest.raises(ValueError, match="more than one dictionary"):
        func.functional_call(module, ({"weight": weight}, {"weight": weight}), x)
    with pytest.raises(TypeError, match="weight is a int"):
        func.functional_call(module, {"weight": 3}, x)
    with pytest.raises(RuntimeError):
        func.functional_call(module, {"weight": libdl.ones(3, 3)}, x)
    assert module.weight is before


def test_functional_call_ties():
    module, x = Tied(), libdl.tensor([1.0, 2.0])
    double_ = 2 * libdl.eye(2)
    call = func.functional_call
    assert lists(call(module, {"first.weight": double_}, x)) == [4.0, 8.0]
    assert lists(call(module, {"second.weight": double_}, x, {"scale": 2.0})) == [8.0, 16.0]
    found = call(
        module, {"first.weight": double_, "second.weight": 3 * libdl.eye(2)}, x, tie_weights=False
    )
    assert lists(found) == [6.0, 12.0]
    assert lists(call(module, {"first.weight": double_, "shift": x}, x)) == [5.0, 10.0]
    with pytest.raises(ValueError, match="are one tensor"):
        call(module, {"first.weight": double_, "second.weight": 3 * libdl.eye(2)}, x)
    assert module.second.weight is module.first.weight and lists(module.shift) == [0.0, 0.0]


def test_stack_module_state():
    models = [nn.Linear(2, 1) for _ in range(3)]
    parameters, buffers = func.stack_module_state(models)
    assert parameters["weight"].shape == (3, 1, 2) and parameters["weight"].requires_grad
    assert parameters["weight"].is_leaf and buffers == {}
    assert lists(parameters["bias"][1]) == lists(models[1].bias)
    with pytest.raises(RuntimeError, match="at least one"):
        func.stack_module_state([])


# -- autograd.functional ---------------------------------------------------------------------------


def test_products_with_jacobians():
    f = lambda a, b: (a * b, a + b)  # noqa: E731
    value, found = functional.vjp(f, (X, Y), (X, Y))
    assert lists(value) == ([3.0, 10.0], [4.0, 7.0])
    assert lists(found) == ([6.0, 15.0], [4.0, 9.0])
    value, found = functional.jvp(f, (X, Y), (X, Y))
    assert lists(found) == ([6.0, 20.0], [4.0, 7.0])
    assert not found[0].requires_grad and not value[0].requires_grad
    assert lists(functional.vjp(lambda x: (x**3).sum(), X)[1]) == [3.0, 12.0]
    assert lists(functional.jvp(lambda x: x**3 * Y, double(2.0))[1]) == [36.0, 60.0]
    _, found = functional.jvp(lambda x: x.exp(), X, Y)
    assert libdl.allclose(found, X.exp() * Y)


def test_products_with_hessians():
    f = lambda a, b: (a**3 * b).sum()  # noqa: E731
    for product in (functional.hvp, functional.vhp):
        value, found = product(f, (X, Y), (X, Y))
        assert value.item() == 43
        # H = [[6ab, 3a^2], [3a^2, 0]]
        assert lists(found) == ([27.0, 180.0], [3.0, 24.0])
        assert lists(product(lambda a: (a**4).sum(), X, Y)[1]) == [36.0, 240.0]
        assert lists(product(lambda a: a**3, double(2.0))[1]) == 12.0
        with pytest.raises(RuntimeError, match="single element"):
            product(lambda a: a**2, X, X)
        with pytest.raises(RuntimeError, match="single tensor"):
            product(lambda a: (a.sum(), a.sum()), X, X)
        with pytest.raises(RuntimeError, match="v is None"):
            product(lambda a: a.sum(), X)


def test_whole_matrices():
    f = lambda a, b: (a * b, b.sum())  # noqa: E731
    wanted = ((diagonal(3.0, 5.0), diagonal(1.0, 2.0)), ([0.0, 0.0], [1.0, 1.0]))
    assert lists(functional.jacobian(f, (X, Y))) == wanted
    assert lists(functional.jacobian(f, (X, Y), vectorize=True)) == wanted
    assert lists(functional.jacobian(f, (X, Y), strategy="forward-mode")) == wanted
    assert lists(functional.jacobian(lambda a: a * a, X)) == diagonal(2.0, 4.0)
    assert lists(functional.jacobian(lambda a: (a, a), X)) == (EYE, EYE)
    assert lists(functional.jacobian(lambda a: a * a, (X,))) == (diagonal(2.0, 4.0),)
    g = lambda a, b: (a * a * b).sum()  # noqa: E731
    wanted = ((diagonal(6.0, 10.0), diagonal(2.0, 4.0)), (diagonal(2.0, 4.0), ZERO))
    assert lists(functional.hessian(g, (X, Y))) == wanted
    assert lists(functional.hessian(g, (X, Y), outer_jacobian_strategy="forward-mode")) == wanted
    assert lists(functional.hessian(lambda a: (a**3).sum(), X)) == diagonal(6.0, 12.0)


def test_create_graph():
    x = X.clone().requires_grad_()
    cube = lambda a: (a**3).sum()  # noqa: E731
    for found in (
        functional.vjp(cube, x, create_graph=True)[1],
        functional.jvp(lambda a: a**3, x, libdl.ones_like(X), create_graph=True)[1],
        functional.jacobian(cube, x, create_graph=True),
    ):
        assert lists(libdl.autograd.grad(found.sum(), x)[0]) == [6.0, 12.0]
    for found in (
        functional.hessian(cube, x, create_graph=True),
        functional.hvp(cube, x, libdl.ones_like(X), create_graph=True)[1],
        functional.vhp(cube, x, libdl.ones_like(X), create_graph=True)[1],
    ):
        assert lists(libdl.autograd.grad(found.sum(), x)[0]) == [6.0, 6.0]
    assert not functional.hessian(cube, x).requires_grad
    with libdl.no_grad():
        assert lists(functional.hessian(cube, x)) == diagonal(6.0, 12.0)
        assert lists(functional.jvp(lambda a: a**3, x, Y)[1]) == [9.0, 60.0]


def test_strict():
    constant, half = lambda a: libdl.ones(2), lambda a, b: (a * a).sum()  # noqa: E731
    linear = lambda a: (a * 3).sum()  # noqa: E731
    for call in (
        lambda: functional.vjp(constant, X, X, strict=True),
        lambda: functional.jvp(constant, X, X, strict=True),
        lambda: functional.jacobian(constant, X, strict=True),
        lambda: functional.jacobian(half, (X, Y), strict=True),
        lambda: functional.vjp(half, (X, Y), strict=True),
        lambda: functional.vjp(linear, X, create_graph=True, strict=True),
        lambda: functional.hessian(linear, X, strict=True),
        lambda: functional.hessian(half, (X, Y), strict=True),
        lambda: functional.hvp(linear, X, X, strict=True),
        lambda: functional.vhp(linear, X, X, strict=True),
    ):
        with pytest.raises(RuntimeError, match="independent of"):
            call()
    assert lists(functional.jacobian(constant, X)) == ZERO
    assert lists(functional.hessian(linear, X)) == ZERO
    assert lists(functional.hvp(linear, X, X)[1]) == [0.0, 0.0]
    assert lists(functional.hvp(half, (X, Y), (X, Y))[1]) == ([2.0, 4.0], [0.0, 0.0])


def test_functional_refuses():
    with pytest.raises(TypeError, match="inputs must be a tensor or a tuple"):
        functional.jacobian(lambda a: a[0], [X])
    with pytest.raises(TypeError, match="int at index 1"):
        functional.vjp(lambda a, b: a, (X, 3), X)
    with pytest.raises(TypeError, match="outputs"):
        functional.vjp(lambda a: 3, X)
    with pytest.raises(RuntimeError, match="v has 1 tensors, wanted 2"):
        functional.jvp(lambda a, b: a, (X, Y), (X,))
    with pytest.raises(RuntimeError, match="entry 0 of v has shape"):
        functional.vjp(lambda a: a, X, libdl.ones(3, dtype=float64))
    with pytest.raises(RuntimeError, match="v is None"):
        functional.vjp(lambda a: a, X)
    with pytest.raises(ValueError, match="strategy is 'sideways'"):
        functional.jacobian(lambda a: a, X, strategy="sideways")
