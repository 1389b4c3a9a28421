# SPDX-License-Identifier: Apache-2.0
"""PyTorch's older words: FloatTensor and its kin, Tensor.new, Tensor.type,
set_default_tensor_type."""

import numpy
import pytest

import libdl

TYPES = {
    "Float": libdl.float32,
    "Double": libdl.float64,
    "Half": libdl.float16,
    "BFloat16": libdl.bfloat16,
    "Long": libdl.int64,
    "Int": libdl.int32,
    "Short": libdl.int16,
    "Char": libdl.int8,
    "Byte": libdl.uint8,
    "Bool": libdl.bool,
}


@pytest.mark.parametrize("word", TYPES)
def test_each_type_makes_and_knows_tensors_of_its_dtype(word):
    kind = getattr(libdl, f"{word}Tensor")
    assert kind(2, 3).shape == (2, 3) and kind().shape == (0,) and kind(size=(2,)).shape == (2,)
    made = kind([[1, 0], [1, 1]])
    assert made.dtype is TYPES[word] is kind.dtype and made.tolist() == [[1, 0], [1, 1]]
    known = [w for w in TYPES if isinstance(made, getattr(libdl, f"{w}Tensor"))]
    assert known == [word]
    assert made.type() == str(kind) == f"libdl.{word}Tensor" == libdl.typename(made)
    assert libdl.ones(1).type(f"torch.{word}Tensor").dtype is TYPES[word]
    assert libdl.ones(1).type(kind).dtype is libdl.ones(1).type(str(kind)).dtype is TYPES[word]


def test_tensor_as_a_type_is_the_default_dtype():
    x = libdl.ones(2, dtype=libdl.int64)
    assert x.type(libdl.Tensor).dtype is libdl.float32
    libdl.set_default_dtype(libdl.float64)
    try:
        assert x.type(libdl.Tensor).dtype is libdl.float64
    finally:
        libdl.set_default_dtype(libdl.float32)
    with pytest.raises(ValueError, match="wanted a dtype"):
        x.type(libdl.nn.Parameter)


def test_sequences_are_converted_as_a_cast_would():
    assert libdl.LongTensor([1.5]).tolist() == [1]
    assert libdl.FloatTensor(numpy.array([1, 2])).tolist() == [1.0, 2.0]
    assert libdl.FloatTensor(range(3)).tolist() == [0.0, 1.0, 2.0]
    assert libdl.FloatTensor(libdl.Size([2, 1])).shape == (2, 1)


def test_a_tensor_is_seen_through_another_over_the_same_memory():
    x = libdl.zeros(2, requires_grad=True)
    with libdl.no_grad():
        libdl.FloatTensor(x).fill_(3.0)
    assert x.tolist() == [3.0, 3.0]
    (libdl.FloatTensor(x) * libdl.Tensor(x)).sum().backward()  # views, as in PyTorch
    assert x.grad.tolist() == [6.0, 6.0]


@pytest.mark.parametrize(
    "call, told",
    [
        (
            lambda: libdl.FloatTensor(libdl.tensor([1])),
            "FloatTensor: data has dtype libdl.int64, wanted libdl.float32",
        ),
        (lambda: libdl.FloatTensor(2.5), "FloatTensor: data is a float"),
        (lambda: libdl.FloatTensor("a"), "FloatTensor: data is a str"),
        (lambda: libdl.FloatTensor(2, data=[1]), "FloatTensor: found the arguments"),
        (lambda: libdl.ones(1).new(2.5), "new: data is a float"),
    ],
)
def test_other_arguments_are_refused(call, told):
    with pytest.raises(TypeError, match=told):
        call()


def test_parameters_are_of_their_type_and_nothing_else_is():
    assert isinstance(libdl.nn.Parameter(libdl.ones(1)), libdl.FloatTensor)
    assert not isinstance([1.0], libdl.FloatTensor)
    assert not issubclass(libdl.FloatTensor, libdl.Tensor)
    assert not isinstance(libdl.ones(1), libdl.cuda.FloatTensor)


def test_new_keeps_dtype():
    x = libdl.ones(1, dtype=libdl.float64)
    assert x.new(2, 3).shape == (2, 3) and x.new().shape == (0,) and x.new([1]).tolist() == [1.0]
    assert {made.dtype for made in (x.new(2), x.new([1]), x.new(x), x.new(size=(1,)))} == {
        libdl.float64
    }


@pytest.mark.parametrize(
    "wrong", ["LongTensor", "numpy.LongTensor", "torch.Long", "torch.XTensor", int]
)
def test_types_that_do_not_exist_are_named(wrong):
    with pytest.raises(ValueError, match="type: found"):
        libdl.ones(1).type(wrong)


def test_the_default_type():
    try:
        libdl.set_default_tensor_type("torch.DoubleTensor")
        assert libdl.ones(1).dtype is libdl.float64
        libdl.set_default_tensor_type(libdl.FloatTensor)
        assert libdl.ones(1).dtype is libdl.float32
        for wrong in (libdl.LongTensor, "torch.LongTensor", libdl.float64):
            with pytest.raises(TypeError, match="set_default_tensor_type: t is"):
                libdl.set_default_tensor_type(wrong)
    finally:
        libdl.set_default_dtype(libdl.float32)
        libdl.set_default_device("cpu")


def test_names_of_dimensions_are_refused():
    for name in ("rename", "refine_names", "align_to"):
        with pytest.raises(NotImplementedError, match="dimensions have no names"):
            getattr(libdl.ones(1), name)("a")


def test_storage_is_the_whole_memory():
    x = libdl.arange(6.0).reshape(2, 3)
    row = x[1].storage()
    assert len(row) == row.size() == 6 and row.tolist() == [0, 1, 2, 3, 4, 5] and row[2] == 2
    assert row.nbytes() == len(x.untyped_storage()) == 24 and row.element_size() == 4
    assert (
        row.data_ptr() == x.storage().data_ptr() == x.data_ptr() == x.untyped_storage().data_ptr()
    )
    assert row.dtype is libdl.float32 and row.device == libdl.device("cpu") and not row.is_shared()
    row[0] = 9
    assert x[0, 0] == 9 and libdl.is_storage(row) and not libdl.is_storage(x)
    with pytest.raises(NotImplementedError, match="memory keeps its size"):
        row.resize_(3)


def test_resize_keeps_memory_that_is_large_enough():
    x = libdl.arange(6)
    address = x.data_ptr()
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]] and x.data_ptr() == address
    assert x.resize_((6,)).tolist() == [0, 1, 2, 3, 4, 5]
    assert x[2:].resize_(2).tolist() == [2, 3]
    assert x.resize_as_(libdl.ones(3, 1)).tolist() == [[0], [1], [2]]
    assert x.resize_(9).shape == (9,) and x[:6].tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(RuntimeError, match="requires grad"):
        libdl.ones(2, requires_grad=True).resize_(1)


def test_second_paths_lead_to_the_same_functions():
    assert libdl.functional.norm is libdl.norm
    assert libdl.special.expit(libdl.zeros(1)).item() == 0.5  # a function of its own, as in PyTorch
    assert (
        libdl.get_device_module("cpu") is libdl.cpu
        and libdl.get_device_module("cuda:0") is libdl.cuda
    )
    for module in (libdl.special, libdl.functional):
        assert dir(module) and not hasattr(module, "no_such")
    x = libdl.ones(2)
    assert (
        libdl.utils.dlpack.from_dlpack(libdl.utils.dlpack.to_dlpack(x)).data_ptr() == x.data_ptr()
    )
    with pytest.raises(NotImplementedError, match="nothing is fetched"):
        libdl.utils.model_zoo.load_url("u")


def test_numbers_as_tensors():
    assert libdl.scalar_tensor(3).dtype is libdl.float32 and libdl.scalar_tensor(3).shape == ()
    assert libdl.scalar_tensor(3, dtype=libdl.int64).item() == 3
    assert libdl.ones(2, 3).adjoint().shape == (3, 2)
    assert libdl.cosine_similarity is libdl.nn.functional.cosine_similarity
    assert libdl.ones(1).record_stream(None) is None


@pytest.mark.parametrize("name", ["celu", "elu", "hardtanh", "leaky_relu", "relu", "selu"])
def test_activations_in_place(name):
    F = libdl.nn.functional
    x = libdl.tensor([-2.0, 0.5, 3.0])
    wanted = getattr(F, name)(x).tolist()
    assert getattr(F, f"{name}_")(x) is x and x.tolist() == wanted
