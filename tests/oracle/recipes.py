# SPDX-License-Identifier: Apache-2.0
"""Arguments that hang together. A recipe gives positional arguments, the input first, and named
ones; it stands under the name of the function, without the underscore of the form in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arguments import Draw

Made = tuple[list[str], dict[str, str]]
Recipe = Callable[[Draw], Made]
RECIPES: dict[str, Recipe] = {}


def recipe(*names: str) -> Callable[[Recipe], Recipe]:
    def put(made: Recipe) -> Recipe:
        RECIPES.update(dict.fromkeys(names, made))
        return made
    return put


def _sizes(d: Draw, n: int) -> list[int]:
    return [d.some(1, 2, 3, 4, 0, 2, 3) for _ in range(n)]


def _size(d: Draw, dim: str) -> int:
    n, k = len(d.shape), int(dim)
    return d.shape[k] if n and -n <= k < n else 1


# -- matrices --------------------------------------------------------------------------------------


@recipe("mm")
def mm(d: Draw) -> Made:
    n, k, m = _sizes(d, 3)
    return [d.tensor((n, k)), d.tensor((k, m) if d.chance(0.95) else (m, k))], {}


@recipe("bmm")
def bmm(d: Draw) -> Made:
    b, n, k, m = _sizes(d, 4)
    return [d.tensor((b, n, k)), d.tensor((b, k, m))], {}


@recipe("mv")
def mv(d: Draw) -> Made:
    n, k = _sizes(d, 2)
    return [d.tensor((n, k)), d.tensor((k,))], {}


@recipe("dot")
def dot(d: Draw) -> Made:
    (n,) = _sizes(d, 1)
    return [d.tensor((n,)), d.tensor((n,) if d.chance(0.95) else (n + 1,))], {}


@recipe("matmul", "__matmul__")
def matmul(d: Draw) -> Made:
    n, k, m = _sizes(d, 3)
    left = d.some((k,), (n, k), (2, n, k), (2, 1, n, k))
    right = d.some((k,), (k, m), (2, k, m), (1, k, m), (3, k, m))
    return [d.tensor(left), d.tensor(right)], {}


@recipe("addmm")
def addmm(d: Draw) -> Made:
    n, k, m = _sizes(d, 3)
    first = (n, m) if d.inplace else d.some((n, m), (m,), (1, m), (n, 1), ())
    named = {}
    if d.chance(0.4):
        named["beta"] = d.number()
    if d.chance(0.4):
        named["alpha"] = d.number()
    return [d.tensor(first), d.tensor((n, k)), d.tensor((k, m))], named


@recipe("linear")
def linear(d: Draw) -> Made:
    k, m = _sizes(d, 2)
    lead = d.some((), (2,), (2, 3), (0,))
    args = [d.tensor((*lead, k)), d.tensor((m, k) if d.chance(0.85) else (k,))]
    if d.chance(0.5):
        args.append(d.tensor((m,)) if d.chance(0.9) else "None")
    return args, {}


@recipe("t")
def transposed(d: Draw) -> Made:
    return [d.input(0, 3)], {}


# -- indices ---------------------------------------------------------------------------------------


def _elements(d: Draw, dim: str, within: tuple[int, ...]) -> tuple[int, ...]:
    shape = [max(0, n - (n > 1 and d.chance(0.3))) for n in within]
    if shape:
        shape[int(dim) % len(shape)] = d.some(1, 2, 3)
    return tuple(shape)


def _near(d: Draw) -> str:
    """A dimension that is there."""
    return str(d.r.randrange(-max(len(d.shape), 1), max(len(d.shape), 1)))


@recipe("gather")
def gather(d: Draw) -> Made:
    x = d.input()
    dim = _near(d)
    return [x, dim, d.indices(_elements(d, dim, d.shape), _size(d, dim))], {}


@recipe("take_along_dim")
def take_along_dim(d: Draw) -> Made:
    x = d.input(1)
    dim = _near(d)
    shape = list(d.shape)
    shape[int(dim)] = 2
    return [x, d.indices(tuple(shape), _size(d, dim))], {"dim": dim}


@recipe("scatter", "scatter_add")
def scatter(d: Draw) -> Made:
    x = d.input()
    dim = _near(d)
    shape = _elements(d, dim, d.shape)
    index = d.indices(shape, _size(d, dim))
    named = {}
    if d.chance(0.15):
        named["reduce"] = d.some("'add'", "'multiply'")
    if d.chance(0.3):
        return [x, dim, index, d.number()], named
    return [x, dim, index, d.tensor(shape)], named


@recipe("index_select")
def index_select(d: Draw) -> Made:
    x = d.input()
    dim = _near(d)
    return [x, dim, d.indices((d.some(0, 1, 3),), _size(d, dim), d.some("int64", "int32"))], {}


@recipe("index_add", "index_copy")
def index_add(d: Draw) -> Made:
    x = d.input()
    dim = _near(d)
    count = d.some(0, 1, 2)
    shape = list(d.shape)
    if shape:
        shape[int(dim)] = count
    else:
        count = 1
    return [x, dim, d.indices((count,), _size(d, dim)), d.tensor(tuple(shape))], {}


@recipe("index_fill")
def index_fill(d: Draw) -> Made:
    x = d.input()
    dim = _near(d)
    value = d.number() if d.chance(0.8) else d.tensor(())
    return [x, dim, d.indices((d.some(0, 1, 3),), _size(d, dim)), value], {}


@recipe("index_put")
def index_put(d: Draw) -> Made:
    x = d.input(1)
    count = d.some(1, 2, 3)
    index = [d.indices((count,), d.shape[i]) for i in range(d.some(1, len(d.shape)))]
    rest = d.shape[len(index):]
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
    dim = _near(d)
    return [x, dim, str(d.r.randrange(-_size(d, dim) - 1, _size(d, dim) + 1))], {}


@recipe("narrow")
def narrow(d: Draw) -> Made:
    x = d.input(1)
    dim = _near(d)
    start = d.r.randrange(0, _size(d, dim) + 1)
    return [x, dim, str(start), str(d.r.randrange(0, _size(d, dim) - start + 1))], {}


@recipe("unfold")
def unfold(d: Draw) -> Made:
    x = d.input()
    dim = _near(d)
    return [x, dim, str(d.r.randrange(0, _size(d, dim) + 1)), d.some("1", "2", "3")], {}


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


@recipe("one_hot")
def one_hot(d: Draw) -> Made:
    named = {"num_classes": d.some("4", "-1", "2")} if d.chance(0.5) else {}
    return [d.indices(d.some((), (3,), (2, 2)), 4)], named


# -- shapes ----------------------------------------------------------------------------------------


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
    return ([x, shift], {}) if d.chance(0.4) else ([x, shift, _near(d)], {})


@recipe("movedim", "moveaxis")
def movedim(d: Draw) -> Made:
    x = d.input()
    if len(d.shape) > 1 and d.chance(0.5):
        return [x, "(0, 1)", d.some("(1, 0)", "(-1, 0)", "(-1, -2)")], {}
    return [x, d.dim(), d.dim()], {}


@recipe("unflatten")
def unflatten(d: Draw) -> Made:
    x = d.input(1)
    dim = _near(d)
    n = _size(d, dim)
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
    dim = _near(d)
    n = _size(d, dim)
    return [x, str(d.some(1, 2, 3, [n], [n // 2, n - n // 2], [0, n])), dim], {}


@recipe("split_with_sizes")
def split_with_sizes(d: Draw) -> Made:
    x = d.input(1)
    dim = _near(d)
    n = _size(d, dim)
    return [x, str(d.some([n], [n // 2, n - n // 2], [0, n], [n + 1])), dim], {}


@recipe("chunk")
def chunk(d: Draw) -> Made:
    x = d.input(1)
    return [x, d.some("1", "2", "3", "5"), _near(d)], {}


@recipe("cat", "concat", "concatenate")
def cat(d: Draw) -> Made:
    d.shape = d.some_shape(1)
    dim = _near(d)
    parts = []
    for _ in range(d.some(1, 2, 3)):
        shape = list(d.shape)
        shape[int(dim)] = d.some(0, 1, 2, 3)
        parts.append(d.tensor(tuple(shape), d.some_dtype() if d.chance(0.15) else None))
    return [f"[{', '.join(parts)}]", dim], {}


@recipe("stack")
def stack(d: Draw) -> Made:
    d.shape = d.some_shape(0, 3)
    parts = [d.tensor(d.shape, d.some_dtype() if d.chance(0.15) else None)
             for _ in range(d.some(1, 2, 3))]
    return [f"[{', '.join(parts)}]", str(d.r.randrange(-len(d.shape) - 1, len(d.shape) + 1))], {}


@recipe("as_strided")
def as_strided(d: Draw) -> Made:
    d.shape = (d.some(6, 8),)
    x = d.tensor(d.shape, layout="plain")
    size, stride = d.some(((2, 3), (3, 1)), ((2, 2), (1, 1)), ((3,), (2,)), ((2, 2), (1, 2)),
                          ((2, 2), (0, 1)), ((), ()))
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


@recipe("contiguous", "numpy", "tolist", "item", "dim", "ndimension", "numel", "nelement",
        "element_size", "is_contiguous", "is_complex", "is_floating_point", "is_signed",
        "is_inference", "storage_offset", "detach", "is_pinned", "bool", "byte", "char", "short",
        "int", "long", "half", "bfloat16", "float", "double", "cfloat", "cdouble", "cpu", "ravel",
        "clone", "isnan", "nonzero", "__bool__", "__int__", "__float__", "__len__", "zero",
        "is_tensor", "typename", "detach", "requires_grad", "conj", "conj_physical",
        "__complex__", "__index__")  # fmt: skip
def only(d: Draw) -> Made:
    return [d.input()], {}


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


# -- reductions and others -------------------------------------------------------------------------


@recipe("max", "min")
def extremum(d: Draw) -> Made:
    x = d.input()
    p = d.r.random()
    if p < 0.3:
        return [x], {}
    if p < 0.5:
        return [x, d.partner(numbers=False)], {}
    return [x, d.dim(), *(("True",) if d.chance(0.3) else ())], {}


@recipe("norm")
def norm(d: Draw) -> Made:
    x = d.input()
    args = [x]
    if d.chance(0.7):
        args.append(d.some("2", "1", "0", "3", "float('inf')", "-float('inf')", "0.5", "'fro'", "-1"))
        if d.chance(0.7):
            args.append(d.dims())
            if d.chance(0.3):
                args.append("True")
    named = {"dtype": d.dtype_word()} if d.chance(0.15) else {}
    return args, named


@recipe("var", "std")
def var(d: Draw) -> Made:
    x = d.input()
    args, named = [x], {}
    if d.chance(0.7):
        args.append(d.dims())
    if d.chance(0.4):
        named["correction"] = d.some("0", "1", "2", "0.5", "5")
        if d.chance(0.4):
            named["keepdim"] = "True"
    elif len(args) == 1 and d.chance(0.3):
        args.append(d.some("True", "False"))
    return args, named


@recipe("prod", "argmax", "argmin", "all", "any", "sum", "mean", "amax", "amin")
def reduction(d: Draw) -> Made:
    x = d.input()
    args, named = [x], {}
    if d.chance(0.7):
        args.append(d.dim() if d.chance(0.6) else d.dims())
        if d.chance(0.35):
            named["keepdim"] = "True"
    return args, named


@recipe("topk", "kthvalue")
def topk(d: Draw) -> Made:
    x = d.input()
    dim = _near(d)
    args = [x, str(d.r.randrange(0, _size(d, dim) + 2))]
    return args, ({"dim": dim} if d.chance(0.6) else {})


@recipe("cross_entropy", "nll_loss")
def cross_entropy(d: Draw) -> Made:
    n, c = d.some(1, 2, 3), d.some(2, 3)
    shape = d.some((n, c), (c,), (n, c, 2))
    x = d.tensor(shape)
    target = (shape[0], *shape[2:]) if len(shape) > 1 else ()
    named = {}
    args = [x, d.indices(target, c)]
    if d.chance(0.3):
        named["weight"] = d.tensor((c,), kind="positive")
    if d.chance(0.4):
        named["reduction"] = d.some("'sum'", "'mean'", "'none'", "'other'")
    if d.chance(0.3):
        named["ignore_index"] = d.some("1", "0", "-100")
    return args, named


@recipe("cross_entropy.probabilities")
def cross_entropy_of_probabilities(d: Draw) -> Made:
    shape = d.some((2, 3), (3,), (2, 3, 2))
    named = {"label_smoothing": d.some("0.1", "0.5")} if d.chance(0.5) else {}
    if d.chance(0.4):
        named["reduction"] = d.some("'sum'", "'mean'", "'none'")
    return [d.tensor(shape), d.tensor(shape, kind="unit")], named


@recipe("mse_loss", "l1_loss")
def mse_loss(d: Draw) -> Made:
    d.shape = d.some_shape()
    named = {"reduction": d.some("'sum'", "'mean'", "'none'", "'x'")} if d.chance(0.5) else {}
    return [d.tensor(d.shape), d.tensor(d.shape if d.chance(0.9) else d.partner_shape())], named


@recipe("layer_norm")
def layer_norm(d: Draw) -> Made:
    x = d.input(1)
    last = d.shape[-d.some(1, min(2, len(d.shape))):]
    args = [x, str(last)]
    if d.chance(0.6):
        args.append(d.tensor(last))
        if d.chance(0.7):
            args.append(d.tensor(last))
    return args, ({"eps": d.some("1e-5", "1e-2")} if d.chance(0.3) else {})


@recipe("cosine_similarity")
def cosine_similarity(d: Draw) -> Made:
    x = d.input(1)
    return [x, d.tensor(d.partner_shape())], {"dim": _near(d)}


@recipe("normalize")
def normalize(d: Draw) -> Made:
    x = d.input(1)
    named = {"dim": _near(d)}
    if d.chance(0.5):
        named["p"] = d.some("1.0", "2.0", "3.0", "float('inf')")
    return [x], named


@recipe("lerp")
def lerp(d: Draw) -> Made:
    x = d.input()
    return [x, d.tensor(d.partner_shape()), d.partner()], {}


@recipe("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift",
        "bitwise_not")  # fmt: skip
def bits(d: Draw) -> Made:
    if d.chance(0.9):
        d.dtype = d.some("int64", "int32", "int16", "int8", "uint8", "bool")
    return [d.input(), d.partner()], {}


RECIPES["bitwise_not"] = only


@recipe("copy")
def copy(d: Draw) -> Made:
    x = d.input()
    return [x, d.tensor(d.partner_shape(), d.some_dtype() if d.chance(0.4) else None)], {}


@recipe("fill")
def fill(d: Draw) -> Made:
    return [d.input(), d.number() if d.chance(0.7) else d.tensor(())], {}


@recipe("repeat_interleave")
def repeat_interleave(d: Draw) -> Made:
    x = d.input()
    if d.chance(0.5):
        return [x, d.some("2", "0", "1"), *((_near(d),) if d.chance(0.6) else ())], {}
    dim = _near(d)
    return [x, d.indices((_size(d, dim),), 3), dim], {}


# -- creation --------------------------------------------------------------------------------------


def _with_dtype(d: Draw, p: float = 0.5) -> dict[str, str]:
    named = {"dtype": d.dtype_word()} if d.chance(p) else {}
    if d.chance(0.2):
        named["requires_grad"] = "True"
    return named


@recipe("zeros", "ones", "rand", "randn", "empty")
def filled(d: Draw) -> Made:
    return [d.shapes()], _with_dtype(d)


@recipe("new_zeros", "new_ones", "new_empty")
def new_filled(d: Draw) -> Made:
    return [d.input(), d.shapes()], _with_dtype(d, 0.3)


@recipe("new_full")
def new_full(d: Draw) -> Made:
    return [d.input(), d.shapes(), d.number()], _with_dtype(d, 0.3)


@recipe("new_tensor")
def new_tensor(d: Draw) -> Made:
    return [d.input(), d.some("[1, 2]", "[[1.5], [2]]", "3", "[]", "[True]")], _with_dtype(d, 0.3)


@recipe("zeros_like", "ones_like", "rand_like", "randn_like", "empty_like")
def filled_like(d: Draw) -> Made:
    return [d.input()], _with_dtype(d, 0.4)


@recipe("full")
def full(d: Draw) -> Made:
    return [d.shapes(), d.number()], _with_dtype(d)


@recipe("full_like")
def full_like(d: Draw) -> Made:
    return [d.input(), d.number()], _with_dtype(d, 0.3)


@recipe("eye")
def eye(d: Draw) -> Made:
    return [d.some("0", "2", "3"), *((d.some("0", "1", "4"),) if d.chance(0.5) else ())], (
        _with_dtype(d))


@recipe("arange")
def arange(d: Draw) -> Made:
    return d.some(["5"], ["0"], ["2.5"], ["1", "4"], ["0", "1", "0.25"], ["5", "0", "-2"],
                  ["0", "5", "2"], ["0", "5", "-1"], ["1.0", "2", "0.3"], ["0", "3", "0"]), (
        _with_dtype(d, 0.4))


@recipe("linspace")
def linspace(d: Draw) -> Made:
    return [d.some("0", "-1.5", "2"), d.some("1", "3.5", "-7"), d.some("0", "1", "2", "5", "-1")], (
        _with_dtype(d, 0.4))


@recipe("tensor", "as_tensor", "asarray")
def tensor(d: Draw) -> Made:
    return [d.some("[1, 2]", "[[1.5], [2]]", "3", "[]", "[True, False]", "[1, 2.5, True]", "1j",
                   "[[], []]", "[[1, 2], [3]]", "np.arange(3)", "np.float32(2)", "'x'", "[None]",
                   "(1, (2, 3))", "np.ones((2, 2), np.float16)", "[1, 2j]", "2**40", "[[[1]]]",
                   "-1", "300", "[2.0**70]", d.input(grad=False))], _with_dtype(d, 0.4)


@recipe("empty_strided")
def empty_strided(d: Draw) -> Made:
    return [d.some("(2, 3)", "(2,)"), d.some("(3, 1)", "(1, 2)", "(1,)")], _with_dtype(d)


@recipe("randint")
def randint(d: Draw) -> Made:
    return [*d.some(("5",), ("1", "5"), ("5", "1")), d.shapes()], _with_dtype(d)


@recipe("randint_like")
def randint_like(d: Draw) -> Made:
    return [d.input(), *d.some(("5",), ("1", "5"))], _with_dtype(d)


@recipe("randperm")
def randperm(d: Draw) -> Made:
    return [d.some("0", "1", "5")], _with_dtype(d)


@recipe("normal")
def normal(d: Draw) -> Made:
    d.dtype = d.some("float32", "float64")
    return d.some([d.input(grad=False), "1.0"], ["0.0", "1.0", d.shapes()]), {}


@recipe("bernoulli")
def bernoulli(d: Draw) -> Made:
    return [d.input(kind="unit")], {}


@recipe("uniform", "geometric")
def uniform(d: Draw) -> Made:
    return [d.input()], {}


@recipe("promote_types", "can_cast")
def promote_types(d: Draw) -> Made:
    return [d.dtype_word(), d.dtype_word()], {}


@recipe("result_type")
def result_type(d: Draw) -> Made:
    return [d.input(), d.partner()], {}


@recipe("from_numpy")
def from_numpy(d: Draw) -> Made:
    return [d.some("np.arange(3)", "np.ones((2, 3))[:, ::2]", "np.zeros(0)", "np.float32(1)",
                   "np.array(2.0)", "[1]")], {}  # fmt: skip


@recipe("from_dlpack")
def from_dlpack(d: Draw) -> Made:
    return [d.some(d.input(dtype="float32", grad=False), "np.arange(3)", "5")], {}


@recipe("frombuffer")
def frombuffer(d: Draw) -> Made:
    named = {"dtype": d.some("T.float32", "T.uint8", "T.int16")}
    if d.chance(0.4):
        named["count"] = d.some("1", "2", "-1", "100")
    if d.chance(0.4):
        named["offset"] = d.some("0", "4", "1", "50")
    return ["bytearray(range(16))"], named


# -- operators -------------------------------------------------------------------------------------


def indexed(d: Draw) -> str:
    """What stands in the brackets of a tensor of d.shape."""
    parts: list[str] = []
    used = 0
    while used < len(d.shape) and d.chance(0.75):
        n = d.shape[used]
        p = d.r.random()
        if p < 0.25:
            parts.append(str(d.r.randrange(-n - 1, n + 1)))
        elif p < 0.5:
            parts.append(d.some("1:", ":-1", "::2", ":", "0:2", "5:", "-2:", "1:1"))
        elif p < 0.58:
            parts.append("None")
            continue
        elif p < 0.64 and "..." not in parts:
            parts.append("...")
            used = len(d.shape)
            continue
        elif p < 0.8:
            parts.append(d.indices(d.some((2,), (1,), (2, 1), (), (0,)), n))
        elif p < 0.9:
            parts.append(d.tensor((n,), "bool"))
        else:
            parts.append(d.some("[0]", "True", "[0, -1]", "False"))
        used += 1
    return ", ".join(parts) or d.some("...", "None", ":", "()", "True")


BINARY = {"__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__floordiv__": "//",
          "__mod__": "%", "__pow__": "**", "__and__": "&", "__or__": "|", "__xor__": "^",
          "__lshift__": "<<", "__rshift__": ">>", "__matmul__": "@", "__lt__": "<", "__le__": "<=",
          "__gt__": ">", "__ge__": ">=", "__eq__": "==", "__ne__": "!="}  # fmt: skip
UNARY = {"__neg__": "-{}", "__pos__": "+{}", "__abs__": "abs({})", "__invert__": "~{}",
         "__bool__": "bool({})", "__int__": "int({})", "__float__": "float({})",
         "__len__": "len({})", "__complex__": "complex({})", "__index__": "[1, 2, 3][{}]",
         "__iter__": "list({})", "__reversed__": "reversed({})"}  # fmt: skip


def binary(d: Draw) -> Made:
    if d.chance(0.15):
        d.input()
        d.lines.pop()
        d.tensors.pop()
        d.leaves.clear()
        return [d.number(), d.tensor(d.shape)], {}
    return [d.input(), d.partner()], {}


def unknown(name: str) -> Any:
    return RECIPES.get(name)
