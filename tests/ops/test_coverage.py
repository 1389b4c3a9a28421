# SPDX-License-Identifier: Apache-2.0
"""Every operator that the library lists has a declared case, or a test elsewhere that is named
here; and every case says how its operator refuses."""

import pathlib

import pytest

import harness
from libdl import _C

HERE = pathlib.Path(__file__).parent
OPERATORS = [_C.op_name(i) for i in range(_C.op_count())]

# A case compares with NumPy what a call gives for tensors; these make tensors, draw, or leave
# tensors behind.
ELSEWHERE = {
    "test_creation.py": """empty zeros ones full arange linspace eye empty_like zeros_like ones_like
        full_like rand randn randint randperm rand_like randn_like randint_like bernoulli uniform
        normal dropout multinomial poisson binomial standard_gamma standard_log_gamma exponential
        geometric cauchy log_normal""",
    "test_ctc.py": "ctc_loss",
    "test_embedding_renorm.py": "embedding_renorm",
    "test_grouped_products.py": "grouped_mm",
    "test_gumbel_softmax.py": "gumbel_softmax",
    "test_dropout.py": "feature_dropout alpha_dropout feature_alpha_dropout",
    "test_sequences.py": """range logspace tril_indices triu_indices hann_window hamming_window
        blackman_window bartlett_window kaiser_window""",
    "test_values.py": "empty_strided bernoulli_fill item_bool item_i64 item_u64 item_f64 item_c128 "
    "view_dtype",
}
NAMED = {name: file for file, names in ELSEWHERE.items() for name in names.split()}


def declared() -> set[str]:
    return {name for case in harness.cases() for name in case.operators or (case.name,)}


def missing(operators, cases, named) -> list[str]:
    return [name for name in operators if name not in cases and name not in named]


def test_every_operator_has_a_case():
    assert len(OPERATORS) >= 187
    assert missing(OPERATORS, declared(), NAMED) == []


def test_an_operator_without_a_case_is_seen():
    assert missing(["add", "no_such_operator"], declared(), NAMED) == ["no_such_operator"]


def test_no_exception_is_left_behind():
    assert [name for name in NAMED if name not in OPERATORS or name in declared()] == []


def test_no_case_names_what_is_no_operator():
    assert declared() - set(OPERATORS) == set()


@pytest.mark.parametrize("name", NAMED)
def test_the_other_place_exists(name):
    """The file has the operator's name, or that of the Python function that calls it."""
    spelled = {
        "bernoulli_fill": "bernoulli_",
        "item_bool": "item()",
        "item_i64": "item()",
        "item_u64": "item()",
        "item_f64": "item()",
        "item_c128": "item()",
        "view_dtype": "view(",
        "uniform": "uniform_",
        "normal": "normal_",
    }
    assert spelled.get(name, name) in (HERE / NAMED[name]).read_text()


@pytest.mark.parametrize("case", harness.cases(), ids=lambda c: c.name)
def test_every_case_has_a_refusal(case):
    assert case.rejects, case.name
