# SPDX-License-Identifier: Apache-2.0
"""Programs with vmap, for test_vmap_pytorch.py; tests/answered.py stores PyTorch's answers.

A program is a function of the library m that returns numbers; where it raises, the error's class is
the answer."""

import warnings

NEAR = 1e-6, 1e-9  # a few roundings of float32, which some programs compute in


def waves(m, *shape, phase=0.0):
    count = 1
    for size in shape:
        count *= size
    return (m.arange(count, dtype=m.float64) * 0.7 + phase).sin().view(shape)


def shown(y):
    if isinstance(y, (tuple, list)):
        return [shown(item) for item in y]
    if isinstance(y, dict):
        return {key: shown(item) for key, item in y.items()}
    if hasattr(y, "detach"):
        return [list(y.shape), y.detach().double().reshape(-1).tolist()]
    return y


def p(text):
    return text, eval(f"lambda m, x, y, F, func, vmap: {text}")


def written(a, change):
    change(a)
    return a


def new_and_add(a):
    z = a.new_zeros(3)
    z += a
    z[0] = a.sum()
    return z


PROGRAMS = [
    p(text)
    for text in """
vmap(lambda a: a * 2)(x)
vmap(lambda a: a * 2, 1)(x)
vmap(lambda a: a * 2, -1, -1)(x)
vmap(lambda a: a * 2, 0, 1)(x)
vmap(lambda a: a * 2, in_dims=2)(x)
vmap(lambda a: a * 2, in_dims=-3)(x)
vmap(lambda a: a * 2, in_dims=None)(x)
vmap(lambda a: a * 2, in_dims="0")(x)
vmap(lambda a: a * 2, in_dims=(0, 0))(x)
vmap(lambda a, b: a + b, in_dims=(0, None))(x, y)
vmap(lambda a, b: a + b, in_dims=[0, None])(x, y)
vmap(lambda a, b: a + b, in_dims=(1, 0))(x, y)
vmap(lambda a, b: a + b)(x, y)
vmap(lambda a, b: a + b, in_dims=(0, 0))(x, 3.0)
vmap(lambda a, b: a + b, in_dims=(0, None))(x, 3.0)
vmap(lambda a: a, out_dims=2)(x)
vmap(lambda a: a, out_dims=None)(x)
vmap(lambda a: y, out_dims=None)(x)
vmap(lambda a: y)(x)
vmap(lambda a: (a, y), out_dims=(0, None))(x)
vmap(lambda a: (a, a), out_dims=(1, 0))(x)
vmap(lambda a: (a, a), out_dims=1)(x)
vmap(lambda a: (a, a), out_dims=(1,))(x)
vmap(lambda a: a, out_dims=(1,))(x)
vmap(lambda a: {"u": a, "v": [a.sum()]})(x)
vmap(lambda a: {"u": a, "v": a.sum()}, out_dims={"u": 1, "v": 0})(x)
vmap(lambda a: 3)(x)
vmap(lambda a: None)(x)
vmap(lambda a: (a, 3))(x)
vmap(lambda a: ())(x)
vmap(lambda a: "s")(x)
vmap(lambda d: d["a"] + d["b"])({"a": x, "b": x})
vmap(lambda d: d["a"] + d["b"], in_dims=({"a": 0, "b": None},))({"a": x, "b": y})
vmap(lambda d: d["a"] + d["b"], in_dims=({"a": 0},))({"a": x, "b": y})
vmap(lambda a, b: a + b[0], in_dims=(0, (None, 0)))(x, (y, x))
vmap(lambda a, *, b: a + b)(x, b=x)
vmap(lambda a, *, b: a + b)(x, b=2.0)
vmap(lambda: y)()
vmap(lambda a: a.sum(), chunk_size=2)(x)
vmap(lambda a: a.sum(), chunk_size=1)(x)
vmap(lambda a: a.sum(), chunk_size=9)(x)
vmap(lambda a: a.sum(), chunk_size=0)(x)
vmap(lambda a: a.sum(), chunk_size=-1)(x)
vmap(lambda a: (a, a.sum()), out_dims=(1, 0), chunk_size=3)(x)
vmap(lambda a: a, randomness="none")(x)
vmap(lambda a: a + m.randn(3))(x)
vmap(lambda a: a + m.randn_like(a))(x)
vmap(lambda a: F.dropout(a))(x)
vmap(lambda a: F.dropout(a, training=False))(x)
vmap(lambda a: m.bernoulli(a.sigmoid()))(x)
list(vmap(lambda a: m.rand(2), randomness="different")(x).shape)
list(vmap(lambda a: m.randn(2), randomness="same")(x).shape)
list(vmap(lambda a: m.randint(0, 5, (2,)), randomness="different")(x).shape)
list(vmap(lambda a: m.randperm(4), randomness="different")(x).shape)
vmap(lambda a: m.randn_like(a), randomness="same")(x).std(0).tolist()
bool((vmap(lambda a: m.randn_like(a), randomness="different")(x).std(0) > 0).all())
bool((vmap(lambda a: F.dropout(m.ones(50)), randomness="different")(x).std(0) > 0).any())
bool((vmap(lambda a: F.dropout(m.ones(50) + 0 * a.sum()), randomness="same")(x).std(0) > 0).any())
vmap(lambda a: a.normal_(), randomness="same")(x.clone()).std(0).tolist()
list(vmap(lambda a: m.zeros(3).normal_(), randomness="different")(x).shape)
vmap(lambda a: a.sum().item())(x)
vmap(lambda a: a if a.sum() > 0 else -a)(x)
vmap(lambda a: float(a.sum()))(x)
vmap(lambda a: int(a.sum()))(x)
vmap(lambda a: a.tolist())(x)
vmap(lambda a: a[a > 0])(x)
vmap(lambda a: a.nonzero())(x)
vmap(lambda a: m.masked_select(a, a > 0))(x)
vmap(lambda a: m.where(a > 0, a, 0.0))(x)
vmap(lambda a: y.clone().add_(a))(x)
vmap(lambda a: m.zeros(3, dtype=m.float64).copy_(a))(x)
vmap(lambda a: written(a, lambda b: b.mul_(2)))(x.clone())
vmap(lambda a: written(a, lambda b: b.add_(y)))(x.clone())
vmap(lambda a: written(a, lambda b: b[0].add_(y[1])))(x.clone())
vmap(lambda a: written(a, lambda b: b.__setitem__(1, b[0])))(x.clone())
vmap(lambda a: written(a, lambda b: b.zero_()))(x.clone())
vmap(lambda a: written(y.clone(), lambda b: b.__setitem__(1, a[0])))(x)
vmap(new_and_add)(x)
vmap(lambda a: [a.shape[0] + a, a.ndim * a, a.size(0) * a, a.numel() * a, len(a) * a])(x)
vmap(lambda a: sum(b for b in a))(x)
vmap(lambda a: a.dtype == m.float64 and a)(x)
vmap(lambda i: y[i])(m.tensor([2, 0]))
vmap(lambda i, a: a[i])(m.tensor([2, 0, 1, 1]), x)
vmap(lambda i: x[:, i])(m.tensor([2, 0]))
vmap(lambda i: x[i, 1])(m.tensor([2, 0]))
vmap(lambda i, a: a[None, i])(m.tensor([2, 0, 1, 1]), x)
vmap(lambda i: F.one_hot(i, 4))(m.tensor([2, 0]))
vmap(vmap(lambda a: a * 2))(x)
vmap(vmap(lambda a, b: a * b, (0, None)), (None, 0))(y, y)
vmap(vmap(lambda a, b: a * b, (0, None), 1), (None, 0))(x, y)
vmap(vmap(lambda a: a.exp(), randomness="same"), 1)(x)
func.jacrev(vmap(m.sin))(x)
vmap(func.jacrev(lambda a: a.sin().cumsum(0)))(x)
vmap(func.jacfwd(lambda a: a.sin().cumsum(0)))(x)
vmap(func.hessian(lambda a: (a ** 3).prod()))(x)
vmap(func.grad_and_value(lambda a: a.sin().sum()))(x)
vmap(func.grad(lambda a: (a.sin().sum(), a * 2), has_aux=True))(x)
vmap(func.grad(lambda w, a: (w * a).sum().sin(), argnums=(0, 1)), (None, 0))(y, x)
vmap(lambda a: func.vjp(m.sin, a)[1](y)[0])(x)
vmap(func.vjp(lambda b: b.sin() * y, y)[1])(x)
vmap(lambda a: func.jvp(m.sin, (a,), (y,))[1])(x)
vmap(lambda t: func.jvp(lambda b: b.sin() * y, (y,), (t,))[1])(x)
func.jvp(vmap(lambda a: a.sin().sum()), (x,), (x,))
vmap(lambda a: a @ x.T)(x)
vmap(m.dot, (0, None))(x, y)
vmap(m.mv, (None, 1))(x, x.T.contiguous())
vmap(lambda a: m.einsum("i,j->ij", a, y))(x)
vmap(lambda a: m.stack([a, y]))(x)
vmap(lambda a: m.cat([a, y]))(x)
vmap(lambda a: a.expand(2, 3))(x)
vmap(lambda a: a.view(3, 1).squeeze())(x)
vmap(lambda a: a.unsqueeze(-1).transpose(0, 1).flatten())(x)
vmap(lambda a: a.max())(x)
vmap(lambda a: list(a.max(0)))(x)
vmap(lambda a: list(a.topk(2)))(x)
vmap(lambda a: a.softmax(-1).std())(x)
vmap(lambda a: a + m.tensor(2.0))(x.float())
vmap(lambda a: a.sum() + m.ones(2, dtype=m.float32))(x)
vmap(lambda a: a.sum(3))(x)
vmap(lambda a: a.backward())(x)
vmap(lambda a: a)(x[:0])
vmap(lambda a: a.sum())(x[:0])
m.func.vmap(lambda a: a.t())(x)
""".strip().splitlines()
]


def answers(m):
    """What every program gives."""
    found = {}
    for text, program in PROGRAMS:
        x, y = waves(m, 4, 3), waves(m, 3, phase=1.0)
        m.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[text] = shown(program(m, x, y, m.nn.functional, m.func, m.vmap))
            except Exception as error:
                found[text] = type(error).__name__
    return found
