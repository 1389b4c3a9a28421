# SPDX-License-Identifier: Apache-2.0
"""Functions and methods that are composed of others, or exist elsewhere under another signature, do
what PyTorch's do: the same programs, and its answers."""

import importlib

import pytest
from answered import Stored
from wrappers import seen_methods, seen_scans, seen_top_level

import libdl
from libdl import _in_place

CASES = [
    pytest.param(stored, program, id=program.__name__)
    for stored in map(Stored, (seen_methods, seen_scans, seen_top_level))
    for program in stored.module.PROGRAMS
]


@pytest.mark.parametrize("stored, program", CASES)
def test_as_in_pytorch(stored, program):
    stored.check(program, libdl)


@pytest.mark.parametrize(
    "module", ["_in_place", "_ranges", "_symbolic_numbers", "nn._top_level", "storage"]
)
def test_what_is_imported_later_is_listed(module):
    found = importlib.import_module(f"libdl.{module}")
    listed = {name for name, place in libdl._ELSEWHERE.items() if place == f"libdl.{module}"}
    assert listed == set(found.__all__) <= set(dir(libdl))
    assert all(getattr(libdl, name) is getattr(found, name) for name in listed)


@pytest.mark.parametrize("name", _in_place.__all__)
def test_each_in_place_function_has_its_own_name(name):
    assert getattr(libdl, name).__name__ == name and hasattr(libdl.Tensor, name)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda x: libdl.addmv(x, x, x),
            r"addmv: argument 3 \(vec\) has shape \[2, 3\], wanted \[3\]",
        ),
        (lambda x: libdl.addmv(x[0], x, x[0]), r"addmv: argument 1 \(input\) has shape \[3\]"),
        (
            lambda x: libdl.select_scatter(x, x, 0, 0),
            r"argument 2 \(src\) has shape \[2, 3\], wanted",
        ),
        (
            lambda x: libdl.hsplit(x, 2),
            r"hsplit: argument 2 \(sections\) is 2, wanted a divisor of size 3",
        ),
        (
            lambda x: libdl.gradient(x, dim=2),
            r"gradient: argument 3 \(dim\) names 2, wanted -2 to 1",
        ),
        (lambda x: x.sum_to_size(2), r"sum_to_size: argument 2 \(size\) is \[2\]"),
        (lambda x: libdl.kl_div(x, x, 3), "kl_div: argument reduction is 3, wanted 0 to 2"),
        (
            lambda x: libdl.histogram(x, 2, range=(1, 0)),
            r"histogram: argument 3 \(range\) gives the range 1 to 0",
        ),
        (lambda x: x.reinforce(1), "libdl.distributions"),
    ],
)
def test_errors_tell_the_argument(call, told):
    with pytest.raises(RuntimeError, match=told):
        call(libdl.zeros(2, 3))


def test_a_covariance_of_one_observation_warns():
    with pytest.warns(UserWarning, match="cov: there are no more observations"):
        assert libdl.cov(libdl.tensor(3.0)).isnan()


def test_older_words_warn():
    with pytest.warns(UserWarning, match="range is deprecated"):
        libdl.range(1, 2)
    with pytest.warns(UserWarning, match="resize is deprecated"):
        libdl.ones(4).resize(2, 2)


def test_the_gradient_of_as_strided_scatter_is_src_s_place():
    """PyTorch 2.15 gives input the slopes of the places that were overwritten, and 0 elsewhere."""
    x, src = libdl.arange(6.0).view(2, 3).requires_grad_(), libdl.ones(2, requires_grad=True)
    slopes = libdl.arange(6.0).view(2, 3) + 1
    (libdl.as_strided_scatter(x, src, (2,), (3,), 1) * slopes).sum().backward()
    assert x.grad.tolist() == [[1, 0, 3], [4, 0, 6]] and src.grad.tolist() == [2, 5]


def test_set_lets_tensors_share_memory():
    x, y = libdl.zeros(2), libdl.arange(6.0)
    x.set_(y.untyped_storage(), 2, (2, 2), (1, 2))
    x[1, 1] = 9
    assert y.tolist() == [0, 1, 2, 3, 4, 9]


def test_dropped_elements_are_what_the_mask_tells():
    libdl.manual_seed(1)
    made, kept = libdl.native_dropout(libdl.ones(1000), 0.25, True)
    assert libdl.equal(made, kept / 0.75)
    assert 700 < kept.sum().item() < 800  # more than three deviations, and the seed is fixed


def test_what_adds_nothing_to_a_running_sum_has_no_slope():
    """A sum of one element and nothing is that element; PyTorch 2.15 answers NaN for the first
    two."""
    x = libdl.tensor([-libdl.inf, -libdl.inf, 1.0, -libdl.inf], requires_grad=True)
    libdl.logcumsumexp(x, 0).sum().backward()
    assert x.grad.tolist() == [1, 1, 2, 0]


@pytest.mark.parametrize("name", ["layer_norm", "batch_norm", "embedding", "hinge_embedding_loss"])
def test_classes_see_the_function_of_a_network_that_was_called(name):
    """The top namespace has functions of these names with other arguments."""
    seen = []

    class Watching(libdl.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    x = libdl.rand(2, 3).as_subclass(Watching)
    function = getattr(libdl.nn.functional, name)
    rest = {
        "hinge_embedding_loss": (x,),
        "layer_norm": ((3,),),
        "batch_norm": (libdl.zeros(3), libdl.ones(3)),
        "embedding": (libdl.eye(4),),
    }[name]
    function(
        *((x, *rest) if name != "embedding" else (libdl.tensor([1]), rest[0].as_subclass(Watching)))
    )
    assert seen[0] is function


def test_samples_in_a_batch_have_losses_of_their_own():
    x, y = libdl.rand(4, 3), libdl.rand(4, 3)
    each = [libdl.kl_div(a, b, 1) for a, b in zip(x, y)]
    assert libdl.allclose(
        libdl.func.vmap(lambda a, b: libdl.kl_div(a, b, 1))(x, y), libdl.stack(each)
    )


def test_settings_that_change_nothing():
    libdl.set_num_interop_threads(4)
    assert libdl.get_num_interop_threads() == 1
    with pytest.raises(RuntimeError, match="wanted 1 or more"):
        libdl.set_num_interop_threads(0)
    assert libdl.set_flush_denormal(True) is False  # as PyTorch on a processor that cannot
    assert (libdl.tensor(1e-40) * 1).item() > 0
    assert libdl.GradScaler is libdl.amp.GradScaler
    assert libdl.ones(1).to(memory_format=libdl.channels_last_3d).item() == 1


def test_axes_are_swapped_by_name():
    x = libdl.arange(6).view(2, 3)
    assert libdl.equal(libdl.swapaxes(x, axis0=0, axis1=1), x.T)
    assert libdl.equal(x.swapaxes(axis1=0, axis0=1), x.T)
