# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..._C import Tensor as Tensor
from .. import init as init
from ..cell import (
    GRUCell as GRUCell, LSTMCell as LSTMCell, RNNCell as RNNCell, RNNCellBase as RNNCellBase,
)  # fmt: skip
from ..module import Module as Module
from ..parameter import Parameter as Parameter
from ..rnn import GRU as GRU, LSTM as LSTM, RNN as RNN, RNNBase as RNNBase
from ..utils.rnn import PackedSequence as PackedSequence

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]
