# SPDX-License-Identifier: Apache-2.0
"""PyTorch's dispatch of operators to Python, which is not offered."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["TorchDispatchMode", "is_traceable_wrapper_subclass"]


class TorchDispatchMode:
    """A name to derive from; no such mode can be entered, because calls are not those of PyTorch's
    operators: overrides.TorchFunctionMode sees functions, utils.intercept libdl's own operators."""

    def __init__(self, _dispatch_key: Any = None) -> None:
        pass

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__}: a TorchDispatchMode sees PyTorch's own operators (aten), "
            "which are not called here; overrides.TorchFunctionMode sees functions and methods, "
            "utils.intercept libdl's operators, in backward passes too"
        )

    def __exit__(self, *exception: object) -> None:
        pass

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchDispatchMode:
        """A mode of the class; PyTorch's older name for the constructor."""
        return cls(*args, **kwargs)


def is_traceable_wrapper_subclass(t: object) -> bool:
    """False: no class is dispatched by __torch_dispatch__."""
    return False
