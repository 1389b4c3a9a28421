# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers over sequences, and their single steps."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, Self

from ... import _functions, _recurrent
from ..._autocast import is_autocast_enabled
from ..._C import Tensor
from ..._errors import ArgumentValueError
from ..._functions import empty, zeros
from ..._types import DeviceLike, DtypeLike, FactoryOptions
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence as PackedSequence
from .module import Module

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _is_packed(input: Any) -> bool:
    """Whether it is a PackedSequence, or an object with the same attributes."""
    return not isinstance(input, Tensor) and isinstance(getattr(input, "batch_sizes", None), Tensor)


class RNNBase(Module):
    """What RNN, LSTM and GRU have in common: parameters, checks and the call.

    Parameters are called weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 and weight_hr_l0, with
    the layer's number at the end, and _reverse behind it for the second direction.

    Shape: those of RNN, GRU and LSTM.

    Initialisation: all parameters from U(-k, k), k = 1 / sqrt(hidden_size).
    """

    __constants__ = [
        "mode",
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
    ]

    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self._check_options(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size
        )
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._flat_weights_names: list[str] = []
        self._all_weights: list[list[str]] = []
        size, sums = proj_size or hidden_size, _GATES[mode] * hidden_size
        for layer in range(num_layers):
            features = size * self._directions if layer else input_size
            shapes: dict[str, tuple[int, ...]] = {
                "weight_ih": (sums, features),
                "weight_hh": (sums, size),
            }
            if bias:
                shapes |= {"bias_ih": (sums,), "bias_hh": (sums,)}
            if proj_size:
                shapes["weight_hr"] = (proj_size, hidden_size)
            for suffix in ("", "_reverse")[: self._directions]:
                for name, shape in shapes.items():
                    parameter = Parameter(empty(*shape, device=device, dtype=dtype))
                    self.register_parameter(f"{name}_l{layer}{suffix}", parameter)
                self._all_weights.append([f"{name}_l{layer}{suffix}" for name in shapes])
        self._flat_weights_names.extend(name for each in self._all_weights for name in each)
        self._init_flat_weights()
        self.reset_parameters()

    def _check_options(
        self,
        input_size: Any,
        hidden_size: Any,
        num_layers: Any,
        bias: Any,
        batch_first: Any,
        dropout: Any,
        proj_size: Any,
    ) -> None:
        name = type(self).__name__
        number = isinstance(dropout, (int, float)) and not isinstance(dropout, bool)
        if not number or not 0 <= dropout <= 1:
            raise ValueError(f"{name}: dropout is {dropout!r}, wanted a number from 0 to 1")
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                f"{name}: dropout={dropout} applies between layers and changes nothing, because "
                "num_layers is 1",
                stacklevel=4,
            )
        for option, value, kind in (
            ("bias", bias, bool),
            ("batch_first", batch_first, bool),
            ("input_size", input_size, int),
            ("hidden_size", hidden_size, int),
        ):
            if not isinstance(value, kind):
                raise TypeError(f"{name}: {option} is {value!r}, wanted {kind.__name__}")
        for option, value in (
            ("input_size", input_size),
            ("hidden_size", hidden_size),
            ("num_layers", num_layers),
        ):
            if value <= 0:
                raise ValueError(f"{name}: {option} is {value}, wanted more than 0")
        if not 0 <= proj_size < hidden_size:
            raise ValueError(
                f"{name}: proj_size is {proj_size}, wanted 0 (none) to less than "
                f"hidden_size, {hidden_size}"
            )
        if self.mode not in _GATES:
            raise ValueError(f"{name}: mode is {self.mode!r}, wanted one of {', '.join(_GATES)}")

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    # -- the weights in the order in which a network takes them ------------------------------------

    @property
    def _flat_weights(self) -> list[Any]:
        return self.__dict__.get("_given_weights") or self._named_weights()

    @_flat_weights.setter
    def _flat_weights(self, weights: list[Any]) -> None:
        """Takes others, which stay until one of the named weights is another tensor."""
        self.__dict__.update(_given_weights=list(weights), _weights_then=self._named_weights())

    def _named_weights(self) -> list[Any]:
        own = self._parameters
        return [own[n] if n in own else getattr(self, n, None) for n in self._flat_weights_names]

    def _init_flat_weights(self) -> None:
        for name in ("_given_weights", "_weights_then"):
            self.__dict__.pop(name, None)
        self.flatten_parameters()

    def _update_flat_weights(self) -> None:
        if self._weights_have_changed():
            self._init_flat_weights()

    def _weights_have_changed(self) -> bool:
        then = self.__dict__.get("_weights_then", ())
        return any(old is not new for old, new in zip(then, self._named_weights()))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_flat_weights": self._flat_weights}  # PyTorch's layers want it

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({k: v for k, v in state.items() if k != "_flat_weights"})

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        result = super()._apply(fn, recurse)
        self._init_flat_weights()
        return result

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
        usual = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
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
                f"{name}: argument 1 (input) is {input.dtype}, wanted the parameters' {dtype}"
            )
        expected = 3 if batch_sizes is None else 2
        if input.ndim != expected:
            raise ArgumentValueError(
                f"{name}: argument 1 (input) is {input.ndim}D, wanted {expected}D"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"{name}: argument 1 (input) has {input.shape[-1]} features, wanted "
                f"input_size, {self.input_size}"
            )

    def _batch(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, ...]:
        if batch_sizes is not None:
            return (int(batch_sizes[0]),)
        return () if input.ndim == 2 else (int(input.shape[0 if self.batch_first else 1]),)

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, ...]:
        """The shape of the hidden state for this input."""
        states = self.num_layers * self._directions
        return states, *self._batch(input, batch_sizes), self.proj_size or self.hidden_size

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, ...],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Raises unless hx has this shape."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(
                f"{type(self).__name__}: argument 2 (hx): "
                + msg.format(expected_hidden_size, list(hx.shape))
            )

    def check_forward_args(self, input: Tensor, hidden: Tensor, batch_sizes: Tensor | None) -> None:
        """Raises unless input and states fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Tensor, permutation: Tensor | None) -> Any:
        """The states with the sequences in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # -- the call ---------------------------------------------------------------------------------

    def _first_states(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        return self._zeros(input, batch_sizes, self.proj_size or self.hidden_size)

    def _zeros(self, input: Tensor, batch_sizes: Tensor | None, features: int) -> Tensor:
        states = self.num_layers * self._directions
        shape = (states, *self._batch(input, batch_sizes), features)
        return zeros(*shape, dtype=input.dtype, device=input.device)

    def _run(self, data: Tensor, hx: object, batch_sizes: Tensor | None) -> Any:
        network = getattr(_recurrent, self.mode.lower())
        options = (
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
        )
        if batch_sizes is None:
            return network(data, hx, *options, self.batch_first)
        return network(data, batch_sizes, hx, *options)

    def _split(self, result: Any) -> tuple[Tensor, Any]:
        """The output and the states of a network's result."""
        return result[0], result[1]

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        self._update_flat_weights()
        if _is_packed(input):
            sizes = input.batch_sizes
            output, states = self._called(input.data, hx, sizes, input.sorted_indices)
            output = type(input)(output, sizes, input.sorted_indices, input.unsorted_indices)
            return output, self.permute_hidden(states, input.unsorted_indices)
        if input.ndim not in (2, 3):
            raise ArgumentValueError(
                f"{type(self).__name__}: argument 1 (input) is {input.ndim}D, wanted 2D or 3D"
            )
        for name, state in self._states(hx):
            if state.ndim != input.ndim:
                raise RuntimeError(
                    f"{type(self).__name__}: argument 2 (hx): {name} is {state.ndim}D, wanted "
                    f"{input.ndim}D, as the input"
                )
        if input.ndim == 3:
            output, states = self._called(input, hx, None, None)
            return output, self.permute_hidden(states, None)
        batch = 0 if self.batch_first else 1
        hx = None if hx is None else self._of_states(lambda state: state.unsqueeze(1), hx)
        output, states = self._called(input.unsqueeze(batch), hx, None, None)
        states = self._of_states(lambda state: state.squeeze(1), states)
        return output.squeeze(batch), self.permute_hidden(states, None)

    def _called(
        self, data: Tensor, hx: Any, batch_sizes: Tensor | None, sorted_indices: Tensor | None
    ) -> Any:
        """The output and the states of sequences that form a batch."""
        if hx is not None:
            hx = self.permute_hidden(hx, sorted_indices)
        elif data.shape[-1] == self.input_size:  # otherwise the checks tell what is wrong
            hx = self._first_states(data, batch_sizes)
        self._check_called(data, hx, batch_sizes)
        return self._split(self._run(data, hx, batch_sizes))

    def _check_called(self, data: Tensor, hx: Any, batch_sizes: Tensor | None) -> None:
        self.check_forward_args(data, hx, batch_sizes)

    def _states(self, hx: Any) -> list[tuple[str, Tensor]]:
        return [] if hx is None else [("the state", hx)]

    def _of_states(self, function: Callable[[Any], Any], hx: object) -> Any:
        return function(hx)


class RNN(RNNBase):
    """Elman network of one or more layers: h' = tanh(W x + b + V h + b').

    Arguments:
        input_size: features of an element of a sequence
        hidden_size: features of the hidden state
        num_layers: each layer is over the outputs of the one before
        nonlinearity: "tanh" or "relu"
        bias: whether b and b' are added
        batch_first: whether inputs and outputs are [batch, steps, features], not [steps, batch,
            ...]
        dropout: the share of the outputs of all layers but the last that are set to 0 in training
        bidirectional: whether each layer has a second direction, from the end to the beginning

    Called with an input (also without a batch, or a PackedSequence) and the first hidden states
    [layers directions, batch, hidden_size] (None: zeros), returns the outputs of all steps and the
    last states.

    Shape: input [l, n, input_size] and h [layers directions, n, hidden_size] to output [l, n,
    directions hidden_size] and the last h; with batch_first n stands before l in input and output;
    all without n for a sequence without a batch.

    Initialisation: all parameters from U(-k, k), k = 1 / sqrt(hidden_size).

    Source: Elman, 1990, Finding structure in time.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: nonlinearity is {nonlinearity!r}, wanted 'tanh' or 'relu'")
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(
            mode,
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            0,
            device,
            dtype,
        )
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """Gated recurrent units in one or more layers; arguments and results as of RNN.

    Shape: input [l, n, input_size] and h [layers directions, n, hidden_size] to output [l, n,
    directions hidden_size] and the last h; with batch_first n stands before l in input and output;
    all without n for a sequence without a batch.

    Initialisation: all parameters from U(-k, k), k = 1 / sqrt(hidden_size).

    Source: Cho, van Merrienboer, Gulcehre, Bahdanau, Bougares, Schwenk and Bengio, 2014, Learning
    phrase representations using RNN encoder-decoder for statistical machine translation.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            0,
            device,
            dtype,
        )


class LSTM(RNNBase):
    """Long short-term memory in one or more layers; arguments as of RNN, and

    proj_size: if not 0, hidden states are multiplied to this many features

    The states are a pair: hidden [layers directions, batch, proj_size or hidden_size] and cell
    [layers directions, batch, hidden_size].

    Shape: input [l, n, input_size] and (h, c), [layers directions, n, m] and [layers directions, n,
    hidden_size], to output [l, n, directions m] and the last (h, c), where m is proj_size or
    hidden_size; with batch_first n stands before l in input and output; all without n for a
    sequence without a batch.

    Initialisation: all parameters from U(-k, k), k = 1 / sqrt(hidden_size).

    Source: Hochreiter and Schmidhuber, 1997, Long short-term memory; with proj_size Sak, Senior and
    Beaufays, 2014, Long short-term memory recurrent neural network architectures for large scale
    acoustic modeling.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, ...]:
        """The shape of the cell state for this input."""
        states = self.num_layers * self._directions
        return states, *self._batch(input, batch_sizes), self.hidden_size

    def check_forward_args(  # type: ignore[override]
        self, input: Tensor, hidden: tuple[Tensor, Tensor], batch_sizes: Tensor | None
    ) -> None:
        """Raises unless input and states fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0],
            self.get_expected_hidden_size(input, batch_sizes),
            "Expected hidden[0] size {}, got {}",
        )
        self.check_hidden_size(
            hidden[1],
            self.get_expected_cell_size(input, batch_sizes),
            "Expected hidden[1] size {}, got {}",
        )

    def permute_hidden(  # type: ignore[override]
        self, hx: tuple[Tensor, Tensor], permutation: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """The states with the sequences in another order."""
        if permutation is None:
            return hx
        return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)

    def _first_states(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        return (
            super()._first_states(input, batch_sizes),
            self._zeros(input, batch_sizes, self.hidden_size),
        )

    def _check_called(self, data: Tensor, hx: Any, batch_sizes: Tensor | None) -> None:
        # The network itself checks a packed sequence, as in PyTorch.
        if batch_sizes is None:
            self.check_forward_args(data, hx, batch_sizes)

    def _states(self, hx: Any) -> list[tuple[str, Tensor]]:
        return [] if hx is None else [("the hidden state", hx[0]), ("the cell state", hx[1])]

    def _of_states(self, function: Callable[[Any], Any], hx: Any) -> Any:
        return function(hx[0]), function(hx[1])

    def _split(self, result: Any) -> tuple[Tensor, Any]:
        return result[0], (result[1], result[2])


class RNNCellBase(Module):
    """What the cells have in common: parameters weight_ih, weight_hh, bias_ih and bias_hh.

    Shape: those of RNNCell.

    Initialisation: all parameters from U(-k, k), k = 1 / sqrt(hidden_size).
    """

    __constants__ = ["input_size", "hidden_size", "bias"]

    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        how: FactoryOptions = {"device": device, "dtype": dtype}
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
                f"{name}: argument 1 (input) is {input.ndim}D, wanted 1D or 2D"
            )
        for state in states:
            if state is not None and state.ndim not in (1, 2):
                raise ArgumentValueError(
                    f"{name}: argument 2 (hx) is {state.ndim}D, wanted 1D or 2D"
                )
        if None not in states:
            return states
        result = zeros(*input.shape[:-1], self.hidden_size, dtype=input.dtype, device=input.device)
        return (result,) * len(states)

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

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        (h,) = self._checked(input, (hx,))
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(
                f"RNNCell: nonlinearity is {self.nonlinearity!r}, wanted 'tanh' or 'relu'"
            )
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

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
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

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        states = self._checked(input, (None, None) if hx is None else tuple(hx))
        return _functions.lstm_cell(input, states, *self._weights)
