# SPDX-License-Identifier: Apache-2.0
"""An optimizer written after PyTorch's own finds there what it imports."""

import libdl
from libdl.optim import SGD
from libdl.optim.optimizer import (
    Optimizer,
    ParamsT,
    _default_to_fused_or_foreach,
    _disable_dynamo_if_unsupported,
    _get_scalar_dtype,
    _get_value,
    _stack_if_compiling,
    _use_grad_for_differentiable,
)


class Descent(Optimizer):
    """Gradient descent in the words of PyTorch's sources."""

    def __init__(self, params: ParamsT, lr: float = 0.1) -> None:
        super().__init__(params, {"lr": lr, "differentiable": False})

    @_use_grad_for_differentiable
    def step(self, closure=None):
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            _, foreach = _default_to_fused_or_foreach(params, group["differentiable"])
            assert not foreach
            descend(params, [p.grad for p in params], group["lr"])


@_disable_dynamo_if_unsupported(single_tensor_fn=None)
def descend(params, grads, lr):
    grouped = Optimizer._group_tensors_by_device_and_dtype([params, grads])
    for (some, slopes), _ in grouped.values():
        libdl._foreach_add_(some, slopes, alpha=-_get_value(lr))


def test_it_descends_as_sgd():
    paths = []
    for make in (Descent, SGD):
        x = libdl.tensor([3.0, -2.0], requires_grad=True)
        y = libdl.tensor([1.0], dtype=libdl.float64, requires_grad=True)
        optimizer = make([x, y], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            ((x**2).sum() + (y**2).sum()).backward()
            optimizer.step()
        paths.append(x.tolist() + y.tolist())
    assert paths[0] == paths[1]


def test_groups_are_those_of_pytorch():
    one, wide, two = libdl.ones(1), libdl.ones(1).double(), libdl.zeros(2)
    rest = [libdl.ones(2), None, libdl.ones(3)]
    groups = Optimizer._group_tensors_by_device_and_dtype([[one, wide, two], rest], True)
    assert {key[1]: places for key, (_, places) in groups.items()} == {
        libdl.float32: [0, 2],
        libdl.float64: [1],
    }
    parts = groups[one.device, libdl.float32][0]
    assert parts[0][0] is one and parts[0][1] is two and parts[1][1] is rest[2]
    assert groups[one.device, libdl.float64][0][1] == [None]
    assert Optimizer._group_tensors_by_device_and_dtype([[one]])[one.device, one.dtype][1] == []


def test_small_words():
    assert _get_value(libdl.tensor(2.0)) == 2.0 and _get_value(3) == 3
    assert _stack_if_compiling([one := libdl.ones(1)]) == [one]
    assert _get_scalar_dtype() == libdl.float32


def test_an_optimizer_that_wraps_another_needs_no_init():
    class Around(Optimizer):
        def __init__(self, inner):
            self.inner = inner

        def step(self, closure=None):
            return self.inner.step(closure)

    x = libdl.ones(1, requires_grad=True)
    x.grad = libdl.ones(1)
    Around(SGD([x], lr=0.5)).step()
    assert x.tolist() == [0.5]
