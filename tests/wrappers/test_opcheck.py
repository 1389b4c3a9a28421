# SPDX-License-Identifier: Apache-2.0
"""library.opcheck finds what was registered wrongly, as PyTorch's does."""

import pytest

import libdl as torch
from libdl.library import Library, custom_op, opcheck
from libdl.library._checks import OpCheckError

ALL = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def made(name, function, fake=None, backward=None, mutates=()):
    op = custom_op(f"opcheck::{name}", function, mutates_args=mutates)
    if fake is not None:
        op.register_fake(fake)
    if backward is not None:
        op.register_autograd(backward)
    return op


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def written(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x.clone()


def part(x: torch.Tensor) -> torch.Tensor:
    return x[:2]


def add_one(x: torch.Tensor) -> None:
    x.add_(1)


def turned(x: torch.Tensor) -> torch.Tensor:
    return (x * 2).reshape(2, 2).t()


def wrong_gradient(ctx, gradient):
    return gradient[:1]


# By name: the operator, and which tests fail without and with an argument that requires grad.
CASES = {
    "good": (made("good", double, torch.empty_like, lambda ctx, g: g * 2), (), ()),
    "written": (made("written", written, torch.empty_like), ("test_schema",), None),
    "part": (
        made("part", part, lambda x: x.new_empty(2)),
        ("test_schema", "test_aot_dispatch_dynamic", "test_faketensor"),
        None,
    ),
    "no fake": (
        made("no_fake", double),
        ("test_faketensor",),
        ("test_faketensor", "test_aot_dispatch_dynamic"),
    ),
    "other shape": (
        made("other_shape", double, lambda x: x.new_empty(3)),
        ("test_faketensor",),
        None,
    ),
    "other dtype": (made("other_dtype", double, lambda x: x.double()), ("test_faketensor",), None),
    "other strides": (
        made("other_strides", turned, lambda x: x.new_empty(2, 2)),
        ("test_faketensor",),
        None,
    ),
    "more results": (
        made("more", double, lambda x: (x.clone(), x.clone())),
        ("test_faketensor",),
        None,
    ),
    "no gradient": (
        made("no_gradient", double, torch.empty_like),
        (),
        ("test_aot_dispatch_dynamic",),
    ),
    "wrong gradient": (
        made("wrong", double, torch.empty_like, wrong_gradient),
        (),
        ("test_aot_dispatch_dynamic",),
    ),
    "writes": (made("writes", add_one, mutates={"x"}), (), ()),
}


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_the_tests_that_fail(name, grad):
    op, *failing = CASES[name]
    if failing[grad] is None:
        return
    x = torch.ones(4, requires_grad=grad)
    told = opcheck(op, (x,), raise_exception=False)
    assert list(told) == list(ALL)
    failed = [test for test, answer in told.items() if answer != "SUCCESS"]
    assert sorted(failed) == sorted(failing[grad]) and x.tolist() == [1] * 4
    if failed:
        with pytest.raises(OpCheckError, match=rf"^library.opcheck: {failed[0]} failed: \w"):
            opcheck(op, (x,))


def test_gradients_of_a_devices_kernel_need_a_registration():
    library = Library("opcheck_keys", "DEF")
    for name, key in (("of_device", "CPU"), ("composed", "CompositeImplicitAutograd")):
        library.define(f"{name}(Tensor x) -> Tensor")
        library.impl(name, lambda x: x * 2, key)
    x = torch.ones(3, requires_grad=True)
    found = opcheck(
        torch.ops.opcheck_keys.of_device, (x,), test_utils=ALL[1], raise_exception=False
    )
    assert isinstance(found[ALL[1]], AssertionError)
    assert (
        opcheck(torch.ops.opcheck_keys.of_device, (x.detach(),), test_utils=ALL[1])[ALL[1]]
        == "SUCCESS"
    )
    assert set(opcheck(torch.ops.opcheck_keys.composed.default, (x,)).values()) == {"SUCCESS"}


def test_words():
    op = CASES["good"][0]
    assert opcheck(op, (torch.ones(3),), test_utils="test_schema") == {"test_schema": "SUCCESS"}
    with pytest.raises(ValueError, match=r"test_utils has \['test_speed'\]"):
        opcheck(op, (torch.ones(3),), test_utils="test_speed")
    with pytest.raises(ValueError, match="one of atol and rtol"):
        opcheck(op, (torch.ones(3),), atol=1e-3)
    with pytest.raises(RuntimeError, match="does not exist"):
        opcheck("opcheck::absent", ())
    with pytest.raises(TypeError, match="wanted an operator"):
        opcheck(len, ())


CALLS: list[int] = []


def counted(x: torch.Tensor) -> torch.Tensor:
    CALLS.append(0)
    return x + len(CALLS)


def test_a_second_call_gives_the_same():
    op = made("counted", counted, torch.empty_like)
    with pytest.raises(OpCheckError, match="test_aot_dispatch_static"):
        opcheck(op, (torch.ones(3),), test_utils="test_aot_dispatch_static")
    opcheck(op, (torch.ones(3),), test_utils="test_aot_dispatch_static", atol=5.0, rtol=0.0)
