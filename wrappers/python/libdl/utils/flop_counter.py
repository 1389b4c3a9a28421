# SPDX-License-Identifier: Apache-2.0
"""Floating-point operations of a program, counted from the shapes of its calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..profiler.flops import flops_of
from ._intercept import Call, intercept

if TYPE_CHECKING:
    from ..nn import Module

__all__ = ["FlopCounterMode", "register_flop_formula"]


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Any], Any]:
    """A decorator that returns the function itself: operators of a program's own are counted by the
    calls inside of them."""
    return lambda function: function


def _backward_of_convolution(inputs: list[Any], outputs: list[Any]) -> int:
    """One convolution for the input's gradient, one for the weight's."""
    grad, x, weight = inputs[:3]
    total = 0
    if outputs and outputs[0] is not None:
        total += 2 * _product(grad) * _product(weight[1:])
    if len(outputs) > 1 and outputs[1] is not None:
        total += 2 * _product(grad) * x[1] * _product(weight[2:])
    return total


def _backward_of_attention(inputs: list[Any], outputs: list[Any]) -> int:
    """Five products: the scores again, and gradients of scores, value, query and key."""
    grad, query, key, value = inputs[:4]
    pairs = _product(query[:-1]) * key[-2]
    total: int = 2 * pairs * (3 * query[-1] + 2 * value[-1])
    return total


def _product(shape: Sequence[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


_BACKWARD = {
    "convolution_backward": _backward_of_convolution,
    "scaled_dot_product_attention_backward": _backward_of_attention,
}
# As what PyTorch counts them.
_NAMES = {
    "linear": "addmm",
    "conv1d": "convolution",
    "conv2d": "convolution",
    "conv3d": "convolution",
    "conv_transpose1d": "convolution",
    "conv_transpose2d": "convolution",
    "conv_transpose3d": "convolution",
    "mm": "mm",
    "bmm": "bmm",
    "addmm": "addmm",
    "baddbmm": "baddbmm",
    "convolution_backward": "convolution_backward",
    "scaled_dot_product_attention": "_scaled_dot_product_attention",
    "scaled_dot_product_attention_backward": "_scaled_dot_product_attention_backward",
}


class FlopCounterMode:
    """with FlopCounterMode(display=False) as counter: the calls inside are counted, those of
    backward passes too; a multiplication with an addition is 2. Matrix products, convolutions and
    attention count, as in PyTorch. All is told under "Global", not module by module."""

    def __init__(
        self,
        mods: Module | list[Module] | None = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: Any = None,
    ) -> None:
        if custom_mapping:
            raise NotImplementedError(
                "FlopCounterMode: custom_mapping is of PyTorch's own operators; "
                "libdl counts its own"
            )
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[str, int]] = {"Global": defaultdict(int)}
        self._observer = intercept(before=self._enter, after=self._count)
        self._inside = 0  # so many calls that count

    def _enter(self, call: Call) -> None:
        self._inside += call.name in _NAMES

    def _count(self, call: Call) -> None:
        if call.name not in _NAMES:
            return
        self._inside -= 1
        if self._inside or call.failed:  # what is made of others counts as a whole
            return
        results = call.results if call.results is not None else call.destinations
        inputs = [_shape(x) for x in call.arguments]
        outputs = [_shape(x) for x in results or ()]
        if call.name in _BACKWARD:
            count = _BACKWARD[call.name](inputs, outputs)
        elif call.name == "baddbmm":
            count = flops_of("bmm", inputs[1:], outputs)
        else:
            count = flops_of(call.name, inputs, outputs)
        self.flop_counts["Global"][_NAMES[call.name]] += count

    def get_total_flops(self) -> int:
        """The number of operations."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[str, int]]:
        """{"Global": operations by operator}."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as text."""
        rows = [("Global", self.get_total_flops())]
        rows += [(f" - {name}", count) for name, count in self.flop_counts["Global"].items()]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {count}" for name, count in rows)

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts = {"Global": defaultdict(int)}
        self._observer.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._observer.__exit__(*error)
        if self.display:
            print(self.get_table())


def _shape(value: Any) -> tuple[int, ...] | None:
    shape = getattr(value, "shape", None)
    return None if shape is None else tuple(shape)
