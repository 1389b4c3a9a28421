# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers over sequences; their single steps are in cell.py."""

from __future__ import annotations

import math
import warnings
from typing import Any

from .. import _recurrent
from .._autocast import is_autocast_enabled
from .._C import Tensor
from .._errors import ArgumentValueError
from .._functions import empty, zeros
from . import init
from .module import Module
from .parameter import Parameter

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _is_packed(input: Any) -> bool:
    return not isinstance(input, Tensor) and hasattr(input, "batch_sizes")


class RNNBase(Module):
    """What RNN, LSTM and GRU have in common: parameters, checks and the call.

    Parameters are called weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 and weight_hr_l0, with
    the layer's number at the end, and _reverse behind it for the second direction.
    """

    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1,
                 bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
                 bidirectional: bool = False, proj_size: int = 0, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        self.mode = mode
        self._check_options(input_size, hidden_size, num_layers, bias, batch_first, dropout,
                            proj_size)  # fmt: skip
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._all_weights: list[list[str]] = []
        size, sums = proj_size or hidden_size, _GATES[mode] * hidden_size
        for layer in range(num_layers):
            features = size * self._directions if layer else input_size
            shapes: dict[str, tuple[int, ...]] = {
                "weight_ih": (sums, features), "weight_hh": (sums, size),
            }  # fmt: skip
            if bias:
                shapes |= {"bias_ih": (sums,), "bias_hh": (sums,)}
            if proj_size:
                shapes["weight_hr"] = (proj_size, hidden_size)
            for suffix in ("", "_reverse")[: self._directions]:
                for name, shape in shapes.items():
                    made = Parameter(empty(*shape, device=device, dtype=dtype))
                    self.register_parameter(f"{name}_l{layer}{suffix}", made)
                self._all_weights.append([f"{name}_l{layer}{suffix}" for name in shapes])
        self._flat_weights_names = [name for each in self._all_weights for name in each]
        self.reset_parameters()

    def _check_options(self, input_size: Any, hidden_size: Any, num_layers: Any, bias: Any,
                       batch_first: Any, dropout: Any, proj_size: Any) -> None:  # fmt: skip
        name = type(self).__name__
        number = isinstance(dropout, (int, float)) and not isinstance(dropout, bool)
        if not number or not 0 <= dropout <= 1:
            raise ValueError(f"{name}: dropout is {dropout!r}, wanted a number from 0 to 1")
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                f"{name}: dropout={dropout} applies between layers and changes nothing, because "
                "num_layers is 1", stacklevel=4)  # fmt: skip
        for option, value, kind in (
            ("bias", bias, bool), ("batch_first", batch_first, bool),
            ("input_size", input_size, int), ("hidden_size", hidden_size, int),
        ):  # fmt: skip
            if not isinstance(value, kind):
                raise TypeError(f"{name}: {option} is {value!r}, wanted {kind.__name__}")
        for option, value in (("input_size", input_size), ("hidden_size", hidden_size),
                              ("num_layers", num_layers)):  # fmt: skip
            if value <= 0:
                raise ValueError(f"{name}: {option} is {value}, wanted more than 0")
        if not 0 <= proj_size < hidden_size:
            raise ValueError(f"{name}: proj_size is {proj_size}, wanted 0 (none) to less than "
                             f"hidden_size, {hidden_size}")  # fmt: skip
        if self.mode not in _GATES:
            raise ValueError(f"{name}: mode is {self.mode!r}, wanted one of {', '.join(_GATES)}")

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _flat_weights(self) -> list[Any]:
        own = self._parameters
        return [own[n] if n in own else getattr(self, n) for n in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Does nothing: the parameters may lie anywhere in memory."""

    def reset_parameters(self) -> None:
        """Draws new parameters."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0.0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        said = f"{self.input_size}, {self.hidden_size}"
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False,
                 "dropout": 0, "bidirectional": False}  # fmt: skip
        for name, value in usual.items():
            if getattr(self, name) != value:
                said += f", {name}={getattr(self, name)}"
        return said

    # -- checks -----------------------------------------------------------------------------------

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raises unless input fits the parameters."""
        name, dtype = type(self).__name__, self._flat_weights[0].dtype
        if input.dtype != dtype and not is_autocast_enabled("cpu"):
            raise ArgumentValueError(
                f"{name}: argument 1 (input) is {input.dtype}, wanted the parameters' {dtype}")
        wanted = (2,) if batch_sizes is not None else (2, 3)
        if input.ndim not in wanted:
            shown = " or ".join(f"{n}D" for n in wanted)
            raise ArgumentValueError(
                f"{name}: argument 1 (input) is {input.ndim}D, wanted {shown}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"{name}: argument 1 (input) has {input.shape[-1]} features, wanted "
                               f"input_size, {self.input_size}")  # fmt: skip

    def _batch(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, ...]:
        if batch_sizes is not None:
            return (int(batch_sizes[0]),)
        return () if input.ndim == 2 else (int(input.shape[0 if self.batch_first else 1]),)

    def get_expected_hidden_size(self, input: Tensor,
                                 batch_sizes: Tensor | None) -> tuple[int, ...]:  # fmt: skip
        """The shape of the hidden state for this input."""
        states = self.num_layers * self._directions
        return states, *self._batch(input, batch_sizes), self.proj_size or self.hidden_size

    def check_hidden_size(self, hx: Tensor, expected_hidden_size: tuple[int, ...],
                          msg: str = "Expected hidden size {}, got {}") -> None:  # fmt: skip
        """Raises unless hx has this shape."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(f"{type(self).__name__}: argument 2 (hx): "
                               + msg.format(expected_hidden_size, list(hx.shape)))  # fmt: skip

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raises unless input and states fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The states with the sequences in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # -- the call ---------------------------------------------------------------------------------

    def _first_states(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        shape = self.get_expected_hidden_size(input, batch_sizes)
        return zeros(*shape, dtype=input.dtype, device=input.device)

    def _run(self, data: Tensor, hx: Any, batch_sizes: Tensor | None) -> Any:
        network = getattr(_recurrent, self.mode.lower())
        options = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                   self.bidirectional)  # fmt: skip
        if batch_sizes is None:
            return network(data, hx, *options, self.batch_first)
        return network(data, batch_sizes, hx, *options)

    def _split(self, result: Any) -> tuple[Tensor, Any]:
        """The output and the states of a network's result."""
        return result[0], result[1]

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        packed = _is_packed(input)
        data = input.data if packed else input
        batch_sizes = input.batch_sizes if packed else None
        self.check_input(data, batch_sizes)
        if hx is None:
            hx = self._first_states(data, batch_sizes)
        else:
            if packed:
                hx = self.permute_hidden(hx, input.sorted_indices)
            self.check_forward_args(data, hx, batch_sizes)
        output, states = self._split(self._run(data, hx, batch_sizes))
        if not packed:
            return output, states
        output = type(input)(output, batch_sizes, input.sorted_indices, input.unsorted_indices)
        return output, self.permute_hidden(states, input.unsorted_indices)


class RNN(RNNBase):
    """Elman network of one or more layers: h' = tanh(W x + b + V h + b').

    Arguments:
        input_size: features of an element of a sequence
        hidden_size: features of the hidden state
        num_layers: each layer is over the outputs of the one before
        nonlinearity: "tanh" or "relu"
        bias: whether b and b' are added
        batch_first: whether inputs and outputs are [batch, steps, features], not [steps, batch, ...]
        dropout: the share of the outputs of all layers but the last that are set to 0 in training
        bidirectional: whether each layer has a second direction, from the end to the beginning

    Called with an input (also without a batch, or a PackedSequence) and the first hidden states
    [layers directions, batch, hidden_size] (None: zeros), returns the outputs of all steps and the
    last states.
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1,
                 nonlinearity: str = "tanh", bias: bool = True, batch_first: bool = False,
                 dropout: float = 0.0, bidirectional: bool = False, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: nonlinearity is {nonlinearity!r}, wanted 'tanh' or 'relu'")
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(mode, input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, 0, device, dtype)  # fmt: skip
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """Gated recurrent units in one or more layers; arguments and results as of RNN."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, 0, device, dtype)  # fmt: skip


class LSTM(RNNBase):
    """Long short-term memory in one or more layers; arguments as of RNN, and

    proj_size: if not 0, hidden states are multiplied to this many features

    The states are a pair: hidden [layers directions, batch, proj_size or hidden_size] and cell
    [layers directions, batch, hidden_size].
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 proj_size: int = 0, device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, proj_size, device, dtype)  # fmt: skip

    def get_expected_cell_size(self, input: Tensor,
                               batch_sizes: Tensor | None) -> tuple[int, ...]:  # fmt: skip
        """The shape of the cell state for this input."""
        states = self.num_layers * self._directions
        return states, *self._batch(input, batch_sizes), self.hidden_size

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raises unless input and states fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes),
                               "Expected hidden[0] size {}, got {}")  # fmt: skip
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes),
                               "Expected hidden[1] size {}, got {}")  # fmt: skip

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The states with the sequences in another order."""
        if permutation is None:
            return hx
        return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)

    def _first_states(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        cell = self.get_expected_cell_size(input, batch_sizes)
        return (super()._first_states(input, batch_sizes),
                zeros(*cell, dtype=input.dtype, device=input.device))  # fmt: skip

    def _split(self, result: Any) -> tuple[Tensor, Any]:
        return result[0], (result[1], result[2])
