# SPDX-License-Identifier: Apache-2.0
"""Views, shapes and joins."""

from __future__ import annotations

from arguments import Draw
from recipes import Made, near, recipe, size_of


def _numel(shape: tuple[int, ...]) -> int:
    n = 1
    for s in shape:
        n *= s
    return n


def _same_numel(d: Draw) -> tuple[int, ...]:
    n = _numel(d.shape)
    ways: list[tuple[int, ...]] = [(n,), (-1,), (1, n), (n, 1), tuple(reversed(d.shape)), (2, -1)]
    return d.some(*ways)


@recipe("reshape", "view")
def reshape(d: Draw) -> Made:
    return [d.input(), str(_same_numel(d))], {}


@recipe("view_as", "reshape_as", "expand_as", "type_as", "is_same_size", "is_set_to")
def as_other(d: Draw) -> Made:
    x = d.input()
    shape = d.some(d.shape, (_numel(d.shape),), (2, *d.shape))
    return [x, d.tensor(shape, d.some_dtype(), grad=False)], {}


@recipe("expand", "broadcast_to")
def expand(d: Draw) -> Made:
    x = d.input()
    shape = [d.some(2, 3) if n == 1 else d.some(n, -1, n) for n in d.shape]
    lead = d.some((), (), (2,), (1, 3), (0,))
    return [x, str((*lead, *shape))], {}


@recipe("repeat")
def repeat(d: Draw) -> Made:
    x = d.input()
    return [x, str(tuple(d.some(1, 2, 0, 3) for _ in range(len(d.shape) + d.some(0, 1))))], {}


@recipe("permute")
def permute(d: Draw) -> Made:
    x = d.input()
    order = list(range(len(d.shape)))
    d.r.shuffle(order)
    return [x, str(tuple(k - len(order) if d.chance(0.3) else k for k in order))], {}


@recipe("flip")
def flip(d: Draw) -> Made:
    x = d.input()
    return [x, str(tuple(k for k in range(len(d.shape)) if d.chance(0.5)))], {}


@recipe("roll")
def roll(d: Draw) -> Made:
    x = d.input()
    shift = d.some("1", "-1", "2", "5", "0")
    return ([x, shift], {}) if d.chance(0.4) else ([x, shift, near(d)], {})


@recipe("movedim", "moveaxis")
def movedim(d: Draw) -> Made:
    x = d.input()
    if len(d.shape) > 1 and d.chance(0.5):
        return [x, "(0, 1)", d.some("(1, 0)", "(-1, 0)", "(-1, -2)")], {}
    return [x, d.dim(), d.dim()], {}


@recipe("unflatten")
def unflatten(d: Draw) -> Made:
    x = d.input(1)
    dim = near(d)
    n = size_of(d, dim)
    return [x, dim, str(d.some((n, 1), (1, n), (-1, 1), (n,), (2, -1)))], {}


@recipe("transpose", "swapaxes", "swapdims")
def transpose(d: Draw) -> Made:
    return [d.input(), d.dim(), d.dim()], {}


@recipe("squeeze")
def squeeze(d: Draw) -> Made:
    return [d.input(), *((d.dim(),) if d.chance(0.6) else ())], {}


@recipe("unsqueeze")
def unsqueeze(d: Draw) -> Made:
    x = d.input()
    return [x, str(d.r.randrange(-len(d.shape) - 1, len(d.shape) + 1))], {}


@recipe("split")
def split(d: Draw) -> Made:
    x = d.input(1)
    dim = near(d)
    n = size_of(d, dim)
    return [x, str(d.some(1, 2, 3, [n], [n // 2, n - n // 2], [0, n])), dim], {}


@recipe("split_with_sizes")
def split_with_sizes(d: Draw) -> Made:
    x = d.input(1)
    dim = near(d)
    n = size_of(d, dim)
    return [x, str(d.some([n], [n // 2, n - n // 2], [0, n], [n + 1])), dim], {}


@recipe("chunk")
def chunk(d: Draw) -> Made:
    x = d.input(1)
    return [x, d.some("1", "2", "3", "5"), near(d)], {}


@recipe("cat", "concat", "concatenate")
def cat(d: Draw) -> Made:
    d.shape = d.some_shape(1)
    dim = near(d)
    parts = []
    for _ in range(d.some(1, 2, 3)):
        shape = list(d.shape)
        shape[int(dim)] = d.some(0, 1, 2, 3)
        parts.append(d.tensor(tuple(shape), d.some_dtype() if d.chance(0.15) else None))
    return [f"[{', '.join(parts)}]", dim], {}


@recipe("stack")
def stack(d: Draw) -> Made:
    d.shape = d.some_shape(0, 3)
    parts = [
        d.tensor(d.shape, d.some_dtype() if d.chance(0.15) else None)
        for _ in range(d.some(1, 2, 3))
    ]
    return [f"[{', '.join(parts)}]", str(d.r.randrange(-len(d.shape) - 1, len(d.shape) + 1))], {}


@recipe("as_strided")
def as_strided(d: Draw) -> Made:
    d.shape = (d.some(6, 8),)
    x = d.tensor(d.shape, layout="plain")
    size, stride = d.some(
        ((2, 3), (3, 1)),
        ((2, 2), (1, 1)),
        ((3,), (2,)),
        ((2, 2), (1, 2)),
        ((2, 2), (0, 1)),
        ((), ()),
    )
    return [x, str(size), str(stride), *((d.some("0", "1"),) if d.chance(0.5) else ())], {}


@recipe("diagonal")
def diagonal(d: Draw) -> Made:
    x = d.input(2)
    return [x, d.some("0", "1", "-1"), *d.some(("0", "1"), ("-1", "-2"), ("1", "0"))], {}


@recipe("view_as_real")
def view_as_real(d: Draw) -> Made:
    return [d.input(dtype=d.some("complex64", "complex128"))], {}


@recipe("view_as_complex")
def view_as_complex(d: Draw) -> Made:
    d.shape = (*d.some_shape(0, 2), 2)
    return [d.tensor(d.shape, d.some("float32", "float64"), layout="plain")], {}


@recipe(
    "contiguous",
    "numpy",
    "tolist",
    "item",
    "dim",
    "ndimension",
    "numel",
    "nelement",
    "element_size",
    "is_contiguous",
    "is_complex",
    "is_floating_point",
    "is_signed",
    "is_inference",
    "storage_offset",
    "detach",
    "is_pinned",
    "bool",
    "byte",
    "char",
    "short",
    "int",
    "long",
    "half",
    "bfloat16",
    "float",
    "double",
    "cfloat",
    "cdouble",
    "cpu",
    "clone",
    "isnan",
    "nonzero",
    "__bool__",
    "__int__",
    "__float__",
    "__len__",
    "zero",
    "is_tensor",
    "typename",
    "detach",
    "requires_grad",
    "conj",
    "conj_physical",
    "__complex__",
    "__index__",
)
def only(d: Draw) -> Made:
    return [d.input()], {}


@recipe("ravel")
def ravel(d: Draw) -> Made:
    return [d.input(layout="plain")], {}  # a copy of PyTorch's is a view, of nothing


@recipe("size", "stride")
def size(d: Draw) -> Made:
    return ([d.input()], {}) if d.chance(0.5) else ([d.input(), d.dim()], {})


@recipe("type")
def type_(d: Draw) -> Made:
    return ([d.input()], {}) if d.chance(0.3) else ([d.input(), d.dtype_word()], {})


@recipe("to")
def to(d: Draw) -> Made:
    x = d.input()
    named = {"copy": d.some("True", "False")} if d.chance(0.3) else {}
    return [x, d.some(d.dtype_word(), "'cpu'", d.tensor((1,), d.some_dtype(), grad=False))], named
