# SPDX-License-Identifier: Apache-2.0
"""The reader of the headers finds what is planted."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from entries import entry_header, entry_source  # noqa: E402
from headers import HeaderError, read_header  # noqa: E402
from operators import read_operators  # noqa: E402

GOOD = """\
/* SPDX-License-Identifier: Apache-2.0 */

/** Reductions. */
#ifndef LIBDL_REDUCTION_H
#define LIBDL_REDUCTION_H
#include <libdl/abi.h>

/** Sum along dims.
 *
 *  input    any
 *  dims     which dimensions; NULL: all
 *  keepdim  whether they stay
 *  out      new
 *
 *  Gradient: any order, forward mode.
 *  Errors: INDEX (a dimension out of range).
 *  Threads: concurrent-read.
 *  Python: sum(input, dim=None, keepdim=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sum(const libdl_tensor *input,
                                                 LIBDL_NULLABLE const int64_t *dims, int32_t ndims,
                                                 libdl_bool keepdim, LIBDL_NEW libdl_tensor **out);

/** libdl_sum into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_sum_into(const libdl_tensor *input,
                                                      LIBDL_NULLABLE const int64_t *dims,
                                                      int32_t ndims, libdl_bool keepdim,
                                                      libdl_tensor *dst);
#endif
"""


def write(folder, text):
    (folder / "reduction.h").write_text(text)
    return folder


def test_reads_what_is_there(tmp_path):
    (operator,) = read_operators(write(tmp_path, GOOD))
    assert [(a.name, a.kind, a.nullable) for a in operator.arguments] == [
        ("input", "tensor", False),
        ("dims", "ints", True),
        ("keepdim", "bool", False),
    ]
    assert operator.has_new and operator.has_into and operator.differentiable
    assert operator.documentation.summary == "Sum along dims."
    (line,) = operator.python
    assert [(p.name, p.argument, p.default) for p in line.parameters] == [
        ("input", "input", None),
        ("dim", "dims", "None"),
        ("keepdim", "keepdim", "False"),
    ]
    assert (
        "inline Tensor sum(const Tensor& input, std::optional<Dims> dims = {}, "
        "bool keepdim = false, Into into = {}) {"
    ) in entry_header("reduction", [operator])


def test_an_entry_does_what_the_card_says(tmp_path):
    def asked(lines):
        text = GOOD.replace(" *  Python:", lines + " *  Python:")
        (operator,) = read_operators(write(tmp_path, text))
        header, source = (of("reduction", [operator]) for of in (entry_header, entry_source))
        inline, seldom = (
            header[header.index("inline") :],
            source[source.index("namespace libdl {") :],
        )
        return [
            re.findall(r"(?:intercepted|autocasting|observed|sum_seen|sum_impl)(?=\()", part)
            for part in (inline, seldom)
        ]

    assert asked("") == [
        ["intercepted", "sum_seen", "sum_impl"],
        ["sum_seen", "observed", "sum_impl"],
    ]
    assert asked(" *  Autocast: float32.\n") == [
        ["intercepted", "autocasting", "sum_seen", "sum_impl"],
        ["sum_seen", "observed", "autocasting", "sum_impl"],
    ]
    assert asked(" *  Kind: pointwise.\n") == [["sum_impl"], []]  # pointwise() shows its calls


# (what stands there, what is planted, what the reader must say)
PLANTED = [
    (" *  keepdim  whether they stay\n", "", "does not describe keepdim"),
    (" *  dims     which", " *  axes     which", "does not describe dims"),
    (" *  out      new\n", " *  out      new\n *  more     x\n", "describes more"),
    (" *  Gradient: any order, forward mode.\n", "", "has no 'Gradient:'"),
    (" *  Errors: INDEX (a dimension out of range).\n", "", "has no 'Errors:'"),
    (" *  Threads: concurrent-read.\n", "", "has no 'Threads:'"),
    (
        " *  Python:",
        " *  Kind: narrow.\n *  Python:",
        "wanted one of pointwise, elementwise, composed, opaque",
    ),
    (
        " *  Python:",
        " *  Autocast: lower\n *  Python:",
        "wanted one of lower, float32, promote, state",
    ),
    ("Threads: concurrent-read.", "Threads: free.", "wanted 'concurrent-read.'"),
    ("/** Sum along dims.", "/** Sum along dims", "does not end"),
    ("sum(input, dim=None", "sum(input, axis=None", "axis is no parameter"),
    ("keepdim=False) [", "keepdim=False, keepdim=True) [", "given twice"),
    ("(input, dim=None, keepdim=False)", "(input, keepdim, dim=None)", "another order"),
    ("(input, dim=None, keepdim=False)", "(input, dim=None)", "keepdim must be given"),
    ("[function, method]", "[function, methods]", "unknown flag methods"),
    ("[function, method]", "function", "cannot read 'Python:"),
    (
        "LIBDL_NULLABLE const int64_t *dims, int32_t ndims,\n",
        "const int64_t *dims, int32_t n,\n",
        "wants the parameter ndims",
    ),
    ("*dims, int32_t ndims,\n", "*dims, int64_t ndims,\n", "ndims is int64_t, wanted int32_t"),
    ("LIBDL_NEW libdl_tensor **out", "libdl_tensor **out", "out: wants LIBDL_NEW"),
    (
        "const libdl_tensor *input,\n                                                 L",
        "LIBDL_STEALS const libdl_tensor *input,\n"
        "                                                 L",
        "LIBDL_STEALS does not fit",
    ),
    ("libdl_bool keepdim, LIBDL_NEW", "bool keepdim, LIBDL_NEW", "of no known kind"),
    ("libdl_bool keepdim,\n", "int64_t keepdim,\n", "has other arguments than its new form"),
    ("libdl_tensor *dst)", "libdl_tensor *target)", "wanted ['dst']"),
    (" into dst. Threads: exclusive.", " into dst.", "'Threads: exclusive'"),
    (
        "libdl_sum(const libdl_tensor *input,",
        "libdl_sum(const libdl_tensor input[],",
        "cannot read the parameter",
    ),
]


@pytest.mark.parametrize("there, planted, message", PLANTED, ids=[p[2] for p in PLANTED])
def test_finds_the_planted_mistake(tmp_path, there, planted, message):
    assert there in GOOD
    with pytest.raises(HeaderError) as raised:
        read_operators(write(tmp_path, GOOD.replace(there, planted, 1)))
    assert message in str(raised.value)
    assert str(raised.value).startswith("reduction.h:")


def test_an_operator_without_comment(tmp_path):
    text = GOOD[: GOOD.index("/** Sum")] + GOOD[GOOD.index("LIBDL_API") :]
    with pytest.raises(HeaderError, match="has no comment"):
        read_operators(write(tmp_path, text))


def test_the_same_operator_in_two_headers(tmp_path):
    write(tmp_path, GOOD)
    (tmp_path / "nn.h").write_text(GOOD)
    with pytest.raises(HeaderError, match="is also in"):
        read_operators(tmp_path)


def test_pointers_to_functions(tmp_path):
    (tmp_path / "x.h").write_text(
        "LIBDL_API void libdl_x(int64_t a, void (*destroy)(void *ctx, int32_t b), void *ctx);"
    )
    (function,) = read_header(tmp_path / "x.h").functions
    assert [p.name for p in function.parameters] == ["a", "destroy", "ctx"]
    assert function.parameters[1].type == "void (*)(void *ctx, int32_t b)"
