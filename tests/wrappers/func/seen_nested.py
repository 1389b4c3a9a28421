# SPDX-License-Identifier: Apache-2.0
"""Transforms inside one another, for test_nested.py; tests/answered.py stores PyTorch's answers.

Each seed gives a function of three numbers: an elementary one, and up to three transforms of it, drawn
by the seed, some over what they close over. m is the library."""

import math
import random

NEAR = 1e-7, 1e-9

WEIGHTS = [0.7, -1.1, 0.4]
MATRIX = [[0.3, -0.2, 0.5], [1.1, 0.4, -0.6], [0.2, 0.9, -0.1]]
SEEDS = range(160)
MODES = ("plain", "backward", "inference")


def written(x):
    y = x.clone()
    y.mul_(x)
    y[0] = x[1]
    return y.add_(x.sin())


def elementary(m, w, a):
    index = m.tensor([2, 0, 1])
    return {
        "cube": lambda x: x**3,
        "wave": lambda x: x.sin() * w,
        "matrix": lambda x: (a @ x).tanh(),
        "product": lambda x: x.prod() * x.exp(),
        "softmax": lambda x: x.softmax(0) * w,
        "index": lambda x: x[index] * x.cos(),
        "norm": lambda x: x / (1 + (x * x).sum()),
        "stack": lambda x: m.stack([x[0] * x[1], x[1].exp(), x[2] * x[0]]),
        "written": written,
        "outer": lambda x: m.outer(x, x) @ w,
        "sums": lambda x: x.cumsum(0).sin(),
        "linear": lambda x: w * x,
        "constant": lambda x: w * 2.0 + 0 * x.detach(),
        "where": lambda x: m.where(x > 0, x * x, x.sin()),
        "einsum": lambda x: m.einsum("i,ij,j->j", x, a, x),
    }


def transforms(m, w, h, tangent):
    """What h may become."""
    f = m.func

    def number(x):
        return (h(x) * w).sin().sum()

    def pushed(x):
        value, moved = f.jvp(h, (x,), (tangent(x),))
        return value * moved.cos()

    def pulled(x):
        value, pull = f.vjp(h, x)
        return pull(tangent(value))[0]

    def both(x):
        slope, value = f.grad_and_value(number)(x)
        return slope * value

    def through_tangent(v):
        return f.jvp(f.grad(number), (w,), (v,))[1].sin().sum()

    return {
        "grad": f.grad(number),
        "jvp": lambda x: f.jvp(h, (x,), (tangent(x),))[1],
        "jvp, both": pushed,
        "vjp": pulled,
        "vjp of grad": lambda x: f.vjp(f.grad(number), x)[1](x)[0],
        "jacrev": lambda x: f.jacrev(h)(x) @ w,
        "jacfwd": lambda x: w @ f.jacfwd(h)(x),
        "hessian": lambda x: f.hessian(number)(x) @ w,
        "vmap": lambda x: f.vmap(h)(m.stack([x, x * 2, w])).sum(0),
        "vmap of numbers": lambda x: f.vmap(lambda c: (h(c * w) * x).sum())(x),
        "closed over": lambda x: f.grad(lambda z: (h(z) * h(x)).sum())(x.sin()),
        "step": lambda x: h(x - 0.1 * f.grad(number)(x)),
        "grad_and_value": both,
        "tangent of grad": lambda x: f.jvp(f.grad(number), (w,), (x,))[1],
        "grad by tangent": f.grad(through_tangent),
    }


def nested(m, seed):
    """The function's name, the function, and the shape of its argument."""
    draw = random.Random(seed)
    w, a = (m.tensor(values, dtype=m.float64) for values in (WEIGHTS, MATRIX))
    parts = elementary(m, w, a)
    names = [draw.choice(list(parts))]
    g = parts[names[0]]
    for _ in range(draw.randint(1, 3)):
        tangent = draw.choice([lambda x: w, lambda x: x, lambda x: x.sin()])
        found = transforms(m, w, g, tangent)
        names.append(draw.choice(list(found)))
        g = found[names[-1]]
    levels = draw.choice([0, 0, 1, 2])
    for _ in range(levels):
        g = m.func.vmap(g)
    return f"{seed}: {', '.join(names)}, {levels} vmaps", g, (3,) * (levels + 1)


def answer(m, seed, mode):
    _, g, shape = nested(m, seed)
    draw = random.Random(1000 + seed)
    values = [draw.uniform(-1, 1) for _ in range(math.prod(shape))]

    def argument():
        return m.tensor(values, dtype=m.float64).view(shape)

    if mode == "inference":
        with m.inference_mode():
            y = g(argument())
    elif mode == "plain":
        y = g(argument())
    else:
        x = argument().requires_grad_()
        y = m.autograd.grad(g(x).sin().sum() + 0 * x.sum(), x)[0]  # whether g depends on x or not
    return y.detach().reshape(-1).tolist()


def is_tame(values):
    return all(math.isfinite(v) and abs(v) < 1e4 for v in values)


def of_seed(m, seed):
    """What its function gives in each mode, unless that amplifies roundings."""
    found = {mode: answer(m, seed, mode) for mode in MODES}
    return {mode: values for mode, values in found.items() if is_tame(values)}


def answers(m):
    found = {nested(m, seed)[0]: of_seed(m, seed) for seed in SEEDS}
    return {name: modes for name, modes in found.items() if modes}
