# SPDX-License-Identifier: Apache-2.0
"""Every place that builds an error has a number, by which tests/mutation leaves it out."""

import collections
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/mutation"))

import places  # noqa: E402


def test_each_error_has_a_number():
    sources = places.sources().items()
    assert [n for name, text in sources for n in places.unnumbered(name, text)] == []


def test_lambdas_of_a_known_name_tell_the_place_of_their_call():
    texts = places.sources()
    names = places.declared(texts)
    assert [
        f for name, text in texts.items() for f in places.without_location(name, text, names)
    ] == []
    planted = "const auto bad = [&](int x) { fail(x); };\nif (y) bad(1);"
    assert places.without_location("x.cc", planted, names) == ["x.cc: bad"]


def test_a_number_is_of_one_place():
    numbers = collections.Counter(place.number for place in places.places())
    assert len(numbers) > 400
    assert [number for number, count in numbers.items() if count > 1] == []


def test_what_no_test_notices_is_one_place_in_twenty_with_a_reason():
    every = places.places()
    known = places.accepted()
    keys = [place.key for place in every]
    assert set(known) <= set(keys)
    assert all(known.values())
    assert sum(key in known for key in keys) <= len(every) / 20


def test_planted_sources_are_read():
    source = """
    void hand(int x, const char* y LIBDL_SOURCE_LOCATION) { fail(1, y LIBDL_SAME_SOURCE_LOCATION); }
    // fail(2, "a comment");
    void f() {
      const auto bad = [](int x LIBDL_SOURCE_LOCATION) { fail(x, "(" LIBDL_SAME_SOURCE_LOCATION); };
      if (a) bad(3);
      call.hand(4,
                "two lines");
      other_fail(5);
    }
    """
    names = places.handing(places.bare(source)) | {"fail"}
    assert names == {"hand", "bad", "fail"}
    assert [(p.number, p.text) for p in places.calls("x.cc", source, names)] == [
        ("x.cc:6", "bad(3)"),
        ("x.cc:7", 'hand(4, "two lines")'),
    ]


def test_a_planted_error_without_a_number_is_seen():
    source = 'throw;\nthrow Error::take(e);\nif (x) throw Error(LIBDL_ERROR_VALUE, "x");\nthrow e;'
    assert places.unnumbered("libdl/ops/x.cc", source) == ["libdl/ops/x.cc:3", "libdl/ops/x.cc:4"]
