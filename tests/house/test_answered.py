# SPDX-License-Identifier: Apache-2.0
"""Stored answers are read as they were written, and every planted difference is told."""

import copy
import math

import pytest
from answered import (
    NEAR,
    Answer,
    Digest,
    answers_of,
    digits_of,
    first_difference,
    gathered,
    parsed,
    raises,
    same,
    shorten,
    shortened,
    written,
)

VALUES = [
    None,
    True,
    3,
    -0.0,
    0.5,
    1e300,
    1e-300,
    math.inf,
    -math.inf,
    "",
    "it's",
    "two\nlines " * 20,
    [],
    {},
    [[]],
    [[1.0, [2, None]], "x"],
    {"a": [1.0], "b": {"c": "d"}},
    raises("ValueError"),
    [0.1] * 99,
    "a word" * 60,
    {"error": "a text"},
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30])
def test_values_are_read_as_they_were_written(value):
    for name in ("", "a program"):
        sections = {name: [Answer("f(x)", value), Answer("g(x)", value), Answer("g(x)", value)]}
        text = written(sections, "title", 17)
        assert parsed(text) == sections
        assert max(map(len, text.splitlines())) <= 100


def test_lines_of_the_same_answer_stand_in_one():
    lines = ["add of x", "sub of x", "mul of x", "mul of y", '{"a": 1} of x', "add of x", "exp"]
    answers = [Answer(line, "int64") for line in [*lines, *"ABC"]]
    answers += [Answer("A", 1), Answer("B", True), Answer("B", True)]
    answers += [Answer(f"a longer line {i} of many that do not fit", 7) for i in range(9)]
    text = written({"p": answers}, "title", 17)
    assert parsed(text)["p"] == answers
    assert [type(a.value) for a in parsed(text)["p"]] == [type(a.value) for a in answers]
    assert "    {add of x | sub of x | mul of x | mul of y}  # -> 'int64'\n" in text
    assert "    a longer line {0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8} of many that do" in text
    assert max(map(len, text.splitlines())) <= 100
    with pytest.raises(ValueError, match="looks like several"):
        written({"p": [Answer("{a | b} of x", 1)]}, "title", 17)


def test_nan_is_read_as_nan():
    (answer,) = parsed(written({"": [Answer("f", [math.nan])]}, "title", 17))[""]
    assert same(answer.value, [math.nan]) and not same([1.0], answer.value)


def test_digits_are_those_of_the_comparison():
    for near in (1e-6, 2e-8, 1e-9, (1e-7, 1e-9)):
        wanted = 10 / 3
        text = written({"": [Answer("f", wanted)]}, "title", digits_of(near))
        (answer,) = parsed(text)[""]
        relative = near[0] if isinstance(near, tuple) else near
        assert abs(answer.value - wanted) < 0.1 * relative * wanted


@pytest.mark.parametrize(
    ("found", "wanted", "told"),
    [
        ([1.0, 2.0 + 1e-6], [1.0, 2.0], "at [1] it gives 2.000001, PyTorch 2."),
        ([1.0], [1.0, 2.0], "it gives [1.], PyTorch [1., 2.]"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "it gives {'a': 1, 'b': 2}, PyTorch {'b': 2, 'a': 1}"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "at ['a'][1] it gives 2, PyTorch 3"),
        ("one\ntwo\nthree", "one\n2\nthree", "in line 2 it gives 'two', PyTorch '2'"),
        (math.nan, 1.0, "it gives nan, PyTorch 1."),
        (1.0, math.inf, "it gives 1., PyTorch inf"),
        (None, 0.0, "it gives None, PyTorch 0."),
        (True, 1, "it gives True, PyTorch 1"),
        ("1", 1, "it gives '1', PyTorch 1"),
        (1.0, raises("ValueError"), "it gives 1., PyTorch raises('ValueError')"),
        (
            raises("TypeError"),
            raises("ValueError"),
            "it gives raises('TypeError'), PyTorch raises('ValueError')",
        ),
    ],
)
def test_differences_are_told(found, wanted, told):
    assert first_difference(found, wanted) == told


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (1.0 + 1e-8, 1.0),
        (1e-9, 0.0),
        (3, 3.0),
        (raises("ValueError", "RuntimeError"), raises("ValueError")),
    ],
)
def test_what_is_near_enough_is_the_same(found, wanted):
    assert first_difference(found, wanted) == ""


# -- digests ---------------------------------------------------------------------------------------

MANY = [
    "float64",
    {"kind": raises("ValueError"), "count": 7},
    [[0.1 * i * i, -1e3 / (i + 1)] for i in range(12)],
]


def changed(*changes):
    value = copy.deepcopy(MANY)
    for path, change in changes:
        *outer, last = path
        part = value
        for key in outer:
            part = part[key]
        part[last] = change(part[last])
    return value


def stored(near=NEAR):
    short = shortened(MANY, near, digits_of(near))
    ((answer,),) = parsed(written({"": [Answer("f", short)]}, "title", digits_of(near))).values()
    return answer.value


@pytest.mark.parametrize("near", [1e-6, NEAR, (1e-7, 1e-9), 0])
def test_many_numbers_are_a_digest_that_is_read_as_it_was_written(near):
    short = stored(near)
    assert isinstance(short, Digest) and first_difference(MANY, short, near) == ""
    assert shortened(MANY[1], near, 9) == MANY[1]


def test_a_digest_is_of_numbers_that_are_near_enough():
    near = changed(*(((2, i, 1), lambda x: x * (1 + 1e-12)) for i in range(12)))
    error = changed(((1, "kind"), lambda _: raises("ValueError", "RuntimeError")))
    assert same(near, stored()) and same(error, stored())


def test_errors_that_are_all_the_same_stand_once_without_what_they_imply():
    failed = raises("NotImplementedError", "RuntimeError")
    value = [failed, 0.1, 0.2, 0.3, 0.4, failed, 0.5, "a word" * 20]
    short = shortened(value, NEAR, 10)
    assert short.errors == [raises("NotImplementedError")] and same(value, short)
    assert not same([*value[:5], raises("RuntimeError"), *value[6:]], short)
    assert not same([*value[:5], 0.1, *value[6:]], short)
    other = shortened([*value[:5], raises("TypeError"), *value[6:]], NEAR, 10)
    assert other.errors == [raises("NotImplementedError"), raises("TypeError")]
    assert not same(value, other) and shortened(failed, NEAR, 10) == raises("NotImplementedError")


OFF = 1.05 * NEAR


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (((0,), lambda _: "float32"), "another shape, text, integer"),
        (((1, "count"), lambda _: 8), "another shape, text, integer"),
        (((1, "kind"), lambda _: raises("TypeError")), "errors [raises('TypeError')], not"),
        (((2,), lambda x: x[:-1]), "another shape"),
        (((2, 3), lambda x: [x]), "another shape"),
        (((2, 3, 0), lambda _: math.nan), "kind of number"),
        (((2, 0, 0), lambda x: x + OFF), "as the weighted sum 0 of its floats"),
        (((2, 3, 0), lambda x: -x), "as the weighted sum 0 of its floats"),
        *[(((2, i, 0), lambda x: x + OFF * max(1, x)), "the weighted sum 0") for i in range(1, 12)],
        *[(((2, i, 1), lambda x: x * (1 - OFF)), "the weighted sum 0") for i in range(12)],
    ],
)
def test_differences_from_a_digest_are_told(change, told):
    text = first_difference(changed(change), stored())
    assert told in text
    assert " PyTorch's, in ['float" in text and text.endswith("(--whole prints PyTorch's)")


ENTRIES = {f"sum {i}": [[0.1 * i, 1.0 + i], "text"] for i in range(5)} | {
    "sum of none": raises("ValueError"),
    "other": 1.0,
    "product 1": 2.0,
    "product 2": 3.0,
}


def entries(library):
    return library


def several():
    class Module:
        TOGETHER = True

    answers = answers_of(entries, ENTRIES)
    shorten(Module, {"entries": answers}, 10)
    text = written({"entries": answers}, "title", 10)
    assert [a.line for a in answers] == ["sum ...", "other", "product 1", "product 2"]
    assert "    sum ...  # -> several(6, " in text and "'ValueError')" in text
    return parsed(text)["entries"][0].value


def test_entries_that_begin_with_the_same_word_are_one_answer():
    found = gathered(answers_of(entries, ENTRIES))[0].value
    assert first_difference(found, several()) == ""


@pytest.mark.parametrize("i", range(5))
@pytest.mark.parametrize("k", range(2))
def test_an_entry_whose_number_is_off_is_told(i, k):
    changed = copy.deepcopy(ENTRIES)
    changed[f"sum {i}"][0][k] += 1e-5
    found = gathered(answers_of(entries, changed))[0].value
    told = first_difference(found, several())
    assert told.startswith(f"probably at `sum {i}`, it gives ") and "weighted sum 0" in told


@pytest.mark.parametrize(
    "change",
    [
        {"sum 3": [[0.3, 4.0], "other"]},
        {"sum 3": raises("ValueError")},
        {"sum of none": raises("TypeError")},
        {"sum of none": [0.5]},
        {"sum of one": 1.0},
    ],
    ids=str,
)
def test_entries_that_give_something_else_are_told(change):
    found = gathered(answers_of(entries, ENTRIES | change))[0].value
    assert first_difference(found, several())


CODE = "".join(f"    line {i} = {i * i}\n" for i in range(40))


def test_a_text_of_many_lines_is_stored_by_their_checksums():
    text = written({"": [Answer("code", shortened(CODE, NEAR, 10))]}, "title", 10)
    assert len(text.splitlines()) < 8
    ((answer,),) = parsed(text).values()
    assert first_difference(CODE, answer.value) == ""
    for found, told in [
        (CODE.replace("= 81", "= 82"), "in line 10 it gives '    line 9 = 82', not PyTorch's"),
        (CODE[:-1], "in line 41 it gives nothing"),
        (CODE + "more", "in line 41 it gives 'more'"),
        (7, "it gives 7, PyTorch"),
    ]:
        assert told in first_difference(found, answer.value)


def test_answers_that_come_several_times_running_stand_once():
    answers = [Answer("f(x)", "a word " * 9 + end) for end in "aaabbab"]
    text = written({"p": answers}, "title", 17)
    assert text.count("# -> ") == 2 and "# 3 times -> " in text and "# 2 times -> " in text
    assert parsed(text)["p"] == answers


@pytest.mark.parametrize("i", range(11))
def test_numbers_that_change_places_are_told(i):
    here, there = MANY[2][i][1], MANY[2][i + 1][1]
    found = changed(((2, i, 1), lambda _: there), ((2, i + 1, 1), lambda _: here))
    assert first_difference(found, stored())


# -- lines -----------------------------------------------------------------------------------------


def program(m):
    """Lists that are returned, added to, and inside of others."""
    answers, kept = [], [m]
    for i in range(2):
        answers.append(m + i)
    answers += [m * 2, {"key": m}]
    answers.extend([i for i in (7, 8)])
    kept.append(3)
    return [*answers, len(kept), [m, m], *[m - 1]] + [m**2]


def test_answers_know_their_lines():
    assert answers_of(program, 5) == [
        Answer("m + i", 5),
        Answer("m + i", 6),
        Answer("m * 2", 10),
        Answer("key", 5),
        Answer("i", 7),
        Answer("i", 8),
        Answer("len(kept)", 2),
        Answer("[m, m]", [5, 5]),
        Answer("the result", 4),
        Answer("m**2", 25),
    ]
