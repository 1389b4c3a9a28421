# SPDX-License-Identifier: Apache-2.0
"""Transforms of functions of Tensor subclasses, for test_transformed_classes.py; tests/answered.py
stores PyTorch's answers."""

import importlib

from wrappers.answers import told


def classes_of(m):
    class Plain(m.Tensor):
        pass

    class Watching(m.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            assert all(issubclass(cls, kind) for kind in types), types
            return super().__torch_function__(func, types, args, kwargs or {})

    class Below(Watching):
        pass

    class Unconverted(m.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            with m._C.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))

    class Disabled(m.Tensor):
        __torch_function__ = m._C._disabled_torch_function_impl

    return Plain, Watching, Below, Unconverted, Disabled


def shown(m, y):
    if isinstance(y, (tuple, list)):
        return [shown(m, item) for item in y]
    if not isinstance(y, m.Tensor):
        return y if isinstance(y, (str, bool, float, int)) else str(y)
    values = y.detach().as_subclass(m.Tensor).double().reshape(-1).tolist()
    return [type(y).__name__, list(y.shape), values, y.requires_grad]


class Functions:
    """Functions that keep the classes of their arguments and results."""

    def __init__(self):
        self.inside = []

    def __call__(self, function):
        def noting(*args):
            answer = function(*args)
            self.inside += [type(value).__name__ for value in (*args, answer)]
            return answer

        return noting


def both(result, *more):
    value, push = result[:2]
    return value, push(*more), *result[2:]


# x is of a class, t and u are none. In the last ones the function's arguments are samples.
PROGRAMS = """
func.grad(f(lambda a: (a * a).sum()))(x)
func.grad(f(lambda a: a.prod()))(x)
func.grad_and_value(f(lambda a: (a * a).sum()))(x)
func.grad(f(lambda a, b: (a * b).sum()), argnums=(0, 1))(x, t)
func.grad(f(lambda a, b: (a * b).sum()), argnums=1)(t, x)
func.grad(f(lambda a, b: (a * a * b).sum()))(t, x)
func.grad(lambda a, b: (a * a * b).sum())(t, b=x)
func.grad(f(lambda a: (x * a).sum()))(t)
func.grad(f(lambda a: (x * a).sum()))(x)
func.grad(lambda a: ((a * a).sum(), a * x), has_aux=True)(t)
func.grad(lambda a: ((a * a).sum(), x), has_aux=True)(x)
func.grad(lambda a: ((a * a).sum(), a + 1), has_aux=True)(x)
func.grad(lambda a: func.grad(f(lambda b: b.pow(3).sum()))(a).sum())(x)
func.grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": t, "b": [x]})["b"][0]
both(func.vjp(f(lambda a: a * a), x), t)
both(func.vjp(f(lambda a: a * a), t), x)
both(func.vjp(f(lambda a: a * x.sum().as_subclass(m.Tensor)), t), x)
both(func.vjp(lambda a: (a * a, x), t, has_aux=True), t)
func.jvp(f(lambda a: a * a), (x,), (t,))
func.jvp(f(lambda a: a * a), (t,), (x,))
func.jvp(f(lambda a: a * a), (x,), (x,))
func.jvp(f(lambda a: a * x), (t,), (u,))
func.jvp(lambda a: (a * a, x), (t,), (u,), has_aux=True)
func.jvp(lambda a: (a * a, a * x), (t,), (u,), has_aux=True)
func.jacrev(f(lambda a: a * a))(x)
func.jacrev(f(lambda a: a * x))(t)
func.jacrev(f(lambda a, b: a * b), argnums=1)(x, t)
func.jacrev(lambda a: (a * a, x), has_aux=True)(t)
func.jacfwd(lambda a: a * a)(x)
func.jacfwd(lambda a: a * x)(t)
func.jacfwd(lambda a, b: a * b, argnums=1)(x, t)
func.hessian(lambda a: a.pow(3).sum())(x)
func.hessian(lambda a: (a.pow(3) * x).sum())(t)
func.jacrev(func.jacfwd(lambda a: a.pow(3)))(x)
func.vmap(lambda a: a * a)(x)
func.vmap(lambda a: a * a, chunk_size=2)(x)
func.vmap(lambda a, b: a * b)(x, t)
func.vmap(lambda a, b: a * b)(t, x)
func.vmap(lambda a, b: a * b, in_dims=(None, 0))(x, t)
func.vmap(lambda a: x * a)(t)
func.vmap(lambda a: a + x.sum())(t)
func.vmap(lambda a: x[0])(t)
func.vmap(lambda a: x, out_dims=None)(t)
func.vmap(lambda a: m.cat([x, a.reshape(1)]))(t)
func.vmap(lambda a: m.where(a > 1, x, a))(t)
func.vmap(func.vmap(lambda a, b: a * b, (None, 0)), (0, None))(x, t)
func.vmap(func.grad(lambda a: a.sin()))(x)
func.vmap(func.grad(lambda a: (a.sin() * x).sum()))(t)
func.grad(lambda a: func.vmap(lambda b: b * b)(a).sum())(x)
func.jvp(func.vmap(lambda b: b * b), (x,), (t,))
m.autograd.functional.jacobian(lambda a: a * a, x)
m.autograd.functional.hessian(lambda a: a.pow(3).sum(), x)
m.autograd.functional.jvp(lambda a: a * a, x, t)
m.autograd.functional.vjp(lambda a: a * a, x, t)
dual(lambda a: fa.make_dual(a, t), x)
dual(lambda a: fa.make_dual(t, a), x)
dual(lambda a: fa.unpack_dual(fa.make_dual(a, t).exp()), x)
dual(lambda a: fa.unpack_dual(a), x)
""".strip().splitlines()


def answer(m, cls, program, recorded):
    func = importlib.import_module(f"{m.__name__}.func")
    forward_ad = importlib.import_module(f"{m.__name__}.autograd.forward_ad")
    f = Functions()
    x, t, u = (
        m.tensor(values, dtype=m.float64)
        for values in ([1.0, 2.0, 3.0], [0.5, 0.25, 2.0], [1.0, 1.0, 3.0])
    )
    if recorded:
        x.requires_grad_()

    def dual(function, *args):
        with forward_ad.dual_level():
            return shown(m, function(*args))

    names = {
        "func": func,
        "fa": forward_ad,
        "m": m,
        "f": f,
        "both": both,
        "dual": dual,
        "x": x.as_subclass(cls),
        "t": t,
        "u": u,
    }
    return [told(lambda: shown(m, eval(program, names))), f.inside]


def line(name, recorded):
    return f"{name}, {'recorded' if recorded else 'constant'}"


def sections(m):
    """For each program the answers for each class, of a leaf and of a constant; those that are the
    same for all classes stand once."""
    found = {}
    for program in PROGRAMS:
        found[program] = {}
        for recorded in (False, True):
            of_each = {cls.__name__: answer(m, cls, program, recorded) for cls in classes_of(m)}
            if all(value == of_each["Plain"] for value in of_each.values()):
                of_each = {"Each": of_each["Plain"]}
            found[program] |= {line(name, recorded): value for name, value in of_each.items()}
    return found
