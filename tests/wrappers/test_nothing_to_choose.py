# SPDX-License-Identifier: Apache-2.0
"""What chooses among no elements raises an IndexError along a dimension, as in PyTorch, which is
also libdl's ShapeError; and the out= of such functions."""

import pickle

import pytest

import libdl as torch

ALONG = {
    "amax": lambda x, d, **k: torch.amax(x, d, **k),
    "amin": lambda x, d, **k: torch.amin(x, d, **k),
    "max": lambda x, d, **k: torch.max(x, d, **k),
    "min": lambda x, d, **k: torch.min(x, d, **k),
    "argmax": lambda x, d: torch.argmax(x, d),
    "argmin": lambda x, d: torch.argmin(x, d),
    "aminmax": lambda x, d, **k: torch.aminmax(x, dim=d, **k),
    "median": lambda x, d, **k: torch.median(x, d, **k),
    "mode": lambda x, d, **k: torch.mode(x, d, **k),
    "nanmedian": lambda x, d, **k: torch.nanmedian(x, d, **k),
    "kthvalue": lambda x, d, **k: torch.kthvalue(x, 1, d, **k),
    "max of a method": lambda x, d: x.max(d),
    "median of a method": lambda x, d: x.median(d),
    "kthvalue of a method": lambda x, d: x.kthvalue(1, d),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64])
@pytest.mark.parametrize("shape", [(2, 0), (0,), (3, 0, 2)])
@pytest.mark.parametrize("name", ALONG)
def test_along_a_dimension_of_no_elements(name, shape, dtype):
    x, dim = torch.zeros(shape, dtype=dtype), shape.index(0)
    for d in (dim, dim - len(shape)):
        with pytest.raises(IndexError) as raised:
            ALONG[name](x, d)
        error = raised.value
        assert isinstance(error, torch.ShapeError) and isinstance(error, RuntimeError)
        assert str(error).startswith(name.split()[0].replace("aminmax", "amin"))
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)


@pytest.mark.parametrize("name", ALONG)
def test_along_another_dimension_there_is_nothing_to_do(name):
    found = ALONG[name](torch.zeros(2, 0), 0)
    for y in found if isinstance(found, tuple) else (found,):
        assert y.shape == (0,)


def test_other_shapes_are_no_index_errors():
    for call in (lambda: torch.ones(2) + torch.ones(3), lambda: torch.ones(2).view(3)):
        with pytest.raises(torch.ShapeError) as raised:
            call()
        assert not isinstance(raised.value, IndexError)
    with pytest.raises(ValueError) as wrong:
        torch.kthvalue(torch.ones(2), 3)
    assert not isinstance(wrong.value, IndexError)


X = torch.tensor([[3.0, 1.0, 2.0], [5.0, 5.0, 4.0]])
PAIRS = {
    name: ALONG[name]
    for name in ("aminmax", "median", "nanmedian", "mode", "kthvalue", "max", "min")
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_have_out(name):
    wanted = PAIRS[name](X, 1)
    out = tuple(torch.empty(0, dtype=y.dtype) for y in wanted)
    found = PAIRS[name](X, 1, out=out)
    assert type(found).__name__ == name
    for a, b, c in zip(found, out, wanted, strict=True):
        assert a is b and b.tolist() == c.tolist()
    with pytest.raises(RuntimeError, match="out|dst"):
        PAIRS[name](X, 1, out=(out[0], torch.empty(2, dtype=torch.complex64)))
    with pytest.raises(RuntimeError, match="has shape"):
        PAIRS[name](X, 1, out=(torch.empty(3), out[1]))
    with pytest.raises(RuntimeError, match="requires grad"):
        PAIRS[name](X.clone().requires_grad_(), 1, out=out)
    assert out[0].tolist() == wanted[0].tolist()


def test_the_median_of_all_has_out():
    out = torch.empty(())
    assert torch.median(X, out=out) is out and out.item() == 3


PLACES = {
    "max": lambda p: torch.max(X, 1, out=(torch.empty(2), p)),
    "sort": lambda p: torch.sort(X, out=(torch.empty(2, 3), p)),
    "topk": lambda p: torch.topk(X, 1, out=(torch.empty(2, 1), p)),
    "cummax": lambda p: torch.cummax(X, 1, out=(torch.empty(2, 3), p)),
    "cummin": lambda p: torch.cummin(X, 0, out=(torch.empty(2, 3), p)),
    "argmax": lambda p: torch.argmax(X, 1, out=p),
    "argmin": lambda p: torch.argmin(X, out=p),
    "searchsorted": lambda p: torch.searchsorted(X[0].sort()[0], X, out=p),
    "bucketize": lambda p: torch.bucketize(X, X[0].sort()[0], out=p),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64, torch.bool])
@pytest.mark.parametrize("name", PLACES)
def test_places_are_integers(name, dtype):
    place = torch.empty(0, dtype=dtype)
    with pytest.raises(
        TypeError, match=rf"^{name}: .* is {dtype}, wanted an integer dtype".replace("libdl.", "")
    ):
        PLACES[name](place)
    assert place.shape == (0,)
    PLACES[name](torch.empty(0, dtype=torch.int64))
