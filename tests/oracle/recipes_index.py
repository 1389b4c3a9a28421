# SPDX-License-Identifier: Apache-2.0
"""Matrices, and what is indexed."""

from __future__ import annotations

from arguments import Draw
from recipes import Made, near, recipe, size_of, sizes


@recipe("matmul", "__matmul__")
def matmul(d: Draw) -> Made:
    n, k, m = sizes(d, 3)
    left = d.some((k,), (n, k), (2, n, k), (2, 1, n, k))
    right = d.some((k,), (k, m), (2, k, m), (1, k, m), (3, k, m))
    return [d.tensor(left), d.tensor(right)], {}


@recipe("linear")
def linear(d: Draw) -> Made:
    k, m = sizes(d, 2)
    lead = d.some((), (2,), (2, 3), (0,))
    vector = d.chance(0.15)
    args = [d.tensor((*lead, k)), d.tensor((k,) if vector else (m, k))]
    if vector:  # PyTorch takes a bias of one dimension there or not, by the strides
        bias = d.some((), *[(1,) * len(lead), lead][: 2 * (len(lead) > 1)])
    else:
        bias = d.some((m,), (m,), (m,), (), *[(1, m), (1, 1), (*lead, m)][: 3 * bool(lead)])
    if d.chance(0.5):
        args.append(d.tensor(bias) if d.chance(0.9) else "None")
    return args, {}


@recipe("t")
def transposed(d: Draw) -> Made:
    return [d.input(0, 3)], {}


def _elements(d: Draw, dim: str, within: tuple[int, ...]) -> tuple[int, ...]:
    shape = [max(0, n - (n > 1 and d.chance(0.3))) for n in within]
    if shape:
        shape[int(dim) % len(shape)] = d.some(1, 2, 3)
    return tuple(shape)


@recipe("gather")
def gather(d: Draw) -> Made:
    x = d.input()
    dim = near(d)
    return [x, dim, d.indices(_elements(d, dim, d.shape), size_of(d, dim))], {}


@recipe("take_along_dim")
def take_along_dim(d: Draw) -> Made:
    x = d.input(1)
    dim = near(d)
    shape = list(d.shape)
    shape[int(dim)] = 2
    return [x, d.indices(tuple(shape), size_of(d, dim))], {"dim": dim}


@recipe("scatter", "scatter_add")
def scatter(d: Draw) -> Made:
    x = d.input()
    dim = near(d)
    shape = _elements(d, dim, d.shape)
    index = d.indices(shape, size_of(d, dim))
    named = {}
    if d.chance(0.15):
        named["reduce"] = d.some("'add'", "'multiply'")
    if d.chance(0.3):
        return [x, dim, index, d.number()], named
    return [x, dim, index, d.tensor(shape)], named


@recipe("index_select")
def index_select(d: Draw) -> Made:
    x = d.input()
    dim = near(d)
    return [x, dim, d.indices((d.some(0, 1, 3),), size_of(d, dim), d.some("int64", "int32"))], {}


@recipe("index_add", "index_copy")
def index_add(d: Draw) -> Made:
    x = d.input()
    dim = near(d)
    count = d.some(0, 1, 2)
    shape = list(d.shape)
    if shape:
        shape[int(dim)] = count
    else:
        count = 1
    return [x, dim, d.indices((count,), size_of(d, dim)), d.tensor(tuple(shape))], {}


@recipe("index_fill")
def index_fill(d: Draw) -> Made:
    x = d.input()
    dim = near(d)
    value = d.number() if d.chance(0.8) else d.tensor(())
    return [x, dim, d.indices((d.some(0, 1, 3),), size_of(d, dim)), value], {}


@recipe("index_put")
def index_put(d: Draw) -> Made:
    x = d.input(1)
    count = d.some(1, 2, 3)
    index = [d.indices((count,), d.shape[i]) for i in range(d.some(1, len(d.shape)))]
    rest = d.shape[len(index) :]
    values = d.tensor(d.some((count, *rest), rest, (1, *rest)))
    named = {"accumulate": "True"} if d.chance(0.4) else {}
    return [x, f"({', '.join(index)},)", values], named


@recipe("masked_fill")
def masked_fill(d: Draw) -> Made:
    x = d.input()
    mask = d.tensor(d.partner_shape(), "bool")
    return [x, mask, d.number() if d.chance(0.7) else d.tensor(())], {}


@recipe("masked_select")
def masked_select(d: Draw) -> Made:
    return [d.input(), d.tensor(d.partner_shape(), "bool")], {}


@recipe("masked_scatter")
def masked_scatter(d: Draw) -> Made:
    x = d.input()
    return [x, d.tensor(d.partner_shape(), "bool"), d.tensor((d.some(8, 30, 100),))], {}


@recipe("where")
def where(d: Draw) -> Made:
    x = d.input(dtype="bool")
    return [x, d.partner(), d.partner()], {}


@recipe("select")
def select(d: Draw) -> Made:
    x = d.input(1)
    dim = near(d)
    return [x, dim, str(d.r.randrange(-size_of(d, dim) - 1, size_of(d, dim) + 1))], {}


@recipe("narrow")
def narrow(d: Draw) -> Made:
    x = d.input(1)
    dim = near(d)
    start = d.r.randrange(0, size_of(d, dim) + 1)
    return [x, dim, str(start), str(d.r.randrange(0, size_of(d, dim) - start + 1))], {}


@recipe("unfold")
def unfold(d: Draw) -> Made:
    x = d.input()
    dim = near(d)
    return [x, dim, str(d.r.randrange(0, size_of(d, dim) + 1)), d.some("1", "2", "3")], {}


@recipe("embedding")
def embedding(d: Draw) -> Made:
    d.shape = (d.some(2, 3, 5), d.some(1, 2))
    index = d.indices(d.some((), (3,), (2, 2), (0,)), d.shape[0], d.some("int64", "int32"))
    named = {}
    if d.chance(0.3):
        named["padding_idx"] = d.some("0", "1", "-1")
    if d.chance(0.2):
        named["scale_grad_by_freq"] = "True"
    return [index, d.tensor(d.shape)], named


@recipe("embedding_bag")
def embedding_bag(d: Draw) -> Made:
    d.kind = "plain" if d.kind in ("special", "far") else d.kind
    d.dtype = d.some("float64", "float32", "float64") if d.mode != "value" else d.dtype
    d.shape = (d.some(2, 3, 5), d.some(1, 2))
    named = {"mode": repr(d.some("sum", "mean", "max"))}
    index_dtype = d.some("int64", "int32")
    if d.chance(0.4):
        shape: tuple[int, ...] = d.some((2, 3), (1, 2), (3, 1))
    else:
        shape = (d.some(4, 5),)
    args = [d.indices(shape, d.shape[0], index_dtype), d.tensor(d.shape)]
    if len(shape) == 1:
        ends = d.some([0, 2], [0], [0, 0, 3], [0, 1, 4])
        named["offsets"] = f"T.tensor({ends}, dtype=T.{index_dtype})"
        if len(ends) > 1 and d.chance(0.3):
            named["include_last_offset"] = "True"
            named["offsets"] = f"T.tensor({[*ends, shape[0]]}, dtype=T.{index_dtype})"
    if d.chance(0.3):
        named["padding_idx"] = d.some("0", "1", "-1")
    if named["mode"] == "'sum'" and d.chance(0.5):
        named["per_sample_weights"] = d.tensor(shape)
    elif named["mode"] != "'max'" and d.chance(0.3):
        named["scale_grad_by_freq"] = "True"
    return args, named


@recipe("to_dense")
def to_dense(d: Draw) -> Made:
    return [d.input()], {}


@recipe("one_hot")
def one_hot(d: Draw) -> Made:
    named = {"num_classes": d.some("4", "-1", "2")} if d.chance(0.5) else {}
    return [d.indices(d.some((), (3,), (2, 2)), 4)], named
