# SPDX-License-Identifier: Apache-2.0
"""The debugger in a user's own functions: in forward, in backward, and after an error there."""

import io
import pdb
import sys

import pytest

import libdl


class Debugger(pdb.Pdb):
    """Types these commands, and keeps what is printed."""

    def __init__(self, *commands: str) -> None:
        self.printed = io.StringIO()
        typed = io.StringIO("".join(f"{command}\n" for command in commands))
        super().__init__(stdin=typed, stdout=self.printed, nosigint=True, readrc=False)

    @property
    def answers(self) -> list[str]:
        return self.printed.getvalue().replace("(Pdb) ", "").splitlines()


class Wrong(libdl.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        ctx.save_for_backward(value)
        return 2 * value

    @staticmethod
    def backward(ctx, gradient):
        (value,) = ctx.saved_tensors
        return gradient @ value.new_ones(7)


def test_post_mortem_stands_in_the_users_backward():
    x = libdl.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(libdl.ShapeError) as caught:
        Wrong.apply(x).sum().backward()
    debugger = Debugger("p gradient", "p value.shape", "value * 3", "up", "p self", "q")
    debugger.reset()
    debugger.interaction(None, caught.tb)
    assert "return gradient @ value.new_ones(7)" in debugger.printed.getvalue()
    assert "tensor([1., 1.])" in debugger.answers
    assert "libdl.Size([2])" in debugger.answers
    assert any(answer.startswith("tensor([3., 6.]") for answer in debugger.answers)


@pytest.mark.parametrize("place", ["forward", "backward"])
def test_a_breakpoint_in_a_users_function(place):
    debugger = Debugger("p value", "p value.sum().item()", "r", "p doubled", "c")

    def stop(ctx, value):
        debugger.set_trace()
        doubled = 2 * value
        return doubled

    class Stopped(libdl.autograd.Function):
        forward = staticmethod(stop if place == "forward" else lambda ctx, value: 2 * value)
        backward = staticmethod(stop if place == "backward" else lambda ctx, g: 2 * g)

    x = libdl.tensor([1.0, 1.0], requires_grad=True)
    try:
        Stopped.apply(x).sum().backward()
    finally:
        sys.settrace(None)
    assert x.grad.tolist() == [2, 2]
    answers = [a for a in debugger.answers if not a.startswith(("> ", "-> ", "--"))]
    history = ", requires_grad=True" if place == "forward" else ""  # as in PyTorch
    assert answers == [f"tensor([1., 1.]{history})", "2.0", "tensor([2., 2.])"]


def test_a_hook_is_debugged():
    debugger = Debugger("p gradient", "c")
    x = libdl.ones(2, requires_grad=True)

    def hook(gradient):
        debugger.set_trace()
        return 3 * gradient

    x.register_hook(hook)
    try:
        (x * x).sum().backward()
    finally:
        sys.settrace(None)
    assert x.grad.tolist() == [6, 6] and "tensor([2., 2.])" in debugger.answers
