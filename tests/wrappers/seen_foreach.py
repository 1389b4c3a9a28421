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


def every_call():
    """Each call, and the same in place."""
    for call in CALLS:
        yield call
        if not call.startswith(NOT_IN_PLACE):
            yield call.replace("(", "_(", 1)


def answers(m):
    return {call: answered(m, call) for call in every_call()}


def answered(library, call):
    """[the kind of the result, the results, a after the call], or the error's kind."""
    a = [library.tensor([0.5, 0.25]), library.tensor([[0.75], [0.125], [1.5]])]
    b = [library.tensor([2.0, 0.5]), library.tensor([[1.0], [4.0], [0.5]])]
    names = {"d": library, "t": library.tensor, "a": a, "b": b, "f": library}
    try:
        found = eval(f"f._foreach_{call}", names)
    except (RuntimeError, TypeError) as error:
        return "TypeError" if isinstance(error, TypeError) else "RuntimeError"
    values = [[str(x.dtype).rpartition(".")[2], x.double().tolist()] for x in found]
    return [type(found).__name__, values, [x.double().tolist() for x in a]]
