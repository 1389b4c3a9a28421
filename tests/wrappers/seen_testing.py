# SPDX-License-Identifier: Apache-2.0
"""What testing.assert_close says of each pair; tests/answered.py stores PyTorch's answers."""

import numpy

# Python's words for the calls, with t for tensor and d for the library.
CALLS = [
    "t([1., 2.]), t([1., 2.1])",
    "t([1., 2.]), t([1., 2.00001])",
    "t([1., 2.]), t([1., 2.000001])",
    "t([[1, 2], [3, 4]]), t([[1, 2], [3, 5]])",
    "t([[[1., 2.], [3., 4.]]]), t([[[1., 2.], [0., 4.]]])",
    "t(1.), t(2.)",
    "t(1), t(2)",
    "1., 2.",
    "1, 2",
    "1, 1.0",
    "1 + 1j, 1 + 2j",
    "0.5, 0",
    "float('nan'), float('nan')",
    "float('nan'), float('nan'), equal_nan=True",
    "float('inf'), float('inf')",
    "float('inf'), 1.0",
    "1.0, float('inf')",
    "True, False",
    "True, True",
    "None, None",
    "None, 1",
    "[1., d.ones(2)], [1., d.zeros(2)]",
    "{'a': d.ones(2)}, {'a': d.zeros(2)}",
    "{'a': [1, (2, 3)]}, {'a': [1, (2, 4)]}",
    "{'a': 1}, {'b': 1}",
    "[1], [1, 2]",
    "(1, 2), [1, 2]",
    "d.ones(2), d.ones(3)",
    "d.ones(2), d.ones(2, dtype=d.float64)",
    "d.ones(2), d.ones(2, dtype=d.float64), check_dtype=False",
    "d.ones(2), 1.",
    "d.ones(2), [1., 1.]",
    "'a', 'a'",
    "numpy.ones(2), numpy.ones(2) * 2",
    "t([float('nan')]), t([float('nan')])",
    "t([float('nan')]), t([float('nan')]), equal_nan=True",
    "t([float('inf'), 0.]), t([0., 0.])",
    "t([float('inf'), 1.]), t([float('inf'), 2.])",
    "t([True, False]), t([True, True])",
    "d.ones(2), d.zeros(2), rtol=1e-3, atol=1e-2",
    "d.ones(2), d.zeros(2), rtol=0, atol=0",
    "d.ones(2), d.zeros(2), rtol=0, atol=1",
    "d.ones(2), d.zeros(2), msg='only'",
    "d.ones(2), d.zeros(2), msg=lambda text: 'before ' + text",
    "d.ones(2, 3), d.ones(3, 2).t(), check_stride=True",
    "d.ones(2, 3), d.ones(3, 2).t()",
    "t([1 + 1j]), t([1 + 2j])",
    "d.ones(2).half(), d.ones(2).half() * 1.1",
    "d.ones(2).half(), d.ones(2).half() * 1.0005",
    "d.ones(2).bfloat16(), d.ones(2).bfloat16() * 1.01",
    "d.ones(2).half(), d.ones(2).bfloat16() * 1.1, check_dtype=False",
    "d.ones(0), d.ones(0)",
    "d.nn.Parameter(d.ones(2)), d.ones(2)",
    "d.nn.Parameter(d.ones(2)), d.ones(2), allow_subclasses=False",
]


def said(library, call):
    """The error's kind and text; None if there is none."""
    names = {"d": library, "t": library.tensor, "f": library.testing.assert_close, "numpy": numpy}
    try:
        eval(f"f({call})", names)
    except (AssertionError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def answers(m):
    return {call: said(m, call) for call in CALLS}
