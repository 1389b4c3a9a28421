# SPDX-License-Identifier: Apache-2.0
"""For programs whose answers by PyTorch are stored beside them: numbers that are the same
everywhere, and digests of results."""

import math

KINDS = (
    KeyError,
    IndexError,
    AttributeError,
    NotImplementedError,
    TypeError,
    ValueError,
    AssertionError,
    RuntimeError,
)


def told(call, *args, **kwargs):
    """What a call returns, or of which kinds its error is."""
    try:
        return call(*args, **kwargs)
    except KINDS as error:
        return {"error": [kind.__name__ for kind in KINDS if isinstance(error, kind)]}


def numbers(m, *shape, shift=0.0):
    """The same float64 numbers everywhere, between -1 and 1."""
    count = math.prod(shape)
    return ((m.arange(count, dtype=m.float64) + 1) * 1.7 + shift).sin().reshape(shape)


def bits(m, *shape, step=3):
    """A mask that leaves out each step-th element, but never the first of a row."""
    mask = m.arange(math.prod(shape)).reshape(shape) % step == step - 1
    mask[..., 0] = False
    return mask


def leaf(m, *shape, shift=0.0):
    return numbers(m, *shape, shift=shift).requires_grad_()


def filled(m, module):
    """The module in float64, with the same numbers everywhere."""
    module.double()
    with m.no_grad():
        for i, parameter in enumerate(module.parameters()):
            parameter.copy_(numbers(m, *parameter.shape, shift=i * 0.37) * 0.7)
    return module


def digest(m, x):
    """Shape, number of NaNs, and a weighted sum of a tensor's elements."""
    if x is None:
        return None
    y = x.detach().double().reshape(-1)
    y = m.where(y != y, m.zeros(()).double(), y)
    total = (y * numbers(m, y.numel(), shift=0.3)).sum().item()
    return [list(x.shape), (x != x).sum().item(), float(f"{total:.10g}")]


def gradients(m, y, leaves):
    """The digest of all gradients of a weighted sum, one after the other."""
    found = m.autograd.grad((y * numbers(m, *y.shape, shift=0.9)).sum(), leaves, allow_unused=True)
    return digest(m, m.cat([g.reshape(-1) for g in found if g is not None]))


def modes(m, module, call, wanted):
    """Whether training, evaluation and evaluation without recording agree."""
    module.eval()
    other = call()
    with m.no_grad():
        third = call()
    module.train()
    return m.allclose(wanted, other, equal_nan=True) and m.allclose(wanted, third, equal_nan=True)
