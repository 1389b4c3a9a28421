# SPDX-License-Identifier: Apache-2.0
"""Custom functions, as a program writes them, over one module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


def functions(T: Any) -> dict[str, Any]:
    if TYPE_CHECKING:
        from libdl.autograd import Function
    else:
        Function = T.autograd.Function

    class Cube(Function):
        """Saves its input; second derivatives follow from the backward's own history."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x * x * g

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x * x * t

    class ExpOf(Function):
        """Saves its output."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (y,) = ctx.saved_tensors
            return y * g

    class Double_(Function):
        """Changes its input in place."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    class Pair(Function):
        """Two results, one of them without a gradient, and one input that gets None."""

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            flags = x > 0
            ctx.mark_non_differentiable(flags)
            return x * 2, flags, x + y

        @staticmethod
        def backward(ctx: Any, a: Any, flags: Any, b: Any) -> Any:
            return a * 2 + b, None

    class Same(Function):
        """Hands its input on, a view of it."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.neg()

    return {f.__name__: f for f in (Cube, ExpOf, Double_, Pair, Same)}
