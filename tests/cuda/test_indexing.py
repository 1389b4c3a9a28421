# SPDX-License-Identifier: Apache-2.0
"""Indices on the device: results are the CPU's, bit for bit, and bad ones are told at the next
wait."""

from __future__ import annotations

import libdl as dl
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not dl.cuda.is_available(), reason="no device, nor a simulated one")

DTYPES = [
    dl.bool,
    dl.uint8,
    dl.uint16,
    dl.uint32,
    dl.uint64,
    dl.int8,
    dl.int16,
    dl.int32,
    dl.int64,
    dl.float16,
    dl.bfloat16,
    dl.float32,
    dl.float64,
    dl.complex64,
    dl.complex128,
]


def bits(x: dl.Tensor) -> tuple:
    x = x.cpu().contiguous()
    return tuple(x.shape), x.dtype, x.flatten().view(dl.uint8).numpy().tobytes()


def same(on_device: dl.Tensor, on_cpu: dl.Tensor) -> None:
    assert str(on_device.device) == "cuda:0"
    assert bits(on_device) == bits(on_cpu)


def both(call, *tensors) -> None:
    """The call gives the same on the device as on the CPU."""
    on_cpu = call(*tensors)
    on_device = call(*[x.to("cuda") for x in tensors])
    for got, wanted in zip(
        on_device if isinstance(on_device, tuple) else [on_device],
        on_cpu if isinstance(on_cpu, tuple) else [on_cpu],
        strict=True,
    ):
        same(got, wanted)


def numbers(shape, dtype, seed=0) -> dl.Tensor:
    made = np.random.default_rng(seed).integers(-9, 10, shape)
    if dtype in (dl.complex64, dl.complex128):
        return dl.tensor(made + 1j * made[::-1].copy()).to(dtype)
    if dtype == dl.bool:
        return dl.tensor(made > 0)
    x = dl.tensor(made)
    return (x.to(dl.float64) / 7).to(dtype) if dtype.is_floating_point else x.abs().to(dtype)


def indices(shape, size, dtype=np.int64, seed=1) -> dl.Tensor:
    """From both ends, with many that meet."""
    return dl.tensor(np.random.default_rng(seed).integers(-size, size, shape).astype(dtype))


# -- gather and scatter ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_gather_follows_any_dtype_and_dimension(dtype, dim):
    both(
        lambda x, i: dl.gather(x, dim, i),
        numbers((5, 4, 6), dtype),
        indices((5, 4, 6), (5, 4, 6)[dim]),
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("reduce", [None, "add", "multiply"])
@pytest.mark.parametrize("shape", [(5, 40), (400,), (40, 3)], ids=str)
def test_scatter_follows_the_order_of_the_index(dtype, reduce, shape):
    index = indices(shape, shape[0])
    both(
        lambda x, i, y: dl.scatter(x, 0, i, y, reduce=reduce),
        numbers(shape, dtype),
        index,
        numbers(shape, dtype, 2),
    )


@pytest.mark.parametrize("dim", [0, 1])
def test_scatter_sums_floats_in_the_same_order_as_the_cpu(dim):
    generator = np.random.default_rng(3)
    values = dl.tensor(
        (generator.standard_normal((60, 50)) * 10.0 ** generator.integers(-6, 6, (60, 50))).astype(
            "f4"
        )
    )
    both(
        lambda x, i, y: dl.scatter_add(x, dim, i, y),
        dl.zeros(60, 50),
        indices((60, 50), 50),
        values,
    )


def test_scatter_into_a_thread_a_slice_and_into_sorted_runs_agree():
    index = indices((33, 2), 7)
    values = numbers((33, 2), dl.float32)
    x = numbers((7, 2), dl.float32)
    both(lambda x, i, y: dl.scatter_add(x, 0, i, y), x, index, values)
    both(lambda x, i, y: dl.scatter_add(x, 0, i, y), x, index[:32], values[:32])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_an_index_of_32_bits_serves_as_well(dtype):
    x, index = numbers((6, 50), dl.float32), indices((6, 50), 50, dtype)
    both(lambda x, i: dl.gather(x, 1, i), x, index)
    both(lambda x, i, y: dl.scatter(x, 1, i, y), x, index, x * 2)
    both(lambda x, i: x[:, i[0]], x, index)


def test_strided_and_expanded_operands_are_followed():
    x = numbers((40, 12, 6), dl.float64).permute(2, 0, 1)[:, ::2]
    index = indices((6, 1, 12), 20).expand(6, 20, 12)
    both(lambda x, i: dl.gather(x, 1, i), x, index)
    both(lambda x, i: dl.scatter_add(x, 1, i, x * 3), x, index)
    both(lambda x, i: dl.scatter(x, 1, i, x.flip(0)), x, index)


# -- advanced indexing ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("cols", [1, 3, 16])
def test_rows_are_taken_and_put(dtype, cols):
    x, index = numbers((30, cols), dtype), indices((4, 20), 30)
    both(lambda x, i: x[i], x, index)
    both(lambda x, i, y: dl.index_put(x, [i], y), x, index, numbers((4, 20, cols), dtype, 5))
    both(lambda x, i, y: dl.index_put(x, [i], y, True), x, index, numbers((4, 20, cols), dtype, 5))


def test_rows_that_start_unaligned_are_taken_by_element():
    x = numbers((30, 17), dl.float32)[:, 1:]
    both(lambda x, i: x[i], x, indices((50,), 30))


def test_two_indices_with_a_dimension_between():
    x = numbers((5, 3, 6, 4), dl.float32)
    i, j = indices((7, 1), 5), indices((9,), 6)
    both(lambda x, i, j: x[i, :, j], x, i, j)
    x = x.permute(0, 2, 1, 3)
    y, z = numbers((7, 9, 3, 4), dl.float32), numbers((4, 3, 7, 9), dl.float32).permute(2, 3, 1, 0)
    both(lambda x, i, j, y: dl.index_put(x, [i, j], y, True), x, i, j, y)
    both(lambda x, i, j, y: dl.index_put(x, [i, j], y), x, i, j, z)


def test_the_last_of_many_writers_wins_in_a_large_tensor_too():
    x = dl.zeros(300_000)
    index = dl.tensor(np.array([5, 299_999, -1, 5, 7, -299_995, 7]))
    both(lambda x, i, y: dl.index_put(x, [i], y), x, index, dl.arange(7).to(dl.float32))
    both(lambda x, i, y: dl.index_put(x, [i], y, True), x, index, dl.arange(7).to(dl.float32))


def test_a_value_for_all_places():
    x = numbers((9, 4), dl.float32)
    both(lambda x, i: dl.index_put(x, [i], dl.tensor(2.5), True), x, indices((3, 30), 9))


def test_embeddings_take_and_give_back():
    table = numbers((40, 8), dl.float32)
    index = indices((6, 30), 20).abs() % 40
    results = []
    for device in ("cpu", "cuda"):
        weight = table.to(device).clone().detach().requires_grad_()
        y = dl.nn.functional.embedding(index.to(device), weight)
        y.backward(numbers((6, 30, 8), dl.float32, 4).to(device))
        results.append((y.detach(), weight.grad))
    for got, wanted in zip(results[1], results[0], strict=True):
        same(got, wanted)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_take_and_give_back(mode):
    table, index = numbers((40, 8), dl.float32), indices((50,), 20).abs() % 40
    offsets, results = dl.tensor([0, 7, 7, 30]), []
    for device in ("cpu", "cuda"):
        weight = table.to(device).clone().detach().requires_grad_()
        y = dl.nn.functional.embedding_bag(
            index.to(device), weight, offsets.to(device), mode=mode, padding_idx=3
        )
        y.backward(numbers((4, 8), dl.float32, 4).to(device))
        results.append((y.detach().cpu(), weight.grad.cpu()))
    for got, wanted in zip(results[1], results[0], strict=True):
        assert dl.allclose(got, wanted, rtol=1e-5, atol=1e-6)
    with pytest.raises(NotImplementedError, match=r"argument 6 \(sparse\) is true"):
        dl.nn.functional.embedding_bag(index.cuda(), table.cuda(), offsets.cuda(), sparse=True)


@pytest.mark.parametrize("ndim", [17, 33, 64])
def test_views_of_many_dimensions(ndim):
    """Of which some have two elements and do not merge, and all others have one."""
    shape = [1] * ndim
    for d in range(0, ndim, max(ndim // 10, 2)):
        shape[d] = 2
    x = numbers(shape, dl.float32).permute(*reversed(range(ndim)))
    index = indices(tuple(x.shape), 1 if x.shape[-1] == 1 else 2)
    last = ndim - 1
    both(lambda x, i: dl.gather(x, last, i), x, index)
    both(lambda x, i: dl.scatter_add(x, last, i, x), x, index)
    first = next(d for d in range(ndim) if x.shape[d] == 2)
    index = indices((40,), 2)
    both(lambda x, i: dl.index_select(x, first, i), x, index)
    both(lambda x: dl.nonzero(x), x)


def test_many_dimensions_that_all_step_alone():
    """2^17 elements whose dimensions stand in reversed order: none merge."""
    x = numbers((2,) * 17, dl.int32).permute(*reversed(range(17)))
    index = indices((2,) * 17, 2, seed=6)
    both(lambda x, i: dl.gather(x, 3, i), x, index)
    both(lambda x, i: dl.scatter(x, 3, i, x), x, index)


def test_no_dimensions_and_no_elements():
    both(lambda x, i: dl.gather(x, 0, i), dl.tensor(3.0), dl.tensor(-1))
    both(lambda x, i, y: dl.scatter_add(x, 0, i, y), dl.tensor(3.0), dl.tensor(0), dl.tensor(4.0))
    both(lambda x, i: x[i], numbers((4, 3), dl.float32), dl.tensor(-2))
    empty = dl.tensor(np.zeros((0,), np.int64))
    both(lambda x, i: x[i], numbers((4, 3), dl.float32), empty)
    both(lambda x, i: dl.gather(x, 0, i), numbers((4,), dl.float32), empty)
    both(lambda x, i: x[:, i], dl.zeros(0, 3), dl.tensor(np.array([1, -1])))
    both(
        lambda x, i, y: dl.index_put(x, [i], y),
        dl.zeros(4, 0),
        dl.tensor(np.array([1, -1])),
        dl.zeros(2, 0),
    )
    both(lambda x, i, y: dl.index_put(x, [i], y, True), dl.zeros(4, 2), empty, dl.zeros(0, 2))


def test_an_index_of_the_cpu_is_checked_there_and_serves_a_tensor_of_the_device():
    x, index = numbers((6, 4), dl.float32), indices((9,), 6)
    same(x.to("cuda")[index], x[index])
    with pytest.raises(IndexError, match="position"):
        x.to("cuda")[dl.tensor(np.array([0, 6]))]


# -- bad indices ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, call",
    {
        "gather": lambda x, i: dl.gather(x, 0, i),
        "scatter": lambda x, i: dl.scatter(x, 0, i, x),
        "scatter_add": lambda x, i: dl.scatter_add(x, 0, i, x),
        "index": lambda x, i: x[i],
        "index_put": lambda x, i: dl.index_put(x, [i], x),
        "index_select": lambda x, i: dl.index_select(x, 0, i),
    }.items(),
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("bad", [50, -51, 2**62, -(2**63)])
def test_a_bad_index_is_told_at_the_next_wait_and_the_device_lives_on(name, call, bad):
    dl.cuda.synchronize()
    x = numbers((50,), dl.float32)
    index = np.arange(50)
    index[37] = bad
    call(x.to("cuda"), dl.tensor(index).to("cuda"))
    with pytest.raises(
        IndexError, match=rf"^{name}: .*cuda:0 is {bad} at element 37, wanted -50 to 49"
    ):
        dl.cuda.synchronize()
    dl.cuda.synchronize()
    both(call, x, dl.tensor(np.arange(50)))


def test_only_the_first_of_many_bad_indices_is_told():
    x = numbers((50,), dl.float32).to("cuda")
    dl.gather(x, 0, dl.full((100,), 77, dtype=dl.int64, device="cuda"))
    x[dl.full((100,), 99, dtype=dl.int64, device="cuda")]
    with pytest.raises(IndexError, match="gather: .* is 77 "):
        dl.cuda.synchronize()
    dl.cuda.synchronize()


def test_an_index_into_nothing_is_bad():
    x = dl.zeros(0, 3, device="cuda")
    x[dl.tensor(np.array([0])).to("cuda")]
    with pytest.raises(IndexError, match="none: the dimension has size 0"):
        dl.cuda.synchronize()


# -- nonzero and masks ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nonzero_finds_coordinates_in_order(dtype):
    x = numbers((23, 17, 5), dtype)
    both(dl.nonzero, x)
    both(dl.nonzero, x.permute(1, 2, 0)[::2])


@pytest.mark.parametrize("size", [0, 1, 31, 2047, 2048, 2049, 30_000])
def test_nonzero_of_any_length(size):
    both(dl.nonzero, dl.tensor(np.random.default_rng(size).random(size) < 0.3))
    both(dl.nonzero, dl.ones(size))
    both(dl.nonzero, dl.zeros(size))


def test_nonzero_takes_minus_zero_for_zero_and_nan_for_something():
    for dtype in (dl.float16, dl.bfloat16, dl.float32, dl.float64):
        both(dl.nonzero, dl.tensor([0.0, -0.0, float("nan"), 1e-30, -1.0], dtype=dtype))
    both(dl.nonzero, dl.tensor([0j, complex(-0.0, -0.0), 1j], dtype=dl.complex64))
    both(dl.nonzero, dl.tensor(0.0))
    both(dl.nonzero, dl.tensor(2))


def test_masks_choose_and_are_written_through():
    x = numbers((40, 9), dl.float32)
    mask = dl.tensor(np.random.default_rng(8).random((40, 9)) < 0.4)
    both(lambda x, m: x[m], x, mask)
    both(lambda x, m: dl.masked_select(x, m), x, mask)
    both(lambda x, m: dl.masked_scatter(x, m, x.flip(0)), x, mask)


# -- order ----------------------------------------------------------------------------------------

ORDERED = [dtype for dtype in DTYPES if dtype not in (dl.complex64, dl.complex128)]


@pytest.mark.parametrize("dtype", ORDERED, ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable_for_any_dtype(dtype, descending):
    both(lambda x: dl.sort(x, descending=descending), numbers((7, 100), dtype))
    both(lambda x: dl.sort(x, dim=0, descending=descending), numbers((70, 3), dtype))


LENGTHS = [1, 2, 31, 32, 33, 1024, 2049, 4096, 4097, 10_000]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [dl.float32, dl.int64], ids=str)
def test_sort_of_any_length(length, dtype):
    generator = np.random.default_rng(length)
    rows = 2 if length in (33, 4097) else 1
    x = dl.tensor(generator.integers(-(2**40), 2**40, (rows, length))).to(dtype)
    both(dl.sort, x)
    both(lambda x: dl.topk(x, min(5, length)), x)
    both(lambda x: dl.topk(x, (length + 1) // 2, largest=False), x)


@pytest.mark.parametrize("dtype", [dl.float16, dl.bfloat16, dl.float32, dl.float64], ids=str)
@pytest.mark.parametrize("length", [12, 6000])
def test_nan_is_the_largest_and_zeros_are_equal(dtype, length):
    some = [float("nan"), -0.0, 0.0, float("inf"), -float("inf"), -float("nan"), 1e-7, -1.0]
    x = dl.tensor((some * (length // 8 + 1))[:length], dtype=dtype)
    for descending in (False, True):
        both(lambda x, d=descending: dl.sort(x, descending=d), x)
    both(lambda x: dl.topk(x, 9), x)


@pytest.mark.parametrize("shape", [(1100, 5), (700, 1), (5, 129), (3, 512), (130, 8)], ids=str)
def test_short_rows_share_a_block(shape):
    both(dl.sort, numbers(shape, dl.float32))
    both(lambda x: dl.topk(x, (shape[1] + 1) // 2), numbers(shape, dl.int64))


def test_sorted_rows_may_lie_anywhere():
    x = numbers((2,) * 17 + (3,), dl.int16).permute(*reversed(range(17)), 17)[..., ::2]
    both(dl.sort, x)
    both(lambda x: dl.topk(x, 2, dim=1), numbers((3, 5000, 2), dl.float32))
    both(dl.sort, dl.tensor(2.5))
    both(dl.sort, dl.zeros(3, 0))
    both(lambda x: dl.topk(x, 0), numbers((3, 4), dl.float32))
