# SPDX-License-Identifier: Apache-2.0
"""What modules and nn.utils do otherwise than PyTorch, and what its programs do not show."""

import copy
import gc
import pickle
import subprocess
import sys
from multiprocessing import shared_memory

import numpy as np
import pytest

import libdl
from libdl import nn
from libdl.nn import utils
from libdl.nn.utils import prune, rnn


def test_a_state_that_does_not_fit_changes_nothing():
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    before = {k: v.clone() for k, v in net.state_dict().items()}
    state = {k: v + 1 for k, v in before.items()} | {"1.bias": libdl.ones(3)}
    with pytest.raises(RuntimeError, match="size mismatch for 1.bias"):
        net.load_state_dict(state)
    assert all(libdl.equal(v, before[k]) for k, v in net.state_dict().items())


def test_a_length_beyond_the_input_raises():
    with pytest.raises(
        RuntimeError, match=r"argument 2 \(lengths\) holds 5, wanted 1 to the 4 steps"
    ):
        rnn.pack_padded_sequence(libdl.ones(4, 2, 1), [5, 1])


def test_masks_and_scores_have_the_parameters_shape():
    for call in (
        lambda: prune.custom_from_mask(nn.Linear(3, 4), "weight", libdl.eye(3)),
        lambda: prune.l1_unstructured(nn.Linear(3, 4), "weight", 1, libdl.ones(12)),
    ):
        with pytest.raises(ValueError, match="wanted"):
            call()


@pytest.mark.parametrize("how", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 3)])
def test_derivatives_of_orthogonal_weights(how, shape):
    net = nn.Linear(*reversed(shape)).double()
    utils.parametrizations.orthogonal(net, "weight", how)
    computed, x = net.parametrizations.weight[0], net.parametrizations.weight.original
    x = (x.detach() + 0.1 * libdl.randn(shape, dtype=libdl.float64)).requires_grad_()
    assert libdl.autograd.gradcheck(computed, (x,)) and libdl.autograd.gradgradcheck(computed, (x,))


def test_large_orthogonal_weights():
    net = utils.parametrizations.orthogonal(nn.Linear(60, 90), orthogonal_map="householder")
    with libdl.no_grad():
        net.parametrizations.weight.original.add_(libdl.randn(90, 60).tril(-1))
    w = net.weight.detach().double()
    assert (w.t() @ w - libdl.eye(60, dtype=libdl.float64)).abs().max() < 1e-5


def test_lazy_modules_are_no_cycles(no_leak):
    gc.disable()
    try:
        before = libdl._C.live()
        nn.LazyLinear(2)
        assert libdl._C.live()[:2] == before[:2]
    finally:
        gc.enable()


def test_the_paths_of_pytorch():
    from libdl.nn.modules import batchnorm, conv, module, utils as sizes
    from libdl.nn.modules.linear import Linear

    assert Linear is nn.Linear and module.Module is nn.Module and conv.Conv2d is nn.Conv2d
    assert isinstance(nn.BatchNorm2d(2), batchnorm._BatchNorm) and isinstance(
        nn.Conv1d(1, 1, 1), conv._ConvNd
    )
    assert sizes._pair(3) == (3, 3) and sizes._triple([1, 2, 3]) == (1, 2, 3)
    assert nn.modules.module._IncompatibleKeys([], []) == ([], [])
    with pytest.raises(AttributeError):
        conv.Conv9d


def test_one_process():
    net = nn.BatchNorm1d(3)
    x = libdl.randn(4, 3)
    assert libdl.equal(nn.SyncBatchNorm(3)(x), net(x))
    whole = nn.DataParallel(nn.Linear(3, 2))
    assert list(whole.state_dict()) == ["module.weight", "module.bias"] and whole(x).shape == (4, 2)
    with pytest.raises(NotImplementedError, match="DistributedDataParallel"):
        nn.parallel.DistributedDataParallel(net)


def test_each_batch_normalisation_becomes_one_of_all_processes():
    net = nn.Sequential(
        nn.Conv2d(1, 2, 1),
        nn.Sequential(nn.BatchNorm2d(2, eps=0.5, momentum=0.3)),
        nn.BatchNorm1d(2, affine=False),
    )
    net[1][0].running_mean += 3
    before, names = net.eval().state_dict(), list(net.state_dict())
    made = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert made is net and list(made.state_dict()) == names
    for norm in (made[1][0], made[2]):
        assert type(norm) is nn.SyncBatchNorm and not norm.training
    assert made[1][0].eps == 0.5 and made[1][0].momentum == 0.3 and not made[2].affine
    assert all(libdl.equal(before[name], value) for name, value in made.state_dict().items())
    assert type(nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm2d(3))) is nn.SyncBatchNorm


def test_memory_shared_with_other_programs():
    """By its name; share_memory() is for processes of the same program."""
    net, before = nn.Linear(2, 3), nn.Linear(2, 3)
    before.load_state_dict(net.state_dict())
    assert isinstance(nn.ReLU().share_memory(), nn.ReLU)
    block = shared_memory.SharedMemory(create=True, size=net.weight.nbytes)
    try:
        array = np.ndarray((3, 2), np.float32, block.buf)
        array[...] = net.weight.detach().numpy()
        net.weight.data = libdl.from_numpy(array)
        net(libdl.ones(1, 2)).sum().backward()
        libdl.optim.SGD(net.parameters(), lr=1.0).step()
        program = (
            "import sys\nfrom multiprocessing import resource_tracker, shared_memory\n"
            "block = shared_memory.SharedMemory(sys.argv[1])\n"
            "resource_tracker.unregister(block._name, 'shared_memory')\n"  # it is not its own
            "print(*memoryview(block.buf)[:24].cast('f'))"
        )
        seen = subprocess.run(
            [sys.executable, "-c", program, block.name], capture_output=True, text=True, timeout=60
        )
        assert np.allclose(
            [float(x) for x in seen.stdout.split()],
            (before.weight.detach() - 1).reshape(-1).numpy(),
        )
    finally:
        del net, array
        gc.collect()
        block.close()
        block.unlink()


def test_a_prefix_is_removed():
    state = nn.DataParallel(nn.Linear(1, 1)).state_dict()
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["weight", "bias"] and sorted(state._metadata) == [""]


@pytest.mark.filterwarnings("ignore:weight_norm is deprecated")
@pytest.mark.parametrize(
    "change",
    [
        utils.weight_norm,
        lambda m: utils.weight_norm(m, dim=None),
        utils.spectral_norm,
        lambda m: prune.l1_unstructured(m, "weight", 0.5),
        utils.parametrizations.weight_norm,
    ],
)
@pytest.mark.parametrize("trained", [False, True])
def test_a_layer_whose_weight_is_computed_can_be_copied(change, trained):
    layer, x = nn.Sequential(change(nn.Linear(3, 2))), libdl.ones(4, 3)
    if trained:
        layer(x).sum().backward()
    copied = copy.deepcopy(copy.deepcopy(layer))
    assert libdl.equal(copied[0].weight, layer[0].weight)
    if copied[0].weight.requires_grad:  # computed from the copies, also before the first call
        copied.zero_grad()
        copied[0].weight.sum().backward()
        gradients = [p.grad for p in copied.parameters() if p.grad is not None]
        assert len(gradients) == len(list(layer.parameters())) - 1  # all but the bias
    before = layer.eval()(x)
    with libdl.no_grad():
        for p in copied.parameters():
            p.mul_(2)
    assert not libdl.allclose(copied.eval()(x), before) and libdl.equal(layer(x), before)
    if not utils.parametrize.is_parametrized(layer[0]):
        assert libdl.equal(pickle.loads(pickle.dumps(layer))(x), before)
