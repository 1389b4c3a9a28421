# SPDX-License-Identifier: Apache-2.0
"""The sweep's rows: functions of both libraries, by dtype, size and layout.

A function's recipe makes its call from operands of the row's dtype, size and layout. Elementwise
operators have theirs from their cards; cases_operators.py has a row for every operator.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from cases_operators import line_of, operators

DTYPES = ("float32", "float64", "bfloat16", "int64", "uint8", "bool", "complex64")
SIZES = (1_000, 100_000, 10_000_000)
LAYOUTS = ("contiguous", "transposed", "broadcast", "strided")
# Two sides of a matrix of so many elements.
SIDES = {1_000: (25, 40), 100_000: (250, 400), 10_000_000: (2500, 4000)}


class Row(NamedTuple):
    function: str
    dtype: str
    size: int
    layout: str

    def __str__(self) -> str:
        return f"{self.function} {self.dtype} {self.size:,} {self.layout}"


class Operands:
    """Tensors of one row in module m (libdl or torch)."""

    def __init__(self, m: Any, row: Row) -> None:
        self.m, self.row = m, row
        self.rows, self.columns = SIDES[row.size]

    def _values(self, count: int, first: int) -> Any:
        # 1 to 101: no zero to divide by, in every dtype's range.
        values = (self.m.arange(count, dtype=self.m.int64) * 7 + first) % 101 + 1
        if self.row.dtype == "bool":
            return values % 3 == 0
        values = values.to(getattr(self.m, self.row.dtype))
        if self.row.dtype in ("float32", "float64", "bfloat16", "complex64"):
            values = values / 103  # within the domain of every function
        if self.row.dtype == "complex64":
            values = values * (1 + 0.5j)
        return values

    def _lay(self, first: int) -> Any:
        r, c, size = self.rows, self.columns, self.row.size
        if self.row.layout == "contiguous":
            return self._values(size, first).reshape(r, c)
        if self.row.layout == "transposed":
            return self._values(size, first).reshape(c, r).t()
        if self.row.layout == "strided":
            return self._values(2 * size, first).reshape(r, 2 * c)[:, ::2]
        # Broadcast: a column for the first operand, a row for the others.
        if first == 0:
            return self._values(r, first).reshape(r, 1).expand(r, c)
        return self._values(c, first).reshape(1, c).expand(r, c)

    @property
    def a(self) -> Any:
        return self._lay(0)

    @property
    def b(self) -> Any:
        return self._lay(3)

    @property
    def c(self) -> Any:
        return self._lay(5)

    @property
    def new(self) -> Any:
        """Contiguous whatever the layout: what is written in place."""
        return self._values(self.row.size, 0).reshape(self.rows, self.columns)

    @property
    def mask(self) -> Any:
        r, c = self.rows, self.columns
        return (self.m.arange(r * c) * 7 % 11 > 4).reshape(r, c)

    def index(self, high: int, count: int) -> Any:
        return self.m.arange(count) * 37 % high

    @property
    def columns_index(self) -> Any:
        return self.index(self.columns, self.row.size).reshape(self.rows, self.columns)

    @property
    def square(self) -> tuple[Any, Any]:
        """Matrices whose product has about the row's work: 16^3, 128^3, 512^3."""
        n = {1_000: 16, 100_000: 128, 10_000_000: 512}[self.row.size]
        x = self._values(n * n, 0).reshape(n, n), self._values(n * n, 3).reshape(n, n)
        return (x[0].t(), x[1]) if self.row.layout == "transposed" else x


Call = Callable[[], Any]
RECIPES: dict[str, Callable[[Any, Operands], Call]] = {}
CONTIGUOUS_ONLY: set[str] = set()


def recipe(name: str, make: Callable[[Any, Operands], Call], laid: bool = True) -> None:
    RECIPES[name] = make
    if not laid:
        CONTIGUOUS_ONLY.add(name)


def member(m: Any, name: str) -> Any:
    for part in name.split("."):
        m = getattr(m, part)
    return m


def unary(*names: str) -> None:
    for name in names:

        def make(m: Any, o: Operands, name: str = name) -> Call:
            f, a = member(m, name), o.a
            return lambda: f(a)

        recipe(name, make)


def binary(*names: str) -> None:
    for name in names:

        def make(m: Any, o: Operands, name: str = name) -> Call:
            f, a, b = member(m, name), o.a, o.b
            return lambda: f(a, b)

        def number(m: Any, o: Operands, name: str = name) -> Call:
            f, a = member(m, name), o.a
            return lambda: f(a, 3)

        def in_place(m: Any, o: Operands, name: str = name) -> Call:
            f, a, b = member(m, f"Tensor.{name}_"), o.new, o.b
            return lambda: f(a, b)

        recipe(name, make)
        recipe(name + " number", number)
        recipe(name + "_", in_place)


def by_card(tensors: int) -> Iterator[str]:
    """Elementwise operators that are called with so many tensors, as Python names them."""
    for operator in operators():
        if not operator.is_elementwise or not operator.has_new or not operator.python:
            continue
        line = line_of(operator)
        kinds = {argument.name: argument.kind for argument in operator.arguments}
        wanted = [p.argument for p in line.parameters if not p.default and not p.keyword_only]
        if [kinds.get(name) for name in wanted] == ["tensor"] * tensors:
            yield "nn.functional." * ("function" not in line.flags) + line.name


def along(*names: str) -> None:
    """Of everything, along the rows and along the columns."""
    for name in names:
        for dim in (None, 0, 1):

            def make(m: Any, o: Operands, name: str = name, dim: int | None = dim) -> Call:
                f, a = member(m, name), o.a
                return (lambda: f(a)) if dim is None else (lambda: f(a, dim=dim))

            recipe(name if dim is None else f"{name} along {dim}", make)


def make_recipes() -> None:
    unary(*by_card(1), *"clone conj_physical real imag nonzero tril triu".split())
    unary("zeros_like", "ones_like", "Tensor.contiguous")
    binary(*by_card(2))
    for name in ("equal", "allclose"):
        recipe(name, lambda m, o, f=name: (lambda f, a: lambda: f(a, a))(member(m, f), o.a))
    along("sum", "mean", "std", "var", "all", "any", "argmax", "argmin")
    for dim in (0, 1):
        for name in "prod amax amin max min cumsum cumprod logsumexp softmax log_softmax".split():

            def make(m: Any, o: Operands, name: str = name, dim: int = dim) -> Call:
                f, a = member(m, name), o.a
                return lambda: f(a, dim)

            recipe(f"{name} along {dim}", make)
        for name in ("sort", "argsort", "topk", "kthvalue"):

            def order(m: Any, o: Operands, name: str = name, dim: int = dim) -> Call:
                f, a = member(m, name), o.a
                k = (7,) if name in ("topk", "kthvalue") else ()
                return lambda: f(a, *k, dim=dim)

            recipe(f"{name} along {dim}", order)
        recipe(
            f"norm along {dim}", lambda m, o, dim=dim: (lambda a: lambda: m.norm(a, dim=dim))(o.a)
        )
        recipe(f"flip {dim}", lambda m, o, dim=dim: (lambda a: lambda: m.flip(a, (dim,)))(o.a))
        recipe(f"roll {dim}", lambda m, o, dim=dim: (lambda a: lambda: m.roll(a, 3, dim))(o.a))
        recipe(
            f"cat {dim}", lambda m, o, dim=dim: (lambda a, b: lambda: m.cat([a, b], dim))(o.a, o.b)
        )
        recipe(
            f"stack {dim}",
            lambda m, o, dim=dim: (lambda a, b: lambda: m.stack([a, b], dim))(o.a, o.b),
        )
        recipe(
            f"repeat_interleave {dim}",
            lambda m, o, dim=dim: (lambda a: lambda: m.repeat_interleave(a, 2, dim))(o.a),
        )
    unary("prod", "amax", "amin", "max", "min", "norm")
    make_ternary()
    make_indexing()
    make_products()
    make_losses()
    make_new()


def make_ternary() -> None:
    def three(f: str) -> Callable[[Any, Operands], Call]:
        return lambda m, o: (lambda f, a, b, c: lambda: f(a, b, c))(member(m, f), o.a, o.b, o.c)

    for name in ("addcmul", "addcdiv", "lerp"):
        recipe(name, three(name))
    recipe("lerp number", lambda m, o: (lambda a, b: lambda: m.lerp(a, b, 0.3))(o.a, o.b))
    recipe("where", lambda m, o: (lambda k, a, b: lambda: m.where(k, a, b))(o.mask, o.a, o.b))
    recipe("clamp", lambda m, o: (lambda a: lambda: m.clamp(a, 0, 1))(o.a))
    recipe(
        "nn.functional.threshold",
        lambda m, o: (lambda a: lambda: m.nn.functional.threshold(a, 0.5, 7))(o.a),
    )
    recipe("Tensor.copy_", lambda m, o: (lambda x, a: lambda: x.copy_(a))(o.new, o.a))
    recipe("Tensor.fill_", lambda m, o: (lambda x: lambda: x.fill_(1))(o.new), laid=False)
    recipe("Tensor.zero_", lambda m, o: (lambda x: lambda: x.zero_())(o.new), laid=False)
    recipe("Tensor.repeat", lambda m, o: (lambda a: lambda: a.repeat(2, 2))(o.a))
    for to in DTYPES:

        def convert(m: Any, o: Operands, to: str = to) -> Call:
            if o.row.dtype == "complex64" and to != "complex64":
                raise TypeError
            a, dtype = o.a, getattr(m, to)
            return lambda: a.to(dtype)

        recipe(f"to {to}", convert)
    recipe(
        "nn.functional.layer_norm",
        lambda m, o: (lambda a, f: lambda: f(a, (o.columns,)))(o.a, m.nn.functional.layer_norm),
    )
    recipe(
        "nn.functional.normalize",
        lambda m, o: (lambda a, f: lambda: f(a))(o.a, m.nn.functional.normalize),
    )


def make_indexing() -> None:
    def of(f: Callable[..., Any], *parts: str) -> Callable[[Any, Operands], Call]:
        def make(m: Any, o: Operands) -> Call:
            arguments = [getattr(o, part) for part in parts]
            return lambda: f(m, *arguments)

        return make

    def put(m: Any, x: Any, k: Any, v: Any) -> Any:
        x[k] = v
        return x

    recipe("gather", of(lambda m, a, i: m.gather(a, 1, i), "a", "columns_index"))
    recipe("take_along_dim", of(lambda m, a, i: m.take_along_dim(a, i, 1), "a", "columns_index"))
    recipe("scatter", of(lambda m, a, i, b: m.scatter(a, 1, i, b), "a", "columns_index", "b"))
    recipe(
        "scatter_add", of(lambda m, a, i, b: m.scatter_add(a, 1, i, b), "a", "columns_index", "b")
    )
    recipe("masked_fill", of(lambda m, a, k: m.masked_fill(a, k, 1), "a", "mask"))
    recipe("masked_select", of(lambda m, a, k: m.masked_select(a, k), "a", "mask"))
    recipe("masked_scatter", of(lambda m, a, k, b: m.masked_scatter(a, k, b), "a", "mask", "new"))
    recipe("x[mask]", of(lambda m, a, k: a[k], "a", "mask"))
    recipe("x[mask] = number", of(lambda m, x, k: put(m, x, k, 1), "new", "mask"), laid=False)

    def masked_put(m: Any, o: Operands) -> Call:
        x, k = o.new, o.mask
        v = x[k]
        return lambda: put(m, x, k, v)

    recipe("x[mask] = v", masked_put, laid=False)
    for dim, f in ((0, "rows"), (1, "columns")):

        def select(m: Any, o: Operands, dim: int = dim, f: str = f) -> Call:
            a, count = o.a, getattr(o, f)
            i = o.index(count, count)
            return lambda: m.index_select(a, dim, i)

        def add(m: Any, o: Operands, dim: int = dim, f: str = f) -> Call:
            a, b, count = o.a, o.b, getattr(o, f)
            i = o.index(count, count)
            return lambda: m.index_add(a, dim, i, b)

        def copy(m: Any, o: Operands, dim: int = dim, f: str = f) -> Call:
            a, b, count = o.a, o.b, getattr(o, f)
            i = m.arange(count)
            return lambda: m.index_copy(a, dim, i, b)

        def fill(m: Any, o: Operands, dim: int = dim, f: str = f) -> Call:
            a, count = o.a, getattr(o, f)
            i = m.arange(count)
            return lambda: m.index_fill(a, dim, i, 1)

        recipe(f"index_select along {dim}", select)
        recipe(f"index_add along {dim}", add)
        recipe(f"index_copy along {dim}", copy)
        recipe(f"index_fill along {dim}", fill)

    def get(m: Any, o: Operands) -> Call:
        a, i = o.a, o.index(o.rows, o.rows)
        return lambda: a[i]

    def put_rows(m: Any, o: Operands) -> Call:
        x, b, i = o.new, o.b, o.index(o.rows, o.rows)
        return lambda: put(m, x, i, b)

    def points(m: Any, o: Operands) -> Call:
        a, i, j = o.a, o.index(o.rows, o.row.size), o.index(o.columns, o.row.size)
        return lambda: a[i, j]

    def put_points(m: Any, o: Operands) -> Call:
        x, i, j = o.new, o.index(o.rows, o.row.size), o.index(o.columns, o.row.size)
        v = x[i, j]
        return lambda: m.index_put(x, (i, j), v)

    recipe("x[i]", get)
    recipe("x[i] = v", put_rows)
    recipe("x[i, j]", points)
    recipe("index_put", put_points, laid=False)


def make_products() -> None:
    for name in ("mm", "matmul"):
        recipe(name, lambda m, o, f=name: (lambda f, x: lambda: f(*x))(member(m, f), o.square))
    recipe("bmm", lambda m, o: (lambda x: lambda: m.bmm(x[0][None], x[1][None]))(o.square))
    recipe("addmm", lambda m, o: (lambda x: lambda: m.addmm(x[0], x[0], x[1]))(o.square))
    recipe(
        "nn.functional.linear",
        lambda m, o: (lambda x: lambda: m.nn.functional.linear(*x))(o.square),
    )
    recipe("mv", lambda m, o: (lambda a, x: lambda: m.mv(a, x))(o.a, o.b[0].clone()))
    recipe("vector @ matrix", lambda m, o: (lambda a, x: lambda: x @ a)(o.a, o.b[:, 0].clone()))
    recipe(
        "outer product",
        lambda m, o: (lambda x, y: lambda: x @ y)(o.a[:, :1].clone(), o.b[:1].clone()),
        laid=False,
    )
    recipe(
        "dot",
        lambda m, o: (lambda x, y: lambda: m.dot(x, y))(o.new.reshape(-1), o.new.reshape(-1)),
        laid=False,
    )


def make_losses() -> None:
    for name in ("l1_loss", "mse_loss", "cosine_similarity"):
        recipe(
            f"nn.functional.{name}",
            lambda m, o, f=name: (lambda f, a, b: lambda: f(a, b))(
                getattr(m.nn.functional, f), o.a, o.b
            ),
        )
    for name in ("cross_entropy", "nll_loss"):
        recipe(
            f"nn.functional.{name}",
            lambda m, o, f=name: (lambda f, a, i: lambda: f(a, i))(
                getattr(m.nn.functional, f), o.a, o.index(o.columns, o.rows)
            ),
        )
    recipe(
        "nn.functional.softmin",
        lambda m, o: (lambda a: lambda: m.nn.functional.softmin(a, 1))(o.a),
    )
    recipe(
        "nn.functional.embedding",
        lambda m, o: (lambda i, w: lambda: m.nn.functional.embedding(i, w))(
            o.index(o.rows, o.rows), o.a
        ),
    )

    def one_hot(m: Any, o: Operands) -> Call:
        if o.row.dtype != "int64":
            raise TypeError
        i = o.index(o.columns, o.rows)
        return lambda: m.nn.functional.one_hot(i, o.columns)

    recipe("nn.functional.one_hot", one_hot, laid=False)
    recipe(
        "nn.functional.dropout",
        lambda m, o: (lambda a: lambda: m.nn.functional.dropout(a, 0.5))(o.a),
    )


def make_new() -> None:
    def new(name: str, f: Callable[[Any, Operands, Any], Any]) -> None:
        def make(m: Any, o: Operands) -> Call:
            dtype = getattr(m, o.row.dtype)
            return lambda: f(m, o, dtype)

        recipe(name, make, laid=False)

    for name in ("zeros", "ones", "empty", "rand", "randn"):
        new(name, lambda m, o, t, f=name: getattr(m, f)(o.row.size, dtype=t))
    new("full", lambda m, o, t: m.full((o.row.size,), 1, dtype=t))
    new("arange", lambda m, o, t: m.arange(o.row.size, dtype=t))
    new("linspace", lambda m, o, t: m.linspace(0, 100, o.row.size, dtype=t))
    new("eye", lambda m, o, t: m.eye(o.rows, o.columns, dtype=t))
    new("randint", lambda m, o, t: m.randint(0, 100, (o.row.size,), dtype=t))
    new("randperm", lambda m, o, t: m.randperm(o.row.size, dtype=t))
    recipe("Tensor.uniform_", lambda m, o: (lambda x: lambda: x.uniform_())(o.new), laid=False)
    recipe("Tensor.normal_", lambda m, o: (lambda x: lambda: x.normal_())(o.new), laid=False)
    recipe(
        "Tensor.bernoulli_", lambda m, o: (lambda x: lambda: x.bernoulli_(0.3))(o.new), laid=False
    )
    recipe("bernoulli", lambda m, o: (lambda a: lambda: m.bernoulli(a))(o.a))


make_recipes()


def rows(
    patterns: list[str], dtypes: list[str], sizes: list[int], layouts: list[str]
) -> Iterator[Row]:
    for size in sizes:
        for function in RECIPES:
            if not any(pattern in function for pattern in patterns):
                continue
            for dtype in dtypes:
                for layout in layouts:
                    if layout == "contiguous" or function not in CONTIGUOUS_ONLY:
                        yield Row(function, dtype, size, layout)
