# SPDX-License-Identifier: Apache-2.0
"""Single steps of recurrent networks."""

from __future__ import annotations

import math
from typing import Any

from .. import _functions
from .._C import Tensor
from .._errors import ArgumentValueError
from .._functions import empty, zeros
from . import init
from .module import Module
from .parameter import Parameter


class RNNCellBase(Module):
    """What the cells have in common: parameters weight_ih, weight_hh, bias_ih and bias_hh.

    Shape: those of RNNCell.

    Initialisation: all parameters from U(-k, k), k = 1 / sqrt(hidden_size).
    """

    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int,
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        how = {"device": device, "dtype": dtype}
        sums = num_chunks * hidden_size
        self.weight_ih = Parameter(empty(sums, input_size, **how))
        self.weight_hh = Parameter(empty(sums, hidden_size, **how))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(sums, **how)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new parameters."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0.0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        said = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            said += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            said += f", nonlinearity={self.nonlinearity}"
        return said

    def _checked(self, input: Tensor, states: Any) -> Any:
        """The states, or as many of zeros."""
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ArgumentValueError(
                f"{name}: argument 1 (input) is {input.ndim}D, wanted 1D or 2D")
        for state in states:
            if state is not None and state.ndim not in (1, 2):
                raise ArgumentValueError(
                    f"{name}: argument 2 (hx) is {state.ndim}D, wanted 1D or 2D")
        if None not in states:
            return states
        made = zeros(*input.shape[:-1], self.hidden_size, dtype=input.dtype, device=input.device)
        return (made,) * len(states)

    @property
    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


class RNNCell(RNNCellBase):
    """h' = tanh(W x + b + V h + b'), or relu.

    Arguments:
        input_size: features of the input
        hidden_size: features of the hidden state
        bias: whether b and b' are added
        nonlinearity: "tanh" or "relu"

    Called with [batch, input_size] or [input_size] and the hidden state (None: zeros), returns the
    next one.

    Shape: input [n, input_size] and state [n, hidden_size] to the next state [n, hidden_size], or
    all without n.

    Initialisation: all parameters from U(-k, k), k = 1 / sqrt(hidden_size).

    Source: Elman, 1990, Finding structure in time.
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True,
                 nonlinearity: str = "tanh", device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        (h,) = self._checked(input, (hx,))
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(
                f"RNNCell: nonlinearity is {self.nonlinearity!r}, wanted 'tanh' or 'relu'")
        relu = self.nonlinearity == "relu"
        step = _functions.rnn_relu_cell if relu else _functions.rnn_tanh_cell
        return step(input, h, *self._weights)


class GRUCell(RNNCellBase):
    """One step of a GRU; arguments and result as of RNNCell.

    Shape: input [n, input_size] and state [n, hidden_size] to the next state [n, hidden_size], or
    all without n.

    Initialisation: all parameters from U(-k, k), k = 1 / sqrt(hidden_size).

    Source: Cho, van Merrienboer, Gulcehre, Bahdanau, Bougares, Schwenk and Bengio, 2014, Learning
    phrase representations using RNN encoder-decoder for statistical machine translation.
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        (h,) = self._checked(input, (hx,))
        return _functions.gru_cell(input, h, *self._weights)


class LSTMCell(RNNCellBase):
    """One step of an LSTM; arguments as of RNNCell. The states are a pair: hidden and cell.

    Shape: input [n, input_size] and states (h, c), both [n, hidden_size], to the next pair of the
    same shapes, or all without n.

    Initialisation: all parameters from U(-k, k), k = 1 / sqrt(hidden_size).

    Source: Hochreiter and Schmidhuber, 1997, Long short-term memory.
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor,
                hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:  # fmt: skip
        states = self._checked(input, (None, None) if hx is None else tuple(hx))
        return _functions.lstm_cell(input, states, *self._weights)
