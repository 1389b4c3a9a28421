# SPDX-License-Identifier: Apache-2.0
"""The default generator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._C import Tensor
from ._types import Generator, float64

default_generator = Generator._default()


def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Points of the simplex of the last dimension: gamma numbers of the shapes input, divided by their
    sum. They are drawn in logarithms: of small shapes most numbers themselves would be 0."""
    from . import _functions as f

    logarithms = f.standard_log_gamma(input.to(dtype=float64), generator)
    return logarithms.softmax(-1).to(dtype=input.dtype)


def manual_seed(seed: Any) -> Generator:
    """Seeds the default generator: the same seed gives the same bits on every device. Whatever int()
    accepts is a seed, as in PyTorch.

    Example:
        >>> generator = torch.manual_seed(7)
        >>> x = torch.rand(2)
        >>> generator = torch.manual_seed(7)
        >>> torch.equal(x, torch.rand(2))
        True
    """
    number = int(seed)
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"manual_seed: argument 1 (seed) is {number}, wanted {-(2**63)} to {2**64 - 1}")
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
