# SPDX-License-Identifier: Apache-2.0
"""An error names the operator that was called, also where another one inside it failed, and the
argument by its number; destinations stand behind the last argument."""

import pytest

import libdl
from libdl import _C  # noqa: F401, of the text below
from refusals import calls_with_errors

F16, I64, C64 = libdl.float16, libdl.int64, libdl.complex64


def ones(*shape, dtype=libdl.float32):
    return libdl.ones(shape, dtype=dtype)


TOLD = """
ones(2).addcmul(ones(2), ones(3))
    # addcmul: argument 3 (tensor2) has shape [3]
ones(2).addcdiv(ones(3), ones(2))
    # addcdiv: argument 2 (tensor1) has shape [3]
libdl.addcdiv(ones(2), ones(2), ones(2), out=ones(3))
    # addcdiv: argument 5 (out) has shape [3], wanted [2]
libdl.addmm(*[ones(2, 2, dtype=I64)] * 3, beta=0.5)
    # addmm: argument 4 (beta) is float64
libdl.addmm(ones(3), ones(2, 2), ones(2, 2))
    # addmm: argument 1 (input) is [2, 2]
libdl.allclose(ones(2), ones(3))
    # allclose: argument 2 (other) has shape [3]
ones(2).fill_(ones(2))
    # fill_: argument 2 (value) has shape [2]
libdl.lerp(ones(2), ones(2), ones(3))
    # lerp: argument 3 (weight) has shape [3]
_C.masked_fill_into(ones(2, 2), ones(2, 2) > 0, 1.0, ones(2))
    # masked_fill: argument 4 (dst) has shape [2], wanted [2, 2]
libdl.masked_select(ones(2), ones(2) > 0, out=ones(3))
    # masked_select: argument 3 (out) has shape [3], wanted [2]
ones(2, 2, dtype=libdl.bool) @ ones(2, 2, dtype=libdl.bool)
    # matmul: argument 1 (input) is bool
libdl.matmul(ones(2, 2), ones(2, 2), out=ones(2))
    # matmul: argument 3 (out) has shape [2]
libdl.mean(ones(2), 3)
    # mean: argument 2 (dim) is 3
libdl.mean(ones(2), out=ones(2))
    # mean: argument 5 (out) has shape [2], wanted []
libdl.pow(ones(2), 2, out=ones(3))
    # pow: argument 3 (out) has shape [3], wanted [2]
libdl.round(ones(2), decimals=1, out=ones(3))
    # round: argument 3 (out) has shape [3], wanted [2]
libdl.sgn(ones(2), out=ones(3))
    # sgn: argument 2 (out) has shape [3], wanted [2]
libdl.stack([ones(2)], 3)
    # stack: argument 2 (dim) is 3
libdl.stack([ones(2)], out=ones(2))
    # stack: argument 3 (out) has shape [2], wanted [1, 2]
libdl.sub(ones(2), ones(2), alpha=1j)
    # sub: argument 3 (alpha) is complex128
libdl.sub(ones(2), ones(3), alpha=2)
    # sub: argument 2 (other) has shape [3]
libdl.add(ones(2, dtype=libdl.bool), ones(3, dtype=libdl.bool))
    # add: argument 2 (other) has shape [3]
libdl.take_along_dim(ones(2), libdl.tensor([2]), 0)
    # take_along_dim: argument 2 (indices) holds 2
libdl.tril(ones(2, 2), out=ones(2))
    # tril: argument 3 (out) has shape [2], wanted [2, 2]
## What operators inside, or helpers, found.
libdl.addmm(*[ones(2, 2)] * 3, alpha=ones(2, 2))
    # addmm: argument 5 (alpha) has shape [2, 2], wanted a number
libdl.as_strided(ones(6), (-1,), (1,))
    # as_strided: argument 2 (size) is [-1], wanted sizes of 0 or more
libdl.as_strided(ones(6), (2,), (6,))
    # as_strided: argument 3 (stride) is [6], which with shape [2]
libdl.as_strided(ones(6), (1,), (1,), 6)
    # as_strided: argument 4 (storage_offset) is 6
libdl.empty(-1)
    # empty: argument 1 (size) is [-1]
libdl.empty_strided((2,), (1 << 62,))
    # empty_strided: argument 2 (strides) is [4611686018427387904]
libdl.addmm(*[ones(2, 2)] * 3, alpha=libdl.tensor(True))
    # addmm: argument 5 (alpha) is bool
_C.sub(True, False, libdl.tensor(True))
    # sub: argument 3 (alpha) is bool
_C.item_bool(ones(2, dtype=libdl.complex64))
    # item_bool: argument 1 (input) has 2 elements
_C.masked_scatter_into(libdl.tensor(1.0), libdl.tensor(True), ones(1), ones(3))
    # masked_scatter: argument 4 (dst) has shape [3], wanted []
ones(0).repeat(1 << 62)
    # repeat: argument 2 (repeats) is [4611686018427387904, 0]
libdl.repeat_interleave(ones(2), -1)
    # repeat_interleave: argument 2 (repeats) is -1, wanted 0 or more
libdl.repeat_interleave(ones(2), 1 << 61)
    # repeat_interleave: argument 2 (repeats) is [2, 2305843009213693952]
libdl.repeat_interleave(ones(0), 1 << 62)
    # repeat_interleave: argument 2 (repeats) is [0, 4611686018427387904]
libdl.arange(1 << 62)
    # arange: argument 2 (end) is [4611686018427387904]
libdl.arange((1 << 53) + 1, 1 << 53)
    # arange: argument 3 (step) is 1.000000 and leads away from end
## More tensors than there is memory for.
ones(0).chunk(1 << 40)
    # chunk: argument 2 (chunks) asks for 1099511627776 tensors
ones(1).expand(1 << 40).split(1)
    # split: argument 2 (split_size) asks for 1099511627776 tensors
ones(1).expand(1 << 40).unbind()
    # unbind: argument 2 (dim) asks for 1099511627776 tensors
libdl.eye(2, 1 << 62)
    # eye: argument 2 (m) is [2, 4611686018427387904]
_C.dropout_into(ones(2), 0.5, True, None, ones(3))
    # dropout: argument 5 (dst) has shape [3], wanted [2]
libdl.nn.functional.mse_loss(ones(2), ones(2) > 0)
    # mse_loss: argument 2 (target) is bool
libdl.rand(1 << 62, 8)
    # rand: argument 1 (size) is [4611686018427387904, 8]
libdl.randperm(1 << 62)
    # randperm: argument 1 (n) is [4611686018427387904]
libdl.squeeze(ones(1, 2), (0, 0))
    # squeeze: argument 2 (dim) is [0, 0] and names a dimension twice
libdl.zeros_like(ones(2), device="cpu:7")
    # zeros_like: argument 3 (device) is cpu
(lambda x: libdl.round(x, decimals=1, out=x.t()))(ones(2, 2))
    # round: argument 3 (out) shares some of its memory with an operand
## Two destinations.
libdl.sort(ones(2), out=(ones(3), ones(2, dtype=I64)))
    # sort: argument 5 (out[0]) has shape [3], wanted [2]
libdl.sort(ones(2), out=(ones(2), ones(3, dtype=I64)))
    # sort: argument 5 (out[1]) has shape [3], wanted [2]
libdl.topk(ones(2), 1, out=(ones(1), ones(2, dtype=I64)))
    # topk: argument 6 (out[1]) has shape [2], wanted [1]
libdl.max(ones(2), 0, out=(ones(2), ones(dtype=I64)))
    # max: argument 4 (out[0]) has shape [2], wanted []
(lambda x: libdl.max(ones(2, 2, dtype=I64), 0, out=(x, x)))(ones(2, dtype=I64))
    # max: argument 4 (out[1]) shares memory with out[0]
libdl.max(ones(2, 2).requires_grad_(), 0, out=(ones(2), ones(2, dtype=I64)))
    # max: argument 4 (out[0]) was given while out or an operand requires grad
(lambda x: libdl.sort(ones(2, dtype=I64), out=(x, x)))(ones(2, dtype=I64))
    # sort: argument 5 (out[1]) shares memory with out[0]
## Python's other names.
libdl.broadcast_to(ones(2, 3), (2, 4))
    # broadcast_to: argument 2 (size) is [2, 4]
libdl.clip(ones(2), ones(3))
    # clip: argument 2 (min) has shape [3]
libdl.multiply(ones(2), ones(3))
    # multiply: argument 2 (other) has shape [3]
libdl.negative(ones(2, dtype=libdl.bool))
    # negative: argument 1 (input) is bool
ones(2).subtract_(ones(3))
    # subtract_: argument 2 (other) has shape [3]
libdl.split(ones(3), [1, 1])
    # split: argument 2 (split_sizes)
libdl.swapaxes(ones(2), 5, 0)
    # swapaxes: argument 2 (axis0) is 5
"""


@pytest.mark.parametrize(("call", "begins"), list(calls_with_errors(TOLD)))
def test_errors_name_operator_and_argument(call, begins):
    with pytest.raises(libdl.Error) as caught:
        eval(f"({call})", globals())
    error = caught.value
    assert str(error).startswith(begins)
    head, _, number = begins.partition(": argument ")
    assert error.operator == head and error.argument == int(number.split()[0])
    assert f"({error.argument_name})" in begins


def test_a_result_of_too_many_bytes_is_told_by_its_shape():
    """The operand has 2^62 bytes, counted without its 0; no argument is to blame."""
    with pytest.raises(OverflowError) as caught:
        libdl.zeros((0, 1 << 62), dtype=libdl.bool).exp()
    assert str(caught.value).startswith(
        "a tensor of float32 and shape [0, 4611686018427387904] would have 2^63 bytes"
    )
    assert caught.value.argument == 0


def test_tables_of_interpolate_are_counted_as_memory_is():
    byte = ones(1, 1, 1, 1).to(libdl.uint8)
    with pytest.raises(libdl.OutOfMemoryError):
        libdl.nn.functional.interpolate(byte, (1 << 34, 1))  # 17 GB of bytes, and tables of 1 TB
    nothing = libdl.nn.functional.interpolate(ones(0, 1, 1, 1), (1 << 34, 1))
    assert nothing.shape == (0, 1, 1 << 34, 1)


def test_both_destinations_are_checked_before_either_is_written():
    values, indices = libdl.zeros(2), libdl.zeros(3, dtype=I64)
    for call in (
        lambda: libdl.sort(ones(2), out=(values, indices)),
        lambda: libdl.topk(ones(2), 2, out=(values, indices)),
        lambda: libdl.max(ones(2, 2), 0, out=(values, indices)),
    ):
        with pytest.raises(ValueError, match=r"out\[1\]"):
            call()
    assert values.tolist() == [0, 0]


def test_an_error_of_a_callback_keeps_its_words():
    """What a function of the caller's own raises is not told as the operator's."""

    class Cut(libdl.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            libdl.mm(ones(2, 2), ones(3, 3))

    with pytest.raises(ValueError, match=r"^mm: argument 2 \(mat2\)"):
        libdl.stack([ones(2).as_subclass(Cut)])
