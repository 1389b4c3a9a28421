# SPDX-License-Identifier: Apache-2.0
"""The default generator, and libdl.normal: samples of normal distributions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from . import _functions as f
from ._C import Tensor, overridable
from ._errors import ArgumentValueError
from ._functions import empty, zeros, zeros_like
from ._types import DeviceLike, DtypeLike, Generator, float64

default_generator = Generator._default()


def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Points of the simplex of the last dimension: gamma numbers of the shapes input, divided by
    their sum. They are drawn in logarithms: of small shapes most numbers themselves would be 0."""
    logarithms = f.standard_log_gamma(input.to(dtype=float64), generator)
    return logarithms.softmax(-1).to(dtype=input.dtype)


def manual_seed(seed: int) -> Generator:
    """Seeds the default generator: the same seed gives the same bits on every device. Whatever
    int() accepts is a seed, as in PyTorch.

    Example:
        >>> generator = torch.manual_seed(7)
        >>> x = torch.rand(2)
        >>> generator = torch.manual_seed(7)
        >>> torch.equal(x, torch.rand(2))
        True
    """
    number = int(seed)
    if not -(2**63) <= number < 2**64:
        raise ValueError(
            f"manual_seed: argument 1 (seed) is {number}, wanted {-(2**63)} to {2**64 - 1}"
        )
    return default_generator.manual_seed(number)


def seed() -> int:
    """Seeds the default generator from the system's random source; returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The default generator's state as bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Sets the default generator to a state returned by get_rng_state."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **ignored: Any) -> Iterator[None]:
    """with fork_rng(): drawing numbers inside does not change the generator's state outside."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


# -- normal distributions --------------------------------------------------------------------------


@overridable
def normal(
    mean: Tensor | float = 0.0,
    std: Tensor | float = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: object = None,
    pin_memory: bool = False,
) -> Tensor:
    """Random numbers of the normal distribution; mean and std are numbers, or tensors that
    broadcast.

    A sample has no gradient: those of mean and std are 0, as in PyTorch. The sum mean + std * noise
    has one, and so has distributions.Normal.rsample()."""
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        return _of_tensors(mean, std, generator, out)
    if size is None:
        raise TypeError("normal: size must be given where mean and std are numbers")
    if out is None:
        result = empty(size, dtype=dtype, device=device, pin_memory=pin_memory)
    else:
        result = out if tuple(out.shape) == tuple(size) else out.resize_(tuple(size))
    result.normal_(mean, std, generator=generator)
    return result.requires_grad_() if requires_grad else result


def _of_tensors(mean: Any, std: Any, generator: Generator | None, out: Tensor | None) -> Tensor:
    arguments = [x for x in (mean, std) if isinstance(x, Tensor)]
    flat_mean, flat_std = (x.detach() if isinstance(x, Tensor) else x for x in (mean, std))
    unseen = isinstance(std, Tensor) and std.is_meta
    if not unseen and (bool((flat_std < 0).any()) if isinstance(std, Tensor) else std < 0):
        raise ArgumentValueError("normal: argument 2 (std) has a number below 0, wanted 0 or more")
    place = zeros_like(flat_mean + flat_std)  # the broadcast shape and the promoted dtype
    sample = place.normal_(0.0, 1.0, generator=generator).mul_(flat_std).add_(flat_mean)
    if out is not None:
        return (out if out.shape == sample.shape else out.resize_(sample.shape)).copy_(sample)
    if any(x.requires_grad for x in arguments):
        return _constant()(sample, *arguments)
    return sample


@functools.cache
def _constant() -> Callable[..., Tensor]:
    from .autograd.function import Function

    class Constant(Function):
        """A value whose gradient by the tensors behind it is 0."""

        @staticmethod
        def forward(ctx: Any, value: Tensor, *sources: Tensor) -> Tensor:
            ctx.places = [(x.shape, x.dtype, x.device) for x in sources]
            return value.clone()

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
            return None, *(
                zeros(size, dtype=dtype, device=device) for size, dtype, device in ctx.places
            )

    return Constant.apply
