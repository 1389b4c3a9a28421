# SPDX-License-Identifier: Apache-2.0
"""Every declared case through every checker that applies to it."""

import pytest

import harness

CASES = harness.cases()


def pairs():
    for case in CASES:
        for checker in harness.CHECKS:
            if harness.applies(case, checker):
                yield pytest.param(
                    case,
                    checker,
                    id=f"{case.name}-{checker.__name__}",
                    marks=harness.marks(case.name, checker.__name__),
                )


@pytest.mark.parametrize(("case", "checker"), list(pairs()))
def test_check(case, checker):
    harness.check(case, checker)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_samples_differ(case):
    made = list(case.samples())
    shown = {repr((s.args, s.kwargs)) for s in made}
    assert len(shown) >= harness.SEEN, f"{case.name}: {len(shown)} different samples"


ERRORS = [
    pytest.param(r, id=f"{c.name}-{i}", marks=harness.marks(c.name, "rejects"))
    for c in CASES
    for i, r in enumerate(c.rejects)
]


@pytest.mark.parametrize("reject", ERRORS)
def test_rejects(reject):
    with pytest.raises(reject.error) as caught:
        reject.call()
    for word in reject.words:
        assert word in str(caught.value), f"{word!r} is not in: {caught.value}"
    # The door numbers each argument that an error names: "argument 2 (dim)".
    assert "argument (" not in str(caught.value)
