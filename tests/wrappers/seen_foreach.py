# SPDX-License-Identifier: Apache-2.0
"""What _foreach functions return and write; tests/answered.py stores PyTorch's answers."""

WHOLE = True
NEAR = 1e-6, 1e-7  # float32: a few units in the last place, since functions are rounded differently

# Of a and b, lists of two tensors each, t for tensor, and d for the library.
PARTNERS = ["b", "2", "[2., 0.5]", "t(2.)"]
CALLS = [
    *(
        f"{name}(a)"
        for name in tuple(
            """
            abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p
            log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc max clone
        """.split()
        )
    ),
    *(f"{name}(a, {y})" for name in ("add", "sub", "mul", "div", "pow") for y in PARTNERS[:3]),
    *(
        f"{name}(a, {y})"
        for name in ("maximum", "minimum", "clamp_min", "clamp_max")
        for y in PARTNERS[:3]
    ),
    *(f"{name}(a, t(2.))" for name in ("add", "mul", "div")),
    "add(a, b, alpha=3)",
    "sub(a, b, alpha=3)",
    "add(a, t(2.), alpha=3)",
    "pow(2., a)",
    "add(a, other=b)",
    "add(a, scalar=2)",
    "add(tuple(a), tuple(b))",
    "mul(a, scalars=[1, 2])",
    *(
        f"{name}(a, b, b{v})"
        for name in ("addcmul", "addcdiv")
        for v in ("", ", 0.5", ", value=2", ", [1., 3.]", ", t([1., 3.])")
    ),
    "lerp(a, b, 0.25)",
    "lerp(a, b, [0.25, 0.75])",
    "lerp(a, b, b)",
    "norm(a)",
    "norm(a, 1)",
    "norm(a, float('inf'))",
    "norm(a, 2, d.float64)",
    "sqrt([t([4])])",
    "zero_(a)",
    "copy_(a, b)",
    "copy_(a, b, True)",
    "add([], 1)",
    "add(a, b[:1])",
    "add(a, [1., 2., 3.])",
    "mul(a, d.ones(2))",
    "mul(3, a)",
    "neg(d.ones(2, 2))",
    "add(a, [1, d.ones(1)])",
    "mul(a, 1, alpha=2)",
    "zero_([])",
]
NOT_IN_PLACE = ("max(", "clone(", "norm(", "zero_", "copy_", "pow(2.", "sqrt([")


def answers(m):
    return {call: answered(m, call) for call in CALLS}


def answered(m, call):
    """The kind of the result and the results, or the error's kind; all that was seen if the call in
    place gives others, or leaves others in a, or if the plain one has changed a."""
    found, a = results(m, call)
    if call.startswith(NOT_IN_PLACE):
        return found if call.startswith(("zero_", "copy_")) or a == START else [found, a]
    in_place, written = results(m, call.replace("(", "_(", 1))
    if isinstance(found, str):
        return found if in_place == found and a == written == START else [found, a, in_place]
    lists = ["tuple" if "tuple(a)" in call else "list", *found[1:]]
    same = repr((a, in_place, written)) == repr((START, lists, found[2:]))  # NaN is NaN
    return found if same else [found, a, in_place, written]


START = [[0.5, 0.25], [[0.75], [0.125], [1.5]]]


def results(m, call):
    """[the kind of the result, the dtypes, each result], or the error's kind; and a after the call."""
    a, b = [m.tensor(x) for x in START], [m.tensor([2.0, 0.5]), m.tensor([[1.0], [4.0], [0.5]])]
    names = {"d": m, "t": m.tensor, "a": a, "b": b, "f": m}
    try:
        found = eval(f"f._foreach_{call}", names)
        dtypes = " ".join(sorted({str(x.dtype).rpartition(".")[2] for x in found}))
        seen = [type(found).__name__, dtypes, *(x.double().tolist() for x in found)]
    except (RuntimeError, TypeError) as error:
        seen = "TypeError" if isinstance(error, TypeError) else "RuntimeError"
    return seen, [x.double().tolist() for x in a]
