# SPDX-License-Identifier: Apache-2.0
"""Functions along one dimension take one integer, as in PyTorch; reductions take lists, and () for
all dimensions."""

import pytest

import libdl

ALONG = {
    "mode": lambda x, d: libdl.mode(x, dim=d),
    "aminmax": lambda x, d: libdl.aminmax(x, dim=d),
    "unique": lambda x, d: libdl.unique(x, dim=d),
    "unique_consecutive": lambda x, d: libdl.unique_consecutive(x, dim=d),
    "quantile": lambda x, d: libdl.quantile(x, 0.5, dim=d),
    "nanquantile": lambda x, d: libdl.nanquantile(x, 0.5, dim=d),
    "logcumsumexp": lambda x, d: libdl.logcumsumexp(x, dim=d),
    "renorm": lambda x, d: libdl.renorm(x, 2, d, 1.0),
    "cumsum": lambda x, d: libdl.cumsum(x, dim=d),
    "cummax": lambda x, d: libdl.cummax(x, dim=d),
    "median": lambda x, d: libdl.median(x, dim=d),
    "argmax": lambda x, d: libdl.argmax(x, dim=d),
    "sort": lambda x, d: libdl.sort(x, dim=d),
    "softmax": lambda x, d: libdl.softmax(x, dim=d),
    "kthvalue": lambda x, d: libdl.kthvalue(x, 1, dim=d),
    "max": lambda x, d: libdl.max(x, dim=d),
    "topk": lambda x, d: libdl.topk(x, 1, dim=d),
    "diff": lambda x, d: libdl.diff(x, dim=d),
}


@pytest.mark.parametrize("dim", [(), [], (0,), [0], (0, 1), "a", 0.0, 1.5], ids=repr)
@pytest.mark.parametrize("name", ALONG)
def test_lists_and_fractions_are_no_dimension(name, dim):
    for x in (libdl.ones(2, 3), libdl.ones(())):
        if name not in ("renorm", "diff") or x.ndim:
            with pytest.raises(TypeError):
                ALONG[name](x, dim)


@pytest.mark.parametrize(
    "name",
    """
        mode aminmax unique unique_consecutive quantile nanquantile logcumsumexp renorm
    """.split(),
)
def test_errors_tell_of_the_dimension(name):
    with pytest.raises(
        TypeError, match=rf"^{name}: argument \d \(dim\) is (True|a bool), wanted an integer"
    ):
        ALONG[name](libdl.ones(2, 3), True)
    with pytest.raises(IndexError, match=rf"^{name}: argument \d \(dim\) is 2, wanted -2 to 1"):
        ALONG[name](libdl.ones(2, 3), 2)
    if name != "renorm":
        with pytest.raises(IndexError, match=rf"^{name}: argument \d \(dim\) is 1, wanted -1 to 0"):
            ALONG[name](libdl.tensor(1.0), 1)
    ALONG[name](libdl.ones(2, 3), libdl.tensor(1))  # what can be an index


OVER_ALL = """
    sum mean nansum nanmean amax amin std var norm count_nonzero logsumexp
""".split()


@pytest.mark.parametrize("dim", [(), []], ids=repr)
@pytest.mark.parametrize("name", OVER_ALL)
def test_no_dimensions_are_all(name, dim):
    x = libdl.tensor([[0.0, 1, 2], [3, 4, 6]])
    whole = getattr(libdl, name)(x, dim=(0, 1))
    assert whole.shape == () and libdl.equal(getattr(libdl, name)(x, dim=dim), whole)
    if name != "count_nonzero":
        kept = getattr(libdl, name)(x, dim=dim, keepdim=True)
        assert kept.shape == (1, 1) and kept.item() == whole.item()


@pytest.mark.parametrize("name", ["std_mean", "var_mean"])
def test_of_pairs_too(name):
    x = libdl.tensor([[0.0, 1, 2], [3, 4, 6]])
    for a, b in zip(
        getattr(libdl, name)(x, dim=()), getattr(libdl, name)(x, dim=(0, 1)), strict=True
    ):
        assert libdl.equal(a, b)


@pytest.mark.parametrize("name", ["all", "any"])
def test_of_truths_no_dimensions_are_none(name):
    x = libdl.tensor([[True, False], [True, True]])
    assert libdl.equal(getattr(libdl, name)(x, dim=()), x)
