# SPDX-License-Identifier: Apache-2.0
"""libdl.multiprocessing: what processes share, and how it looks when it arrives."""

import multiprocessing
import os
import pickle

import pytest
from answered import Stored
from wrappers.multiprocessing import seen_multiprocessing
from wrappers.processes import by_every_method, ended, there_and_back

import libdl
import libdl.multiprocessing as mp
from libdl.multiprocessing.memory import memory_of
from libdl.multiprocessing.moving import share

SEEN = Stored(seen_multiprocessing)


@pytest.mark.parametrize("program", seen_multiprocessing.PROGRAMS, ids=lambda p: p.__name__)
def test_programs_do_what_they_do_with_pytorch(program):
    SEEN.check(program, libdl)


def _writes(q, pipe, x, model):
    x.add_(1)
    with libdl.no_grad():
        model.weight.fill_(7)
    y = pipe.recv()
    y.mul_(2)
    q.put((y[1:], libdl.full((50_000,), 3.0)))
    pipe.send(x)


@by_every_method
def test_what_one_process_writes_the_other_sees(method):
    context = mp.get_context(method)
    q, (mine, theirs) = context.Queue(), context.Pipe()
    x, y, model = libdl.zeros(3).share_memory_(), libdl.ones(4), libdl.nn.Linear(2, 2)
    model.share_memory()
    process = context.Process(target=_writes, args=(q, theirs, x, model))
    process.start()
    mine.send(y)
    tail, large = q.get(timeout=60)
    again = mine.recv()
    ended(process)
    assert x.tolist() == [1, 1, 1] and y.tolist() == [2, 2, 2, 2]
    assert (model.weight == 7).all() and model.weight.requires_grad
    assert large.sum() == 150_000  # its sender has ended
    tail.zero_()
    assert y.tolist() == [2, 0, 0, 0]
    again.zero_()
    assert x.tolist() == [0, 0, 0]


class Own(libdl.Tensor):
    """Pickles itself, by what it inherits."""

    def __reduce_ex__(self, protocol):
        return super().__reduce_ex__(protocol)


def _adds(*tensors):
    for x in tensors:
        x.detach().add_(1)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_process_of_the_standard_library_shares_its_arguments(method):
    sent = [
        libdl.zeros(2).share_memory_(),
        libdl.nn.Parameter(libdl.zeros(2)),
        libdl.zeros(2).as_subclass(Point),
        libdl.zeros(2).as_subclass(Own),
    ]
    process = multiprocessing.get_context(method).Process(target=_adds, args=sent)
    process.start()
    ended(process)
    # Of a class that pickles itself a copy was sent.
    assert [x.tolist() for x in sent] == [[1, 1], [1, 1], [1, 1], [0, 0]]


def _sums(tensors, out):
    out.fill_(sum(float(x[0]) for x in tensors))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_process_is_given_more_memories_than_a_message_has_room_for(method):
    tensors = [libdl.full((5000,), float(i)).share_memory_() for i in range(300)]
    out = libdl.zeros(1)
    process = mp.get_context(method).Process(target=_sums, args=(tensors, out))
    process.start()
    ended(process)
    assert out.item() == sum(range(300))


class Keeps(mp.get_context("spawn").Process):
    """A subclass with a tensor among its attributes."""

    def __init__(self, x):
        super().__init__()
        self.x = x

    def run(self):
        self.x += 5


def test_a_subclass_of_process_shares_its_attributes():
    process = Keeps(libdl.zeros(2))  # shared when it is sent
    process.start()
    ended(process)
    assert process.x.tolist() == [5, 5] and process.x.is_shared()


def test_tensors_of_one_storage_arrive_as_such():
    x = libdl.arange(12.0).view(3, 4)
    whole, row, turned, same, as_bits = there_and_back([x, x[1], x.t(), x, x.view(libdl.int32)])
    assert whole is same and whole is not x
    row.zero_()
    assert whole[1].tolist() == [0] * 4 and turned[:, 1].tolist() == [0] * 4
    assert turned.stride() == (1, 4) and as_bits[1].tolist() == [0] * 4
    assert x[1].tolist() == [0] * 4, "the sender shares it"
    again = there_and_back(x)
    again.fill_(9)
    assert (whole == 9).all()


def test_a_tensor_whose_views_would_stay_behind_is_sent_as_a_copy():
    x = libdl.zeros(6)
    half = x[:3]
    found = there_and_back(x)
    half += 1
    assert x[0] == 1 and found[0] == 0
    del half
    found = there_and_back(x)
    found += 1
    assert x.tolist() == [2, 2, 2, 1, 1, 1]


def test_a_view_that_is_sent_alone_is_a_copy():
    base = libdl.zeros(1000, 1000)
    row = base[3]
    found = there_and_back(row)
    assert memory_of(found)[0].size < 10**6, "the rest stays where it is"
    found.fill_(1)
    row += 5
    assert base[3, 0] == 5 and (found == 1).all() and not base.is_shared()


DTYPES = [
    libdl.bool,
    libdl.uint8,
    libdl.int16,
    libdl.int64,
    libdl.float16,
    libdl.bfloat16,
    libdl.float32,
    libdl.float64,
    libdl.complex64,
    libdl.complex128,
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_and_layout_arrives(dtype):
    x = libdl.arange(24).to(dtype).view(2, 3, 4)
    views = x.permute(2, 0, 1), x[:, ::2, 1:3], x[0, 0, 0], x[:0], x[:, :1].expand(2, 5, 4)
    for sent in (x, *views):
        found = there_and_back(sent)
        assert libdl.equal(found, sent) and found.dtype is dtype
        assert found.stride() == sent.stride() and found.shape == sent.shape


class Point(libdl.Tensor):
    pass


def test_kinds_of_tensors_stay_what_they_are():
    parameter = libdl.nn.Parameter(libdl.ones(2))
    leaf = libdl.ones(3, requires_grad=True)
    point = libdl.ones(2).as_subclass(Point)
    point.name = "p"
    sparse = libdl.sparse_coo_tensor([[0, 2]], [[1.0], [2.0]], (3, 1))
    frozen = libdl.nn.Parameter(libdl.ones(1), False)
    found = there_and_back([parameter, leaf, point, sparse, frozen])
    kinds = [type(x).__name__ for x in found]
    assert kinds == ["Parameter", "Tensor", "Point", "Tensor", "Parameter"]
    assert [x.requires_grad for x in found] == [True, True, False, False, False]
    assert all(x.is_leaf for x in found) and found[2].name == "p"
    assert found[3].is_sparse and found[3].to_dense().tolist() == [[1], [0], [2]]
    found[0].data.fill_(4)
    assert parameter.tolist() == [4, 4]
    module = there_and_back(libdl.nn.Sequential(libdl.nn.Linear(2, 3), libdl.nn.LazyLinear(1)))
    assert module(libdl.ones(1, 2)).shape == (1, 1)
    generator = libdl.Generator().manual_seed(5)
    libdl.rand(3, generator=generator)
    copied = there_and_back(generator)
    assert libdl.equal(libdl.rand(4, generator=generator), libdl.rand(4, generator=copied))


def test_a_tensor_with_history_is_refused():
    x = libdl.ones(3, requires_grad=True)
    q = mp.Queue()
    with pytest.raises(RuntimeError, match="send its detach"):
        q.put(x * 2)
    with pytest.raises((AttributeError, pickle.PicklingError), match="local object"):
        q.put(lambda: None)
    q.put((x * 2).detach())
    assert q.get().tolist() == [2, 2, 2]


def test_share_memory_moves_a_tensor_and_what_shares_a_modules_storage():
    x = libdl.arange(3.0)
    assert not x.is_shared() and x.share_memory_() is x and x.is_shared()
    there = x.data_ptr()
    memory, _ = memory_of(x)
    # It is in no folder: when the last process that has it is gone, so is the memory.
    assert os.readlink(f"/proc/self/fd/{memory.fd}") == "/memfd:libdl (deleted)"
    assert x.share_memory_().data_ptr() == there and x[1:].is_shared()
    assert x.tolist() == [0, 1, 2] and x._base is None
    twice = [libdl.arange(3.0)] * 2
    share(twice)
    assert twice[0].is_shared() and twice[0].tolist() == [0, 1, 2]
    reshaped = libdl.arange(4.0).view(2, 2).t().share_memory_()
    assert reshaped.is_shared() and reshaped.tolist() == [[0, 2], [1, 3]]
    base = libdl.zeros(4)
    views = base.chunk(2)
    for one in (base, views[0]):
        with pytest.raises(RuntimeError, match="with other views of it, which would stay"):
            one.share_memory_()
    del views, one
    assert base.share_memory_().is_shared()
    turned = libdl.from_numpy(libdl.arange(4.0).numpy()[::-1]).share_memory_()
    assert turned.tolist() == [3, 2, 1, 0]

    net = libdl.nn.Sequential(libdl.nn.Linear(3, 3), libdl.nn.Linear(3, 3), libdl.nn.BatchNorm1d(3))
    net[1].weight.data = net[0].weight.data
    net(libdl.ones(2, 3)).sum().backward()
    optimizer = libdl.optim.SGD([*net[0].parameters(), *net[2].parameters()], lr=1.0)
    assert net.share_memory() is net
    places = [*net.parameters(), *net.buffers(), net[0].weight.grad]
    memories = {memory_of(x)[0] for x in places}
    assert len(memories) == 1, "one descriptor for a module"
    with libdl.no_grad():
        net[0].weight.zero_()
    assert (net[1].weight == 0).all()
    bias = net[2].bias.clone()
    optimizer.step()
    assert not libdl.equal(net[2].bias, bias)


def test_the_standard_librarys_queues_carry_copies():
    q = multiprocessing.SimpleQueue()
    x = libdl.ones(3).share_memory_()
    q.put(x)
    assert q.get().add_(1).tolist() == [2, 2, 2] and x.tolist() == [1, 1, 1]
