# SPDX-License-Identifier: Apache-2.0
"""For programs whose answers by PyTorch are stored beside them: numbers that are the same
everywhere, digests of results, and the comparison."""

import json
import math
import sys
import warnings

KINDS = (KeyError, IndexError, AttributeError, NotImplementedError, TypeError, ValueError,
         AssertionError,
         RuntimeError)  # fmt: skip


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


def write(programs):
    """Prints the answers of PyTorch, a line for each program."""
    import torch

    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    lines = (f'"{program.__name__}": {json.dumps(program(torch))}' for program in programs)
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")


def same(found, wanted):
    """Equal, floats nearly; an error is of PyTorch's kinds, among others."""
    if isinstance(wanted, dict) and "error" in wanted:
        return isinstance(found, dict) and set(wanted["error"]) <= set(found.get("error", ()))
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, float) or isinstance(found, float):
        return abs(found - wanted) <= 2e-8 * max(1, abs(wanted))
    return found == wanted


def first_difference(found, wanted, place=""):
    """Where two answers are not the same, as text, or nothing."""
    if same(found, wanted):
        return ""
    if isinstance(wanted,
                  (dict, list)) and type(found) is type(wanted) and len(found) == len(wanted):
        for key in wanted if isinstance(wanted, dict) else range(len(wanted)):
            if key not in (found if isinstance(found, dict) else range(len(found))):
                break
            if text := first_difference(found[key], wanted[key], f"{place}[{key!r}]"):
                return text
    return f"{place}: {found}, wanted {wanted}"


def answer_of(program, module):
    """What a stored answer is compared with; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return json.loads(json.dumps(program(module)))
