# SPDX-License-Identifier: Apache-2.0
"""What a tensor in place, or two operands, cannot be: refused as in PyTorch, and nothing is
written."""

import pytest

import libdl

CALLS = {
    "ldexp_": lambda x: x.ldexp_(libdl.tensor([1, 2])),
    "logit_": lambda x: x.logit_(),
    "sinc_": lambda x: x.sinc_(),
    "xlogy_": lambda x: x.xlogy_(libdl.tensor([1.0, 2.0])),
    "rad2deg_": lambda x: x.rad2deg_(),
    "mvlgamma_": lambda x: x.mvlgamma_(1),
    "polygamma_": lambda x: x.polygamma_(1),
    "float_power_": lambda x: x.float_power_(2),
    "copysign_": lambda x: x.copysign_(libdl.tensor([1.0, -2.0])),
    "sqrt_": lambda x: x.sqrt_(),
    "div_": lambda x: x.div_(2),
    "erfinv_": lambda x: x.erfinv_(),
}


@pytest.mark.parametrize("dtype", [libdl.int64, libdl.uint8], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_integers_do_not_take_fractions(name, dtype):
    x = libdl.tensor([4, 9], dtype=dtype)
    with pytest.raises(RuntimeError, match="int64|uint8"):
        CALLS[name](x)
    assert x.tolist() == [4, 9]


def test_the_error_names_the_method_and_both_dtypes():
    with pytest.raises(
        TypeError,
        match=r"^ldexp_: argument 1 \(input\) is int64, wanted a dtype that "
        "holds float32",
    ):
        libdl.ones(2, dtype=libdl.int64).ldexp_(libdl.ones(2))


@pytest.mark.parametrize(
    "reshape",
    [
        lambda x: x.t_(),
        lambda x: x.unsqueeze_(0),
        lambda x: x.squeeze_(),
        lambda x: x.transpose_(0, 1),
        lambda x: x.swapaxes_(0, 1),
        lambda x: x.swapdims_(0, 1),
        lambda x: x.as_strided_((1,), (1,)),
    ],
)
def test_views_of_leaves_are_not_reshaped(reshape):
    leaf = libdl.ones(2, 3, requires_grad=True)
    view = leaf[:1]
    with pytest.raises(RuntimeError, match="is a view of a leaf that requires grad"):
        reshape(view)
    assert view.shape == (1, 3)
    reshape((leaf * 1)[:1])  # another view


@pytest.mark.parametrize("shapes", [((2,), (1,)), ((1,), (2,)), ((2, 3), (1,)), ((2, 3), (4, 1))])
def test_inner_does_not_broadcast_what_it_sums(shapes):
    a, b = (libdl.ones(shape) for shape in shapes)
    with pytest.raises(RuntimeError, match=r"^inner: argument 2 \(other\) has shape"):
        libdl.inner(a, b)


def test_nor_do_two_vectors():
    with pytest.raises(
        RuntimeError, match=r"^linalg.vecdot: argument 2 \(y\) has shape \[1\], wanted \[2\]"
    ):
        libdl.linalg.vecdot(libdl.ones(2), libdl.ones(1))
    assert libdl.linalg.vecdot(libdl.ones(3, 2), libdl.ones(1)).tolist() == [2, 2, 2]


def test_the_vector_product_wants_dimensions():
    with pytest.raises(
        IndexError, match=r"^cross: argument 3 \(dim\) is 0, wanted none: argument 1"
    ):
        libdl.cross(libdl.ones(()), libdl.ones(()), 0)
    with pytest.raises(
        ValueError, match=r"^cross: argument 2 \(other\) has shape \[\], wanted 3 dimensions"
    ):
        libdl.cross(libdl.ones(2, 1, 3), libdl.ones(()))


def test_diagonals_lie_in_two_dimensions():
    with pytest.raises(IndexError, match=r"^diag_embed: argument 4 \(dim2\) is 5, wanted -2 to 1"):
        libdl.diag_embed(libdl.ones(1), dim2=5)
    with pytest.raises(
        ValueError, match=r"^diag_embed: argument 4 \(dim2\) is -2, the dimension of dim1"
    ):
        libdl.diag_embed(libdl.ones(1), dim1=0, dim2=-2)


def test_broadcasting_gives_back_what_has_the_shape():
    a, b = libdl.ones(2, requires_grad=True), libdl.ones(1)
    same, wider = libdl.broadcast_tensors(a, b)
    assert same is a and wider.shape == (2,) and wider._base is b


def test_conjugating_real_numbers_in_place_is_a_write():
    x = libdl.ones(2, dtype=libdl.int64)
    version = x._version
    assert x.conj_physical_() is x and x._version == version + 1
    with pytest.raises(RuntimeError, match="leaf"):
        libdl.ones(2, requires_grad=True).conj_physical_()
