# SPDX-License-Identifier: Apache-2.0
"""Functions that test_func.py differentiates; tests/answered.py stores PyTorch's derivatives. `m`
is either library. For `normed` PyTorch differentiates the composed form (its layer_norm has wrong
third derivatives), for `view_before_tangent` what it computes (it refuses the second write)."""

WHOLE = True
NEAR = 1e-9  # float64, a few derivatives deep

AT = [0.7, -1.3, 0.4]


def double(m, values):
    return m.tensor(values, dtype=m.float64)


# -- of three numbers, one number ------------------------------------------------------------------


def cube(m, x):
    return (x**3).sum()


def product(m, x):
    return (x.sin() * x.exp()).sum() + x.prod()


def network(m, x):
    a = double(m, [[0.3, -0.2, 0.5], [1.1, 0.4, -0.6], [0.2, 0.9, -0.1]])
    return (a @ (a @ x).tanh()).sigmoid() @ x


def soft(m, x):
    return (x.softmax(0) * double(m, [1.0, 2.0, -1.0])).sum() + m.logsumexp(x, 0)


def normed(m, x):
    y = m.nn.functional.layer_norm(x, (3,), weight=x * x, bias=x)
    return (y * double(m, [1.0, 2.0, -1.0])).sum()


def filled(m, x):
    y = m.zeros(3, dtype=m.float64)
    y[0] = x[0] * x[1]
    y[1:] = x[1:] ** 2
    y[:2].mul_(x[1])
    return (y * y).sum()


def shared(m, x):
    y = x * 1
    v = y[:2]
    y.mul_(x)
    v.add_(y[1:].clone())
    return (v * y[1:] * x[0]).sum()


def nested_views(m, x):
    y = m.zeros(2, 3, dtype=m.float64)
    y.copy_(x * x)
    row = y[1]
    part = row[1:]
    part.mul_(x[0])
    row[0] = x[2] ** 3
    part[0].sub_(x[1])
    return (y[0] * y[1]).sum() + part.prod()


def split_up(m, x):
    a, b = (x * x).split([1, 2])
    c, d = b.unbind()
    return (a * c * d).sum() + (a.exp() * b).sum()


def complex_parts(m, x):
    y = m.stack([x, x * x], dim=-1)
    z = m.view_as_complex(y)
    w = z * z * (1 + 2j)
    parts = m.view_as_real(w)
    parts[..., 0].mul_(x)
    return (w * w.conj()).real.sum() + w.imag.sum()


def indexed(m, x):
    index = m.tensor([2, 0])
    y = (x * x).index_put((index,), x[:2] ** 3)
    y = y.index_add(0, index, x[1:] * x[:2]).gather(0, m.tensor([0, 0, 2, 1]))
    return (y.cumsum(0) * y).sum() + m.where(y > 0, y * y, y).sum()


def scanned(m, x):
    values, _ = (x * x).sort()
    return (values.cumprod(0) * x).sum() + m.cat([x, x * x]).prod()


def weighted(m, x):
    scores = x.unsqueeze(1) * (x * x)
    targets = m.tensor([0, 2, 1])
    cross_entropy = m.nn.functional.cross_entropy
    smooth = cross_entropy(scores, targets, weight=(x * x).detach(), label_smoothing=0.2)
    return cross_entropy(scores, targets, reduction="sum") + smooth


def overwritten(m, x):
    y = x.exp() * 1
    y[1:].zero_()
    y[2].fill_(3.0)
    z = x * x
    z.masked_fill_(m.tensor([True, False, False]), 2.0)
    z.clamp_(max=1.0)
    return (y * x).sum() + (z * y * x).sum() + (z * x).sum()


def cut_off(m, x):
    with m.no_grad():
        c = m.tensor([1.0, 2.0, 3.0], dtype=m.float64)
    y = x * x
    y.detach().mul_(1)
    return (y * c * x).sum()


def spread(m, x):
    y = x.view(3, 1).expand(3, 2).transpose(0, 1).reshape(-1)
    d = (x.unsqueeze(1) * x).diagonal() * x.flip(0)
    return (y * y * y).sum() + d.prod() + x.std() + x.var() * x.norm()


NUMBERS = [
    cube,
    product,
    network,
    soft,
    normed,
    filled,
    shared,
    nested_views,
    split_up,
    complex_parts,
    indexed,
    scanned,
    weighted,
    overwritten,
    cut_off,
    spread,
]


# -- of three numbers, several: views and what is written through them -----------------------------


def one_element(m, x):
    y = m.zeros(2, dtype=m.float64)
    y[0] = x[0] * x[1]
    return y


def write_view_read_base(m, x):
    y = x * 1
    y[:2].mul_(3)
    return y


def write_base_read_view(m, x):
    y = x * 1
    v = y[:2]
    y.mul_(3)
    return v


def view_before_tangent(m, x):
    y = m.zeros(3, dtype=m.float64)
    v, w = y[:2], y[1:]
    v.copy_(x[1:])
    w.mul_(x[0])
    return m.cat([y, v, w])


def view_of_view(m, x):
    y = x.repeat(2)
    rows = y.view(2, 3)
    corner = rows.t()[1:]
    corner.mul_(x[0])
    rows[0].add_(x * x)
    return m.cat([y, corner.reshape(-1)])


def overwrite_part(m, x):
    y = x * x
    y[1] = 5.0
    return y


def overwrite_all(m, x):
    y = x * x
    v = y.view(3, 1)
    y.fill_(2)
    return m.cat([y, v.reshape(-1)])


def zero_part(m, x):
    y = x * x
    v = y[1:]
    v.zero_()
    y[:2].add_(x[:2])
    return m.cat([y, v])


def siblings(m, x):
    y = x * 2
    a, b = y[:2], y[1:]
    a.mul_(x[2])
    b.mul_(x[0])
    a.sub_(b.clone())
    return m.cat([a, b, y])


def masked(m, x):
    y = x * x
    y[m.tensor([True, False, True])] = x[:2]
    y.masked_fill_(m.tensor([False, True, False]), 7.0)
    return y


def put(m, x):
    y = m.ones(3, dtype=m.float64)
    y.index_put_((m.tensor([0, 0, 2]),), x, accumulate=True)
    y.index_add_(0, m.tensor([1, 1]), x[:2])
    y.scatter_(0, m.tensor([2]), x[1:2] * 3)
    return y


def reals(m, x):
    z = m.view_as_complex(m.stack([x, x * x], -1))
    z = z * 1
    m.view_as_real(z)[1:, 0].mul_(x[1:])
    z[0].mul_(2j)
    return m.view_as_real(z).reshape(-1)


def complexes(m, x):
    y = m.zeros(3, 2, dtype=m.float64)
    y[:, 0] = x
    z = m.view_as_complex(y)
    z.mul_(1 + 1j)
    z[0] = 1j
    return m.cat([y.reshape(-1), z.real, z.imag])


def chunks(m, x):
    y = (x * x).repeat(2)
    a, b = y.chunk(2)
    return m.cat([a * b, y[::2], y.unfold(0, 2, 2).reshape(-1)])


def detached(m, x):
    y = x * x
    d = y.detach()
    d.mul_(2)
    y.mul_(x)
    return m.cat([y, d * x])


def diagonals(m, x):
    y = m.zeros(3, 3, dtype=m.float64)
    y.diagonal().copy_(x * x)
    y.t()[0].add_(x)
    y.as_strided((2, 2), (3, 1), 1).mul_(x[0])
    return y


def other_dtype(m, x):
    y = m.zeros(3, dtype=m.float64)
    y[1:].copy_((x * x)[1:].to(m.complex128).real)
    y[:1].add_(x[2])
    return y


def whole_slice(m, x):
    y = m.zeros(3, dtype=m.float64)
    y[:] = x * x
    y[...].mul_(x)
    return y


def unbound(m, x):
    rows = m.stack([x, x * x])
    first, second = rows.unbind()
    rows.mul_(2)
    return m.cat([rows.reshape(-1), rows[0] * rows[1]])


SEVERAL = [
    one_element,
    write_view_read_base,
    write_base_read_view,
    view_before_tangent,
    view_of_view,
    overwrite_part,
    overwrite_all,
    zero_part,
    siblings,
    masked,
    put,
    reals,
    complexes,
    chunks,
    detached,
    diagonals,
    other_dtype,
    whole_slice,
    unbound,
]


# -- what PyTorch cannot differentiate itself ------------------------------------------------------


def composed(m, x):
    z = (x - x.mean()) / (x.var(correction=0) + 1e-5).sqrt()
    return ((z * x * x + x) * double(m, [1.0, 2.0, -1.0])).sum()


def computed(m, x):
    product, nothing = x[2:] * x[0], x[:1] * 0
    return m.cat([x[1:2], product, nothing, x[1:2], product, product, nothing])


def sections(m):
    """The value of each function, and its derivatives: of numbers three, the last the gradient of
    the sum of the second; of several numbers one."""
    found, instead = {}, {normed: composed, view_before_tangent: computed}
    for function in (*NUMBERS, *SEVERAL):
        f, x = (lambda x, g=instead.get(function, function): g(m, x)), double(m, AT)
        found[function.__name__] = lines = {"f(x)": function(m, x).tolist()}
        if function in SEVERAL:
            lines["jacrev(f)(x)"] = m.func.jacrev(f)(x).tolist()
            continue
        hessian = m.func.jacrev(m.func.grad(f))
        lines["grad(f)(x)"] = m.func.grad(f)(x).tolist()
        lines["hessian(f)(x)"] = hessian(x).tolist()
        third = m.func.grad(lambda x, h=hessian: h(x).sum())
        lines["grad(hessian(f).sum())(x)"] = third(x).tolist()
    return found
