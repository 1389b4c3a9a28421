# SPDX-License-Identifier: Apache-2.0
"""Functions that arrange, select and count, and distributions' parameters."""

from __future__ import annotations

from arguments import Draw
from recipes import Made, near, recipe, size_of, sizes


@recipe("atleast_1d", "atleast_2d", "atleast_3d")
def atleast(d: Draw) -> Made:
    return [d.input()], {}


@recipe("broadcast_tensors", "block_diag")
def several(d: Draw) -> Made:
    return [d.input(1, 2), d.tensor((2,), d.dtype)], {}


@recipe("meshgrid", "cartesian_prod")
def vectors(d: Draw) -> Made:
    n, m = sizes(d, 2)
    return [d.tensor((n,)), d.tensor((m,), d.dtype)], {}


@recipe("broadcast_shapes")
def broadcast_shapes(d: Draw) -> Made:
    return [d.some("(3, 1)", "(2,)", "()"), d.some("(4,)", "(1,)", "(2, 1, 1)")], {}


@recipe("einsum")
def einsum(d: Draw) -> Made:
    n, k, m = sizes(d, 3)
    d.dtype = d.some("float32", "float64")
    return [
        d.some("'ij,jk->ik'", "'ij,jk'", "'ij,jk->'", "'ij,jk->kj'", "'...j,j...'"),
        d.tensor((n, k)),
        d.tensor((k, m)),
    ], {}


@recipe("tensordot")
def tensordot(d: Draw) -> Made:
    n, k, m = sizes(d, 3)
    d.dtype = d.some("float32", "float64")
    return [d.tensor((n, k)), d.tensor((k, m))], {"dims": d.some("1", "0", "([1], [0])")}


@recipe("tensor_split")
def tensor_split(d: Draw) -> Made:
    return [d.input(1), d.some("2", "3", "[1, 2]", "[-1]", "0")], {}


@recipe("unique", "unique_consecutive")
def unique(d: Draw) -> Made:
    d.dtype = d.some("int64", "int32", "uint8")
    return [d.input(1, 2)], {
        "return_inverse": d.some("True", "False"),
        "return_counts": d.some("True", "False"),
    }


@recipe("bincount")
def bincount(d: Draw) -> Made:
    (n,) = sizes(d, 1)
    return [d.indices((n,), 5)], {}


@recipe("histc")
def histc(d: Draw) -> Made:
    d.dtype = d.some("float32", "float64")
    return [d.input(), "4", "-1", "1"], {}


@recipe("searchsorted")
def searchsorted(d: Draw) -> Made:
    d.dtype = "float64"
    return ["m.tensor([-1.0, 0.0, 0.5], dtype=m.float64)", d.input()], {}


@recipe("bucketize")
def bucketize(d: Draw) -> Made:
    d.dtype = "float64"
    return [d.input(), "m.tensor([-1.0, 0.0, 0.5], dtype=m.float64)"], {}


@recipe("isin")
def isin(d: Draw) -> Made:
    return [d.input(), d.some("1", d.tensor((2,), d.dtype))], {}


@recipe("put")
def put(d: Draw) -> Made:
    n, m = sizes(d, 2)
    return [d.tensor((n + 1, m + 1)), d.indices((1,), n + 1), d.tensor((1,), d.dtype)], {}


@recipe("unravel_index")
def unravel_index(d: Draw) -> Made:
    return [d.indices((3,), 6), "(2, 3)"], {}


@recipe("diff")
def diff(d: Draw) -> Made:
    return [d.input(1), d.some("1", "2")], {}


@recipe("trapezoid")
def trapezoid(d: Draw) -> Made:
    d.dtype = d.some("float32", "float64")
    return [d.input(1)], {"dx": "0.5"}


@recipe("scatter_reduce")
def scatter_reduce(d: Draw) -> Made:
    x = d.input(1)
    dim = near(d)
    return [
        x,
        dim,
        d.indices(d.shape, size_of(d, dim)),
        d.tensor(d.shape, d.dtype),
        d.some("'sum'", "'mean'", "'prod'", "'amax'", "'amin'"),
    ], {"include_self": d.some("True", "False")}


@recipe("scalar_tensor")
def scalar_tensor(d: Draw) -> Made:
    return [d.some("1", "2.5")], {}


@recipe("xlogy", "clamp_min", "clamp_max")
def beside_a_number(d: Draw) -> Made:
    d.dtype = d.some("float32", "float64")
    return [d.input(), "0.5"], {}


@recipe("fill_diagonal")
def fill_diagonal(d: Draw) -> Made:
    n, m = sizes(d, 2)
    return [d.tensor((n, m)), "1"], {}


@recipe("multinomial")
def multinomial(d: Draw) -> Made:
    d.dtype = "float32"
    return ["m.ones(3)", d.some("1", "2")], {}


@recipe("binomial")
def binomial(d: Draw) -> Made:
    d.dtype = "float32"
    return [d.input(kind="unit"), d.tensor(d.shape, d.dtype, kind="unit")], {}


@recipe("cauchy", "log_normal", "random")
def filled(d: Draw) -> Made:
    d.dtype = d.some("float32", "float64")
    return [d.input()], {}


@recipe("resize")
def resize(d: Draw) -> Made:
    return [d.input(), d.some("(2,)", "(0,)")], {}
