# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks, which have one name for sequences of one length and for packed ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _functions
from ._C import Tensor, overridable
from ._errors import ArgumentValueError

__all__ = ["gru", "lstm", "rnn_relu", "rnn_tanh"]


def _numbers(op: str, batch_sizes: object) -> Any:
    if not isinstance(batch_sizes, Tensor):
        return batch_sizes
    if batch_sizes.ndim != 1 or batch_sizes.is_floating_point() or batch_sizes.is_complex():
        raise ArgumentValueError(
            f"{op}: argument 2 (batch_sizes) has shape {list(batch_sizes.shape)} and dtype "
            f"{batch_sizes.dtype}, wanted a vector of int64"
        )
    return batch_sizes.tolist()


def _network(name: str, states: int) -> Callable[..., Any]:
    plain, packed = getattr(_functions, name), getattr(_functions, f"{name}_packed")

    @overridable
    def network(*args: object, **kwargs: object) -> Any:
        # Packed sequences have batch_sizes before hx.
        if "data" in kwargs or "batch_sizes" in kwargs or _is_packed(args):
            if len(args) > 1:
                args = (args[0], _numbers(name, args[1]), *args[2:])
            else:
                kwargs["batch_sizes"] = _numbers(name, kwargs.get("batch_sizes"))
            return packed(*args, **kwargs)
        return plain(*args, **kwargs)

    def _is_packed(args: Any) -> bool:
        if states == 2:  # hx is a list
            return len(args) > 1 and isinstance(args[1], Tensor)
        return len(args) > 2 and isinstance(args[2], Tensor)

    network.__name__ = network.__qualname__ = name
    network.__doc__ = f"""{name}(input, hx, params, has_biases, num_layers, dropout, train,
        bidirectional, batch_first), or for a packed batch {name}(data, batch_sizes, hx, params,
        has_biases, num_layers, dropout, train, bidirectional).

    {plain.__doc__}"""
    return network


lstm = _network("lstm", 2)
gru = _network("gru", 1)
rnn_tanh = _network("rnn_tanh", 1)
rnn_relu = _network("rnn_relu", 1)
