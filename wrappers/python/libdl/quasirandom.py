# SPDX-License-Identifier: Apache-2.0
"""Points that fill a cube more evenly than random ones.

Example:
    >>> torch.quasirandom.SobolEngine(2).draw(4)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500],
            [0.2500, 0.7500]])
"""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

from . import _functions as f, arange, frombuffer, get_default_dtype, randint
from ._C import Tensor
from ._types import Generator, dtype as Dtype, float32, float64, int64, uint8

__all__ = ["SobolEngine"]

# Primitive polynomials over two elements, by degree from 1: all up to degree 18.
_OF_DEGREE = (
    1,
    1,
    2,
    2,
    6,
    6,
    18,
    16,
    48,
    60,
    176,
    144,
    630,
    756,
    1800,
    2048,
    7710,
    7776,
)
_BITS = 30


def _bits(data: bytes) -> Tensor:
    """Of each byte, the highest first."""
    if not data:
        return f.zeros(0, dtype=int64, device="cpu")
    octets = frombuffer(bytearray(data), dtype=uint8).to(int64).unsqueeze(1)
    return (octets >> arange(7, -1, -1, dtype=int64, device="cpu") & 1).flatten()


def _numbers(bits: Tensor) -> Tensor:
    """Of rows of bits, the highest first."""
    return (bits << arange(bits.shape[-1] - 1, -1, -1, dtype=int64, device="cpu")).sum(-1)


def _of_degree(degree: int, polynomials: Tensor, bits: Tensor) -> Tensor:
    """The direction numbers of polynomials, [count, bits], by the recurrence of the first ones."""
    ones = f.ones(len(polynomials), dtype=int64, device="cpu")
    columns = [ones << _BITS - 1]
    begin = 0
    for i in range(1, degree):  # the i-th first number is odd and has i + 1 bits
        first = 2 * _numbers(bits[:, begin : begin + i]) + 1
        columns.append(first << _BITS - 1 - i)
        begin += i
    for j in range(degree, _BITS):
        made = columns[j - degree] ^ (columns[j - degree] >> degree)
        for k in range(1, degree):
            made = made ^ (polynomials >> degree - k & 1) * columns[j - k]
        columns.append(made)
    return f.stack(columns, 1)


def _directions(dimension: int) -> Tensor:
    """The direction numbers of Joe and Kuo, [dimension, bits]; column j has bit j and those above.

    The file holds half the differences of the polynomials, a byte each, then for each degree the
    bits of the first numbers without their last, which is 1."""
    data = (Path(__file__).parent / "_sobol_directions.bin").read_bytes()
    begin = sum(_OF_DEGREE) - 1
    gaps = frombuffer(bytearray(data[:begin]), dtype=uint8).to(int64)
    polynomials = 3 + 2 * f.cat([f.zeros(1, dtype=int64, device="cpu"), f.cumsum(gaps, 0)])
    shifts = arange(_BITS - 1, -1, -1, dtype=int64, device="cpu")
    made = [f.ones(1, _BITS, dtype=int64, device="cpu") << shifts]
    done = 0
    for degree, count in enumerate(_OF_DEGREE, 1):
        if done >= dimension - 1:
            break
        width = degree * (degree - 1) // 2
        length = (count * width + 7) // 8
        bits = _bits(data[begin : begin + length])[: count * width].reshape(count, width)
        wanted = min(count, dimension - 1 - done)
        made.append(_of_degree(degree, polynomials[done : done + wanted], bits[:wanted]))
        begin, done = begin + length, done + count
    return f.cat(made)


class SobolEngine:
    """The Sobol sequence in the unit cube, by the direction numbers of Joe and Kuo.

    The first point is 0 unless the sequence is scrambled, by a random matrix for each dimension and
    a random shift. The plain sequence is PyTorch's; which numbers scramble a seed gives is libdl's.

    Arguments:
        dimension: from 1 to 21201
        scramble: whether to scramble
        seed: of the scrambling; None: a seed that is not told

    Source: Joe and Kuo, 2008, Constructing Sobol sequences with better two-dimensional projections;
    scrambling: Matousek, 1998, On the L2-discrepancy for anchored boxes.

    Example:
        >>> engine = torch.quasirandom.SobolEngine(3)
        >>> engine.draw(2)
        tensor([[0.0000, 0.0000, 0.0000],
                [0.5000, 0.5000, 0.5000]])
        >>> engine.fast_forward(1).draw()
        tensor([[0.2500, 0.7500, 0.7500]])
    """

    MAXBIT = _BITS
    MAXDIM = 1 + sum(_OF_DEGREE)

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"SobolEngine: dimension is {dimension}, wanted 1 to {self.MAXDIM}")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = _directions(dimension)
        self.shift = f.zeros(dimension, dtype=int64, device="cpu")
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self._first_point = self._in_cube(self.quasi, float32).reshape(1, -1)
        self.num_generated = 0

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Dtype | None = None) -> Tensor:
        """The next n points, [n, dimension]. dtype: floating; None: the default one. out: a tensor
        that takes their shape and values."""
        self._check(n)
        points = self._points(self.num_generated, n)
        if n > 0:
            self.quasi.copy_(points[-1])
            self.num_generated += n
        drawn = self._in_cube(points, dtype or get_default_dtype())
        if out is None:
            return drawn
        return out.resize_(drawn.shape).copy_(drawn)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Dtype | None = None) -> Tensor:
        """The next 2^m points. Raises a ValueError unless there are a power of two of points then:
        only so are they balanced."""
        total = self.num_generated + 2**m
        if total & (total - 1):
            raise ValueError(
                f"SobolEngine.draw_base2: with {self.num_generated} points drawn before, 2^{m} "
                f"make {total}, wanted a power of 2; draw takes any number"
            )
        return self.draw(2**m, out=out, dtype=dtype)

    def fast_forward(self, n: int) -> SobolEngine:
        """Passes over n points; returns the engine."""
        self._check(n)
        if n > 0:
            self.quasi.copy_(self._points(self.num_generated + n - 1, 1)[0])
            self.num_generated += n
        return self

    def reset(self) -> SobolEngine:
        """Begins anew; returns the engine."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def _check(self, n: int) -> None:
        left = 2**_BITS - self.num_generated
        if not 0 <= operator.index(n) <= left:
            raise ValueError(
                f"SobolEngine: argument 1 (n) is {n}, wanted 0 to {left} behind "
                f"{self.num_generated} points"
            )

    def _points(self, begin: int, n: int) -> Tensor:
        """As integers: point i is the exclusive or of the shift and of the direction numbers whose
        bits are set in i's Gray code."""
        index = arange(begin, begin + n, dtype=int64, device="cpu")
        gray = (index ^ (index >> 1)).unsqueeze(1)
        points = self.shift.expand(n, -1)
        for bit in range((begin + n).bit_length()):
            points = points ^ (gray >> bit & 1) * self.sobolstate[:, bit]
        return points.contiguous()

    def _in_cube(self, points: Tensor, dtype: Dtype) -> Tensor:
        return (points.to(dtype=float64) * 2.0**-_BITS).to(dtype=dtype)

    def _scramble(self) -> None:
        generator = Generator()
        if self.seed is None:
            generator.seed()
        else:
            generator.manual_seed(self.seed)
        shape = (self.dimension, _BITS)
        shift = randint(0, 2, shape, generator=generator, dtype=int64, device="cpu")
        matrix = randint(0, 2, (*shape, _BITS), generator=generator, dtype=int64, device="cpu")
        self._scramble_with(shift, matrix)

    def _scramble_with(self, shift: Tensor, matrix: Tensor) -> None:
        """Shifts by bits, the lowest first, and multiplies the direction numbers, as vectors of
        bits, by the lower triangles of matrices with ones on the diagonal."""
        self.shift = (shift << arange(_BITS, dtype=int64, device="cpu")).sum(-1)
        lower = matrix.tril(-1) + f.eye(_BITS, dtype=int64, device="cpu")
        places = arange(_BITS - 1, -1, -1, dtype=int64, device="cpu")
        bits = self.sobolstate.unsqueeze(1) >> places.unsqueeze(1) & 1
        product = f.matmul(lower.to(float32), bits.to(float32)).to(int64) & 1  # sums of 30: exact
        self.sobolstate = (product << places.unsqueeze(1)).sum(1)

    def __repr__(self) -> str:
        told: list[Any] = [f"dimension={self.dimension}"]
        told += ["scramble=True"] if self.scramble else []
        told += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join(told)})"
