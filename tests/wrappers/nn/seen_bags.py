# SPDX-License-Identifier: Apache-2.0
"""Programs with bags of rows, sparse gradients and their optimizers, for test_bags.py. `m` is
libdl, or PyTorch, whose answers tests/answered.py stores."""

from wrappers.answers import digest, gradients, leaf, numbers, told

TOGETHER = True

UNEVEN = ([3, 1, 1, 4, 0, 5, 3, 2], [0, 2, 2, 5])


def at(m, indices, dtype=None):
    return m.tensor(indices, dtype=dtype or m.int64)


def options(m):
    bag, answers = m.nn.functional.embedding_bag, {}
    indices, offsets = UNEVEN
    for mode in ("sum", "mean"):
        weight = leaf(m, 6, 4)
        y = bag(at(m, indices), weight, at(m, offsets), mode=mode, scale_grad_by_freq=True)
        answers[f"frequency {mode}"] = [digest(m, y), gradients(m, y, [weight])]
    for padding in (None, 3):
        weight, factors = leaf(m, 6, 4), leaf(m, 2, 4, shift=0.4)
        y = bag(
            at(m, indices).reshape(2, 4),
            weight,
            mode="sum",
            per_sample_weights=factors,
            padding_idx=padding,
        )
        answers[f"matrix {padding}"] = [digest(m, y), gradients(m, y, [weight, factors])]
    for dtype in (m.int32, m.int64):
        y = bag(at(m, indices, dtype), leaf(m, 6, 4), at(m, offsets, m.int32))
        answers[f"index {dtype}".split(".")[-1]] = digest(m, y)
    weight = leaf(m, 6, 4)
    y = bag(at(m, indices), weight, at(m, offsets), max_norm=0.9, norm_type=1.5)
    answers["norm"] = [digest(m, y), digest(m, weight), gradients(m, y, [weight])]
    return answers


def lower_precision(m):
    answers = {}
    for dtype in (m.float32, m.float16, m.bfloat16):
        weight = (numbers(m, 6, 4) * 8).round().div(8).to(dtype)
        for mode in ("sum", "max"):
            y = m.nn.functional.embedding_bag(at(m, UNEVEN[0]), weight, at(m, UNEVEN[1]), mode=mode)
            answers[f"{dtype} {mode}".split(".")[-1]] = [str(y.dtype).split(".")[-1], digest(m, y)]
    return answers


def not_numbers(m):
    """The first of the largest elements, and a NaN only if it comes first."""
    weight = m.tensor([[1.0, float("nan")], [1.0, 2.0], [float("nan"), 1.0], [-9.0, 3.0]])
    weight = weight.double().requires_grad_()
    y = m.nn.functional.embedding_bag(
        at(m, [[0, 1, 2], [2, 1, 0], [1, 0, 3], [3, 3, 3]]), weight, mode="max"
    )
    (g,) = m.autograd.grad(y.sum(), weight)
    return [digest(m, y), g.tolist()]


def layers(m):
    B, E = m.nn.EmbeddingBag, m.nn.Embedding
    made = [
        B(6, 4),
        B(6, 4, mode="max"),
        B(6, 4, max_norm=2.0, norm_type=1.0),
        B(6, 4, padding_idx=-1),
        B(6, 4, scale_grad_by_freq=True, mode="sum", sparse=True, include_last_offset=True),
        E(6, 4),
        E(6, 4, padding_idx=-2, max_norm=1.5),
        E(6, 4, norm_type=3.0, sparse=True),
        E(6, 4, scale_grad_by_freq=True),
    ]
    answers = [[repr(layer), list(layer.state_dict()), layer.padding_idx] for layer in made]
    table = numbers(m, 6, 4)
    for kind in (B, E):
        layer = kind.from_pretrained(table, padding_idx=2)
        answers.append([layer.weight.requires_grad, repr(layer), digest(m, layer.weight)])
        answers.append(kind.from_pretrained(table, freeze=False, sparse=True).weight.requires_grad)
    layer = B.from_pretrained(table, mode="sum", include_last_offset=True)
    y = layer(at(m, [1, 2, 3]), at(m, [0, 2, 3]), numbers(m, 3))
    answers.append(digest(m, y))
    answers.append(bool((made[3].weight[5] == 0).all()))
    return answers


def errors(m):
    bag, x, i, o = m.nn.functional.embedding_bag, numbers(m, 4, 2), at(m, [0, 1, 2]), at(m, [0, 1])
    calls = [
        lambda: bag(i, x),
        lambda: bag(i[None], x, o),
        lambda: bag(i, x[0], o),
        lambda: bag(i, x, o[None]),
        lambda: bag(i[None, None], x),
        lambda: bag(i, x, o, mode="min"),
        lambda: bag(i, x, o, mode="max", sparse=True),
        lambda: bag(i, x, o, mode="max", scale_grad_by_freq=True),
        lambda: bag(i, x, o, per_sample_weights=x[:3, 0]),
        lambda: bag(i, x, o, mode="sum", per_sample_weights=x[:2, 0]),
        lambda: bag(i, x, o + 1),
        lambda: bag(i, x, o * 4),
        lambda: bag(i, x, o, padding_idx=4),
        lambda: bag(i, x, o[:0], include_last_offset=True),
    ]
    return [answer if isinstance(answer := told(call), dict) else "no error" for call in calls]


# -- sparse gradients ------------------------------------------------------------------------------


def shown(m, g):
    """What is told of a gradient that is sparse."""
    g = g.coalesce()
    return [
        g.is_sparse,
        str(g.layout).split(".")[-1],
        g.is_coalesced(),
        g.indices().tolist(),
        digest(m, g.values()),
        g.sparse_dim(),
        g.dense_dim(),
        g._nnz(),
        list(g.shape),
        digest(m, g.to_dense()),
        g.to_dense().is_sparse,
    ]


def sparse_gradients(m):
    answers = {}
    F = m.nn.functional
    for name, call in {
        "rows": lambda w: F.embedding(at(m, [[3, 1], [1, 5]]), w, sparse=True),
        "padding": lambda w: F.embedding(at(m, [3, 1, 5]), w, padding_idx=1, sparse=True),
        "none": lambda w: F.embedding(at(m, []), w, sparse=True),
        "sum": lambda w: F.embedding_bag(
            at(m, [3, 1, 5]), w, at(m, [0, 2]), mode="sum", sparse=True
        ),
        "mean": lambda w: F.embedding_bag(at(m, [3, 1, 3, 2]), w, at(m, [0, 1]), sparse=True),
        "weights": lambda w: F.embedding_bag(
            at(m, [3, 1, 5]),
            w,
            at(m, [0, 2]),
            mode="sum",
            sparse=True,
            per_sample_weights=numbers(m, 3),
        ),
    }.items():
        weight = leaf(m, 6, 4)
        y = call(weight)
        (y * numbers(m, *y.shape)).sum().backward()
        answers[name] = shown(m, weight.grad)
        y = call(weight)
        (y * numbers(m, *y.shape)).sum().backward()
        answers[f"{name} twice"] = shown(m, weight.grad)
    dense = m.ones(2, 3)
    answers["dense"] = [
        dense.is_sparse,
        dense.sparse_dim(),
        dense.dense_dim(),
        dense.to_dense() is dense,
        str(dense.layout).split(".")[-1],
    ]
    for name in ("coalesce", "is_coalesced", "indices", "values", "_nnz"):
        answers[name] = "error" in (told(getattr(dense, name)) or ())
    return answers


def mixed_gradients(m):
    """A table that is read, and used as a matrix, too: the sum is dense."""
    weight = leaf(m, 6, 4)
    rows = m.nn.functional.embedding(at(m, [1, 2]), weight, sparse=True)
    (rows.sum() + (weight * weight).sum()).backward()
    answers = [weight.grad.is_sparse, digest(m, weight.grad)]
    m.nn.functional.embedding(at(m, [1, 2]), weight, sparse=True).sum().backward()
    return [*answers, weight.grad.is_sparse, digest(m, weight.grad)]


def operations(m):
    made = m.sparse_coo_tensor([[1, 4, 1]], numbers(m, 3, 2), (6, 2))
    other = m.sparse_coo_tensor([[0, 4]], numbers(m, 2, 2, shift=0.5), (6, 2))
    answers = {}
    for name, x in {
        "made": made,
        "scaled": made * 2,
        "turned": 0.5 * made,
        "divided": made / 4,
        "negated": -made,
        "sum": made + other,
        "difference": made - other,
        "copy": made.clone(),
        "alias": made.detach(),
        "zeroed": made.clone().zero_(),
    }.items():
        answers[name] = shown(m, x)
    made.mul_(3)
    answers["mul_"] = shown(m, made)
    made.add_(other)
    answers["add_"] = shown(m, made)
    return answers


def follow(m, make, sparse, steps=6):
    """The table after each step; rows are read by turns."""
    weight = leaf(m, 7, 3)
    optimizer, path = make([weight]), []
    for step in range(steps):
        optimizer.zero_grad()
        rows = m.nn.functional.embedding(
            at(m, [step % 7, (3 * step + 1) % 7, 2]), weight, sparse=sparse
        )
        (rows * rows * numbers(m, 3, 3, shift=step)).sum().backward()
        optimizer.step()
        path.append(digest(m, weight))
    return path


OPTIMIZERS = {
    "SparseAdam": lambda o, p: o.SparseAdam(p, lr=0.05),
    "SparseAdam maximize": lambda o, p: o.SparseAdam(
        p, lr=0.05, betas=(0.8, 0.9), eps=1e-3, maximize=True
    ),
    "SGD": lambda o, p: o.SGD(p, lr=0.1),
    "SGD maximize": lambda o, p: o.SGD(p, lr=0.1, maximize=True),
    "SGD momentum": lambda o, p: o.SGD(p, lr=0.1, momentum=0.9, dampening=0.1),
    "SGD nesterov": lambda o, p: o.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adagrad": lambda o, p: o.Adagrad(p, lr=0.1, lr_decay=0.1),
    "Adagrad eps": lambda o, p: o.Adagrad(p, lr=0.1, eps=0.0, initial_accumulator_value=0.0),
}


def trajectories(m):
    return {
        name: follow(m, lambda p, make=make: make(m.optim, p), True)
        for name, make in OPTIMIZERS.items()
    }


def states(m):
    """What is saved, and that it goes on from there."""
    weight, unused = leaf(m, 4, 2), leaf(m, 4, 2)
    optimizer = m.optim.SparseAdam([weight, unused], lr=0.1)
    m.nn.functional.embedding(at(m, [1, 3]), weight, sparse=True).sum().backward()
    optimizer.step()
    saved = optimizer.state_dict()
    answers = [
        {key: value for key, value in saved["param_groups"][0].items()},
        list(saved["state"]),
        saved["state"][0]["step"],
        digest(m, saved["state"][0]["exp_avg"]),
        digest(m, saved["state"][0]["exp_avg_sq"]),
    ]
    second = m.optim.SparseAdam([weight, unused], lr=0.3)
    second.load_state_dict(saved)
    second.step()
    return [*answers, digest(m, weight), second.state_dict()["state"][0]["step"]]


def refused_by_sparse_adam(m):
    S, weight = m.optim.SparseAdam, leaf(m, 4, 2)
    weight.sum().backward()
    optimizer = S([weight])
    calls = [
        optimizer.step,
        lambda: S([weight], lr=0.0),
        lambda: S([weight], eps=0.0),
        lambda: S([weight], betas=(1.0, 0.9)),
        lambda: S([weight], lr=-1.0),
        lambda: S([weight.detach().to(m.complex128)]),
        lambda: S([m.sparse_coo_tensor([[0]], numbers(m, 1, 2), (4, 2))]),
    ]
    return [answer if isinstance(answer := told(call), dict) else "no error" for call in calls]


PROGRAMS = [
    options,
    lower_precision,
    not_numbers,
    layers,
    errors,
    sparse_gradients,
    mixed_gradients,
    operations,
    trajectories,
    states,
    refused_by_sparse_adam,
]
