# SPDX-License-Identifier: Apache-2.0
"""Initial values of parameters. Each function fills a tensor in place, unrecorded, and returns
it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from .._C import Tensor, overridable
from .._functions import cat, empty, eye, ones, randperm
from .._modes import no_grad
from .._types import DeviceLike, Generator, bool_, float64
from .parameter import is_lazy

P = ParamSpec("P")
R = TypeVar("R")


@overridable
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform numbers from a to b."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


@overridable
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Normal numbers.

    Example:
        >>> nn.init.normal_(torch.empty(2, 3), std=0.02).shape
        libdl.Size([2, 3])
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers; those outside a to b are drawn again."""
    if std <= 0:
        raise ValueError(f"trunc_normal_: argument 3 (std) is {std}, wanted a positive number")
    if not a <= b:
        raise ValueError(f"trunc_normal_: argument 5 (b) is {b}, wanted at least a, {a}")
    if tensor.is_meta:
        return tensor
    low, high = (a - mean) / std, (b - mean) / std
    with no_grad():
        drawn = empty(tensor.numel(), dtype=float64, device=tensor.device)
        draw = _normal_between if _probability(low, high) > 0.1 else _tail_between
        missing = ones(tensor.numel(), dtype=bool_, device=tensor.device)
        while True:
            count = int(missing.sum().item())
            if count == 0:
                break
            numbers, expected = draw(count, low, high, generator, tensor.device)
            drawn[missing] = numbers
            missing[missing.clone()] = ~expected
        return tensor.copy_((drawn * std + mean).clamp_(a, b).reshape(tensor.shape))


def _probability(low: float, high: float) -> float:
    """Of a standard normal number between two bounds."""
    return 0.5 * (math.erf(high / math.sqrt(2.0)) - math.erf(low / math.sqrt(2.0)))


def _normal_between(
    count: int, low: float, high: float, generator: Generator | None, device: DeviceLike
) -> tuple[Tensor, Tensor]:
    """Standard normal numbers, and which of them lie between the bounds."""
    drawn = empty(count, dtype=float64, device=device).normal_(generator=generator)
    return drawn, (drawn >= low) & (drawn <= high)


def _tail_between(
    count: int, low: float, high: float, generator: Generator | None, device: DeviceLike
) -> tuple[Tensor, Tensor]:
    """The same by uniform numbers between the bounds, of which a part is taken that is
    proportional to the density; for bounds between which normal numbers are rare."""
    nearest = min(max(0.0, low), high)
    reach = 40.0 / max(1.0, abs(nearest))  # beyond it the density is less than e^-40 of the largest
    low, high = max(low, nearest - reach), min(high, nearest + reach)
    drawn = empty(count, dtype=float64, device=device).uniform_(low, high, generator=generator)
    level = empty(count, dtype=float64, device=device).uniform_(generator=generator)
    return drawn, level <= ((nearest * nearest - drawn * drawn) / 2).exp()


@overridable
def constant_(tensor: Tensor, val: float) -> Tensor:
    """One number everywhere.

    Example:
        >>> nn.init.constant_(torch.empty(2), 0.5)
        tensor([0.5000, 0.5000])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """1 everywhere."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """0 everywhere.

    Example:
        >>> nn.init.zeros_(torch.empty(2))
        tensor([0., 0.])
    """
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """The unit matrix."""
    _check_dims("eye_", tensor, tensor.ndim == 2, "2 dimensions")
    with no_grad():
        return tensor.copy_(eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weight of a convolution [out_channels, in_channels, ...] that passes on as many channels
    of each group as it can: 1 at the window's centre, else 0."""
    _check_dims("dirac_", tensor, 3 <= tensor.ndim <= 5, "3 to 5 dimensions")
    out_channels, in_channels, *window = tensor.shape
    if out_channels % groups:
        raise ValueError(
            f"dirac_: argument 2 (groups) is {groups}, wanted a divisor of the "
            f"{out_channels} channels of tensor"
        )
    each = out_channels // groups
    centre = tuple(size // 2 for size in window)
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(each, in_channels)):
                tensor[(group * each + channel, channel, *centre)] = 1
    return tensor


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """A matrix of normal numbers of which a part of each column, rounded up, is 0.

    Arguments:
        sparsity: the part that is 0
        std: of the others
    """
    _check_dims("sparse_", tensor, tensor.ndim == 2, "2 dimensions")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            places = randperm(rows, generator=generator, device=tensor.device)[:zeros]
            tensor[places, column] = 0
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """A matrix with orthonormal rows or columns, whichever are fewer, times gain; uniformly
    distributed. More than two dimensions: all but the first count as one."""
    _check_dims("orthogonal_", tensor, tensor.ndim >= 2, "2 dimensions or more")
    if not tensor.is_floating_point():
        raise TypeError(
            f"orthogonal_: argument 1 (tensor) is {tensor.dtype}, wanted a real floating dtype"
        )
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    few, many = sorted((rows, columns))
    with no_grad():
        drawn = empty(few, many, dtype=float64, device=tensor.device).normal_(generator=generator)
        result = orthonormal_rows(drawn)
        return tensor.copy_(
            (result if rows <= columns else result.t()).reshape(tensor.shape) * gain
        )


def orthonormal_rows(a: Tensor) -> Tensor:
    """The rows of a made orthonormal one after the other, each within the span of those before and
    itself (Gram-Schmidt). What remains of earlier rows by rounding is removed by doing it twice."""
    block = 32
    done: list[Tensor] = []
    for start in range(0, a.shape[0], block):
        part = a[start : start + block].clone()
        earlier = cat(done) if done else None
        for i in range(len(part)):
            row = part[i]
            for _ in range(2):
                if earlier is not None:
                    row = row - (earlier @ row) @ earlier
                if i:
                    row = row - (part[:i] @ row) @ part[:i]
            part[i] = row / row.norm()
        done.append(part)
    result: Tensor = cat(done)
    return result


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance through a nonlinearity."""
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(
                f"calculate_gain: argument 2 (param) is {param!r}, wanted the slope, a number"
            )
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity in ("linear", "sigmoid") or nonlinearity in _CONVOLUTIONS:
        return 1.0
    if nonlinearity not in gains:
        raise ValueError(f"calculate_gain: {nonlinearity!r} is not known")
    return gains[nonlinearity]


_CONVOLUTIONS = [f"conv{kind}{dims}d" for kind in ("", "_transpose") for dims in (1, 2, 3)]


def _check_dims(name: str, tensor: Tensor, right: bool, expected: str) -> None:
    if not right:
        raise ValueError(
            f"{name}: argument 1 (tensor) has {tensor.ndim} dimensions, wanted {expected}"
        )


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    if is_lazy(tensor):
        raise ValueError("found a parameter that is not initialized: call the module once before")
    if tensor.ndim < 2:
        raise ValueError(f"wanted a tensor of 2 dimensions or more, found {tensor.ndim}")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"mode is {mode!r}, wanted 'fan_in' or 'fan_out'")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode.lower() == "fan_in" else fan_out


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform numbers with variance 2 gain^2 / (fan_in + fan_out).

    Example:
        >>> weight = nn.init.xavier_uniform_(torch.empty(30, 20))
        >>> bool(weight.abs().max() <= (6 / (30 + 20)) ** 0.5)
        True
    """
    bound = gain * math.sqrt(6.0 / max(1, sum(_calculate_fan_in_and_fan_out(tensor))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers with variance 2 gain^2 / (fan_in + fan_out)."""
    fans = max(1, sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / fans), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    gain = calculate_gain(nonlinearity, a)
    return gain / math.sqrt(fan) if fan else 0.0


@overridable
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers with variance gain^2 / fan."""
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers with variance gain^2 / fan."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _older(function: Callable[P, R]) -> Callable[P, R]:
    """The function under its name before it told that it writes in place."""
    name = function.__name__.removesuffix("_")

    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        warnings.warn(
            f"init.{name} is deprecated, please use init.{name}_ instead",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    called.__name__ = called.__qualname__ = name
    called.__doc__ = f"An older name of {name}_."
    return called


uniform, normal, constant = _older(uniform_), _older(normal_), _older(constant_)
dirac, sparse, orthogonal = _older(dirac_), _older(sparse_), _older(orthogonal_)
xavier_uniform, xavier_normal = _older(xavier_uniform_), _older(xavier_normal_)
kaiming_uniform, kaiming_normal = _older(kaiming_uniform_), _older(kaiming_normal_)
