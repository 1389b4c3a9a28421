# SPDX-License-Identifier: Apache-2.0
"""Layers that add elements around signals, images and volumes."""

from __future__ import annotations

from ..._C import Tensor
from .. import functional as F
from .module import Layer, Module as Module
from .utils import _ntuple as _ntuple, _pair as _pair, _quadruple as _quadruple

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

Sizes = int | tuple[int, ...]


class _PadNd(Layer):
    _dims: int
    _mode = "constant"

    padding: tuple[int, ...]
    value: float = 0.0

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        both = 2 * self._dims
        self.padding = (padding,) * both if isinstance(padding, int) else tuple(padding)
        if len(self.padding) != both:
            raise ValueError(
                f"{type(self).__name__}: padding has {len(self.padding)} entries, "
                f"wanted one or {both}"
            )

    def forward(self, input: Tensor) -> Tensor:
        if self._mode == "constant":
            return F.pad(input, self.padding, "constant", self.value)
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return str(self.padding)


class _ConstantPadNd(_PadNd):
    __constants__ = ["padding", "value"]

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ReflectionPadNd(_PadNd):
    __constants__ = ["padding"]
    _mode = "reflect"


class _ReplicationPadNd(_PadNd):
    __constants__ = ["padding"]
    _mode = "replicate"


class _CircularPadNd(_PadNd):
    __constants__ = ["padding"]
    _mode = "circular"

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in (self._dims + 1, self._dims + 2):
            raise ValueError(
                f"expected {self._dims + 1}D or {self._dims + 2}D input (got {input.ndim}D input)"
            )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return super().forward(input)


class ConstantPad1d(_ConstantPadNd):
    """A number around the last dimension.

    Arguments:
        padding: how many elements are added before and after it; one number stands for both
        value: the number

    Shape: [..., l] to [..., l + before + after].
    """

    _dims = 1


class ConstantPad2d(_ConstantPadNd):
    """A number around the last two dimensions: left, right, top and bottom; else as
    ConstantPad1d.

    Shape: [..., h, w] to [..., h + top + bottom, w + left + right].
    """

    __constants__ = ["padding", "value"]

    _dims = 2


class ConstantPad3d(_ConstantPadNd):
    """A number around the last three dimensions: left, right, top, bottom, front and back; else as
    ConstantPad1d.

    Shape: [..., d, h, w] to [..., d + front + back, h + top + bottom, w + left + right].
    """

    _dims = 3


class ZeroPad1d(ConstantPad1d):
    """Zeros around the last dimension; padding as of ConstantPad1d.

    Shape: [..., l] to [..., l + before + after].
    """

    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return str(self.padding)


class ZeroPad2d(ConstantPad2d):
    """Zeros around the last two dimensions; padding as of ConstantPad2d.

    Shape: [..., h, w] to [..., h + top + bottom, w + left + right].
    """

    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return str(self.padding)


class ZeroPad3d(ConstantPad3d):
    """Zeros around the last three dimensions; padding as of ConstantPad3d.

    Shape: [..., d, h, w] to [..., d + front + back, h + top + bottom, w + left + right].
    """

    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return str(self.padding)


class ReflectionPad1d(_ReflectionPadNd):
    """The signal mirrored at its ends, which are not repeated; padding as of ConstantPad1d.

    Shape: [n, c, l] to [n, c, l + before + after], or both without n.
    """

    _dims = 1


class ReflectionPad2d(_ReflectionPadNd):
    """The image mirrored at its edges, which are not repeated; padding as of ConstantPad2d.

    Shape: [n, c, h, w] to [n, c, h + top + bottom, w + left + right], or both without n.
    """

    _dims = 2


class ReflectionPad3d(_ReflectionPadNd):
    """The volume mirrored at its sides, which are not repeated; padding as of ConstantPad3d.

    Shape: [n, c, d, h, w] to [n, c, d + front + back, h + top + bottom, w + left + right], or both
    without n.
    """

    _dims = 3


class ReplicationPad1d(_ReplicationPadNd):
    """The signal's ends repeated; padding as of ConstantPad1d.

    Shape: [n, c, l] to [n, c, l + before + after], or both without n.
    """

    _dims = 1


class ReplicationPad2d(_ReplicationPadNd):
    """The image's edges repeated; padding as of ConstantPad2d.

    Shape: [n, c, h, w] to [n, c, h + top + bottom, w + left + right], or both without n.
    """

    _dims = 2


class ReplicationPad3d(_ReplicationPadNd):
    """The volume's sides repeated; padding as of ConstantPad3d.

    Shape: [n, c, d, h, w] to [n, c, d + front + back, h + top + bottom, w + left + right], or both
    without n.
    """

    _dims = 3


class CircularPad1d(_CircularPadNd):
    """The signal repeated as if its ends met; padding as of ConstantPad1d.

    Shape: [n, c, l] to [n, c, l + before + after], or both without n.
    """

    _dims = 1


class CircularPad2d(_CircularPadNd):
    """The image repeated as if opposite edges met; padding as of ConstantPad2d.

    Shape: [n, c, h, w] to [n, c, h + top + bottom, w + left + right], or both without n.
    """

    _dims = 2


class CircularPad3d(_CircularPadNd):
    """The volume repeated as if opposite sides met; padding as of ConstantPad3d.

    Shape: [n, c, d, h, w] to [n, c, d + front + back, h + top + bottom, w + left + right], or both
    without n.
    """

    _dims = 3
